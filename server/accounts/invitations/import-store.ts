import { limits } from '@countersign/protocol/formats/limits'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { invitation, type NewInvitation } from './store.ts'

/** Serializes imports until the transaction ends. Other changes of invitations do not wait. */
export async function lockImports(tx: Transaction): Promise<void> {
  await sql`lock table invitation in share update exclusive mode`.execute(tx)
}

/** Finds the mailed invitations of addresses in lower case that are pending or were used, also the void ones. */
export function findMailed(tx: Transaction, addresses: string[], now: Date) {
  return tx
    .selectFrom('invitation')
    .select(invitation)
    .where(sql<boolean>`lower(email) = any(${addresses}::text[]) and (use_count > 0 or expires_at > ${now})`)
    .execute()
}

/** Deletes invitations that were not used. Returns their IDs. */
export async function deleteUnused(tx: Transaction, invitationIds: string[]): Promise<string[]> {
  const rows = await tx
    .deleteFrom('invitation')
    .where(sql<boolean>`invitation_id = any(${invitationIds}::uuid[])`)
    .where('use_count', '=', 0)
    .returning('invitation_id as invitationId')
    .execute()
  return rows.map(({ invitationId }) => invitationId)
}

/** Counts the pending invitations, up to the limit. */
export async function countPending(tx: Transaction, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from invitation where use_count < max_uses and expires_at > ${now} limit ${limits.accountInvitationsMax}
    ) pending`.execute(tx)
  return rows[0]?.count ?? 0
}

/** Inserts invitations, to be mailed in the background. */
export async function insertInvitations(tx: Transaction, inserted: NewInvitation[], now: Date): Promise<void> {
  const rows = inserted.map(({ tokenSha256, expiresAt, ...row }) => ({
    ...row,
    tokenSha256: Buffer.from(tokenSha256).toString('hex'),
    expiresAt: expiresAt.toISOString(),
  }))
  await sql`
    insert into invitation (
      invitation_id, token_sha256, kind, email, handle, display_name, group_ids, language, message, max_uses,
      created_at, issued_at, expires_at, created_by, admin_token_id, mail_at
    )
    select "invitationId", decode("tokenSha256", 'hex'), kind, email, handle, "displayName", "groupIds", language,
      message, "maxUses", ${now}::timestamptz, ${now}::timestamptz, "expiresAt", "operatorId", "tokenId",
      ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as inserted (
      "invitationId" uuid, "tokenSha256" text, kind text, email text, handle text, "displayName" text,
      "groupIds" uuid[], language text, message text, "maxUses" integer, "expiresAt" timestamptz,
      "operatorId" uuid, "tokenId" uuid
    )`.execute(tx)
}

/**
 * Leases up to `batch` invitations whose mail is due until an instant, the longest due first. Those that ended are not
 * mailed.
 */
export function leaseMails(db: Database, { now, until, batch }: { now: Date; until: Date; batch: number }) {
  return db
    .updateTable('invitation')
    .set((eb) => ({ mail_at: until, mail_attempts: eb('mail_attempts', '+', 1) }))
    .where('invitation_id', 'in', (eb) =>
      eb
        .selectFrom('invitation')
        .select('invitation_id')
        .where('mail_at', '<=', now)
        .orderBy('mail_at')
        .orderBy('invitation_id')
        .limit(batch)
        .$if(!isDistributed(db), (rows) => rows.forUpdate().skipLocked()),
    )
    .returning([...invitation, 'mail_attempts as attempts'])
    .execute()
}

type Lease = { invitationId: string; until: Date }

/** Gives a leased invitation the link that is about to be mailed. Returns false if it was used, or is not leased. */
export async function setLink(db: Database, { invitationId, until }: Lease, tokenSha256: Uint8Array): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('invitation')
    .set({ token_sha256: tokenSha256 })
    .where('invitation_id', '=', invitationId)
    .where('mail_at', '=', until)
    .where('use_count', '=', 0)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Sets when a leased invitation is mailed, or that it is not. */
export async function setMailAt(db: Database, { invitationId, until }: Lease, mailAt: Date | null): Promise<void> {
  await db
    .updateTable('invitation')
    .set({ mail_at: mailAt })
    .where('invitation_id', '=', invitationId)
    .where('mail_at', '=', until)
    .execute()
}
