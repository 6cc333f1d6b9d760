import { randomUUIDv7 } from 'node:crypto'
import type { AdminConnectedApp } from '@countersign/protocol/operations/people'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { deleteDelegations, revokeDelegationsOfApps } from '#oauth/delegation/delegation.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { listSsoOrganizations } from '#accounts/sessions/sso-session.ts'
import { queueLogouts } from '#accounts/backchannel-logout/logout.ts'
import type { PasskeySession, Session, RecoveredSession } from '#accounts/sessions/session.ts'
import { findScopesHeld, revokeFamiliesOfClient } from '#tokens/families/family.ts'
import { toEncryptedAppKey, type AppKey, listAppKeys } from '#oauth/app-keys/app-key.ts'
import { takeAppKeysOfApps } from '#oauth/app-keys/former-app-key.ts'
import * as store from './store.ts'
import type { Family, Consent } from './store.ts'

const errors = defineErrors({ authorization_not_found: [404, 'No authorization of this account has this ID.'] })

/**
 * Access of an app to the organizations of a user: `chosen`, otherwise the recorded value, otherwise
 * `unlessRecorded`. With null for both, nothing changes, and a first record says that the user was not asked.
 */
export type AccessChoice = { chosen: OrganizationAccess | null; unlessRecorded: OrganizationAccess | null }

type Connection = {
  identityId: IdentityId
  clientId: ClientId
  scope: ScopeSet
  /** Organization for which the user signs in with their passkey, if any. */
  organizationId: OrganizationId | undefined
  organizationAccess: AccessChoice
}

/**
 * Records that an identity grants an app these scopes in addition to earlier ones.
 *
 * A consent for an organization alone records no scopes, so that the user sees the app and can disconnect it. Locks the
 * record until the end of `tx`.
 */
export function recordConsent(
  tx: Transaction,
  { scope, organizationAccess, ...connection }: Connection,
  now: Date,
): void {
  const consent = { ...connection, authorizationId: randomUUIDv7(), scope: [...scope], ...organizationAccess }
  store.upsertConsent(tx, consent, now)
}

/**
 * Tells if an identity has connected an app, and locks the connection until the end of `tx`. Waits for a disconnection
 * that is in progress.
 */
export function lockConsent(tx: Transaction, identityId: IdentityId, clientId: ClientId): Promise<boolean> {
  return store.lockConsent(tx, identityId, clientId)
}

/** Lists the apps that the identities of a user have connected, most recently connected first. */
export async function listAuthorizations(db: Database, userId: UserId): Promise<Authorization[]> {
  const consents = await store.listConsentsOfUser(db, userId)
  if (consents.length === 0) return []
  const keys = await listAppKeys(db, [...new Set(consents.map(({ identityId }) => identityId))])
  return consents.map((consent) =>
    toAuthorization(
      consent,
      keys.filter((key) => isOf(key, consent)),
    ),
  )
}

/** Lists the apps that one identity has connected, for the operator: without its keys and its choices. */
export async function listConnectedApps(db: Database, identityId: IdentityId): Promise<AdminConnectedApp[]> {
  const consents = await store.listConsentsOfIdentity(db, identityId)
  return consents.map(({ clientId, appName, scope, createdAt, lastAuthorizedAt }) => ({
    clientId,
    appName,
    scope: scope.join(' '),
    createdAt: createdAt.toISOString(),
    lastAuthorizedAt: lastAuthorizedAt.toISOString(),
  }))
}

/** Returns what an identity has granted an app, if anything, and the requested scopes that the grant does not cover. */
export async function getAuthorization(db: Database, identityId: IdentityId, clientId: ClientId, requested: ScopeSet) {
  const consent = await store.findConsent(db, identityId, clientId)
  return {
    authorization: consent ? toAuthorization(consent, await listAppKeys(db, [identityId], clientId)) : null,
    missingScopes: [...requested.without(new ScopeSet(consent?.scope))],
  }
}

