import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import type { BatchedQuery } from '#platform/database/batching.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomTokenBytes } from '#platform/crypto/random.ts'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import * as accessStore from './access-store.ts'
import * as codeStore from './code-store.ts'
import * as organizationStore from './organization-store.ts'
import * as store from './store.ts'
import type { Consented, OrganizationBinding, TokenFamilyGrant, TokenFamily, Redeemed } from './store.ts'

export type { Consented, OrganizationBinding, TokenFamilyGrant, TokenFamily, Redeemed }

/** Token lifetimes and allowed scopes of an app. */
export type ClientTokenSettings = {
  clientId: ClientId
  allowedScopes: string[]
  accessTokenTtlSeconds: number
  refreshTokenTtlSeconds: number
}

/** Result of a successful redemption: the grant, and the new tokens in clear text, available only here. */
export type IssuedTokens = { granted: Redeemed; access: NewAccess; refreshToken: string }

/** An access token in clear text, with its hash and expiry. */
type NewAccess = { token: string; sha256: Buffer; expiresAt: Date }

/** Kind of the credential that an app redeems first: an authorization code from the redirect, or a FedCM assertion. */
export type InitialCredential = 'code' | 'assertion'

/**
 * Creates a token family, the set of all tokens issued for one consent. Returns its first credential, in clear text
 * only here. A request with a nonce has one code at a time: an earlier unredeemed code is revoked. The caller holds the
 * lock of the consent.
 */
export function createTokenFamily(
  tx: Transaction,
  consented: Consented,
  now: Date,
  kind: InitialCredential = 'code',
): string {
  const familyId = randomUUIDv7()
  const token = generateToken(kind, uuidToBytes(consented.identityId), uuidToBytes(familyId))
  // Without a nonce, two requests cannot be distinguished: some clients send the same challenge with each of them.
  const { nonce } = consented
  if (nonce !== undefined) codeStore.revokeEarlierCodes(tx, { ...consented, nonce, now })
  store.insertFamily(tx, {
    ...consented,
    familyId,
    codeSha256: sha256(token),
    codeExpiresAt: initialCredentialExpiry(kind, now),
    now,
  })
  return token
}

/** Returns the expiry of a code or assertion that is issued now. */
export function initialCredentialExpiry(kind: InitialCredential, now: Date): Date {
  return addSeconds(now, kind === 'code' ? limits.codeLifetimeSeconds : limits.fedcmAssertionLifetimeSeconds)
}

/** Prepared statements of every token request. */
export type TokenStatements = { redeem: BatchedQuery<Redeemed>; rotate: BatchedQuery<Redeemed> }

export function prepareTokenStatements({ batched }: Pick<ServerContext, 'batched'>): TokenStatements {
  return { redeem: batched(store.redeemCodeStatement), rotate: batched(store.rotateStatement) }
}

export type Redemption = {
  kind: InitialCredential
  token: string
  redirectUri: string
  codeChallenge: string | null
  authenticated: boolean
}

/**
 * Redeems a code or an assertion and issues its first tokens. A single statement checks all conditions of RFC 6749
 * §4.1.3. Returns undefined if a check fails; `findFamilyByInitialCredential` then finds the reason.
 */
export async function redeemAuthorizationCode(
  { redeem }: TokenStatements,
  terms: ClientTokenSettings,
  redemption: Redemption,
  now: Date,
): Promise<IssuedTokens | undefined> {
  const route = routingKeyOfCode(redemption.kind, redemption.token)
  if (!route) return undefined
  const family = randomTokenBytes(16)
  const refreshToken = newRefreshToken(route.identityId, route.familyId, family)
  const access = newAccess(route.identityId, terms, now)
  const granted = await redeem([
    route.identityId,
    route.familyId,
    sha256(redemption.token),
    terms.clientId,
    redemption.redirectUri,
    redemption.codeChallenge,
    redemption.authenticated,
    now,
    terms.allowedScopes.includes('offline_access') ? limits.refreshTokenLifetimeSeconds : null,
    sha256(family),
    sha256(refreshToken),
    access.sha256,
    access.expiresAt,
  ])
  return granted && { granted, access, refreshToken }
}

