import { problemMessages } from './errors.ts'
import { frameMessages } from './frame.ts'
import { passkeyMessages } from './passkeys.ts'
import { registerMessages } from './register.ts'
import { signinMessages } from './signin.ts'

/** Holds the English messages that all pages load. German has the same keys: it does not compile otherwise. */
export const en = {
  ...frameMessages,
  ...registerMessages,
  ...signinMessages,
  ...passkeyMessages,
  ...problemMessages,
}