/**
 * Returns the scopes of `getAuthorizationInSession`, or undefined if nothing that counts in the session was granted.
 */
export async function findGrantedScope(
  db: Database,
  { authMethod, sessionId }: Session | RecoveredSession,
  { identityId, clientId }: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<ScopeSet | undefined> {
  const consented = await store.findConsentedScope(db, identityId, clientId)
  if (authMethod !== 'enterprise_sso' || !consented) return consented && new ScopeSet(consented)
  const organizationIds = await listSsoOrganizations(db, { sessionId, identityId }, now)
  return (await findScopesHeld(db, { identityId, clientId, organizationIds }, now))?.scope
}

/**
 * Returns the authorization as it counts in a session. In a session opened by SSO alone, no consent of the user counts;
 * only what the app already holds for that organization does.
 */
export async function getAuthorizationInSession(
  db: Database,
  { authMethod, sessionId }: Session | RecoveredSession,
  { identityId, clientId, scope }: { identityId: IdentityId; clientId: ClientId; scope: ScopeSet },
  now: Date,
) {
  const read = await getAuthorization(db, identityId, clientId, scope)
  if (authMethod !== 'enterprise_sso') return read
  const organizationIds = await listSsoOrganizations(db, { sessionId, identityId }, now)
  const held = await findScopesHeld(db, { identityId, clientId, organizationIds }, now)
  if (!held || !read.authorization) return { authorization: null, missingScopes: [...scope] }
  // When and how far the user connected the app is private to the user.
  const times = { createdAt: held.firstAt.toISOString(), lastAuthorizedAt: held.lastAt.toISOString() }
  const own = { ...withoutKeys, ...times, organizationAccess: null, scope: held.scope.toString() }
  return {
    authorization: { ...read.authorization, ...own },
    missingScopes: [...scope.without(held.scope)],
  }
}

/** Hides the user's app keys, which no organization may read. */
const withoutKeys = { encryptionMode: null, encryptedAppKey: null, appPublicKey: null, encryptedAppPrivateKey: null }

/**
 * Disconnects an app from an identity. This revokes its codes and tokens, ends its key, which is kept with the former
 * keys, and ends its delegations in both directions.
 *
 * Throws `authorization_not_found`. The consent is deleted first, so that a concurrent consent waits and starts from
 * nothing.
 */
export async function disconnect(
  db: Database,
  session: PasskeySession,
  authorizationId: string,
  now: Date,
): Promise<void> {
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    const consent = await store.deleteConsentOfUser(tx, userId, authorizationId)
    if (!consent) throw errors.authorization_not_found()
    await endConnection(tx, { actor: 'user', userId, ...consent }, now)
  })
}

