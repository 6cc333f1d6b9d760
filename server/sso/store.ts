import { sql } from 'kysely'
import type { Database, Transaction } from '#kernel/database.ts'

const connection = [
  'connection_id as connectionId',
  'organization_id as organizationId',
  'name',
  'settings',
  'sealed_secret as sealedSecret',
  'enabled',
  'domains',
  'tested_at as testedAt',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type ConnectionRow = NonNullable<Awaited<ReturnType<typeof findConnection>>>

export function findConnection(db: Database, connectionId: string) {
  return db.selectFrom('sso_connection').select(connection).where('connection_id', '=', connectionId).executeTakeFirst()
}

/** The connections of an organization, the oldest first. */
export function listConnections(db: Database, organizationId: string) {
  return db
    .selectFrom('sso_connection')
    .select(connection)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('connection_id')
    .execute()
}

export async function insertConnection(tx: Transaction, inserted: ConnectionRow): Promise<void> {
  await tx
    .insertInto('sso_connection')
    .values({
      ...settingsOf(inserted),
      connection_id: inserted.connectionId,
      organization_id: inserted.organizationId,
      created_at: inserted.createdAt,
    })
    .execute()
}

export async function updateConnection(tx: Transaction, changed: ConnectionRow): Promise<void> {
  await tx
    .updateTable('sso_connection')
    .set(settingsOf(changed))
    .where('connection_id', '=', changed.connectionId)
    .execute()
}

/** What may change of a connection. */
function settingsOf({ name, settings, sealedSecret, enabled, domains, testedAt, updatedAt }: ConnectionRow) {
  const stated = { name, settings: JSON.stringify(settings), enabled, domains }
  return { ...stated, sealed_secret: sealedSecret, tested_at: testedAt, updated_at: updatedAt }
}

/** Notes a test that succeeded; undefined where the connection is gone. */
export function setTested(tx: Transaction, connectionId: string, now: Date) {
  return tx
    .updateTable('sso_connection')
    .set({ tested_at: now })
    .where('connection_id', '=', connectionId)
    .returning(connection)
    .executeTakeFirst()
}

export async function deleteConnection(tx: Transaction, connectionId: string): Promise<void> {
  await tx.deleteFrom('sso_connection').where('connection_id', '=', connectionId).execute()
}

/** The client secrets there are, for who seals them anew. */
export function listSealedSecrets(db: Database) {
  return db
    .selectFrom('sso_connection')
    .select(['connection_id as connectionId'])
    .select(({ ref }) => ref('sealed_secret').$notNull().as('sealedSecret'))
    .where('sealed_secret', 'is not', null)
    .execute()
}

/** Puts a sealed secret in the place of the same one, unless it was changed meanwhile. */
export async function replaceSealed(db: Database, connectionId: string, earlier: string, sealed: string) {
  await db
    .updateTable('sso_connection')
    .set({ sealed_secret: sealed })
    .where('connection_id', '=', connectionId)
    .where('sealed_secret', '=', earlier)
    .execute()
}

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

const flow = [
  'flow_id as flowId',
  'connection_id as connectionId',
  'purpose',
  'sealed_memory as sealedMemory',
  'return_to as returnTo',
  'subject',
  'email',
  'email_verified as emailVerified',
  'display_name as displayName',
] as const

type NewFlow = {
  flowId: string
  connectionId: string
  purpose: 'sign in' | 'test'
  step: 'offered' | 'begun'
  stateSha256: Uint8Array
  browserSha256?: Uint8Array
  sealedMemory?: string
  returnTo?: string
  expiresAt: Date
}

export async function insertFlow(db: Database, inserted: NewFlow): Promise<void> {
  await db
    .insertInto('sso_flow')
    .values({
      flow_id: inserted.flowId,
      connection_id: inserted.connectionId,
      purpose: inserted.purpose,
      step: inserted.step,
      state_sha256: inserted.stateSha256,
      browser_sha256: inserted.browserSha256 ?? null,
      sealed_memory: inserted.sealedMemory ?? null,
      return_to: inserted.returnTo ?? null,
      expires_at: inserted.expiresAt,
    })
    .execute()
}

/** Takes out a test that was offered, once; false where there is none. */
export async function takeOffer(db: Database, connectionId: string, stateSha256: Uint8Array, now: Date) {
  const { numDeletedRows } = await db
    .deleteFrom('sso_flow')
    .where('state_sha256', '=', stateSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'offered')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

type Answered = { connectionId: string; stateSha256: Uint8Array; browserSha256: Uint8Array }

/** Takes a sign-in from its beginning to the provider's answer, once; undefined where none of this browser waits. */
export function takeAnswered(db: Database, { connectionId, stateSha256, browserSha256 }: Answered, now: Date) {
  return db
    .updateTable('sso_flow')
    .set({ step: 'answered' })
    .where('state_sha256', '=', stateSha256)
    .where('browser_sha256', '=', browserSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'begun')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

type Proved = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string | undefined
}

/** Notes whom the provider has named. What it was asked with is of no use any more. */
export async function setProved(db: Database, flowId: string, proved: Proved, expiresAt: Date): Promise<void> {
  const { subject, email, emailVerified, displayName } = proved
  await db
    .updateTable('sso_flow')
    .set({
      step: 'proved',
      expires_at: expiresAt,
      sealed_memory: null,
      subject,
      email: email ?? null,
      email_verified: emailVerified,
      display_name: displayName ?? null,
    })
    .where('flow_id', '=', flowId)
    .where('step', '=', 'answered')
    .execute()
}

type OfBrowser = { flowId: string; browserSha256: Uint8Array }

export function findProved(db: Database, { flowId, browserSha256 }: OfBrowser, now: Date) {
  return db
    .selectFrom('sso_flow')
    .select(flow)
    .where('flow_id', '=', flowId)
    .where('browser_sha256', '=', browserSha256)
    .where('step', '=', 'proved')
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Takes a sign-in to its end, once; undefined where none of this browser has been proved. */
export function takeProved(tx: Transaction, { flowId, browserSha256 }: OfBrowser, now: Date) {
  return tx
    .updateTable('sso_flow')
    .set({ step: 'over' })
    .where('flow_id', '=', flowId)
    .where('browser_sha256', '=', browserSha256)
    .where('step', '=', 'proved')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

/** Deletes up to `batch` sign-ins whose time is over, and says how many. */
export async function deleteExpiredFlows(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('sso_flow').select('flow_id').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db.deleteFrom('sso_flow').where('flow_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
