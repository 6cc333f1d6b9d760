import type { PendingSsoLogin, SsoConfirmation } from '@countersign/protocol/organizations/sso'
import type { IdentityId } from '@countersign/protocol/ids'
import {
  findIdentity,
  lockIdentityWithUser,
  lockOwnIdentity,
  listIdentitiesOfSession,
  type IdentityRow,
  requireOwnIdentity,
} from '#accounts/identities/identity.ts'
import { accountSuspended, isSuspended } from '#accounts/identities/suspension.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isUuid } from '@countersign/protocol/values'
import { findMembership, type Member } from '#organizations/membership/member.ts'
import { lockActiveOrganization } from '#organizations/members/organization.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { recordSsoAuthentication } from '#accounts/sessions/sso-session.ts'
import {
  deviceOf,
  requireRecentAuthentication,
  findSessionByToken,
  type ClientBrowser,
  type PasskeySession,
  type RecoveredSession,
  type Session,
} from '#accounts/sessions/session.ts'
import { startEnterpriseSession } from '#tokens/families/session.ts'
import type { Connection } from '#sso/connections/connection.ts'
import { joinNamedGroups } from '#sso/connections/group-rule.ts'
import { errors as flowErrors, requireEnabledConnection } from './flow.ts'
import * as links from '#sso/provisioning/link.ts'
import {
  findProvisionedUser,
  emailKeyOf,
  requireActiveUser,
  linkProvisionedUser,
} from '#sso/provisioning/provisioned-user.ts'
import { findJoiningRole, join, type Proved } from './joining.ts'
import * as store from './store.ts'

const errors = defineErrors({
  sso_confirmation_outdated: [409, 'The sign-in would affect other users than the page has shown. Start again.'],
  sso_account_already_linked: [409, 'This organization account is already linked to another identity.'],
})

/** A sign-in in this browser whose provider has named a user. */
export type PendingLoginRef = { flowId: string; browserToken: string | undefined }

type Arrived = { location: string; token?: string }

/**
 * Signs in the member whose identity is linked to the subject that a provider named. Returns the browser's next URL,
 * and the session token if a session was opened. A user with a passkey session keeps it; others get a session for that
 * identity only. If another user is signed in, or another site started the sign-in, nothing changes and the browser
 * goes to the confirmation page. An unknown subject goes to the linking page. Throws `invalid_sso_flow`,
 * `sso_connection_unavailable`, `sso_user_deactivated`, `account_suspended`.
 */
export async function completeSsoLogin(
  kernel: ServerContext,
  arriving: PendingLoginRef,
  browser: ClientBrowser,
): Promise<Arrived> {
  const { db, config, clock } = kernel
  const now = clock()
  const flow = await requireAuthenticatedLogin(db, arriving, now)
  const linking = { location: new URL(`/sso/link?flow=${flow.flowId}`, config.authUrl).href }
  const confirming = { location: new URL(`/sso/confirm?flow=${flow.flowId}`, config.authUrl).href }
  if (flow.purpose === 'test') return linking
  return transaction(db, async (tx) => {
    const { connection, identity } = await lockLinkedMember(tx, flow, now)
    const present = await findSessionByToken(tx, browser, now)
    if (!identity || isToBeConfirmed(flow, identity, present)) {
      await requireActiveUser(tx, connection.connectionId, flow)
      return identity ? confirming : linking
    }
    return enter(tx, { kernel, arriving, connection, identity, browser }, flow, now)
  })
}

/**
 * Signs in as `arrive` does, after the user has confirmed it on a page of this service. That revokes the session of
 * another user in this browser. Throws `invalid_sso_flow`, `sso_connection_unavailable`, `sso_user_deactivated`, and
 * `sso_confirmation_outdated` if the users differ from those that the page showed.
 */
export async function confirmArrival(
  kernel: ServerContext,
  { shown, ...arriving }: PendingLoginRef & { shown: SsoConfirmation },
  browser: ClientBrowser,
): Promise<Arrived> {
  const { db, clock } = kernel
  const now = clock()
  const flow = await requireAuthenticatedLogin(db, arriving, now)
  if (flow.purpose === 'test') throw flowErrors.invalid_sso_flow()
  return transaction(db, async (tx) => {
    const { connection, identity } = await lockLinkedMember(tx, flow, now)
    if (!identity) throw flowErrors.invalid_sso_flow()
    const described = await describeSignIn(tx, identity, browser, now)
    if (described?.identity.handle !== shown.handle || described.replaces?.handle !== shown.replaces)
      throw errors.sso_confirmation_outdated()
    return enter(tx, { kernel, arriving, connection, identity, browser }, flow, now)
  })
}

