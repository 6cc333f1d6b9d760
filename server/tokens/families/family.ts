import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import type { Gathered } from '#platform/database/batching.ts'
import type { Kernel } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { newToken, readToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import * as accessStore from './access-store.ts'
import * as codeStore from './code-store.ts'
import * as organizationStore from './organization-store.ts'
import * as store from './store.ts'
import type { Consented, ForOrganization, Granted, Lineage, Redeemed } from './store.ts'

export type { ForOrganization, Granted, Lineage, Redeemed }

/** The lifetimes that an app asked for, and the scopes that it may still have. */
export type Terms = {
  clientId: string
  allowedScopes: string[]
  accessTokenSeconds: number
  refreshTokenSeconds: number
}

/** What a successful redemption gives: what was granted, and the new tokens in clear, this once. */
export type Issued = { granted: Redeemed; access: NewAccess; refreshToken: string }

/** An access token in clear, its hash, and when it ends. */
type NewAccess = { token: string; sha256: Buffer; expiresAt: Date }

/** What an app redeems first: the code that a browser was sent back with, or the assertion that it was given. */
export type FirstToken = 'code' | 'assertion'

/**
 * Begins a lineage: all tokens that will descend from one consent, with the first of them, which is told this once. The
 * same request gives one code at a time: an earlier one that nobody has redeemed ends. The caller holds the consent.
 */
export async function beginLineage(
  tx: Transaction,
  consented: Consented,
  now: Date,
  kind: FirstToken = 'code',
): Promise<string> {
  const lineageId = randomUUIDv7()
  const token = newToken(kind, uuidToBytes(consented.identityId), uuidToBytes(lineageId))
  // Without either there is nothing by which two requests could be told apart.
  if (consented.codeChallenge !== undefined || consented.nonce !== undefined)
    await codeStore.revokeEarlierCodes(tx, { ...consented, now })
  await store.insertLineage(tx, {
    ...consented,
    lineageId,
    codeSha256: sha256(token),
    codeExpiresAt: endOfFirst(kind, now),
    now,
  })
  return token
}

/** When a first token ends that is told now. */
export function endOfFirst(kind: FirstToken, now: Date): Date {
  return secondsAfter(now, kind === 'code' ? limits.codeLifetimeSeconds : limits.fedcmAssertionLifetimeSeconds)
}

/** The statements that every token request runs through. */
export type Redeeming = { redeem: Gathered<Redeemed>; rotate: Gathered<Redeemed> }

export function openRedeeming({ gathered }: Pick<Kernel, 'gathered'>): Redeeming {
  return { redeem: gathered(store.redeemCodeStatement), rotate: gathered(store.rotateStatement) }
}

export type Redemption = {
  kind: FirstToken
  token: string
  redirectUri: string
  codeChallenge: string | null
  proved: boolean
}

/**
 * Spends a code or an assertion and issues its first tokens, in one statement whose condition carries every check of
 * RFC 6749 §4.1.3.
 * Undefined when any of them fails; `findLineageOfFirst` then tells which.
 */
export async function redeemCode(
  { redeem }: Redeeming,
  terms: Terms,
  redemption: Redemption,
  now: Date,
): Promise<Issued | undefined> {
  const route = routeOfFirst(redemption.kind, redemption.token)
  if (!route) return undefined
  const family = randomBytes(16)
  const refreshToken = newRefreshToken(route.identityId, route.lineageId, family)
  const access = newAccess(route.identityId, terms, now)
  const granted = await redeem([
    route.identityId,
    route.lineageId,
    sha256(redemption.token),
    terms.clientId,
    redemption.redirectUri,
    redemption.codeChallenge,
    redemption.proved,
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
 * Rotates a refresh token in one statement. A live token gives way to its successor. One that was rotated last gets a
 * further successor for ten seconds (a lost response, parallel tabs). `narrowed` is for the access token alone.
 * Undefined for any other token, and where `narrowed` has a scope that was not requested at authorization, or none that
 * was granted; `findLineageOfRefresh` then tells why.
 */
export async function rotateRefresh(
  { rotate }: Redeeming,
  terms: Terms,
  { refreshToken, narrowed }: { refreshToken: string; narrowed: string[] | undefined },
  now: Date,
): Promise<Issued | undefined> {
  const route = routeOfRefresh(refreshToken)
  if (!route) return undefined
  const successor = newRefreshToken(route.identityId, route.lineageId, route.family)
  const access = newAccess(route.identityId, terms, now)
  const granted = await rotate([
    route.identityId,
    route.lineageId,
    sha256(refreshToken),
    terms.clientId,
    now,
    sha256(successor),
    secondsAfter(now, -terms.refreshTokenSeconds),
    secondsAfter(now, -limits.refreshRetrySeconds),
    narrowed?.join(' ') ?? null,
    access.sha256,
    access.expiresAt,
    limits.refreshSiblingsMax,
  ])
  return granted && { granted, access, refreshToken: successor }
}

/** The lineage that a code or an assertion began, whatever has become of either. */
export async function findLineageOfFirst(db: Database, kind: FirstToken, token: string): Promise<Lineage | undefined> {
  const route = routeOfFirst(kind, token)
  const lineage = route && (await store.findLineage(db, route.identityId, route.lineageId))
  return lineage && equalBytes(lineage.codeSha256, sha256(token)) ? lineage : undefined
}

/**
 * The lineage of a refresh token of any generation, and whether it is live, spent within the grace, or neither.
 * Undefined for what was never a refresh token of ours.
 */
export async function findLineageOfRefresh(db: Database, refreshToken: string, now: Date) {
  const route = routeOfRefresh(refreshToken)
  if (!route) return undefined
  const lineage = await store.findLineage(db, route.identityId, route.lineageId)
  if (!lineage?.familySha256 || !equalBytes(lineage.familySha256, sha256(route.family))) return undefined

  const presented = sha256(refreshToken)
  const isAmong = (hashes: Uint8Array[]) => hashes.some((hash) => equalBytes(hash, presented))
  const inGrace = lineage.rotatedAt !== null && lineage.rotatedAt > secondsAfter(now, -limits.refreshRetrySeconds)
  return { lineage, reused: !isAmong(lineage.liveSha256) && !(isAmong(lineage.spentSha256) && inGrace) }
}

/** Ends every token of a lineage, because one of them was used twice, and nothing else. */
export async function revokeForReuse(
  db: Database,
  { identityId, lineageId, clientId }: Lineage,
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await store.revokeLineage(tx, identityId, lineageId, now))) return
    await record(tx, { action: 'tokens.reuse_detected', actor: 'app', identityId, clientId }, now)
  })
}

