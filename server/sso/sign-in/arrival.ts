import type { SsoArrival, SsoConfirmation } from '@countersign/protocol/organizations/sso'
import { domainOfEmail } from '@countersign/protocol/formats/domain'
import { findIdentity, holdIdentity, listActing, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import { findMembership, type Member } from '#organizations/membership/access.ts'
import { isVerifiedFor } from '#organizations/domains/domain.ts'
import { holdOrganization, joinAsNamed } from '#organizations/members/sso-members.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { noteEnterpriseSso } from '#accounts/sessions/sso-session.ts'
import { deviceOf, requireFresh, sessionOf, type Browser, type Session } from '#accounts/sessions/session.ts'
import { startEnterpriseSession } from '#tokens/families/session.ts'
import type { Connection } from '#sso/connections/connection.ts'
import { refuse as refuseFlow, requireUsable } from './flow.ts'
import * as links from '#sso/provisioning/link-store.ts'
import {
  askDirectory,
  emailKeyOf,
  heedDirectory,
  meetPerson,
  type DirectoryWord,
} from '#sso/provisioning/provisioned-user.ts'
import * as store from '#sso/connections/store.ts'

const refuse = refusals({
  sso_not_a_member: [403, 'Your organization must invite you first, or verify the domain of your address.'],
  sso_confirmation_outdated: [409, 'Another user would be signed in, or signed out, than the page has shown.'],
  sso_already_linked: [409, 'Somebody here is connected with this account of your organization already.'],
})

/** A sign-in in this browser, whose provider has named somebody. */
export type Arriving = { flowId: string; browserToken: string | undefined }

type Proved = { subject: string; email: string | null; emailVerified: boolean; displayName: string | null }

type Arrived = { location: string; token?: string }

/**
 * Signs in the member whose identity is linked to the subject that a provider has named. Answers where the browser
 * goes, and the token of the session where one was opened. A user who is here with their passkey stays so; others get a
 * session of that identity alone. Only the user changes who is signed in: where that is another user, or another site
 * began the sign-in, nothing is opened or ended, and the browser goes to the page that asks. An unknown subject goes to
 * the page that links it. Refuses `invalid_sso_flow`, `sso_not_available`, `sso_deactivated`.
 */
export async function arrive(kernel: Kernel, arriving: Arriving, browser: Browser): Promise<Arrived> {
  const { db, config, clock } = kernel
  const now = clock()
  const flow = await requireProved(db, arriving, now)
  const linking = { location: new URL(`/sso/link?flow=${flow.flowId}`, config.authUrl).href }
  const confirming = { location: new URL(`/sso/confirm?flow=${flow.flowId}`, config.authUrl).href }
  if (flow.purpose === 'test') return linking
  return transaction(db, async (tx) => {
    const connection = await holdUsable(tx, flow.connectionId)
    const member = await findLinkedMember(tx, connection, flow.subject)
    const present = await sessionOf(tx, browser, now)
    if (!member || (await isToBeConfirmed(tx, flow, member, present))) {
      await heedDirectory(tx, connection.connectionId, flow)
      return member ? confirming : linking
    }
    return enter(tx, { kernel, arriving, connection, member, browser }, flow, now)
  })
}

/**
 * Signs in as `arrive` does, because the user has confirmed it on a page of ours. The session of another user in this
 * browser ends by that. Refuses `invalid_sso_flow`, `sso_not_available`, `sso_deactivated`, and
 * `sso_confirmation_outdated` where by now it is about other users than those that the user was shown.
 */
export async function confirmArrival(
  kernel: Kernel,
  { shown, ...arriving }: Arriving & { shown: SsoConfirmation },
  browser: Browser,
): Promise<Arrived> {
  const { db, clock } = kernel
  const now = clock()
  const flow = await requireProved(db, arriving, now)
  if (flow.purpose === 'test') throw refuseFlow.invalid_sso_flow()
  return transaction(db, async (tx) => {
    const connection = await holdUsable(tx, flow.connectionId)
    const member = await findLinkedMember(tx, connection, flow.subject)
    if (!member) throw refuseFlow.invalid_sso_flow()
    const described = await describeSignIn(tx, member, browser, now)
    if (described?.identity.handle !== shown.handle || described.replaces?.handle !== shown.replaces)
      throw refuse.sso_confirmation_outdated()
    return enter(tx, { kernel, arriving, connection, member, browser }, flow, now)
  })
}

/** Whether a session would be opened that the user has not begun here, or that takes the place of another user's. */
async function isToBeConfirmed(
  tx: Transaction,
  { startedElsewhere }: { startedElsewhere: boolean },
  { identityId }: Member,
  present: Session | undefined,
): Promise<boolean> {
  const identity = await holdIdentity(tx, identityId)
  if (present && present.userId !== identity?.userId) return true
  return startedElsewhere && present?.authMethod !== 'passkey'
}

type Admitted = { kernel: Kernel; arriving: Arriving; connection: Connection; member: Member; browser: Browser }

async function enter(
  tx: Transaction,
  { kernel: { config }, arriving, connection, member, browser }: Admitted,
  flow: Proved & { returnTo: string | null },
  now: Date,
): Promise<Arrived> {
  await meetPerson(tx, connection.connectionId, flow)
  if (!(await store.takeProved(tx, keysOf(arriving), now))) throw refuseFlow.invalid_sso_flow()
  await links.setLinkAddress(tx, connection.connectionId, flow.subject, emailKeyOf(flow) ?? null)
  const token = await signIn(tx, { connection, member, browser }, now)
  return { location: flow.returnTo ?? config.businessUrl.href, ...(token !== undefined && { token }) }
}

/**
 * What a provider has said in this browser, and who a confirmation would sign in instead of whom. Refuses
 * `invalid_sso_flow`, `sso_not_available`.
 */
export async function readArrival({ db, clock }: Kernel, arriving: Arriving, browser: Browser): Promise<SsoArrival> {
  const now = clock()
  const { purpose, connectionId, ...person } = await requireProved(db, arriving, now)
  const { connection, organization } = await requireUsable(db, connectionId, purpose)
  const { subject, email, emailVerified, displayName } = person
  const member = purpose === 'test' ? undefined : await findLinkedMember(db, connection, subject)
  return {
    purpose,
    organization: { name: organization.name, logoUrl: organization.logoUrl },
    subject,
    email,
    emailVerified,
    displayName,
    mayJoin: (await roleToJoin(db, connection, person, await askDirectory(db, connectionId, person))) !== undefined,
    signIn: member ? await describeSignIn(db, member, browser, now) : null,
  }
}

async function describeSignIn(db: Database, { identityId }: Member, browser: Browser, now: Date) {
  const identity = await findIdentity(db, identityId)
  if (!identity) return null
  const present = await sessionOf(db, browser, now)
  const [other] = present && present.userId !== identity.userId ? await listActing(db, present) : []
  const toNamed = ({ displayName, handle }: { displayName: string; handle: string }) => ({ displayName, handle })
  return { identity: toNamed(identity), replaces: other ? toNamed(other) : null }
}

/**
 * Links an identity of whoever is here with their passkey to the subject that this browser's provider has named, and to
 * no other; who is no member joins by that, where the organization's directory has named them, or where it has none and
 * the organization has proved that the address is one of theirs.
 * Refuses `reauthentication_required`, `identity_not_found`, `invalid_sso_flow`, `sso_not_available`,
 * `sso_deactivated`, `sso_not_a_member`, `sso_already_linked`.
 */
export async function linkArrival(
  { db, config, clock }: Kernel,
  session: Session,
  { identityId, ...arriving }: Arriving & { identityId: string },
): Promise<{ returnTo: string }> {
  const now = clock()
  requireFresh(session, now)
  const { userId, sessionId } = session
  await requireOwnIdentity(db, session, identityId)
  await requireProved(db, arriving, now)
  return actingTransaction(db, session, async (tx) => {
    const flow = await store.takeProved(tx, keysOf(arriving), now)
    if (!flow || flow.purpose === 'test') throw refuseFlow.invalid_sso_flow()
    const { returnTo, ...person } = toProved(flow)
    const connection = await holdUsable(tx, flow.connectionId)
    const { organizationId, connectionId } = connection
    const word = await meetPerson(tx, connectionId, person)
    const member = await findMembership(tx, organizationId, identityId)
    const { memberId } = member ?? (await join(tx, { connection, person, word, userId, identityId }, now))
    const linked = { connectionId, subject: person.subject, organizationId, memberId, identityId }
    if (!(await links.insertLink(tx, linked, now))) throw refuse.sso_already_linked()
    await links.setLinkAddress(tx, connectionId, person.subject, emailKeyOf(person) ?? null)
    await noteEnterpriseSso(tx, { sessionId, organizationId, connectionId, identityId }, now)
    const details = { connectionId, memberId }
    await record(tx, { action: 'sso.linked', actor: 'person', userId, identityId, organizationId, details }, now)
    return { returnTo: returnTo ?? config.businessUrl.href }
  })
}

/** Forgets whom providers know these identities as. */
export async function forgetLinks(tx: Transaction, identityIds: string[]): Promise<void> {
  await links.deleteLinksOfIdentities(tx, identityIds)
}

/** Deletes up to `batch` links of members who are gone, and says how many. */
export function pruneLinks(db: Database, _now: Date, batch: number): Promise<number> {
  return links.deleteLinksOfNobody(db, batch)
}

type Entering = { connection: Connection; member: Member; browser: Browser }

/** Opens a session of a member, or notes on the one that they have with a passkey how they came. */
async function signIn(tx: Transaction, { connection, member, browser }: Entering, now: Date) {
  const { organizationId, connectionId } = connection
  const { identityId } = member
  const identity = await holdIdentity(tx, identityId)
  if (!identity) throw refuseFlow.invalid_sso_flow()
  const { userId } = identity
  const named = { organizationId, connectionId, identityId }
  const present = await sessionOf(tx, browser, now)
  const isHere = present?.userId === userId && present.authMethod === 'passkey'
  if (isHere) await noteEnterpriseSso(tx, { ...named, sessionId: present.sessionId }, now)
  const opened = isHere ? undefined : await startEnterpriseSession(tx, { userId, ...named }, browser, now)
  const details = { connectionId, device: deviceOf(browser) }
  await record(tx, { action: 'sso.signed_in', actor: 'person', userId, identityId, organizationId, details }, now)
  return opened?.token
}

/** The connection in service, while nobody changes it, its organization or its members. Refuses `sso_not_available`. */
async function holdUsable(tx: Transaction, connectionId: string): Promise<Connection> {
  const { connection } = await requireUsable(tx, connectionId, 'sign in')
  await holdOrganization(tx, connection.organizationId)
  return (await requireUsable(tx, connectionId, 'sign in')).connection
}

/** The member whom a subject is linked to. A link ends with the membership: who comes back later is linked anew. */
async function findLinkedMember(db: Database, { connectionId }: Connection, subject: string) {
  const link = await links.findLink(db, connectionId, subject)
  const member = link && (await findMembership(db, link.organizationId, link.identityId))
  return member?.memberId === link?.memberId ? member : undefined
}

type Joining = { connection: Connection; person: Proved; word: DirectoryWord; userId: string; identityId: string }

/** Makes a member of who is none yet. Refuses `sso_not_a_member`, and as `joinAsNamed` does. */
async function join(tx: Transaction, { connection, person, word, ...joining }: Joining, now: Date) {
  const role = await roleToJoin(tx, connection, person, word)
  if (!role) throw refuse.sso_not_a_member()
  const { organizationId } = connection
  return joinAsNamed(tx, { ...joining, organizationId, role, namedByDirectory: word.of === 'a person' }, now)
}

/** As what somebody may join; undefined where they may not. Where a directory says who may come, nobody else does. */
async function roleToJoin(db: Database, connection: Connection, person: Proved, word: DirectoryWord) {
  switch (word.of) {
    case 'no directory':
      return (await isOfDomain(db, connection, person)) ? 'member' : undefined
    case 'a person':
      return word.active ? (word.role ?? 'member') : undefined
    case 'nobody':
      return undefined
  }
}

/** Whether the provider has verified the address, and the organization its domain, which is this connection's too. */
async function isOfDomain(db: Database, { organizationId, domains }: Connection, { email, emailVerified }: Proved) {
  const domain = emailVerified && email !== null ? domainOfEmail(email) : undefined
  return domain !== undefined && domains.includes(domain) && (await isVerifiedFor(db, organizationId, domain))
}

async function requireProved(db: Database, arriving: Arriving, now: Date) {
  const flow = isUuid(arriving.flowId) ? await store.findProved(db, keysOf(arriving), now) : undefined
  if (!flow) throw refuseFlow.invalid_sso_flow()
  return toProved(flow)
}

function keysOf({ flowId, browserToken }: Arriving) {
  if (browserToken === undefined) throw refuseFlow.invalid_sso_flow()
  return { flowId, browserSha256: sha256(browserToken) }
}

function toProved({ subject, emailVerified, ...flow }: NonNullable<Awaited<ReturnType<typeof store.findProved>>>) {
  if (subject === null) throw new Error(`the sign-in ${flow.flowId} was proved, and names nobody`)
  return { ...flow, subject, emailVerified: emailVerified === true }
}
