import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { record, type AuditAction } from '#platform/audit/audit.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import { removeAsDirected } from '#organizations/members/sso-members.ts'
import * as linkStore from './link-store.ts'
import { holdDirectory, type Provisioning } from './directory.ts'
import * as store from './store.ts'
import type { Sought } from './scim-filter.ts'
import type { ScimUser } from './user.ts'
import { refuse as refuseScim } from './scim.ts'

const refuse = refusals({
  sso_deactivated: [403, 'Your organization has ended your access. Ask whoever looks after its accounts.'],
  person_not_found: [404, 'Nobody of this connection has this id.'],
  too_many_people: [409, `A connection has at most ${limits.provisionedPeopleMax} people.`],
})

type Person = store.PersonRow
type Directed = Pick<Kernel, 'db'>

/** Refuses `person_not_found`. */
export async function readPerson(db: Database, { connectionId }: Provisioning, personId: string): Promise<Person> {
  const found = isUuid(personId) ? await store.findPerson(db, connectionId, personId) : undefined
  if (!found) throw refuse.person_not_found()
  return found
}

type Page = { skipped: number; most: number }

/** Whom a directory has named, or who is sought of them: those of a page, and how many there are. */
export async function findPeople(
  db: Database,
  { connectionId, peopleCount }: Provisioning,
  sought: Sought | undefined,
  page: Page,
): Promise<{ people: Person[]; total: number }> {
  if (!sought) return { people: await store.listPeople(db, connectionId, page), total: peopleCount }
  const isNobody = sought.by === 'id' && !isUuid(sought.text)
  const found = isNobody ? [] : await store.findPeople(db, connectionId, sought)
  return { people: found.slice(page.skipped, page.skipped + page.most), total: found.length }
}

/**
 * Takes on whom a directory names. That makes no account, and nobody a member: it says who may become one. Refuses
 * `invalidValue`, `uniqueness`, `too_many_people`, `unauthorized`, and `last_owner` where they come inactive.
 */
export async function addPerson({ db }: Directed, asking: Provisioning, user: ScimUser, now: Date): Promise<Person> {
  return transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await holdDirectory(tx, asking)
    const subjectKey = subjectKeyOf(subjectBy, user)
    if (!(await store.countPerson(tx, connectionId, limits.provisionedPeopleMax))) throw refuse.too_many_people()
    const dates = { createdAt: now, updatedAt: now }
    const named = { ...user, connectionId, personId: randomUUIDv7(), subjectKey, subject: null, ...dates }
    const person = { ...named, subject: await subjectOf(tx, subjectBy, named) }
    if (!(await store.insertPerson(tx, person))) throw refuseScim.uniqueness()
    const { personId, active } = person
    await note(tx, 'sso.person_provisioned', { organizationId, details: { connectionId, personId, active } }, now)
    if (!active) await endMembership(tx, asking, person, now)
    return person
  })
}

/**
 * Changes somebody into what `change` makes of them. Who is active no more is no member from then on, if they were one
 * by this connection. Refuses `person_not_found`, `invalidValue`, `uniqueness`, `unauthorized`, `last_owner`, and what
 * `change` does.
 */
export async function changePerson(
  { db }: Directed,
  asking: Provisioning,
  { personId, change }: { personId: string; change: (before: ScimUser) => ScimUser },
  now: Date,
): Promise<Person> {
  return transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await holdDirectory(tx, asking)
    const before = await readPerson(tx, asking, personId)
    const user = change(before)
    const changed = fieldsThatChange(before, user)
    if (changed.length === 0) return before
    const named = { ...before, ...user, subjectKey: subjectKeyOf(subjectBy, user), updatedAt: now }
    const person = { ...named, subject: await subjectOf(tx, subjectBy, named) }
    if (!(await store.updatePerson(tx, person))) throw refuseScim.uniqueness()
    const details = { connectionId, personId, changed, active: person.active }
    await note(tx, 'sso.person_changed', { organizationId, details }, now)
    if (!person.active) await endMembership(tx, asking, person, now)
    return person
  })
}

/** Forgets somebody, and ends their membership likewise. Refuses `person_not_found`, `unauthorized`, `last_owner`. */
export async function removePerson({ db }: Directed, asking: Provisioning, personId: string, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const { connectionId, organizationId, subjectBy } = await holdDirectory(tx, asking)
    const found = await readPerson(tx, asking, personId)
    const person = { ...found, subject: await subjectOf(tx, subjectBy, found) }
    await store.deletePerson(tx, connectionId, personId)
    await note(tx, 'sso.person_removed', { organizationId, details: { connectionId, personId } }, now)
    await endMembership(tx, asking, person, now)
  })
}

