import type { Messages } from '../messages.ts'
import { problemMessages } from './errors.ts'
import { frameMessages } from './frame.ts'
import { passkeyMessages } from './passkeys.ts'
import { registerMessages } from './register.ts'
import { signinMessages } from './signin.ts'

/** Holds the German messages that all pages share. They are loaded only when German is shown. */
export const de: Messages = {
  ...frameMessages,
  ...registerMessages,
  ...signinMessages,
  ...passkeyMessages,
  ...problemMessages,
}
