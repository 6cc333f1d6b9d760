import type { Database, Transaction } from '#platform/database/database.ts'

const flow = [
  'flow_id as flowId',
  'connection_id as connectionId',
  'purpose',
  'sealed_state as sealedState',
  'return_to as returnTo',
  'started_elsewhere as startedElsewhere',
  'subject',
  'email',
  'email_verified as emailVerified',
  'display_name as displayName',
  'rule_ids as ruleIds',
] as const

type NewFlow = {
  flowId: string
  connectionId: string
  purpose: 'login' | 'test'
  step: 'created' | 'started'
  stateSha256: Uint8Array
  browserTokenSha256?: Uint8Array
  sealedState?: string
  returnTo?: string
  startedElsewhere?: boolean
  expiresAt: Date
}

export async function insertFlow(db: Database, inserted: NewFlow): Promise<void> {
  await db
    .insertInto('sso_login')
    .values({
      flow_id: inserted.flowId,
      connection_id: inserted.connectionId,
      purpose: inserted.purpose,
      step: inserted.step,
      state_sha256: inserted.stateSha256,
      browser_token_sha256: inserted.browserTokenSha256 ?? null,
      sealed_state: inserted.sealedState ?? null,
      return_to: inserted.returnTo ?? null,
      started_elsewhere: inserted.startedElsewhere ?? false,
      expires_at: inserted.expiresAt,
    })
    .execute()
}

/** Consumes an offered test, once. Returns false if there is none. */
export async function consumeTestLogin(db: Database, connectionId: string, stateSha256: Uint8Array, now: Date) {
  const { numDeletedRows } = await db
    .deleteFrom('sso_login')
    .where('state_sha256', '=', stateSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'created')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

type Answered = { connectionId: string; stateSha256: Uint8Array; browserTokenSha256: Uint8Array }

/** Consumes a sign-in that waits for the provider's response, once. Returns undefined if this browser has none. */
export function markCallbackReceived(
  db: Database,
  { connectionId, stateSha256, browserTokenSha256 }: Answered,
  now: Date,
) {
  return db
    .updateTable('sso_login')
    .set({ step: 'callback_received' })
    .where('state_sha256', '=', stateSha256)
    .where('browser_token_sha256', '=', browserTokenSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'started')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

type Proved = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string | undefined
  ruleIds: string[]
}

/** Records the user that the provider named, and deletes the request data, which is no longer needed. */
export async function markAuthenticated(db: Database, flowId: string, proved: Proved, expiresAt: Date): Promise<void> {
  const { subject, email, emailVerified, displayName, ruleIds } = proved
  await db
    .updateTable('sso_login')
    .set({
      step: 'authenticated',
      expires_at: expiresAt,
      sealed_state: null,
      subject,
      email: email ?? null,
      email_verified: emailVerified,
      display_name: displayName ?? null,
      rule_ids: ruleIds,
    })
    .where('flow_id', '=', flowId)
    .where('step', '=', 'callback_received')
    .execute()
}

type OfBrowser = { flowId: string; browserTokenSha256: Uint8Array }

export function findAuthenticatedLogin(db: Database, { flowId, browserTokenSha256 }: OfBrowser, now: Date) {
  return db
    .selectFrom('sso_login')
    .select(flow)
    .where('flow_id', '=', flowId)
    .where('browser_token_sha256', '=', browserTokenSha256)
    .where('step', '=', 'authenticated')
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Consumes a sign-in whose provider has responded, once. Returns undefined if this browser has none. */
export function consumeAuthenticatedLogin(tx: Transaction, { flowId, browserTokenSha256 }: OfBrowser, now: Date) {
  return tx
    .updateTable('sso_login')
    .set({ step: 'completed' })
    .where('flow_id', '=', flowId)
    .where('browser_token_sha256', '=', browserTokenSha256)
    .where('step', '=', 'authenticated')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

/** Deletes up to `batch` expired sign-ins, and returns the number. */
export async function deleteExpiredFlows(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('sso_login').select('flow_id').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db.deleteFrom('sso_login').where('flow_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
