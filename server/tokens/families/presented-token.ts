import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { addSeconds } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import * as accessStore from './access-store.ts'
import { type AccessTokenRef, type Issuing, resolveAccessToken } from './access-token.ts'
import { type ClientTokenSettings, findFamilyByRefreshToken } from './family.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import * as store from './store.ts'
import type { TokenFamilyGrant } from './store.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'

/** Fields of a live token that introspection discloses to the app that holds it. */
export type Described = {
  kind: 'access' | 'refresh'
  identityId: IdentityId
  handle: string
  scope: string[]
  /** Null for a token issued before this column existed. */
  issuedAt: Date | null
  expiresAt: Date
  organizationId: OrganizationId | null
  ssoConnectionId: string | null
}

/**
 * Returns a function that describes a live access token of an app, by the row that its opaque and its JWT form share.
 * Concurrent callers share a statement.
 */
export function accessDescriber({ batched }: Pick<ServerContext, 'batched'>) {
  const find = batched<accessStore.DescribedAccess>(accessStore.describeAccessStatement)
  return async (
    { clientId }: ClientTokenSettings,
    { identityId, sha256 }: AccessTokenRef,
    now: Date,
  ): Promise<Described | undefined> => {
    const access = await find([identityId, sha256, now])
    return access?.clientId === clientId ? { kind: 'access', identityId, ...access } : undefined
  }
}
export type AccessDescriber = ReturnType<typeof accessDescriber>

/** Describes a refresh token that this app can use now: a live one, or one within the grace period. */
export async function toRefreshIntrospection(
  db: Database,
  { clientId, refreshTokenTtlSeconds }: ClientTokenSettings,
  refreshToken: string,
  now: Date,
): Promise<Described | undefined> {
  const found = await findFamilyByRefreshToken(db, refreshToken, now)
  if (!found || found.reused || found.family.clientId !== clientId || found.family.revokedAt !== null) return undefined

  const { identityId, scope, rotatedAt, expiresAt: familyExpiresAt, organizationId, ssoConnectionId } = found.family
  const idleAt = rotatedAt && addSeconds(rotatedAt, refreshTokenTtlSeconds)
  const expiresAt = idleAt && idleAt < familyExpiresAt ? idleAt : familyExpiresAt
  const identity = expiresAt > now ? await accessStore.findHandle(db, identityId) : undefined
  if (!identity) return undefined
  const { handle } = identity
  const forOrganization = { organizationId, ssoConnectionId }
  return { kind: 'refresh', identityId, handle, scope, issuedAt: rotatedAt, expiresAt, ...forOrganization }
}

/**
 * Revokes the token family of a refresh token of any generation. Does nothing if the token belongs to another client,
 * or if its family has ended.
 */
export async function revokeRefresh(db: Database, clientId: ClientId, refreshToken: string, now: Date): Promise<void> {
  const found = await findFamilyByRefreshToken(db, refreshToken, now)
  if (!found || found.family.clientId !== clientId || found.family.expiresAt <= now) return

  const { identityId, familyId } = found.family
  await transaction(db, async (tx) => {
    if (!(await store.revokeFamily(tx, identityId, familyId, now))) return
    await recordAuditEvent(tx, { ...revokedBy(clientId, identityId), details: { token: 'refresh_token' } }, now)
  })
}

/**
 * Revokes one access token in both forms. Does nothing if it belongs to another client or has expired. An app gets a
 * new token with each refresh, without limit. Because audit events are kept for years, the audit log records one
 * revocation per hour and token family.
 */
export async function revokeAccess(db: Database, clientId: ClientId, key: AccessTokenRef, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const deleted = await accessStore.deleteAccessOfClient(tx, { ...key, clientId }, now)
    if (!deleted) return
    const after = addSeconds(now, -limits.accessRevocationRecordedSeconds)
    if (!(await accessStore.noteRecordedRevocation(tx, deleted, { now, after }))) return
    await recordAuditEvent(tx, { ...revokedBy(clientId, key.identityId), details: { token: 'access_token' } }, now)
  })
}

const revokedBy = (clientId: ClientId, identityId: IdentityId) =>
  ({ action: 'token_family.revoked', actor: 'app', identityId, clientId }) as const

/**
 * User that an app can represent with one of its access tokens: the identity, its authentication time, and whether only
 * an SSO connection authenticated the user.
 */
export type Subject = { identityId: IdentityId; authTime: Date; byProviderAlone: boolean }

type GivenFor = Pick<TokenFamilyGrant, 'organizationId' | 'ssoConnectionId'>

/**
 * Resolves a subject token (RFC 8693 §2.1) to its row, if it is an `access_token_jwt` of this service. Opaque tokens
 * are not accepted. Call it before a transaction, because verification can wait for the keys.
 */
export async function resolveSubjectToken(
  issuing: Issuing,
  token: string,
  now: Date,
): Promise<AccessTokenRef | undefined> {
  return token.startsWith(tokenPrefix.access) ? undefined : resolveAccessToken(issuing, token, now)
}

/** Finds the subject of a live token that was issued to this app, and the token's organization. */
export async function findSubject(
  tx: Transaction,
  { key, clientId }: { key: AccessTokenRef; clientId: ClientId },
  now: Date,
): Promise<(Subject & GivenFor) | undefined> {
  const access = await accessStore.findAccessOfClient(tx, { ...key, clientId }, now)
  if (!access) return undefined
  const { authTime, byProviderAlone, organizationId, ssoConnectionId } = access
  return { identityId: key.identityId, authTime, byProviderAlone, organizationId, ssoConnectionId }
}
