import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

export function findLink(db: Database, connectionId: string, subject: string) {
  return db
    .selectFrom('sso_link')
    .select(['organization_id as organizationId', 'member_id as memberId', 'identity_id as identityId'])
    .where('connection_id', '=', connectionId)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

type NewLink = {
  connectionId: string
  subject: string
  organizationId: string
  memberId: string
  identityId: string
}

/** Links a subject to a member; false where it is linked to one who is there. A link to one who is gone gives way. */
export async function insertLink(tx: Transaction, link: NewLink, now: Date): Promise<boolean> {
  const said = {
    organization_id: link.organizationId,
    member_id: link.memberId,
    identity_id: link.identityId,
    linked_at: now,
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sso_link')
    .values({ connection_id: link.connectionId, subject: link.subject, ...said })
    .onConflict((conflict) =>
      conflict
        .columns(['connection_id', 'subject'])
        .doUpdateSet(said)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('organization_member')
                .select('organization_member.member_id')
                .whereRef('organization_member.organization_id', '=', 'sso_link.organization_id')
                .whereRef('organization_member.member_id', '=', 'sso_link.member_id'),
            ),
          ),
        ),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Notes with which address a subject has come now; who came with it before has it no more. The caller holds the
 * organization.
 */
export async function setLinkAddress(tx: Transaction, connectionId: string, subject: string, emailKey: string | null) {
  if (emailKey !== null)
    await tx
      .updateTable('sso_link')
      .set({ email_key: null })
      .where('connection_id', '=', connectionId)
      .where('email_key', '=', emailKey)
      .where('subject', '<>', subject)
      .execute()
  await tx
    .updateTable('sso_link')
    .set({ email_key: emailKey })
    .where('connection_id', '=', connectionId)
    .where('subject', '=', subject)
    .execute()
}

/** Which member's subject came with an address last. */
export async function findSubjectOfAddress(db: Database, connectionId: string, emailKey: string) {
  const row = await db
    .selectFrom('sso_link')
    .innerJoin('organization_member', (join) =>
      join
        .onRef('organization_member.organization_id', '=', 'sso_link.organization_id')
        .onRef('organization_member.member_id', '=', 'sso_link.member_id'),
    )
    .select('subject')
    .where('connection_id', '=', connectionId)
    .where('email_key', '=', emailKey)
    .executeTakeFirst()
  return row?.subject ?? null
}

export async function deleteLinksOfIdentities(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('sso_link').where('identity_id', 'in', identityIds).execute()
}

/** Deletes up to `batch` links of members who are gone, and says how many. */
export async function deleteLinksOfNobody(db: Database, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_link where (connection_id, subject) in (
      select connection_id, subject from sso_link
      left join organization_member using (organization_id, member_id)
      where organization_member.member_id is null limit ${batch}
    ) returning subject
  `.execute(db)
  return rows.length
}