/** Whom the provider has named, with an address where it has verified one. */
export type Arrived = { subject: string; email: string | null; emailVerified: boolean }

/** What a directory says of somebody: where there is one, whether it knows them, and has them come. */
export type DirectoryWord =
  | { of: 'no directory' }
  | { of: 'nobody' }
  | { of: 'a person'; personId: string; active: boolean; role: Person['role'] }

export async function askDirectory(db: Database, connectionId: string, arrived: Arrived): Promise<DirectoryWord> {
  const provisioning = await store.findProvisioning(db, connectionId)
  if (!provisioning) return { of: 'no directory' }
  const { subject } = arrived
  const subjectKey = provisioning.subjectBy === 'externalId' ? subject : emailKeyOf(arrived)
  const person = await store.findPersonOfSubject(db, connectionId, { subject, subjectKey })
  if (!person) return { of: 'nobody' }
  const { personId, active, role } = person
  return { of: 'a person', personId, active, role }
}

/** The same of whom the directory has not turned away. Refuses `sso_deactivated`. */
export async function heedDirectory(db: Database, connectionId: string, arrived: Arrived): Promise<DirectoryWord> {
  const word = await askDirectory(db, connectionId, arrived)
  if (word.of === 'a person' && !word.active) throw refuse.sso_deactivated()
  return word
}

/**
 * Lets in whom the directory has not turned away, and notes that it was them whom it meant. The caller holds the
 * organization. Refuses `sso_deactivated`.
 */
export async function meetPerson(tx: Transaction, connectionId: string, arrived: Arrived): Promise<DirectoryWord> {
  const word = await heedDirectory(tx, connectionId, arrived)
  if (word.of !== 'a person') return word
  await store.bindPerson(tx, { connectionId, personId: word.personId, subject: arrived.subject })
  return word
}

/** The verified address of whoever arrives, by which it is compared with others: in whichever case it is written. */
export function emailKeyOf({ email, emailVerified }: Omit<Arrived, 'subject'>): string | undefined {
  return emailVerified ? email?.toLowerCase() : undefined
}

/** What the provider calls somebody. Refuses `invalidValue` where the directory does not tell. */
function subjectKeyOf(subjectBy: Provisioning['subjectBy'], { externalId, email, userName }: ScimUser): string {
  if (subjectBy === 'externalId') {
    if (externalId === null) throw refuseScim.invalidValue({ sentence: 'People are known by externalId: send one.' })
    return externalId
  }
  const address = email ?? (userName.includes('@') ? userName : null)
  if (address === null)
    throw refuseScim.invalidValue({ sentence: 'People are known by their e-mail address: send one.' })
  return address.toLowerCase()
}

/** Whom the provider has named already who is this person: by what was noted, or by who came before they were named. */
async function subjectOf(tx: Transaction, subjectBy: Provisioning['subjectBy'], person: Person) {
  const { connectionId, subject, subjectKey } = person
  if (subject !== null) return subject
  if (subjectBy === 'externalId') return (await linkStore.findLink(tx, connectionId, subjectKey)) ? subjectKey : null
  return linkStore.findSubjectOfAddress(tx, connectionId, subjectKey)
}

/** Ends the membership that is connected with somebody. Refuses `last_owner`. */
async function endMembership(tx: Transaction, { connectionId }: Provisioning, { subject }: Person, now: Date) {
  const link = subject === null ? undefined : await linkStore.findLink(tx, connectionId, subject)
  if (!link) return
  const { organizationId, memberId } = link
  await removeAsDirected(tx, { organizationId, memberId, connectionId }, now)
}

function fieldsThatChange(before: ScimUser, after: ScimUser): string[] {
  return Object.entries(after).flatMap(([field, value]) =>
    Object.entries(before).some(([name, earlier]) => name === field && earlier === value) ? [] : [field],
  )
}

type Noted = { organizationId: string; details: Record<string, string | boolean | string[]> }

/** What a directory does nobody here has done. Their names stay out of the trail. */
async function note(tx: Transaction, action: AuditAction, { organizationId, details }: Noted, now: Date) {
  await record(tx, { action, actor: 'system', organizationId, details }, now)
}
