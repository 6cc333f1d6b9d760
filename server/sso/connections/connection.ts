import { randomUUIDv7 } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { NewSsoConnection, SsoConnection, SsoConnectionChange } from '@countersign/protocol/organizations/sso'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingMemberTransaction, requireMember, type Asking, type Member } from '#organizations/membership/access.ts'
import { isAnyVerifiedFor, isVerifiedFor } from '#organizations/domains/domain.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import { confirmSso, unconfirmSso } from '#organizations/membership/sso-confirmation.ts'
import { chooseSsoConnection, findActiveOrganization, holdOrganization } from '#organizations/members/sso-members.ts'
import { requireFresh } from '#accounts/sessions/session.ts'
import { endEnterpriseSessions } from '#tokens/families/session.ts'
import { sealSecret } from './client.ts'
import { tellConnection } from './connection-view.ts'
import {
  isBelievedAlready,
  isSameProvider,
  issuerOf,
  readSettings,
  requireSettings,
  type Settings,
} from './settings.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request: [400, 'The name of a connection has 1 to 80 visible characters.'],
  invalid_metadata: [400, 'This is the metadata of another provider. For that one, make another connection.'],
  insufficient_scope: [403, 'Only an owner of the organization confirms a connection.'],
  connection_not_found: [404, 'This organization has no connection with this id.'],
  domain_not_verified: [409, 'A connection has verified domains of its organization alone.'],
  too_many_connections: [409, 'An organization has at most ten connections.'],
})

export type Connection = Omit<store.ConnectionRow, 'settings'> & { settings: Settings }

/** The connection of this id, whoseever it is; undefined where there is none. */
export async function findConnection(db: Database, connectionId: string): Promise<Connection | undefined> {
  const row = await store.findConnection(db, connectionId)
  return row && toConnection(row)
}

/** The connections of an organization that look after the people of a domain. */
export async function connectionsOfDomain(db: Database, organizationId: string, domain: string): Promise<Connection[]> {
  const rows = await store.listConnections(db, organizationId)
  return rows.filter(({ enabled, domains }) => enabled && domains.includes(domain)).map(toConnection)
}

/** Refuses as `requireMember` does. */
export async function listConnections(kernel: Kernel, asking: Asking, now: Date): Promise<SsoConnection[]> {
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  const rows = await store.listConnections(kernel.db, asking.organizationId)
  return rows.map((row) => tellConnection(kernel, toConnection(row), member.organization))
}

export type AskingForOne = Asking & { connectionId: string }

/** Refuses as `requireMember` does, and `connection_not_found`. */
export async function readConnection(kernel: Kernel, asking: AskingForOne, now: Date): Promise<SsoConnection> {
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  return tellConnection(kernel, await requireConnection(kernel.db, asking), member.organization)
}

/** The connection, where it is one of this organization. Refuses `connection_not_found`. */
export async function requireConnection(db: Database, { organizationId, connectionId }: AskingForOne) {
  const connection = await findConnection(db, connectionId)
  if (connection?.organizationId !== organizationId) throw refuse.connection_not_found()
  return connection
}

/**
 * Connects an organization with its provider, once that is seen to be one. Refuses as `requireMember` does, and
 * `reauthentication_required`, `invalid_request`, `invalid_issuer`, `invalid_metadata`, `domain_not_verified`,
 * `too_many_connections`, `rate_limited`.
 */