/**
 * Rotates a refresh token in one statement. A live token is replaced by its successor. The token that was rotated last
 * gets a further successor for ten seconds (lost response, parallel tabs). `narrowed` applies to the access token only.
 * Returns undefined for any other token. Also returns undefined if `narrowed` has a scope that was not requested at
 * authorization, or no granted scope. `findFamilyByRefreshToken` then finds the reason.
 */
export async function rotateRefreshToken(
  { rotate }: TokenStatements,
  terms: ClientTokenSettings,
  { refreshToken, narrowed }: { refreshToken: string; narrowed: ScopeSet | undefined },
  now: Date,
): Promise<IssuedTokens | undefined> {
  const route = routeOfRefresh(refreshToken)
  if (!route) return undefined
  const successor = newRefreshToken(route.identityId, route.familyId, route.family)
  const access = newAccess(route.identityId, terms, now)
  const granted = await rotate([
    route.identityId,
    route.familyId,
    sha256(refreshToken),
    terms.clientId,
    now,
    sha256(successor),
    addSeconds(now, -terms.refreshTokenTtlSeconds),
    addSeconds(now, -limits.refreshRetrySeconds),
    narrowed?.toString() ?? null,
    access.sha256,
    access.expiresAt,
    limits.refreshSiblingsMax,
  ])
  return granted && { granted, access, refreshToken: successor }
}

/** Finds the token family of a code or an assertion, in any state of either. */
export async function findFamilyByInitialCredential(
  db: Database,
  kind: InitialCredential,
  token: string,
): Promise<TokenFamily | undefined> {
  const route = routingKeyOfCode(kind, token)
  const family = route && (await store.findFamily(db, route.identityId, route.familyId))
  return family && equalBytes(family.codeSha256, sha256(token)) ? family : undefined
}

/**
 * Finds the token family of a refresh token of any generation, and whether the token is live, used within the grace
 * period, or neither. Returns undefined for text that was never a refresh token of this service.
 */
export async function findFamilyByRefreshToken(db: Database, refreshToken: string, now: Date) {
  const route = routeOfRefresh(refreshToken)
  if (!route) return undefined
  const family = await store.findFamily(db, route.identityId, route.familyId)
  if (!family?.refreshRootSha256 || !equalBytes(family.refreshRootSha256, sha256(route.family))) return undefined

  const presented = sha256(refreshToken)
  const isAmong = (hashes: Uint8Array[]) => hashes.some((hash) => equalBytes(hash, presented))
  const inGrace = family.rotatedAt !== null && family.rotatedAt > addSeconds(now, -limits.refreshRetrySeconds)
  return {
    family,
    reused: !isAmong(family.currentRefreshSha256) && !(isAmong(family.previousRefreshSha256) && inGrace),
  }
}

/** Revokes all tokens of one token family, because one of them was used twice. Other families stay valid. */
export async function revokeFamilyOnReuse(
  db: Database,
  { identityId, familyId, clientId }: TokenFamily,
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await store.revokeFamily(tx, identityId, familyId, now))) return
    await recordAuditEvent(tx, { action: 'token_family.reuse_detected', actor: 'app', identityId, clientId }, now)
  })
}

/** Revokes all codes and tokens that an app has for an identity. */
export async function revokeFamiliesOfClient(
  tx: Transaction,
  identityId: IdentityId,
  clientId: ClientId,
  now: Date,
): Promise<void> {
  await store.revokeFamiliesOfClient(tx, identityId, clientId, now)
}

/**
 * Lists the organizations for which an app has live codes or tokens of an identity. Without user interaction, a request
 * can only be for one of these.
 */
