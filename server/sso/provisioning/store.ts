import type { ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { ScimFilter } from './filter.ts'
import type { ScimUser } from './user.ts'

const provisioning = [
  'connection_id as connectionId',
  'organization_id as organizationId',
  'subject_by as subjectBy',
  'token_sha256 as tokenSha256',
  'user_count as userCount',
] as const

/** SCIM provisioning of a connection. */
export type ScimDirectory = NonNullable<Awaited<ReturnType<typeof findProvisioning>>>

export function findProvisioning(db: Database, connectionId: string) {
  return db
    .selectFrom('sso_scim_directory')
    .select(provisioning)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
}

type NewToken = Pick<ScimDirectory, 'connectionId' | 'organizationId' | 'subjectBy' | 'tokenSha256'>

/**
 * Sets the SCIM token of a connection. Returns false if provisioned users exist that are matched by another
 * `subjectBy`.
 */
export async function setToken(tx: Transaction, token: NewToken, now: Date): Promise<boolean> {
  const said = { subject_by: token.subjectBy, token_sha256: token.tokenSha256, token_created_at: now }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sso_scim_directory')
    .values({ connection_id: token.connectionId, organization_id: token.organizationId, ...said })
    .onConflict((conflict) =>
      conflict
        .column('connection_id')
        .doUpdateSet(said)
        .where(({ eb, or }) =>
          or([eb('sso_scim_directory.user_count', '=', 0), eb('sso_scim_directory.subject_by', '=', token.subjectBy)]),
        ),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes the SCIM token and all provisioned users. Returns false if there is none. */
export async function deleteProvisioning(tx: Transaction, connectionId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sso_scim_directory')
    .where('connection_id', '=', connectionId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Increases the user count of a connection. Returns false at the maximum number. */
export async function incrementUserCount(tx: Transaction, connectionId: string, most: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sso_scim_directory')
    .set((eb) => ({ user_count: eb('user_count', '+', 1) }))
    .where('connection_id', '=', connectionId)
    .where('user_count', '<', most)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

const person = [
  'connection_id as connectionId',
  'scim_user_id as scimUserId',
  'user_name as userName',
  'external_id as externalId',
  'display_name as displayName',
  'given_name as givenName',
  'family_name as familyName',
  'email',
  'email_is_primary as isEmailPrimary',
  'active',
  'role',
  'subject_key as subjectKey',
  'subject',
  'subject_is_assumed as isSubjectAssumed',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

/** A provisioned user. */
export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPerson>>>

function people(db: Database, connectionId: string) {
  return db.selectFrom('sso_scim_user').select(person).where('connection_id', '=', connectionId)
}

export function findPerson(db: Database, connectionId: string, scimUserId: string) {
  return people(db, connectionId).where('scim_user_id', '=', scimUserId).executeTakeFirst()
}

type Page = { skipped: number; most: number }

function isMatch({ by, text }: ScimFilter) {
  const columns = { userName: 'user_name_key', externalId: 'external_id', id: 'scim_user_id' } as const
  return (is: ExpressionBuilder<Tables, 'sso_scim_user'>) =>
    is(columns[by], '=', by === 'userName' ? text.toLowerCase() : text)
}

/** Lists a page of the users with an attribute of the directory, the one provisioned first at the beginning. */
export function listMatching(db: Database, connectionId: string, filter: ScimFilter, { skipped, most }: Page) {
  return people(db, connectionId).where(isMatch(filter)).orderBy('scim_user_id').offset(skipped).limit(most).execute()
}

export async function countMatching(db: Database, connectionId: string, filter: ScimFilter): Promise<number> {
  const { total } = await db
    .selectFrom('sso_scim_user')
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .where('connection_id', '=', connectionId)
    .where(isMatch(filter))
    .executeTakeFirstOrThrow()
  return Number(total)
}

export function listPeople(db: Database, connectionId: string, { skipped, most }: Page) {
  return people(db, connectionId).orderBy('scim_user_id').offset(skipped).limit(most).execute()
}

/** Inserts a user. Returns false if another user has the user name or the subject. */
export async function insertPerson(tx: Transaction, added: PersonRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('sso_scim_user')
    .values({
      ...columnsOf(added),
      connection_id: added.connectionId,
      scim_user_id: added.scimUserId,
      created_at: added.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('scim_user_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Updates a user. Returns false if another user has the user name or the subject. */
export async function updatePerson(tx: Transaction, changed: PersonRow): Promise<boolean> {
  const { connectionId, scimUserId, subject } = changed
  const columns = columnsOf(changed)
  const { numUpdatedRows } = await tx
    .updateTable('sso_scim_user')
    .set(columns)
    .where('connection_id', '=', connectionId)
    .where('scim_user_id', '=', scimUserId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sso_scim_user as other')
            .select('other.scim_user_id')
            .where('other.connection_id', '=', connectionId)
            .where('other.scim_user_id', '<>', scimUserId)
            .where(({ eb, or }) =>
              or([
                eb('other.user_name_key', '=', columns.user_name_key),
                eb('other.subject_key', '=', columns.subject_key),
                ...(subject === null ? [] : [eb('other.subject', '=', subject)]),
              ]),
            ),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Fields of a user that can change. */
function columnsOf(row: ScimUser & Pick<PersonRow, 'subjectKey' | 'subject' | 'isSubjectAssumed' | 'updatedAt'>) {
  return {
    user_name: row.userName,
    user_name_key: row.userName.toLowerCase(),
    external_id: row.externalId,
    display_name: row.displayName,
    given_name: row.givenName,
    family_name: row.familyName,
    email: row.email,
    email_is_primary: row.isEmailPrimary,
    active: row.active,
    role: row.role,
    subject_key: row.subjectKey,
    subject: row.subject,
    subject_is_assumed: row.isSubjectAssumed,
    updated_at: row.updatedAt,
  }
}

/** Deletes a user, and decreases the user count. */
export async function deletePerson(tx: Transaction, connectionId: string, scimUserId: string): Promise<void> {
  await tx
    .deleteFrom('sso_scim_user')
    .where('connection_id', '=', connectionId)
    .where('scim_user_id', '=', scimUserId)
    .execute()
  await tx
    .updateTable('sso_scim_directory')
    .set((eb) => ({ user_count: eb('user_count', '-', 1) }))
    .where('connection_id', '=', connectionId)
    .execute()
}

/** Checks if a provisioned user other than this one has a subject. */
export async function isSubjectOfAnother(
  tx: Transaction,
  { connectionId, scimUserId, subject }: { connectionId: string; scimUserId: string; subject: string },
): Promise<boolean> {
  const other = await tx
    .selectFrom('sso_scim_user')
    .select('scim_user_id')
    .where('connection_id', '=', connectionId)
    .where('subject', '=', subject)
    .where('scim_user_id', '<>', scimUserId)
    .executeTakeFirst()
  return other !== undefined
}

type Arrived = { subject: string; subjectKey: string | undefined }

/**
 * Finds the provisioned user of a subject: the one that has signed in with it, or else the one that the directory names
 * by its key and that has not signed in yet, or else the one that is assumed to have it.
 */
export async function findScimUserBySubject(
  db: Database,
  connectionId: string,
  { subject, subjectKey }: Arrived,
): Promise<PersonRow | undefined> {
  const found = await people(db, connectionId)
    .where(({ eb, or, and }) =>
      or([
        eb('subject', '=', subject),
        ...(subjectKey === undefined
          ? []
          : [
              and([
                eb('subject_key', '=', subjectKey),
                or([eb('subject', 'is', null), eb('subject_is_assumed', '=', true)]),
              ]),
            ]),
      ]),
    )
    .limit(2)
    .execute()
  const bound = found.find((each) => each.subject === subject)
  if (bound && !bound.isSubjectAssumed) return bound
  return found.find((each) => each.subjectKey === subjectKey) ?? bound
}

/**
 * Links a provisioned user to the subject that signs in, once. A user who was assumed to have the subject no longer has
 * it. The caller has locked the organization.
 */
export async function bindSubject(
  tx: Transaction,
  { connectionId, scimUserId, subject }: { connectionId: string; scimUserId: string; subject: string },
): Promise<void> {
  await tx
    .updateTable('sso_scim_user')
    .set({ subject: null, subject_is_assumed: false })
    .where('connection_id', '=', connectionId)
    .where('subject', '=', subject)
    .where('scim_user_id', '<>', scimUserId)
    .where('subject_is_assumed', '=', true)
    .execute()
  await tx
    .updateTable('sso_scim_user')
    .set({ subject, subject_is_assumed: false })
    .where('connection_id', '=', connectionId)
    .where('scim_user_id', '=', scimUserId)
    .where(({ eb, or }) => or([eb('subject', 'is', null), eb('subject_is_assumed', '=', true)]))
    .execute()
}