/** Checks if a session would be opened that the user did not start here, or would replace another user's session. */
function isToBeConfirmed(
  { startedElsewhere }: { startedElsewhere: boolean },
  { userId }: IdentityRow,
  present: Pick<Session | RecoveredSession, 'userId' | 'authMethod'> | undefined,
): boolean {
  if (present && present.userId !== userId) return true
  return startedElsewhere && present?.authMethod !== 'passkey'
}

type Admitted = {
  kernel: ServerContext
  arriving: PendingLoginRef
  connection: Connection
  identity: IdentityRow
  browser: ClientBrowser
}

async function enter(
  tx: Transaction,
  { kernel: { config, log }, arriving, connection, identity, browser }: Admitted,
  flow: Proved & { returnTo: string | null; ruleIds: string[] },
  now: Date,
): Promise<Arrived> {
  await linkProvisionedUser(tx, connection.connectionId, flow)
  if (!(await store.consumeAuthenticatedLogin(tx, keysOf(arriving), now))) throw flowErrors.invalid_sso_flow()
  await links.setLinkEmail(tx, connection.connectionId, flow.subject, emailKeyOf(flow) ?? null)
  const { identityId } = identity
  await joinNamedGroups(tx, { connection, identityId, ruleIds: flow.ruleIds }, { now, log })
  const token = await signIn(tx, { connection, identity, browser }, now)
  return { location: flow.returnTo ?? config.businessUrl.href, ...(token !== undefined && { token }) }
}

/**
 * Returns the provider's claims for this browser, the user to be signed in and the user to be replaced. Throws
 * `invalid_sso_flow`, `sso_connection_unavailable`.
 */
export async function getPendingSsoLogin(
  { db, clock }: ServerContext,
  arriving: PendingLoginRef,
  browser: ClientBrowser,
): Promise<PendingSsoLogin> {
  const now = clock()
  const { purpose, connectionId, ...person } = await requireAuthenticatedLogin(db, arriving, now)
  const { connection, organization } = await requireEnabledConnection(db, connectionId, purpose)
  const { subject, email, emailVerified, displayName } = person
  const member = purpose === 'test' ? undefined : await findLinkedMember(db, connection, subject)
  return {
    purpose,
    organization: { id: connection.organizationId, name: organization.name, logoUrl: organization.logoUrl },
    subject,
    email,
    emailVerified,
    displayName,
    mayJoin:
      (await findJoiningRole(db, connection, person, await findProvisionedUser(db, connectionId, person))) !==
      undefined,
    signIn: member ? await describeSignIn(db, member, browser, now) : null,
  }
}

async function describeSignIn(
  db: Database,
  { identityId }: Pick<Member, 'identityId'>,
  browser: ClientBrowser,
  now: Date,
) {
  const identity = await findIdentity(db, identityId)
  if (!identity) return null
  const present = await findSessionByToken(db, browser, now)
  const [other] = present && present.userId !== identity.userId ? await listIdentitiesOfSession(db, present, now) : []
  const toNamed = ({ displayName, handle }: { displayName: string; handle: string }) => ({ displayName, handle })
  return { identity: toNamed(identity), replaces: other ? toNamed(other) : null }
}

/**
 * Links an identity of the user with a passkey session to the subject that the provider named in this browser. An
 * identity that is not a member joins the organization: if the directory has provisioned the user, or, without a
 * directory, if the organization has verified the domain of the e-mail address. Throws `reauthentication_required`,
 * `identity_not_found`, `invalid_sso_flow`, `sso_connection_unavailable`, `sso_user_deactivated`, `sso_not_a_member`,
 * `sso_account_already_linked`.
 */
export async function linkSsoAccount(
  { db, config, clock, log }: ServerContext,
  session: PasskeySession,
  { identityId, ...arriving }: PendingLoginRef & { identityId: IdentityId },
): Promise<{ returnTo: string }> {
  const now = clock()
  requireRecentAuthentication(session, now)
  const { userId, sessionId } = session
  await requireOwnIdentity(db, session, identityId, now)
  await requireAuthenticatedLogin(db, arriving, now)
  return actingTransaction(db, session, async (tx) => {
    await lockOwnIdentity(tx, session, identityId, now)
    const flow = await store.consumeAuthenticatedLogin(tx, keysOf(arriving), now)
    if (!flow || flow.purpose === 'test') throw flowErrors.invalid_sso_flow()
    const { returnTo, ruleIds, ...person } = toProved(flow)
    const connection = await lockEnabledConnection(tx, flow.connectionId)
    const { organizationId, connectionId } = connection
    const word = await linkProvisionedUser(tx, connectionId, person)
    const member = await findMembership(tx, organizationId, identityId)
    const { memberId } = member ?? (await join(tx, { connection, person, word, userId, identityId }, now))
    const linked = { connectionId, subject: person.subject, organizationId, memberId, identityId }
    if (!(await links.insertLink(tx, linked, now))) throw errors.sso_account_already_linked()
    await links.setLinkEmail(tx, connectionId, person.subject, emailKeyOf(person) ?? null)
    await recordSsoAuthentication(tx, { sessionId, organizationId, connectionId, identityId }, now)
    await joinNamedGroups(tx, { connection, identityId, ruleIds }, { now, log })
    const details = { connectionId, memberId }
    await recordAuditEvent(
      tx,
      { action: 'sso.account.linked', actor: 'user', userId, identityId, organizationId, details },
      now,
    )
    return { returnTo: returnTo ?? config.businessUrl.href }
  })
}

