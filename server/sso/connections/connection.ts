import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import type {
  GroupRule,
  NewSsoConnection,
  NextSsoConnection,
  SsoConnection,
  SsoConnectionChange,
} from '@countersign/protocol/organizations/sso'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { type Member } from '#organizations/membership/member.ts'
import { isAnyVerifiedFor, isVerifiedFor } from '#organizations/domains/domain.ts'
import {
  recordSignedAction,
  requireRecentAuthenticationForAction,
  requireRecentAuthenticationForCall,
} from '#organizations/acts/signed-action.ts'
import { countChange } from '#organizations/acts/start-limit.ts'
import { confirmSso, unconfirmSso } from '#organizations/membership/sso-confirmation.ts'
import {
  findActiveOrganization,
  findNextSsoConnectionId,
  lockActiveOrganization,
  setActiveSsoConnection,
  takeNextSsoConnectionId,
} from '#organizations/members/organization.ts'
import {
  type Settings,
  isAlreadyTrusted,
  isSameProvider,
  issuerOf,
  parseSettings,
  requireSettings,
  sealSecret,
  toNextConnection,
} from './settings.ts'
import { toFrom, toSsoConnection } from './connection-view.ts'
import { endSessionsOf, isEndingSessions } from './ending.ts'
import { endGivenByRules, replaceGroupRules } from './group-rule.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'name must be 1 to 80 visible characters.'],
  invalid_metadata: [400, 'The metadata describes another identity provider. Create a new connection for it.'],
  insufficient_scope: [403, 'Only owners can confirm a connection.'],
  connection_not_found: [404, 'SSO connection not found.'],
  domain_not_verified: [409, 'domains must be verified domains of this organization.'],
  too_many_connections: [409, 'An organization can have at most ten connections.'],
  connection_ending: [409, 'Members of this connection are still being signed out. Try again in a minute.'],
})

export type Connection = Omit<store.ConnectionRow, 'settings'> & { settings: Settings }
/** A connection as those who manage it see it. */
export type RuledConnection = Connection & { groupRules: GroupRule[] }

/** Finds a connection by id, whatever its organization. Returns undefined if there is none. */
export async function findConnection(db: Database, connectionId: string): Promise<Connection | undefined> {
  const row = await store.findConnection(db, connectionId)
  return row && toConnection(row)
}

/** Lists the connections of an organization that serve an e-mail domain. */
export async function connectionsOfDomain(
  db: Database,
  organizationId: OrganizationId,
  domain: string,
): Promise<Connection[]> {
  const rows = await store.listConnections(db, organizationId)
  return rows.filter(({ enabled, domains }) => enabled && domains.includes(domain)).map(toConnection)
}

/**
 * Lists the connections of an organization, and what to register at a provider for the next one. Throws the errors of
 * `requireMember`.
 */
export async function listConnections(
  kernel: ServerContext,
  asking: MemberContext,
  now: Date,
): Promise<{ connections: SsoConnection[]; next: NextSsoConnection }> {
  const { db, config } = kernel
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  const rows = await store.listRuledConnections(db, asking.organizationId)
  return {
    connections: rows.map((row) => toSsoConnection(kernel, toConnection(row), member.organization)),
    next: toNextConnection(config.baseUrl, await findNextSsoConnectionId(db, asking.organizationId)),
  }
}

export type AskingForOne = MemberContext & { connectionId: string }

