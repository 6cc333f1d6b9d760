import type { UserId } from '@countersign/protocol/ids'
import type { ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { FlowClient } from './ceremony.ts'
import type { BoundTo, Ceremony, Flow } from './ceremony.ts'

type NewFlow = Ceremony & BoundTo & { flowId: string; challenge: string; expiresAt: Date }

export async function insertFlow(db: Database, flow: NewFlow): Promise<void> {
  const registering = flow.ceremony === 'register' ? flow : undefined
  await db
    .insertInto('passkey_flow')
    .values({
      flow_id: flow.flowId,
      ceremony: flow.ceremony,
      challenge: flow.challenge,
      user_id: flow.ceremony === 'authenticate' ? null : flow.userId,
      identity_id: registering?.identityId ?? null,
      handle: registering?.handle ?? null,
      display_name: registering?.displayName ?? null,
      is_invited: registering?.isInvited ?? false,
      request_sha256: 'requestSha256' in flow ? flow.requestSha256 : null,
      browser_sha256: flow.browserSha256,
      recovery_auth_sha256: flow.ceremony === 'recover' ? flow.recoveryAuthSha256 : null,
      recovery_link_id: flow.ceremony === 'redeem' ? flow.recoveryLinkId : null,
      user_handle: flow.ceremony === 'redeem' ? flow.userHandle : null,
      expires_at: flow.expiresAt,
    })
    .execute()
}

/**
 * Deletes and returns a flow, so that it is finished once. Returns undefined if there is no live flow of this kind for
 * this client.
 */
export async function consumeFlow<Kind extends Ceremony['ceremony']>(
  db: Database,
  ceremony: Kind,
  finishing: Finishing,
  now: Date,
): Promise<Extract<Flow, { ceremony: Kind }> | undefined> {
  const row = await db
    .deleteFrom('passkey_flow')
    .where(isFinishable(ceremony, finishing, now))
    .returning(flowColumns)
    .executeTakeFirst()
  return row && isFlow(row, ceremony) ? row : undefined
}

/** Finds a flow that this client can finish, and leaves it. */
export async function findFlow<Kind extends Ceremony['ceremony']>(
  db: Database,
  ceremony: Kind,
  finishing: Finishing,
  now: Date,
): Promise<Extract<Flow, { ceremony: Kind }> | undefined> {
  const flows = db.selectFrom('passkey_flow').where(isFinishable(ceremony, finishing, now))
  const row = await flows.select(flowColumns).executeTakeFirst()
  return row && isFlow(row, ceremony) ? row : undefined
}

type Finishing = { flowId: string; client: FlowClient }

/** Condition: this client can finish the flow. */
function isFinishable(
  ceremony: Ceremony['ceremony'],
  { flowId, client: { browserSha256, isPage } }: Finishing,
  now: Date,
) {
  return (flow: ExpressionBuilder<Tables, 'passkey_flow'>) =>
    flow.and([
      ...[flow('flow_id', '=', flowId), flow('ceremony', '=', ceremony), flow('expires_at', '>', now)],
      flow.or([
        ...(browserSha256 ? [flow('browser_sha256', '=', browserSha256)] : []),
        ...(isPage ? [] : [flow('browser_sha256', 'is', null)]),
      ]),
    ])
}

const flowColumns = [
  'ceremony',
  'challenge',
  'user_id as userId',
  'identity_id as identityId',
  'handle',
  'display_name as displayName',
  'is_invited as isInvited',
  'recovery_auth_sha256 as recoveryAuthSha256',
  'recovery_link_id as recoveryLinkId',
  'user_handle as userHandle',
  'request_sha256 as requestSha256',
] as const

/** Tells the compiler which columns a ceremony has. The table's constraints guarantee it. */
function isFlow<Kind extends Ceremony['ceremony']>(
  row: { ceremony: string; challenge: string },
  kind: Kind,
): row is Extract<Flow, { ceremony: Kind }> {
  return row.ceremony === kind
}

export async function deleteExpiredFlows(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db.selectFrom('passkey_flow').select('flow_id').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('passkey_flow')
    .where('flow_id', 'in', expired)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

const credential = [
  'credential_id as credentialId',
  'user_id as userId',
  'public_key as publicKey',
  'sign_count as signCount',
  'backup_eligible as backupEligible',
  'backed_up as backedUp',
  'transports',
  'name',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'user_handle as userHandle',
] as const

export type Credential = NonNullable<Awaited<ReturnType<typeof findCredential>>>

export function findCredential(db: Database, credentialId: string) {
  return db
    .selectFrom('passkey_credential')
    .select(credential)
    .where('credential_id', '=', credentialId)
    .executeTakeFirst()
}

export function listCredentials(db: Database, userId: UserId) {
  return db
    .selectFrom('passkey_credential')
    .select(credential)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('credential_id')
    .execute()
}

export type NewCredential = Pick<
  Credential,
  'credentialId' | 'userId' | 'publicKey' | 'backupEligible' | 'backedUp' | 'transports' | 'name'
> & { signCount: number; userHandle?: Uint8Array }

export async function insertCredential(tx: Transaction, made: NewCredential, now: Date): Promise<void> {
  await tx
    .insertInto('passkey_credential')
    .values({
      credential_id: made.credentialId,
      user_id: made.userId,
      public_key: made.publicKey,
      sign_count: String(made.signCount),
      backup_eligible: made.backupEligible,
      backed_up: made.backedUp,
      transports: made.transports,
      name: made.name,
      created_at: now,
      last_used_at: now,
      user_handle: made.userHandle ?? null,
    })
    .execute()
}

/** Renames a passkey of a user. Returns undefined if the user has no passkey with this ID. */
export function setCredentialName(tx: Transaction, userId: UserId, credentialId: string, name: string) {
  return tx
    .updateTable('passkey_credential')
    .set({ name })
    .where('credential_id', '=', credentialId)
    .where('user_id', '=', userId)
    .returning(credential)
    .executeTakeFirst()
}

/**
 * Deletes a passkey of a user who has another one. Returns false if the user has no such passkey, or if it is the last.
 * The caller holds the lock of the user, so concurrent deletions run one after the other.
 */
export async function deleteCredential(tx: Transaction, userId: UserId, credentialId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('passkey_credential')
    .where('credential_id', '=', credentialId)
    .where('user_id', '=', userId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('passkey_credential as other')
          .select('other.credential_id')
          .where('other.user_id', '=', userId)
          .where('other.credential_id', '!=', credentialId),
      ),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

type Use = { credentialId: string; signCount: number; backedUp: boolean }

/**
 * Records the use of a credential. Returns false if a non-zero counter did not increase: of two uses with one count,
 * one is from a copy.
 */
export async function updateSignCount(
  tx: Transaction,
  { credentialId, signCount, backedUp }: Use,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('passkey_credential')
    .set({ sign_count: String(signCount), backed_up: backedUp, last_used_at: now })
    .where('credential_id', '=', credentialId)
    .where(({ eb, and, or }) =>
      or([eb('sign_count', '<', String(signCount)), and([eb('sign_count', '=', '0'), eb.val(signCount === 0)])]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function deleteCredentialsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('passkey_credential').where('user_id', '=', userId).execute()
}

export async function deleteFlowsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('passkey_flow').where('user_id', '=', userId).execute()
}