/** Disconnects an app at the app's own request in the user's browser; returns `false` if it was not connected. */
export async function disconnectForApp(
  db: Database,
  session: PasskeySession,
  of: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<boolean> {
  return actingTransaction(db, session, async (tx) => {
    if (!(await store.deleteConsent(tx, of.identityId, of.clientId))) return false
    await endConnection(tx, { actor: 'app', userId: session.userId, ...of }, now)
    return true
  })
}

type DisconnectInput = { actor: 'user' | 'app'; userId: UserId; identityId: IdentityId; clientId: ClientId }

/** Revokes everything that depended on a consent which this transaction has deleted. */
async function endConnection(tx: Transaction, ending: DisconnectInput, now: Date): Promise<void> {
  const { userId, identityId, clientId } = ending
  await revokeFamiliesOfClient(tx, identityId, clientId, now)
  await queueLogouts(tx, { identityIds: [identityId], clientId }, now)
  await takeAppKeysOfApps(tx, { userId, identityId, clientIds: [clientId] }, now)
  await revokeDelegationsOfApps(tx, identityId, [clientId], now)
  await recordAuditEvent(tx, { action: 'app.disconnected', ...ending }, now)
}

type RecentConnections = { userId: UserId; identityIds: IdentityId[]; connectedSince: Date | null }

const connectionsPerStatement = 500

/**
 * Disconnects the apps that identities have connected since an instant: with `prompt=none`, a consent by the passkey of
 * a recovery that is undone would count for the user. Tokens and logouts of these identities end in other rooms.
 */
export async function disconnectRecent(
  tx: Transaction,
  { userId, identityIds, connectedSince: since }: RecentConnections,
  now: Date,
): Promise<void> {
  if (since === null) return
  for (const identityId of identityIds)
    for (;;) {
      const clientIds = await store.deleteConsentsSince(tx, { identityId, since }, connectionsPerStatement)
      if (clientIds.length === 0) break
      await takeAppKeysOfApps(tx, { userId, identityId, clientIds }, now)
      await revokeDelegationsOfApps(tx, identityId, clientIds, now)
      for (const clientId of clientIds) {
        const act = { action: 'app.disconnected', actor: 'user', userId, identityId, clientId } as const
        await recordAuditEvent(tx, act, now)
      }
    }
}

/** Lists the client IDs of the apps that identities have connected, as far as scopes are recorded. */
export function listConnectedClientIds(db: Database, identityIds: IdentityId[]) {
  return store.listConsentedClients(db, identityIds)
}

/** Lists those of the given identities that have connected an app, with any scope. */
export function listConnectedIdentities(
  db: Database,
  identityIds: IdentityId[],
  clientId: ClientId,
): Promise<IdentityId[]> {
  return store.listConsentedIdentities(db, identityIds, clientId)
}

const pageGrants = 500

/** Lists what apps hold of an identity, or held until recently. */
export async function* readGrants(db: Database, identityId: IdentityId, now: Date) {
  const pages = readPages<Family>(pageGrants, (last, count) =>
    store.listTokenFamilies(db, identityId, { after: last?.familyId, count }),
  )
  for await (const families of pages)
    yield families.map(({ clientId, scope, createdAt, expiresAt, revokedAt }) => ({
      clientId,
      scope: scope.join(' '),
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      ended: revokedAt !== null || expiresAt <= now,
    }))
}

/** Tells if an identity has connected an app. */
export async function isConnected(db: Database, identityId: IdentityId, clientId: ClientId): Promise<boolean> {
  return (await store.findConsent(db, identityId, clientId)) !== undefined
}

/** Deletes the consents and delegations of identities that are being deleted. */
export async function deleteConsents(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await deleteDelegations(tx, identityIds)
  await store.deleteConsents(tx, identityIds)
}

function isOf(key: { identityId: IdentityId; clientId: ClientId }, { identityId, clientId }: Consent): boolean {
  return key.identityId === identityId && key.clientId === clientId
}

/**
 * Maps a consent to the API form. `keys` are the identity's keys in the app, at most one of each mode, newest first.
 */
function toAuthorization(consent: Consent, keys: AppKey[]): Authorization {
  const sealed = keys.map(toEncryptedAppKey)
  const symmetric = sealed.find(({ encryptionMode }) => encryptionMode === 'symmetric')
  const asymmetric = sealed.find(({ encryptionMode }) => encryptionMode === 'asymmetric')
  return {
    id: consent.authorizationId,
    clientId: consent.clientId,
    appName: consent.appName,
    appIconUrl: consent.appIconUrl,
    appWebsiteUrl: consent.appWebsiteUrl,
    identityId: consent.identityId,
    scope: consent.scope.join(' '),
    organizationAccess: consent.organizationAccess,
    createdAt: consent.createdAt.toISOString(),
    lastAuthorizedAt: consent.lastAuthorizedAt.toISOString(),
    encryptionMode: sealed[0]?.encryptionMode ?? null,
    encryptedAppKey: symmetric?.encryptedAppKey ?? null,
    appPublicKey: asymmetric?.appPublicKey ?? null,
    encryptedAppPrivateKey: asymmetric?.encryptedAppPrivateKey ?? null,
  }
}