/** Gets a connection for a member. Throws the errors of `requireMember`, and `connection_not_found`. */
export async function getConnection(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<SsoConnection> {
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  return toSsoConnection(kernel, await requireConnection(kernel.db, asking), member.organization)
}

/** Gets a connection of this organization. Throws `connection_not_found`. */
export async function requireConnection(db: Database, { organizationId, connectionId }: AskingForOne) {
  const row = await store.findRuledConnection(db, connectionId)
  if (row?.organizationId !== organizationId) throw errors.connection_not_found()
  return toConnection(row)
}

/**
 * Creates a connection to an identity provider, after checking that the provider exists. Throws the errors of
 * `requireMember`, and `reauthentication_required`, `invalid_request`, `invalid_issuer`, `invalid_metadata`,
 * `domain_not_verified`, `too_many_connections`, `rate_limited`.
 */
export async function createConnection(
  kernel: ServerContext,
  asking: MemberContext,
  { name, domains = [], enabled = true, oidc, saml }: NewSsoConnection,
  now: Date,
): Promise<SsoConnection> {
  const { keyring } = kernel
  const { organizationId } = asking
  const acting = await requireMember(kernel, asking, 'manage_sso', now)
  requireRecentAuthenticationForCall(asking, now)
  requireName(name)
  await countChange(kernel, { asking, acting }, 'sso-connection-changes-per-organization')
  const settings = await requireSettings(kernel, { oidc, saml }, now)
  return change(kernel, asking, now, async (tx, member) => {
    await requireVerified(tx, organizationId, domains)
    const { length } = await store.listConnections(tx, organizationId)
    if (length >= limits.ssoConnectionsPerOrganizationMax) throw errors.too_many_connections()
    const connectionId = await takeNextSsoConnectionId(tx, organizationId)
    const connection: RuledConnection = {
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
      groupRules: [],
      testedAt: null,
      confirmedAt: null,
      createdAt: now,
      updatedAt: now,
    }
    await store.insertConnection(tx, connection)
    const details = { connectionId, name, issuer: issuerOf(settings) }
    const act = { action: 'sso.connection.created', details, isConfidential: true } as const
    await recordSignedAction(tx, { asking, acting: member }, act, now)
    return connection
  })
}

/**
 * Updates a connection. Disabling it revokes the sessions that only this connection opened, and ends the memberships in
 * groups that it gave. Changed provider keys could
 * sign in as any linked member, including owners, so this requires `manage_org`. Throws the errors of `requireMember`,
 * and `reauthentication_required`, `connection_not_found`, `invalid_request`, `invalid_metadata`,
 * `domain_not_verified`, `sso_connection_required`, `connection_ending`, `rate_limited`.
 */
export async function updateConnection(
  kernel: ServerContext,
  asking: AskingForOne,
  { name, domains, enabled, oidc, saml, groupRules }: SsoConnectionChange,
  now: Date,
): Promise<SsoConnection> {
  const { organizationId, connectionId } = asking
  if (name !== undefined) requireName(name)
  if (saml || groupRules) await requireCountedChange(kernel, asking, now)
  const described = saml && (await requireSettings(kernel, { saml }, now))
  const sealedSecret = oidc && (await sealSecret(kernel.keyring, connectionId, oidc.clientSecret))
  return change(kernel, asking, now, async (tx, member) => {
    const before = await requireConnection(tx, asking)
    if (enabled && !before.enabled && (await isEndingSessions(tx, connectionId))) throw errors.connection_ending()
    const added = domains?.filter((domain) => !before.domains.includes(domain)) ?? []
    await requireVerified(tx, organizationId, added)
    if (oidc && before.settings.protocol !== 'oidc')
      throw errors.invalid_request({ sentence: 'A SAML connection cannot have a client secret.' })
    if (described && !isSameProvider(described, before.settings)) throw errors.invalid_metadata()
    const believesMore = described !== undefined && !isAlreadyTrusted(described, before.settings)
    const acting = believesMore ? await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now) : member
    const isDisabled = before.enabled && enabled === false
    // Another admin could enable a connection that an owner has disabled, so it needs a new confirmation, as changed
    // keys do.
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
    const ruled = { connectionId, organization: acting.organization }
    if (groupRules) await replaceGroupRules(tx, ruled, groupRules, now)
    if (confirmedAt === null) await unconfirmSso(tx, connection)
    if (isDisabled) await endWhatItGave(tx, connection, now)
    const changed = Object.entries({ name, domains, enabled, clientSecret: oidc, metadata: saml, groupRules })
      .filter(([, value]) => value !== undefined)
      .map(([field]) => field)
    const details = { connectionId, changed }
    const act = { action: 'sso.connection.updated', details, from: toFrom(before), isConfidential: true } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return { ...connection, groupRules: groupRules ?? before.groupRules }
  })
}

/** Ends the sessions that only this connection opened, and the memberships in groups that its provider named. */
async function endWhatItGave(tx: Transaction, connection: Connection, now: Date): Promise<void> {
  await endSessionsOf(tx, connection, now)
  await endGivenByRules(tx, connection.connectionId, now)
}