export async function createConnection(
  kernel: Kernel,
  asking: Asking,
  { name, domains = [], enabled = true, oidc, saml }: NewSsoConnection,
  now: Date,
): Promise<SsoConnection> {
  const { keyring, rateLimits } = kernel
  const { session, organizationId } = asking
  await requireMember(kernel, asking, 'manage_sso', now)
  requireFresh(session, now)
  requireName(name)
  await rateLimits.count('sso connection of an organization', organizationId)
  const settings = await requireSettings(kernel, { oidc, saml }, now)
  const connectionId = randomUUIDv7()
  const connection: Connection = {
    connectionId,
    organizationId,
    name,
    enabled,
    domains,
    settings,
    sealedSecret: oidc ? await sealSecret(keyring, connectionId, oidc.clientSecret) : null,
    subjectBy: null,
    tokenCreatedAt: null,
    encryptionCertificate: null,
    testedAt: null,
    confirmedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  return change(kernel, asking, now, async (tx, member) => {
    await requireVerified(tx, organizationId, domains)
    const { length } = await store.listConnections(tx, organizationId)
    if (length >= limits.ssoConnectionsPerOrganizationMax) throw refuse.too_many_connections()
    await store.insertConnection(tx, connection)
    const details = { connectionId, name, issuer: issuerOf(settings) }
    const act = { action: 'sso.connection_created', details, isConfidential: true } as const
    await recordAct(tx, { asking, acting: member }, act, now)
    return connection
  })
}

/**
 * Changes a connection. Whom one that is disabled has signed in, and nobody else, is signed out. Whoever has other
 * keys believed could be everybody who is connected, owners too, so that takes `manage_org`. Refuses as
 * `requireMember` does, and `reauthentication_required`, `connection_not_found`, `invalid_request`,
 * `invalid_metadata`, `domain_not_verified`, `sso_in_use`, `rate_limited`.
 */
export async function changeConnection(
  kernel: Kernel,
  asking: AskingForOne,
  { name, domains, enabled, oidc, saml }: SsoConnectionChange,
  now: Date,
): Promise<SsoConnection> {
  const { organizationId, connectionId } = asking
  if (name !== undefined) requireName(name)
  const described = saml && (await describeAnew(kernel, asking, saml, now))
  const sealedSecret = oidc && (await sealSecret(kernel.keyring, connectionId, oidc.clientSecret))
  return change(kernel, asking, now, async (tx, member) => {
    const before = await requireConnection(tx, asking)
    const added = domains?.filter((domain) => !before.domains.includes(domain)) ?? []
    await requireVerified(tx, organizationId, added)
    if (oidc && before.settings.protocol !== 'oidc')
      throw refuse.invalid_request({ sentence: 'A connection by SAML has no client secret.' })
    if (described && !isSameProvider(described, before.settings)) throw refuse.invalid_metadata()
    const believesMore = described !== undefined && !isBelievedAlready(described, before.settings)
    const acting = believesMore ? await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now) : member
    const isDisabled = before.enabled && enabled === false
    // Another admin could enable again what an owner has disabled, so that is confirmed anew as other keys are.
    const confirmedAt = believesMore || isDisabled ? null : before.confirmedAt
    const connection = {
      ...before,
      confirmedAt,
      settings: described ?? before.settings,
      name: name ?? before.name,
      domains: domains ?? before.domains,
      enabled: enabled ?? before.enabled,
      sealedSecret: sealedSecret ?? before.sealedSecret,
      updatedAt: now,
    }
    await store.updateConnection(tx, connection)
    if (confirmedAt === null) await unconfirmSso(tx, connection)
    if (isDisabled) await endEnterpriseSessions(tx, { organizationId, connectionId }, now)
    const changed = Object.entries({ name, domains, enabled, clientSecret: oidc, metadata: saml })
      .filter(([, value]) => value !== undefined)
      .map(([field]) => field)
    const details = { connectionId, changed }
    const act = { action: 'sso.connection_changed', details, isConfidential: true } as const
    await recordAct(tx, { asking, acting }, act, now)
    return connection
  })
}

/** What the metadata of the same provider says now: it has other keys, or people sign in elsewhere. */
async function describeAnew(
  kernel: Kernel,
  asking: AskingForOne,
  saml: NonNullable<SsoConnectionChange['saml']>,
  now: Date,
): Promise<Settings> {
  await requireMember(kernel, asking, 'manage_sso', now)
  requireFresh(asking.session, now)
  await requireConnection(kernel.db, asking)
  await kernel.rateLimits.count('sso connection of an organization', asking.organizationId)
  return requireSettings(kernel, { saml }, now)
}

/**
 * Deletes a connection, and signs out whom it alone has signed in. Refuses as `requireMember` does, and
 * `reauthentication_required`, `connection_not_found`, `sso_in_use`.
 */
export async function deleteConnection(kernel: Kernel, asking: AskingForOne, now: Date): Promise<void> {
  const { organizationId, connectionId } = asking
  await change(kernel, asking, now, async (tx, member) => {
    const connection = await requireConnection(tx, asking)
    await store.deleteConnection(tx, connectionId)
    await unconfirmSso(tx, connection)
    await endEnterpriseSessions(tx, { organizationId, connectionId }, now)
    const details = { connectionId, name: connection.name }
    await recordAct(tx, { asking, acting: member }, { action: 'sso.connection_deleted', details }, now)
    return connection
  })
}

