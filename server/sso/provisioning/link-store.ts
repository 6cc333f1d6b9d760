import { sql } from 'kysely'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { sendAhead } from '#platform/database/pipeline.ts'

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
  organizationId: OrganizationId
  memberId: string
  identityId: IdentityId
}

/**
 * Links a subject to a member. Returns false if it is linked to another current member. A link to a former member is
 * replaced.
 */
export async function insertLink(tx: Transaction, link: NewLink, now: Date): Promise<boolean> {
  const said = {
    organization_id: link.organizationId,
    member_id: link.memberId,
    identity_id: link.identityId,
    linked_at: now,
  }
  // A distributed database does not look up members in the update of a conflict.
  const replacesFormer = isDistributed(tx)
  if (replacesFormer)
    sendAhead(
      tx,
      tx
        .deleteFrom('sso_link')
        .where('connection_id', '=', link.connectionId)
        .where('subject', '=', link.subject)
        .where(isOfFormerMember),
    )
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sso_link')
    .values({ connection_id: link.connectionId, subject: link.subject, ...said })
    .onConflict((conflict) => {
      const present = conflict.columns(['connection_id', 'subject'])
      return replacesFormer ? present.doNothing() : present.doUpdateSet(said).where(isOfFormerMember)
    })
    .$if(!replacesFormer, (insert) => insert.modifyEnd(onOneServer))
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

const isOfFormerMember = sql<boolean>`not exists (
  select from organization_member
  where organization_member.organization_id = sso_link.organization_id
    and organization_member.member_id = sso_link.member_id
)`

/**
 * Records the current e-mail address of a subject, and removes it from a subject that had it before. The caller has
 * locked the organization.
 */
export async function setLinkEmail(
  tx: Transaction,
  connectionId: string,
  subject: string,
  normalizedEmail: string | null,
) {
  if (normalizedEmail !== null)
    await tx
      .updateTable('sso_link')
      .set({ normalized_email: null })
      .where('connection_id', '=', connectionId)
      .where('normalized_email', '=', normalizedEmail)
      .where('subject', '<>', subject)
      .execute()
  await tx
    .updateTable('sso_link')
    .set({ normalized_email: normalizedEmail })
    .where('connection_id', '=', connectionId)
    .where('subject', '=', subject)
    .execute()
}

/** Finds the member whose subject most recently used an e-mail address. */
export async function findSubjectByEmail(db: Database, connectionId: string, normalizedEmail: string) {
  const row = await db
    .selectFrom('sso_link')
    .innerJoin('organization_member', (join) =>
      join
        .onRef('organization_member.organization_id', '=', 'sso_link.organization_id')
        .onRef('organization_member.member_id', '=', 'sso_link.member_id'),
    )
    .select('subject')
    .where('connection_id', '=', connectionId)
    .where('normalized_email', '=', normalizedEmail)
    .executeTakeFirst()
  return row?.subject ?? null
}

export async function deleteLinksOfIdentities(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('sso_link').where('identity_id', 'in', identityIds).execute()
}

/** Deletes up to `batch` links of former members, and returns the number. */
export async function deleteOrphanedLinks(db: Database, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_link where (connection_id, subject) in (
      select connection_id, subject from sso_link
      left join organization_member using (organization_id, member_id)
      where organization_member.member_id is null limit ${batch}
    ) returning subject
  `.execute(db)
  return rows.length
}

/** Lists the subjects that are linked to an identity, in the order of linking. */
export function listLinksOf(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('sso_link')
    .select(['connection_id as connectionId', 'organization_id as organizationId', 'subject'])
    .select(['normalized_email as email', 'linked_at as linkedAt'])
    .where('identity_id', '=', identityId)
    .orderBy('linked_at')
    .orderBy('connection_id')
    .execute()
}