/** Checks that a member may change a connection, and counts changes that fetch metadata or create groups. */
async function requireCountedChange(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<void> {
  const acting = await requireMember(kernel, asking, 'manage_sso', now)
  requireRecentAuthenticationForCall(asking, now)
  await requireConnection(kernel.db, asking)
  await countChange(kernel, { asking, acting }, 'sso-connection-changes-per-organization')
}

/**
 * Deletes a connection and revokes the sessions that only this connection opened. Throws the errors of `requireMember`,
 * and `reauthentication_required`, `connection_not_found`, `sso_connection_required`.
 */
export async function deleteConnection(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<void> {
  const { connectionId } = asking
  await change(kernel, asking, now, async (tx, member) => {
    const connection = await requireConnection(tx, asking)
    await endWhatItGave(tx, connection, now)
    await store.deleteConnection(tx, connectionId)
    await unconfirmSso(tx, connection)
    const details = { connectionId, name: connection.name }
    const act = { action: 'sso.connection.deleted', details, from: toFrom(connection) } as const
    await recordSignedAction(tx, { asking, acting: member }, act, now)
    return connection
  })
}

/**
 * Confirms the current configuration of a connection. Only an owner with recent authentication can do this. From then
 * on a sign-in with it meets `ssoRequired`. Throws the errors of `requireMember` and `recordSignedAction`, and
 * `insufficient_scope` unless the member is an owner, `reauthentication_required`, `connection_not_found`.
 */
export function confirmConnection(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<SsoConnection> {
  return change(kernel, asking, now, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw errors.insufficient_scope()
    const connection = await requireConnection(tx, asking)
    const { organizationId, connectionId, settings } = connection
    await confirmSso(tx, { organizationId, connectionId, identityId: acting.identityId }, now)
    const details = { connectionId, issuer: issuerOf(settings) }
    const act = { action: 'sso.connection.confirmed', details, from: toFrom(connection) } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return { ...connection, confirmedAt: now }
  })
}

/** Changes connections of a locked organization, and then updates its required connection. */
async function change(
  kernel: ServerContext,
  asking: MemberContext,
  now: Date,
  work: (tx: Transaction, member: Member) => Promise<RuledConnection>,
): Promise<SsoConnection> {
  return actingMemberTransaction(kernel.db, asking, async (tx) => {
    const member = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireRecentAuthenticationForAction(asking, now)
    const connection = await work(tx, member)
    const ssoConnectionId = await putInUse(tx, member.organization)
    return toSsoConnection(kernel, connection, { ssoConnectionId })
  })
}

type Using = { organizationId: OrganizationId; ssoConnectionId: string | null }

/**
 * Resolves the connection that members must use: it must be enabled, tested and confirmed. The current one stays if it
 * is enabled and tested, so that its changed keys wait for an owner's confirmation instead of switching to another
 * connection. Otherwise the oldest is used. Throws `sso_connection_required` if none is left while SSO is required.
 */
async function putInUse(tx: Transaction, { organizationId, ssoConnectionId }: Using): Promise<string | null> {
  const usable = (await store.listConnections(tx, organizationId)).filter((each) => each.enabled && each.testedAt)
  const confirmed = usable.filter(({ confirmedAt }) => confirmedAt)
  const chosen = usable.find(({ connectionId }) => connectionId === ssoConnectionId) ?? confirmed[0]
  const chosenId = chosen?.connectionId ?? null
  if (chosenId !== ssoConnectionId) await setActiveSsoConnection(tx, organizationId, chosenId)
  return chosenId
}

/** Records a successful test sign-in. Throws `connection_not_found` if the connection was deleted. */
export async function recordTestSuccess(db: Database, connectionId: string, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const connection = await findConnection(tx, connectionId)
    const organization = connection && (await lockActiveOrganization(tx, connection.organizationId))
    if (!organization || !(await store.setTested(tx, connectionId, now))) throw errors.connection_not_found()
    await putInUse(tx, organization)
    const { organizationId } = organization
    await recordAuditEvent(
      tx,
      { action: 'sso.connection.tested', actor: 'user', organizationId, details: { connectionId } },
      now,
    )
  })
}

/** Finds a connection for a sign-in or a test, with its organization. Returns undefined if either is inactive. */
export async function findEnabledConnection(db: Database, connectionId: string, purpose: 'login' | 'test') {
  const connection = await findConnection(db, connectionId)
  if (!connection || (!connection.enabled && purpose === 'login')) return undefined
  const organization = await findActiveOrganization(db, connection.organizationId)
  return organization && { connection, organization }
}

/**
 * Checks if an organization vouches for the target of a connection: an owner has confirmed it, and it serves a domain
 * that the organization has verified.
 */
export async function isVouchedFor(db: Database, connection: Connection): Promise<boolean> {
  const { organizationId, domains, confirmedAt } = connection
  return confirmedAt !== null && isAnyVerifiedFor(db, organizationId, domains)
}

function requireName(name: string): void {
  if (!isDisplayName(name)) throw errors.invalid_request()
}

async function requireVerified(tx: Transaction, organizationId: OrganizationId, domains: string[]): Promise<void> {
  for (const domain of domains)
    if (!(await isVerifiedFor(tx, organizationId, domain))) throw errors.domain_not_verified()
}

function toConnection<Row extends store.ConnectionRow>(row: Row) {
  return { ...row, settings: parseSettings(row.settings) }
}
