import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { AccountData } from '../account-data.ts'
import { resettingPasskey } from '../security/resetting-passkey.ts'

/** What a user can do for the safety of their account, the most urgent first. */
export type SecurityTask =
  | { kind: 'keys' }
  | { kind: 'code' }
  | { kind: 'former' }
  | { kind: 'passkey' }
  | { kind: 'email'; handle: string }

type Given = Pick<AccountData, 'passkeys' | 'recoverySince' | 'session'>

/** The passkeys to review after a recovery, and whether this service sends mails. */
type Circumstances = { former: Passkey[]; hasMail: boolean }

/** Lists what is left to do. */
export function securityTasks(
  { passkeys, recoverySince, session }: Given,
  { former, hasMail }: Circumstances,
): SecurityTask[] {
  const withoutEmail = session.identities.filter(({ emailVerified }) => !emailVerified)
  const [first] = withoutEmail
  return [
    ...(resettingPasskey(passkeys) ? [{ kind: 'keys' } as const] : []),
    ...(recoverySince === null ? [{ kind: 'code' } as const] : []),
    ...(former.length > 0 ? [{ kind: 'former' } as const] : []),
    ...(passkeys.length < 2 ? [{ kind: 'passkey' } as const] : []),
    ...(hasMail && first ? [{ kind: 'email', handle: first.handle } as const] : []),
  ]
}