/**
 * Confirms a connection as it is now, by an owner with a fresh passkey: from then on a sign-in by it meets
 * `ssoRequired`. Refuses as `requireMember` and `recordAct` do, and `insufficient_scope` to all but owners,
 * `reauthentication_required`, `connection_not_found`.
 */
export function confirmConnection(kernel: Kernel, asking: AskingForOne, now: Date): Promise<SsoConnection> {
  return change(kernel, asking, now, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw refuse.insufficient_scope()
    const connection = await requireConnection(tx, asking)
    const { organizationId, connectionId, settings } = connection
    await confirmSso(tx, { organizationId, connectionId, identityId: acting.identityId }, now)
    const details = { connectionId, issuer: issuerOf(settings) }
    await recordAct(tx, { asking, acting }, { action: 'sso.connection_confirmed', details }, now)
    return { ...connection, confirmedAt: now }
  })
}

/** Changes connections of an organization while nobody else changes any, and leaves the right one in use. */
async function change(
  kernel: Kernel,
  asking: Asking,
  now: Date,
  work: (tx: Transaction, member: Member) => Promise<Connection>,
): Promise<SsoConnection> {
  return actingMemberTransaction(kernel.db, asking, async (tx) => {
    const member = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireFreshToAct(asking, now)
    const connection = await work(tx, member)
    const ssoConnectionId = await putInUse(tx, member.organization)
    return tellConnection(kernel, connection, { ssoConnectionId })
  })
}

type Using = { organizationId: string; ssoConnectionId: string | null }

/**
 * Sees to it that the connection in use is one that is enabled, has been tested and is confirmed: the same as before
 * where it is enabled and tested, so that other keys of it wait for an owner and not for another connection, else the
 * oldest. Answers which. Refuses `sso_in_use` where there would be none, and everybody must sign in with one.
 */
async function putInUse(tx: Transaction, { organizationId, ssoConnectionId }: Using): Promise<string | null> {
  const usable = (await store.listConnections(tx, organizationId)).filter((each) => each.enabled && each.testedAt)
  const confirmed = usable.filter(({ confirmedAt }) => confirmedAt)
  const chosen = usable.find(({ connectionId }) => connectionId === ssoConnectionId) ?? confirmed[0]
  const chosenId = chosen?.connectionId ?? null
  if (chosenId !== ssoConnectionId) await chooseSsoConnection(tx, organizationId, chosenId)
  return chosenId
}

/** Notes that somebody has signed in with a connection to test it. Refuses `connection_not_found` where it has gone. */
export async function noteTested(db: Database, connectionId: string, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const connection = await findConnection(tx, connectionId)
    const organization = connection && (await holdOrganization(tx, connection.organizationId))
    if (!organization || !(await store.setTested(tx, connectionId, now))) throw refuse.connection_not_found()
    await putInUse(tx, organization)
    const { organizationId } = organization
    await record(
      tx,
      { action: 'sso.connection_tested', actor: 'person', organizationId, details: { connectionId } },
      now,
    )
  })
}

/** A connection that signs in, or that is tested, with its organization; undefined where either is out of service. */
export async function findUsable(db: Database, connectionId: string, purpose: 'sign in' | 'test') {
  const connection = await findConnection(db, connectionId)
  if (!connection || (!connection.enabled && purpose === 'sign in')) return undefined
  const organization = await findActiveOrganization(db, connection.organizationId)
  return organization && { connection, organization }
}

/**
 * Whether an organization answers for where a connection leads: an owner has confirmed it, and it is for a domain that
 * the organization has verified.
 */
export async function isVouchedFor(db: Database, connection: Connection): Promise<boolean> {
  const { organizationId, domains, confirmedAt } = connection
  return confirmedAt !== null && isAnyVerifiedFor(db, organizationId, domains)
}

function requireName(name: string): void {
  if (!isDisplayName(name)) throw refuse.invalid_request()
}

async function requireVerified(tx: Transaction, organizationId: string, domains: string[]): Promise<void> {
  for (const domain of domains)
    if (!(await isVerifiedFor(tx, organizationId, domain))) throw refuse.domain_not_verified()
}

function toConnection(row: store.ConnectionRow): Connection {
  return { ...row, settings: readSettings(row.settings) }
}
