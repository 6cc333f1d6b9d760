import { randomUUIDv7 } from 'node:crypto'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import { forgetDelegations, revokeDelegationsOfApp } from '#oauth/delegation/delegation.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { listEnterpriseSso } from '#accounts/sessions/sso-session.ts'
import { queueLogouts } from '#accounts/sessions/logout.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { findScopesHeld, revokeAllOfClient } from '#tokens/families/family.ts'
import * as appKeysStore from '#oauth/app-keys/store.ts'
import type { AppKey } from '#oauth/app-keys/store.ts'
import { toSealedAppKey } from '#oauth/app-keys/app-key.ts'
import * as store from './store.ts'
import type { Lineage, Consent } from './store.ts'

const refuse = refusals({ authorization_not_found: [404, 'None of your identities has this authorization.'] })

/**
 * How far an app may go with the organizations of a user: as they chose, else as was recorded, else `unlessRecorded`.
 * With null for both nothing changes, and a first record says that they were not asked.
 */
export type AccessChoice = { chosen: OrganizationAccess | null; unlessRecorded: OrganizationAccess | null }

type Connection = { identityId: string; clientId: string; scope: string[]; organizationAccess: AccessChoice }

/**
 * Records that an identity lets an app have these scopes, beside those it has already; none where it is for an
 * organization alone, so that the person sees the app, and can disconnect it. Locks the record until the end of `tx`.
 */
export async function connect(
  tx: Transaction,
  { identityId, clientId, scope, organizationAccess }: Connection,
  now: Date,
): Promise<void> {
  const consent = { identityId, clientId, authorizationId: randomUUIDv7(), scope, ...organizationAccess }
  const recorded = await store.upsertConsent(tx, consent, now)
  const missing = scope.filter((each) => !recorded.scope.includes(each))
  if (missing.length > 0) await store.widenConsent(tx, { identityId, clientId, scope: [...recorded.scope, ...missing] })
}

/**
 * Whether an identity has connected an app, which nobody undoes until the end of `tx`: a disconnection that came before
 * is waited for.
 */
export function holdConsent(tx: Transaction, identityId: string, clientId: string): Promise<boolean> {
  return store.lockConsent(tx, identityId, clientId)
}

/** The apps that the identities of a person have connected, the latest first. */
export async function listAuthorizations(db: Database, userId: string): Promise<Authorization[]> {
  const consents = await store.listConsentsOfUser(db, userId)
  if (consents.length === 0) return []
  const keys = await appKeysStore.listAppKeys(db, [...new Set(consents.map(({ identityId }) => identityId))])
  return consents.map((consent) =>
    toAuthorization(
      consent,
      keys.filter((key) => isOf(key, consent)),
    ),
  )
}

/** What an identity has granted an app, if anything, and which of the wanted scopes that does not cover. */
export async function readAuthorization(db: Database, identityId: string, clientId: string, wanted: string[]) {
  const consent = await store.findConsent(db, identityId, clientId)
  return {
    authorization: consent
      ? toAuthorization(consent, await appKeysStore.listAppKeys(db, [identityId], clientId))
      : null,
    missingScopes: wanted.filter((scope) => !consent?.scope.includes(scope)),
  }
}

/**
 * The same, as far as it counts in a session. In one that an organization alone opened no consent of the person counts,
 * but what the app holds for that organization already.
 */
export async function readAuthorizationIn(
  db: Database,
  { authMethod, sessionId }: Session,
  { identityId, clientId, scope }: { identityId: string; clientId: string; scope: string[] },
  now: Date,
) {
  const read = await readAuthorization(db, identityId, clientId, scope)
  if (authMethod === 'passkey') return read
  const organizationIds = await listEnterpriseSso(db, { sessionId, identityId }, now)
  const held = await findScopesHeld(db, { identityId, clientId, organizationIds }, now)
  if (!held || !read.authorization) return { authorization: null, missingScopes: scope }
  // When and how far the user connected the app as themselves is theirs to know.
  const times = { createdAt: held.firstAt.toISOString(), lastAuthorizedAt: held.lastAt.toISOString() }
  const own = { ...withoutKeys, ...times, organizationAccess: null, scope: held.scope.join(' ') }
  return {
    authorization: { ...read.authorization, ...own },
    missingScopes: scope.filter((each) => !held.scope.includes(each)),
  }
}

