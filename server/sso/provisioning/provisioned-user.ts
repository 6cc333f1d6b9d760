import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import { type AuditAction, recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isUuid } from '@countersign/protocol/values'
import { removeDeprovisionedMember } from '#organizations/members/member.ts'
import * as linkStore from './link-store.ts'
import { type ScimDirectory, lockScimDirectory } from './directory.ts'
import * as store from './store.ts'
import { errors as scimErrors } from '#platform/scim/message.ts'
import type { ScimFilter } from './filter.ts'
import type { ScimUser } from './user.ts'

const errors = defineErrors({
  sso_user_deactivated: [403, 'The directory has deactivated this user. Contact your administrator.'],
  scim_user_not_found: [404, 'User not found.'],
  too_many_scim_users: [409, `A connection can have at most ${limits.provisionedPeopleMax} users.`],
})

type Person = store.PersonRow
type ScimDeps = Pick<ServerContext, 'db'>

const taken = 'userName or the subject is already in use by another user of this connection.'

/** Gets a provisioned user. Throws `scim_user_not_found`. */
export async function getScimUser(db: Database, { connectionId }: ScimDirectory, scimUserId: string): Promise<Person> {
  const found = isUuid(scimUserId) ? await store.findPerson(db, connectionId, scimUserId) : undefined
  if (!found) throw errors.scim_user_not_found()
  return found
}

type Page = { skipped: number; most: number }

/** Lists a page of the provisioned users that match a filter, with their total number. */
export async function listScimUsers(
  db: Database,
  { connectionId, userCount }: ScimDirectory,
  target: ScimFilter | undefined,
  page: Page,
): Promise<{ people: Person[]; total: number }> {
  if (!target) return { people: await store.listPeople(db, connectionId, page), total: userCount }
  const isNobody = target.by === 'id' && !isUuid(target.text)
  if (isNobody) return { people: [], total: 0 }
  const [found, total] = await Promise.all([
    store.listMatching(db, connectionId, target, page),
    store.countMatching(db, connectionId, target),
  ])
  return { people: found, total }
}

/**
 * Creates a provisioned user. This creates neither an account nor a membership; it allows the user to join. Throws
 * `invalidValue`, `uniqueness`, `too_many_scim_users`, `unauthorized`, and `last_owner` if the user is created
 * inactive.
 */
export async function createScimUser(
  { db }: ScimDeps,
  asking: ScimDirectory,
  user: ScimUser,
  now: Date,
): Promise<Person> {
  return transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await lockScimDirectory(tx, asking)
    const subjectKey = subjectKeyOf(subjectBy, user)
    if (!(await store.incrementUserCount(tx, connectionId, limits.provisionedPeopleMax)))
      throw errors.too_many_scim_users()
    const dates = { createdAt: now, updatedAt: now }
    const keys = { connectionId, scimUserId: randomUUIDv7(), subjectKey, subject: null, isSubjectAssumed: false }
    const named = { ...user, ...keys, ...dates }
    const person = { ...named, ...(await subjectOf(tx, subjectBy, named)) }
    if (!(await store.insertPerson(tx, person))) throw scimErrors.uniqueness({ sentence: taken })
    const { scimUserId, active } = person
    await note(tx, 'scim.user.created', { organizationId, details: { connectionId, scimUserId, active } }, now)
    if (!active) await endMembership(tx, asking, person, now)
    return person
  })
}

/**
 * Updates a provisioned user with `change`. A user who becomes inactive loses the membership that came from this
 * connection. Throws `scim_user_not_found`, `invalidValue`, `uniqueness`, `unauthorized`, `last_owner`, and the errors
 * of `change`.
 */
export async function updateScimUser(
  { db }: ScimDeps,
  asking: ScimDirectory,
  { scimUserId, change }: { scimUserId: string; change: (before: ScimUser) => ScimUser },
  now: Date,
): Promise<Person> {
  return transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await lockScimDirectory(tx, asking)
    const before = await getScimUser(tx, asking, scimUserId)
    const user = change(before)
    const changed = fieldsThatChange(before, user)
    if (changed.length === 0) return before
    const named = { ...before, ...user, subjectKey: subjectKeyOf(subjectBy, user), updatedAt: now }
    const person = { ...named, ...(await subjectOf(tx, subjectBy, named)) }
    if (!(await store.updatePerson(tx, person))) throw scimErrors.uniqueness({ sentence: taken })
    const details = { connectionId, scimUserId, changed, active: person.active }
    await note(tx, 'scim.user.updated', { organizationId, details }, now)
    if (!person.active) await endMembership(tx, asking, person, now)
    return person
  })
}

/**
 * Deletes a provisioned user, and ends the membership in the same way. Throws `scim_user_not_found`, `unauthorized`,
 * `last_owner`.
 */
export async function deleteScimUser(
  { db }: ScimDeps,
  asking: ScimDirectory,
  scimUserId: string,
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await lockScimDirectory(tx, asking)
    const found = await getScimUser(tx, asking, scimUserId)
    const person = { ...found, ...(await subjectOf(tx, subjectBy, found)) }
    await store.deletePerson(tx, connectionId, scimUserId)
    await note(tx, 'scim.user.deleted', { organizationId, details: { connectionId, scimUserId } }, now)
    await endMembership(tx, asking, person, now)
  })
}