export function listActiveOrganizationIds(
  db: Database,
  held: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<OrganizationId[]> {
  return organizationStore.listOrganizationsOfClient(db, held, now)
}

/**
 * Collects the scopes of an app's live codes and tokens of an identity for organizations, and when the first and the
 * last of them were created. Returns undefined if there are none.
 */
export async function findScopesHeld(
  db: Database,
  held: { identityId: IdentityId; clientId: ClientId; organizationIds: OrganizationId[] },
  now: Date,
): Promise<{ scope: ScopeSet; firstAt: Date; lastAt: Date } | undefined> {
  const live = held.organizationIds.length === 0 ? [] : await organizationStore.listScopesOfClient(db, held, now)
  const [first] = live
  if (!first) return undefined
  return {
    scope: new ScopeSet(live.flatMap((each) => each.scope)),
    firstAt: first.firstAt,
    lastAt: new Date(Math.max(...live.map(({ lastAt }) => lastAt.getTime()))),
  }
}

/** Checks whether an app has a live code or token for an organization, of any member. */
export function hasActiveOrganizationTokens(
  db: Database,
  acting: { organizationId: OrganizationId; clientId: ClientId },
  now: Date,
): Promise<boolean> {
  return organizationStore.hasTokensOfOrganization(db, acting, now)
}

/**
 * Revokes codes and tokens of the given identities for an organization. Tokens that the same users gave to apps for
 * themselves stay valid.
 */
export async function revokeFamiliesOfOrganization(
  tx: Transaction,
  of: { organizationId: OrganizationId; identityIds: IdentityId[] },
  now: Date,
): Promise<void> {
  if (of.identityIds.length > 0) await organizationStore.revokeOfOrganization(tx, of, now)
}

/** Revokes up to `limit` codes and tokens for an organization, of any members. Returns their number. */
export async function revokeSomeOfOrganization(
  tx: Transaction,
  of: { organizationId: OrganizationId; limit: number },
  revokedAt: Date,
): Promise<number> {
  const families = await organizationStore.listUnrevoked(tx, of)
  if (families.length > 0) await store.revokeListed(tx, families, revokedAt)
  return families.length
}

/** Deletes all codes and tokens of identities that are being deleted. */
export async function deleteTokens(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await store.deleteTokensOf(tx, identityIds)
}

/** Revokes all codes and tokens of identities that are being suspended. */
export async function revokeTokens(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  await store.revokeTokensOf(tx, identityIds, now)
}

/** Deletes up to `batch` ended token families and as many expired access tokens. Returns their number. */
export async function pruneTokens(db: Database, now: Date, batch: number): Promise<number> {
  return (await accessStore.deleteExpiredAccess(db, now, batch)) + (await store.deleteEndedFamilies(db, now, batch))
}

function newAccess(identityId: IdentityId, { accessTokenTtlSeconds }: ClientTokenSettings, now: Date): NewAccess {
  const token = generateToken('access', uuidToBytes(identityId))
  return { token, sha256: sha256(token), expiresAt: addSeconds(now, accessTokenTtlSeconds) }
}

function newRefreshToken(identityId: IdentityId, familyId: string, family: Uint8Array): string {
  return generateToken('refresh', uuidToBytes(identityId), uuidToBytes(familyId), family)
}

/**
 * Parses the key of a token family's row from a code or an assertion. Returns undefined for text that is not of this
 * kind.
 */
export function routingKeyOfCode(kind: InitialCredential, token: string) {
  const route = parseToken(kind, token, 32)
  return (
    route && {
      identityId: asId<IdentityId>(uuidFromBytes(route.subarray(0, 16))),
      familyId: uuidFromBytes(route.subarray(16, 32)),
    }
  )
}

function routeOfRefresh(token: string) {
  const route = parseToken('refresh', token, 48)
  return (
    route && {
      identityId: asId<IdentityId>(uuidFromBytes(route.subarray(0, 16))),
      familyId: uuidFromBytes(route.subarray(16, 32)),
      family: route.subarray(32, 48),
    }
  )
}
