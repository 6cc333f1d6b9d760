import { limits } from '@countersign/protocol/formats/limits'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { addInterval } from '#platform/database/distributed/engine.ts'

export const invitation = [
  'invitation_id as invitationId',
  'kind',
  'email',
  'handle',
  'display_name as displayName',
  'group_ids as groupIds',
  'language',
  'message',
  'max_uses as maxUses',
  'use_count as useCount',
  'created_at as createdAt',
  'issued_at as issuedAt',
  'expires_at as expiresAt',
  'mailed_at as mailedAt',
  'mail_at as nextMailAt',
  'created_by as operatorId',
  'admin_token_id as tokenId',
  'identity_id as identityId',
] as const

export type InvitationRow = NonNullable<Awaited<ReturnType<typeof findInvitation>>>

export type NewInvitation = {
  invitationId: string
  tokenSha256: Uint8Array
  kind: 'link' | 'mail'
  email: string | null
  handle: string | null
  displayName: string | null
  groupIds: string[]
  language: Language
  message: string | null
  maxUses: number
  expiresAt: Date
  operatorId: IdentityId | null
  tokenId: string | null
  /** The invited identity that it is for. */
  identityId: IdentityId | null
}

/** Inserts an invitation, unless too many are pending. Returns false then. */
export async function insertInvitation(
  tx: Transaction,
  { mailAt, ...row }: NewInvitation & { mailAt: Date | null },
  now: Date,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into invitation (
      invitation_id, token_sha256, kind, email, handle, display_name, group_ids, language, message, max_uses,
      created_at, issued_at, expires_at, created_by, admin_token_id, identity_id, mail_at
    )
    select ${row.invitationId}::uuid, ${row.tokenSha256}::bytea, ${row.kind}, ${row.email}, ${row.handle},
      ${row.displayName}, ${row.groupIds}::uuid[], ${row.language}, ${row.message}, ${row.maxUses}::integer,
      ${now}::timestamptz, ${now}::timestamptz, ${row.expiresAt}::timestamptz, ${row.operatorId}::uuid,
      ${row.tokenId}::uuid, ${row.identityId}::uuid, ${mailAt}::timestamptz
    where (
      select count(*) from (
        select from invitation where use_count < max_uses and expires_at > ${now}
        limit ${limits.accountInvitationsMax}
      ) pending
    ) < ${limits.accountInvitationsMax}`.execute(tx)
  return numAffectedRows === 1n
}

/** Lists `count` invitations, newest first, those created before another one. */
export function listInvitations(db: Database, { before, count }: { before: string | undefined; count: number }) {
  return db
    .selectFrom('invitation')
    .select(invitation)
    .$if(before !== undefined, (some) => some.where('invitation_id', '<', before ?? ''))
    .orderBy('invitation_id', 'desc')
    .limit(count)
    .execute()
}

/**
 * Lists `count` mailed invitations that can still be used, in the order of their creation, those after another one.
 * Leaves out those of invited identities.
 */
export function listPendingMailed(
  db: Database,
  { after, count }: { after: string | undefined; count: number },
  now: Date,
) {
  return db
    .selectFrom('invitation')
    .select(invitation)
    .where('kind', '=', 'mail')
    .where('identity_id', 'is', null)
    .where('use_count', '=', 0)
    .where('expires_at', '>', now)
    .$if(after !== undefined, (some) => some.where('invitation_id', '>', after ?? ''))
    .orderBy('invitation_id')
    .limit(count)
    .execute()
}

/** Finds the invitations of addresses in lower case, used and expired ones too. */
export function findByAddress(db: Database | Transaction, addresses: string[]) {
  return db
    .selectFrom('invitation')
    .select(invitation)
    .where(sql<string>`lower(email)`, 'in', addresses)
    .orderBy('invitation_id')
    .execute()
}

export function findInvitation(db: Database, invitationId: string) {
  return db.selectFrom('invitation').select(invitation).where('invitation_id', '=', invitationId).executeTakeFirst()
}

/** Finds the invitation of a token that can still be used. */
export function findUsable(db: Database, tokenSha256: Uint8Array, now: Date) {
  return db
    .selectFrom('invitation')
    .select(invitation)
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .whereRef('use_count', '<', 'max_uses')
    .executeTakeFirst()
}

/** Uses an invitation for one registration. Returns undefined if it expired, was used up, or has another token. */
export function consumeInvitation(tx: Transaction, tokenSha256: Uint8Array, now: Date) {
  return tx
    .updateTable('invitation')
    .set((eb) => ({ use_count: eb('use_count', '+', 1) }))
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .whereRef('use_count', '<', 'max_uses')
    .returning(invitation)
    .executeTakeFirst()
}

/** Notes when the present link was mailed. */
export async function noteMailed(db: Database, tokenSha256: Uint8Array, now: Date): Promise<void> {
  const mailed = { mailed_at: now, mail_at: null }
  await db.updateTable('invitation').set(mailed).where('token_sha256', '=', tokenSha256).execute()
}

type Reissued = { invitationId: string; tokenSha256: Uint8Array }

/**
 * Replaces the link of a mailed invitation that was not used, which then expires after its whole lifetime. Returns
 * undefined if there is none.
 */
export function reissue(tx: Transaction, { invitationId, tokenSha256 }: Reissued, now: Date) {
  return tx
    .updateTable('invitation')
    .set({
      token_sha256: tokenSha256,
      issued_at: now,
      mailed_at: now,
      mail_at: null,
      expires_at: addInterval(now, sql`(expires_at - issued_at)`),
    })
    .where('invitation_id', '=', invitationId)
    .where('kind', '=', 'mail')
    .where('use_count', '=', 0)
    .returning(invitation)
    .executeTakeFirst()
}

/** Deletes an invitation. Returns its kind, or undefined if it does not exist. */
export function deleteInvitation(tx: Transaction, invitationId: string) {
  return tx.deleteFrom('invitation').where('invitation_id', '=', invitationId).returning('kind').executeTakeFirst()
}

/** Records which identity has accepted an invitation for one use. It ends with this identity. */
export async function recordAccepted(tx: Transaction, invitationId: string, identityId: IdentityId): Promise<void> {
  await tx
    .updateTable('invitation')
    .set({ identity_id: identityId })
    .where('invitation_id', '=', invitationId)
    .where('max_uses', '=', 1)
    .execute()
}

/** Deletes the invitations that identities have accepted. */
export async function deleteAccepted(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  for (const identityId of identityIds)
    await tx.deleteFrom('invitation').where('identity_id', '=', identityId).where('use_count', '>', 0).execute()
}

type Named = { identityId: IdentityId; handle: string; displayName: string }

/** Changes the names in the invitation of an invited identity. */
export async function renameOfIdentity(tx: Transaction, { identityId, handle, displayName }: Named): Promise<void> {
  await tx
    .updateTable('invitation')
    .set({ handle, display_name: displayName })
    .where('identity_id', '=', identityId)
    .execute()
}

type Membership = { groupId: string; identityIds: IdentityId[] }

/** Removes a group from the invitations of invited identities. */
export async function removeGroupOfIdentities(tx: Transaction, { groupId, identityIds }: Membership): Promise<void> {
  await sql`
    update invitation set group_ids = array_remove(group_ids, ${groupId}::uuid)
    where identity_id = any(${identityIds}::uuid[])`.execute(tx)
}

/** Deletes the invitation of an invited identity. Returns its ID and kind, or undefined without one. */
export function deleteOfIdentity(tx: Transaction, identityId: IdentityId) {
  return tx
    .deleteFrom('invitation')
    .where('identity_id', '=', identityId)
    .returning(['invitation_id as invitationId', 'kind'])
    .executeTakeFirst()
}

/** Deletes up to `batch` invitations that expired before an instant. Returns their number. */
export async function deleteExpired(db: Database, before: Date, batch: number): Promise<number> {
  const expired = db.selectFrom('invitation').select('invitation_id').where('expires_at', '<=', before).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('invitation')
    .where('invitation_id', 'in', expired)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
