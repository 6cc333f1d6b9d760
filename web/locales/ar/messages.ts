import type { Messages } from '../messages.ts'
import { problemMessages } from './errors.ts'
import { frameMessages } from './frame.ts'
import { passkeyMessages } from './passkeys.ts'
import { registerMessages } from './register.ts'
import { signinMessages } from './signin.ts'

/** Holds the Arabic messages that all pages share. They are loaded only when Arabic is shown. */
export const ar: Messages = {
  ...frameMessages,
  ...registerMessages,
  ...signinMessages,
  ...passkeyMessages,
  ...problemMessages,
}