/** User that the provider named, with an e-mail address if it has verified one. */
export type SsoSubject = { subject: string; email: string | null; emailVerified: boolean }

/** Directory state for a user: if there is a directory, if it has provisioned the user, and if the user is active. */
export type ProvisioningStatus =
  | { of: 'no directory' }
  | { of: 'nobody' }
  | { of: 'a person'; scimUserId: string; active: boolean; role: Person['role']; isToBeLinked: boolean }

export async function findProvisionedUser(
  db: Database,
  connectionId: string,
  arrived: SsoSubject,
): Promise<ProvisioningStatus> {
  const provisioning = await store.findProvisioning(db, connectionId)
  if (!provisioning) return { of: 'no directory' }
  const { subject } = arrived
  const subjectKey = provisioning.subjectBy === 'externalId' ? subject : emailKeyOf(arrived)
  const person = await store.findScimUserBySubject(db, connectionId, { subject, subjectKey })
  if (!person) return { of: 'nobody' }
  const { scimUserId, active, role } = person
  const isLinked = person.subject === subject && !person.isSubjectAssumed
  return { of: 'a person', scimUserId, active, role, isToBeLinked: !isLinked && person.subjectKey === subjectKey }
}

/** Directory state for a user who is not deactivated. Throws `sso_user_deactivated`. */
export async function requireActiveUser(
  db: Database,
  connectionId: string,
  arrived: SsoSubject,
): Promise<ProvisioningStatus> {
  const word = await findProvisionedUser(db, connectionId, arrived)
  if (word.of === 'a person' && !word.active) throw errors.sso_user_deactivated()
  return word
}

/**
 * Admits a user who is not deactivated, and links the provisioned user to the subject. The caller has locked the
 * organization. Throws `sso_user_deactivated`.
 */
export async function linkProvisionedUser(
  tx: Transaction,
  connectionId: string,
  arrived: SsoSubject,
): Promise<ProvisioningStatus> {
  const word = await requireActiveUser(tx, connectionId, arrived)
  if (word.of !== 'a person' || !word.isToBeLinked) return word
  await store.bindSubject(tx, { connectionId, scimUserId: word.scimUserId, subject: arrived.subject })
  return word
}

/** Returns the verified e-mail address of a user, normalized for comparison without regard to case. */
export function emailKeyOf({ email, emailVerified }: Omit<SsoSubject, 'subject'>): string | undefined {
  return emailVerified ? email?.toLowerCase() : undefined
}

/** Returns the provider's subject for a provisioned user. Throws `invalidValue` if the directory did not send it. */
function subjectKeyOf(subjectBy: ScimDirectory['subjectBy'], { externalId, email, userName }: ScimUser): string {
  if (subjectBy === 'externalId') {
    if (externalId === null)
      throw scimErrors.invalidValue({ sentence: 'externalId is required: users are matched by it.' })
    return externalId
  }
  const address = email ?? (userName.includes('@') ? userName : null)
  if (address === null)
    throw scimErrors.invalidValue({ sentence: 'An e-mail address is required: users are matched by it.' })
  return address.toLowerCase()
}

/**
 * Finds the subject of a provisioned user: a recorded one, or one that signed in before the user was provisioned. A
 * subject that had the address at its last sign-in is only assumed to be the user, and not if it is another user of the
 * directory: the address has then passed on. The caller has locked the organization.
 */
async function subjectOf(tx: Transaction, subjectBy: ScimDirectory['subjectBy'], person: Person) {
  const { connectionId, scimUserId, subject, subjectKey, isSubjectAssumed } = person
  if (subject !== null) return { subject, isSubjectAssumed }
  const none = { subject: null, isSubjectAssumed: false }
  if (subjectBy === 'externalId')
    return (await linkStore.findLink(tx, connectionId, subjectKey)) ? { ...none, subject: subjectKey } : none
  const found = await linkStore.findSubjectByEmail(tx, connectionId, subjectKey)
  if (found === null) return none
  if (await store.isSubjectOfAnother(tx, { connectionId, scimUserId, subject: found })) return none
  return { subject: found, isSubjectAssumed: true }
}

/** Ends the membership that is linked to a provisioned user. Throws `last_owner`. */
async function endMembership(tx: Transaction, { connectionId }: ScimDirectory, { subject }: Person, now: Date) {
  const link = subject === null ? undefined : await linkStore.findLink(tx, connectionId, subject)
  if (!link) return
  const { organizationId, memberId } = link
  await removeDeprovisionedMember(tx, { organizationId, memberId, connectionId }, now)
}

function fieldsThatChange(before: ScimUser, after: ScimUser): string[] {
  return Object.entries(after).flatMap(([field, value]) =>
    Object.entries(before).some(([name, earlier]) => name === field && earlier === value) ? [] : [field],
  )
}

type Noted = { organizationId: OrganizationId; details: Record<string, string | boolean | string[]> }

/**
 * Records an audit event of the directory, which has no user as actor. The audit log does not contain the users' names.
 */
async function note(tx: Transaction, action: AuditAction, { organizationId, details }: Noted, now: Date) {
  await recordAuditEvent(tx, { action, actor: 'system', organizationId, details }, now)
}