/** Ends every code and token that an app holds of an identity. */
export async function revokeAllOfClient(
  tx: Transaction,
  identityId: string,
  clientId: string,
  now: Date,
): Promise<void> {
  await store.revokeLineagesOfClient(tx, identityId, clientId, now)
}

/**
 * The organizations for which an app acts already, as an identity: its codes and tokens for them are live. Where the
 * person is not to be asked, there can be no other.
 */
export function listOrganizationsHeld(
  db: Database,
  held: { identityId: string; clientId: string },
  now: Date,
): Promise<string[]> {
  return organizationStore.listOrganizationsOfClient(db, held, now)
}

/**
 * What an app may do already for organizations, as an identity: the scopes of its codes and tokens that are live, and
 * when the first and the last of these began. Undefined where there are none.
 */
export async function findScopesHeld(
  db: Database,
  held: { identityId: string; clientId: string; organizationIds: string[] },
  now: Date,
): Promise<{ scope: string[]; firstAt: Date; lastAt: Date } | undefined> {
  const live = held.organizationIds.length === 0 ? [] : await organizationStore.listScopesOfClient(db, held, now)
  const [first, last] = [live[0], live.at(-1)]
  if (!first || !last) return undefined
  const scope = [...new Set(live.flatMap((each) => each.scope))]
  return { scope, firstAt: first.createdAt, lastAt: last.createdAt }
}

/** Whether an app acts for an organization, as any member: a code or token of it for that is live. */
export function actsForOrganization(
  db: Database,
  acting: { organizationId: string; clientId: string },
  now: Date,
): Promise<boolean> {
  return organizationStore.findAnyOfOrganization(db, acting, now)
}

/**
 * Ends every code and token that is for an organization: of all its members, or of these. What the same people gave to
 * apps as themselves goes on.
 */
export async function revokeLineagesOfOrganization(
  tx: Transaction,
  of: { organizationId: string; identityIds?: string[] },
  now: Date,
): Promise<void> {
  if (of.identityIds?.length !== 0) await organizationStore.revokeOfOrganization(tx, of, now)
}

/** Forgets every code and token of identities that are going. */
export async function forgetTokens(tx: Transaction, identityIds: string[]): Promise<void> {
  await store.deleteTokensOf(tx, identityIds)
}

/** Deletes up to `batch` lineages and as many access tokens that have ended, and says how many. */
export async function pruneTokens(db: Database, now: Date, batch: number): Promise<number> {
  return (await accessStore.deleteExpiredAccess(db, now, batch)) + (await store.deleteEndedLineages(db, now, batch))
}

function newAccess(identityId: string, { accessTokenSeconds }: Terms, now: Date): NewAccess {
  const token = newToken('access', uuidToBytes(identityId))
  return { token, sha256: sha256(token), expiresAt: secondsAfter(now, accessTokenSeconds) }
}

function newRefreshToken(identityId: string, lineageId: string, family: Uint8Array): string {
  return newToken('refresh', uuidToBytes(identityId), uuidToBytes(lineageId), family)
}

/** Where the row of a first token is; undefined for what is none of this kind. */
export function routeOfFirst(kind: FirstToken, token: string) {
  const route = readToken(kind, token, 32)
  return route && { identityId: uuidFromBytes(route.subarray(0, 16)), lineageId: uuidFromBytes(route.subarray(16, 32)) }
}

function routeOfRefresh(token: string) {
  const route = readToken('refresh', token, 48)
  return (
    route && {
      identityId: uuidFromBytes(route.subarray(0, 16)),
      lineageId: uuidFromBytes(route.subarray(16, 32)),
      family: route.subarray(32, 48),
    }
  )
}
