import type { Database, Transaction } from '#platform/database/database.ts'
import type { Sought } from './scim-filter.ts'
import type { ScimUser } from './user.ts'

const provisioning = [
  'connection_id as connectionId',
  'organization_id as organizationId',
  'subject_by as subjectBy',
  'token_sha256 as tokenSha256',
  'people_count as peopleCount',
] as const

/** That a directory says who may come by a connection. */
export type Provisioning = NonNullable<Awaited<ReturnType<typeof findProvisioning>>>

export function findProvisioning(db: Database, connectionId: string) {
  return db
    .selectFrom('sso_provisioning')
    .select(provisioning)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
}

type NewToken = Pick<Provisioning, 'connectionId' | 'organizationId' | 'subjectBy' | 'tokenSha256'>

/** Sets the token of a connection; false where people were named already, and would be known by something else. */
export async function setToken(tx: Transaction, token: NewToken, now: Date): Promise<boolean> {
  const said = { subject_by: token.subjectBy, token_sha256: token.tokenSha256, token_created_at: now }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sso_provisioning')
    .values({ connection_id: token.connectionId, organization_id: token.organizationId, ...said })
    .onConflict((conflict) =>
      conflict
        .column('connection_id')
        .doUpdateSet(said)
        .where(({ eb, or }) =>
          or([eb('sso_provisioning.people_count', '=', 0), eb('sso_provisioning.subject_by', '=', token.subjectBy)]),
        ),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Takes the token away, with all whom its holder has named; false where there is none. */
export async function deleteProvisioning(tx: Transaction, connectionId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sso_provisioning')
    .where('connection_id', '=', connectionId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Counts one more person of a connection; false where there are as many as there may be. */
export async function countPerson(tx: Transaction, connectionId: string, most: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sso_provisioning')
    .set((eb) => ({ people_count: eb('people_count', '+', 1) }))
    .where('connection_id', '=', connectionId)
    .where('people_count', '<', most)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

const person = [
  'connection_id as connectionId',
  'person_id as personId',
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
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

/** Somebody whom a directory has named. */
export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPerson>>>

function people(db: Database, connectionId: string) {
  return db.selectFrom('sso_provisioned_person').select(person).where('connection_id', '=', connectionId)
}

export function findPerson(db: Database, connectionId: string, personId: string) {
  return people(db, connectionId).where('person_id', '=', personId).executeTakeFirst()
}

/** Whom a directory means by its own words for people, the one named first before the others. */
export function findPeople(db: Database, connectionId: string, { by, text }: Sought) {
  return people(db, connectionId)
    .$if(by === 'userName', (some) => some.where('user_name_key', '=', text.toLowerCase()))
    .$if(by === 'externalId', (some) => some.where('external_id', '=', text))
    .$if(by === 'id', (some) => some.where('person_id', '=', text))
    .orderBy('person_id')
    .execute()
}

export function listPeople(db: Database, connectionId: string, { skipped, most }: { skipped: number; most: number }) {
  return people(db, connectionId).orderBy('person_id').offset(skipped).limit(most).execute()
}

/** Adds somebody; false where another has their user name, or is whom the provider means by the same. */
export async function insertPerson(tx: Transaction, added: PersonRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('sso_provisioned_person')
    .values({
      ...columnsOf(added),
      connection_id: added.connectionId,
      person_id: added.personId,
      created_at: added.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('person_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Changes somebody; false where another has their user name, or is whom the provider means by the same. */
export async function updatePerson(tx: Transaction, changed: PersonRow): Promise<boolean> {
  const { connectionId, personId } = changed
  const columns = columnsOf(changed)
  const { numUpdatedRows } = await tx
    .updateTable('sso_provisioned_person')
    .set(columns)
    .where('connection_id', '=', connectionId)
    .where('person_id', '=', personId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sso_provisioned_person as other')
            .select('other.person_id')
            .where('other.connection_id', '=', connectionId)
            .where('other.person_id', '<>', personId)
            .where(({ eb, or }) =>
              or([
                eb('other.user_name_key', '=', columns.user_name_key),
                eb('other.subject_key', '=', columns.subject_key),
              ]),
            ),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** What may change of somebody. */
function columnsOf(row: ScimUser & Pick<PersonRow, 'subjectKey' | 'subject' | 'updatedAt'>) {
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
    updated_at: row.updatedAt,
  }
}

/** Deletes somebody, and counts one less. */
export async function deletePerson(tx: Transaction, connectionId: string, personId: string): Promise<void> {
  await tx
    .deleteFrom('sso_provisioned_person')
    .where('connection_id', '=', connectionId)
    .where('person_id', '=', personId)
    .execute()
  await tx
    .updateTable('sso_provisioning')
    .set((eb) => ({ people_count: eb('people_count', '-', 1) }))
    .where('connection_id', '=', connectionId)
    .execute()
}

/** Who a subject is to the directory: whom the provider named before, or else somebody who waits for it. */
export function findPersonOfSubject(
  db: Database,
  connectionId: string,
  { subject, subjectKey }: { subject: string; subjectKey: string | undefined },
) {
  return people(db, connectionId)
    .where(({ eb, or, and }) =>
      or([
        eb('subject', '=', subject),
        ...(subjectKey === undefined ? [] : [and([eb('subject_key', '=', subjectKey), eb('subject', 'is', null)])]),
      ]),
    )
    .orderBy('subject')
    .limit(1)
    .executeTakeFirst()
}

/** Notes whom the provider has named, once. */
export async function bindPerson(
  tx: Transaction,
  { connectionId, personId, subject }: { connectionId: string; personId: string; subject: string },
): Promise<void> {
  await tx
    .updateTable('sso_provisioned_person')
    .set({ subject })
    .where('connection_id', '=', connectionId)
    .where('person_id', '=', personId)
    .where('subject', 'is', null)
    .execute()
}