/** The keys that a user has with an app are theirs, and open to no organization. */
const withoutKeys = { encryptionMode: null, encryptedAppKey: null, appPublicKey: null, encryptedAppPrivateKey: null }

/**
 * Disconnects an app from an identity: its codes and tokens for it end with this call, and so do its key, what it may
 * do at others, and what others may do at it. Refuses `authorization_not_found`. The consent goes first, so that a
 * consent given meanwhile waits, and begins anew.
 */
export async function disconnect(db: Database, session: Session, authorizationId: string, now: Date): Promise<void> {
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    const consent = await store.deleteConsentOfUser(tx, userId, authorizationId)
    if (!consent) throw refuse.authorization_not_found()
    await endConnection(tx, { actor: 'person', userId, ...consent }, now)
  })
}

/** The same, because the app itself asks for that in a browser of theirs; `false` where it was not connected. */
export async function disconnectForApp(
  db: Database,
  session: Session,
  of: { identityId: string; clientId: string },
  now: Date,
): Promise<boolean> {
  return actingTransaction(db, session, async (tx) => {
    if (!(await store.deleteConsent(tx, of.identityId, of.clientId))) return false
    await endConnection(tx, { actor: 'app', userId: session.userId, ...of }, now)
    return true
  })
}

type Ending = { actor: 'person' | 'app'; userId: string; identityId: string; clientId: string }

/** Ends all that stood on a consent which this transaction has deleted. */
async function endConnection(tx: Transaction, ending: Ending, now: Date): Promise<void> {
  const { identityId, clientId } = ending
  await revokeAllOfClient(tx, identityId, clientId, now)
  await queueLogouts(tx, { identityIds: [identityId], clientId }, now)
  await appKeysStore.deleteAppKeysOfApp(tx, identityId, clientId)
  await revokeDelegationsOfApp(tx, identityId, clientId, now)
  await record(tx, { action: 'app.disconnected', ...ending }, now)
}

/** The apps that identities have connected, as far as it is on record what for. */
export function listConnected(db: Database, identityIds: string[]) {
  return store.listConsentedClients(db, identityIds)
}

/** Those of the identities that have connected an app, whatever for. */
export function listConnectedIdentities(db: Database, identityIds: string[], clientId: string): Promise<string[]> {
  return store.listConsentedIdentities(db, identityIds, clientId)
}

const pageGrants = 500

/** What apps hold of an identity, or held until lately. */
export async function* readGrants(db: Database, identityId: string, now: Date) {
  const pages = readPages<Lineage>(pageGrants, (last, count) =>
    store.listLineages(db, identityId, { after: last?.lineageId, count }),
  )
  for await (const lineages of pages)
    yield lineages.map(({ clientId, scope, createdAt, endsAt, revokedAt }) => ({
      clientId,
      scope: scope.join(' '),
      createdAt: createdAt.toISOString(),
      endsAt: endsAt.toISOString(),
      ended: revokedAt !== null || endsAt <= now,
    }))
}

/** Whether an identity has connected an app. */
export async function isConnected(db: Database, identityId: string, clientId: string): Promise<boolean> {
  return (await store.findConsent(db, identityId, clientId)) !== undefined
}

/** Forgets what identities that are going have consented to, what apps may do as them, and their keys in apps. */
export async function forgetConsents(tx: Transaction, identityIds: string[]): Promise<void> {
  await appKeysStore.deleteAppKeys(tx, identityIds)
  await forgetDelegations(tx, identityIds)
  await store.deleteConsents(tx, identityIds)
}

function isOf(key: { identityId: string; clientId: string }, { identityId, clientId }: Consent): boolean {
  return key.identityId === identityId && key.clientId === clientId
}

/** `keys` are those of the app for the identity, at most one of each mode, the newest first. */
function toAuthorization(consent: Consent, keys: AppKey[]): Authorization {
  const sealed = keys.map(toSealedAppKey)
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