/** Lists the SSO links of an identity for the export of its user. */
export async function exportSsoLinks(db: Database, identityId: IdentityId) {
  const found = await links.listLinksOf(db, identityId)
  return found.map((link) => ({ ...link, linkedAt: link.linkedAt.toISOString() }))
}

/** Deletes the SSO links of these identities. */
export async function deleteSsoLinks(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await links.deleteLinksOfIdentities(tx, identityIds)
}

/** Deletes up to `batch` links of former members, and returns the number. */
export function pruneLinks(db: Database, _now: Date, batch: number): Promise<number> {
  return links.deleteOrphanedLinks(db, batch)
}

type Entering = Pick<Admitted, 'connection' | 'identity' | 'browser'>

/** Opens a session for a member, or records the SSO sign-in in the existing passkey session. */
async function signIn(tx: Transaction, { connection, identity, browser }: Entering, now: Date) {
  const { organizationId, connectionId } = connection
  const { identityId, userId } = identity
  const named = { organizationId, connectionId, identityId }
  const present = await findSessionByToken(tx, browser, now)
  const isHere = present?.userId === userId && present.authMethod === 'passkey'
  if (isHere) await recordSsoAuthentication(tx, { ...named, sessionId: present.sessionId }, now)
  const opened = isHere ? undefined : await startEnterpriseSession(tx, { userId, ...named }, browser, now)
  const details = { connectionId, device: deviceOf(browser) }
  await recordAuditEvent(
    tx,
    { action: 'sso.login.succeeded', actor: 'user', userId, identityId, organizationId, details },
    now,
  )
  return opened?.token
}

/** Finds an active connection, and locks it, its organization and its members. Throws `sso_connection_unavailable`. */
async function lockEnabledConnection(tx: Transaction, connectionId: string): Promise<Connection> {
  const { connection } = await requireEnabledConnection(tx, connectionId, 'login')
  await lockActiveOrganization(tx, connection.organizationId)
  return (await requireEnabledConnection(tx, connectionId, 'login')).connection
}

/**
 * Locks the identity of the member that a subject is linked to, and then the connection. The deletion of an account
 * locks in the same order: the user, the identity, the organization. In another order each would wait for the other.
 * Throws `account_suspended`, and `sso_connection_unavailable`.
 */
async function lockLinkedMember(
  tx: Transaction,
  { connectionId, subject }: { connectionId: string; subject: string },
  now: Date,
) {
  const link = await links.findLink(tx, connectionId, subject)
  const locked = link && (await lockIdentityWithUser(tx, link.identityId))
  if (locked && isSuspended(locked, now)) throw await accountSuspended(tx, locked, now)
  const connection = await lockEnabledConnection(tx, connectionId)
  const member = await findLinkedMember(tx, connection, subject)
  return { connection, identity: member?.identityId === locked?.identityId ? locked : undefined }
}

/**
 * Finds the member that a subject is linked to. A link ends with the membership; a user who joins again is linked
 * again.
 */
async function findLinkedMember(db: Database, { connectionId }: Connection, subject: string) {
  const link = await links.findLink(db, connectionId, subject)
  const member = link && (await findMembership(db, link.organizationId, link.identityId))
  return member?.memberId === link?.memberId ? member : undefined
}

async function requireAuthenticatedLogin(db: Database, arriving: PendingLoginRef, now: Date) {
  const flow = isUuid(arriving.flowId) ? await store.findAuthenticatedLogin(db, keysOf(arriving), now) : undefined
  if (!flow) throw flowErrors.invalid_sso_flow()
  return toProved(flow)
}

function keysOf({ flowId, browserToken }: PendingLoginRef) {
  if (browserToken === undefined) throw flowErrors.invalid_sso_flow()
  return { flowId, browserTokenSha256: sha256(browserToken) }
}

function toProved({
  subject,
  emailVerified,
  ...flow
}: NonNullable<Awaited<ReturnType<typeof store.findAuthenticatedLogin>>>) {
  if (subject === null) throw new Error(`the sign-in ${flow.flowId} is complete but has no subject`)
  return { ...flow, subject, emailVerified: emailVerified === true }
}
