import type { AccountData } from '../account-data.ts'

/** What a user can do for the safety of their account, the most urgent first. */
export type SecurityTask = { kind: 'code' } | { kind: 'passkey' } | { kind: 'email'; handle: string }

type Given = Pick<AccountData, 'passkeys' | 'recoverySince' | 'session'>

/** Lists what is left to do. `hasMail` tells if this service sends mails. */
export function securityTasks({ passkeys, recoverySince, session }: Given, hasMail: boolean): SecurityTask[] {
  const withoutEmail = session.identities.filter(({ emailVerified }) => !emailVerified)
  const [first] = withoutEmail
  return [
    ...(recoverySince === null ? [{ kind: 'code' } as const] : []),
    ...(passkeys.length < 2 ? [{ kind: 'passkey' } as const] : []),
    ...(hasMail && first ? [{ kind: 'email', handle: first.handle } as const] : []),
  ]
}
