import { randomUUID } from 'node:crypto'
import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { type Permission, tokenPermissions } from '@countersign/protocol/formats/registries/permissions'
import type { IdentityId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { generateToken, parseToken } from '#platform/crypto/token-format.ts'
import type { Database } from '#platform/database/database.ts'
import { readInstant } from '#platform/http/instant.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isInNetworks, parseNetwork } from '#platform/source-address.ts'
import { auditFieldsOf, identityOf, type Operator, operatorTransaction, requirePermissions } from './acting-operator.ts'
import { findOperator } from './store.ts'
import * as store from './token-store.ts'

const errors = defineErrors({
  invalid_request: [400, 'networks must be addresses, or networks such as 192.0.2.0/24.'],
  token_not_found: [404, 'No admin token has this ID.'],
  too_many_tokens: [409, `There can be at most ${limits.adminTokensMax} admin tokens.`],
})

const daySeconds = 24 * 3600

export async function listAdminTokens(db: Database): Promise<AdminToken[]> {
  return (await store.listTokens(db)).map(toAdminToken)
}

type RequestedToken = {
  name: string
  permissions: readonly Permission[]
  networks?: readonly string[] | undefined
  expiresAt?: string | undefined
}

/**
 * Creates an admin token. The answer alone contains its secret. Throws `invalid_request`, `too_many_tokens`, or
 * `permission_denied` for a permission that the caller lacks.
 */
export async function createAdminToken(
  db: Database,
  operator: Operator,
  { name, permissions, networks = [], expiresAt }: RequestedToken,
  now: Date,
): Promise<NewAdminToken> {
  if (!isDisplayName(name)) throw errors.invalid_request({ sentence: 'name must be 1 to 80 visible characters.' })
  requirePermissions(operator, permissions)
  const secret = generateToken('admin')
  const requested = {
    tokenId: randomUUID(),
    tokenSha256: sha256(secret),
    name,
    permissions: [...permissions],
    networks: networks.map(readNetwork),
    expiresAt: readExpiry(expiresAt, now),
    createdBy: identityOf(operator),
  }
  return operatorTransaction(db, operator, async (tx) => {
    const token = await store.insertToken(tx, requested, { max: limits.adminTokensMax, now })
    if (!token) throw errors.too_many_tokens()
    const details = { tokenId: token.tokenId, name, permissions: token.permissions, networks: token.networks }
    await recordAuditEvent(tx, { action: 'admin_token.created', ...auditFieldsOf(operator), details }, now)
    return { token: secret, adminToken: toAdminToken(token) }
  })
}

/**
 * Replaces the secret of an admin token, which from then on belongs to the caller: they know it, and it must not
 * outlive their rights. The replaced one is accepted for some seconds more. Throws `token_not_found`, or
 * `permission_denied` for a token with a permission that the caller lacks.
 */
export async function rotateAdminToken(
  db: Database,
  operator: Operator,
  { tokenId, graceSeconds }: { tokenId: string; graceSeconds: number },
  now: Date,
): Promise<NewAdminToken> {
  const secret = generateToken('admin')
  const previousUntil = graceSeconds === 0 ? null : addSeconds(now, graceSeconds)
  return operatorTransaction(db, operator, async (tx) => {
    const rotated = { tokenSha256: sha256(secret), previousUntil, createdBy: identityOf(operator) }
    const token = await store.rotateToken(tx, tokenId, rotated, now)
    if (!token) throw errors.token_not_found()
    requirePermissions(operator, toPermissions(token.permissions))
    const details = { tokenId, name: token.name, graceSeconds }
    await recordAuditEvent(tx, { action: 'admin_token.rotated', ...auditFieldsOf(operator), details }, now)
    return { token: secret, adminToken: toAdminToken(token) }
  })
}

/** Revokes an admin token. Throws `token_not_found`. */
export async function revokeAdminToken(db: Database, operator: Operator, tokenId: string, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const revoked = await store.deleteToken(tx, tokenId)
    if (!revoked) throw errors.token_not_found()
    const details = { tokenId, name: revoked.name }
    await recordAuditEvent(tx, { action: 'admin_token.revoked', ...auditFieldsOf(operator), details }, now)
  })
}

/** Returns the operator of a secret at an address. Returns undefined if it is not accepted, for whatever reason. */
export async function findOperatorOfToken(
  db: Database,
  secret: string,
  address: string,
  now: Date,
): Promise<Extract<Operator, { kind: 'token' }> | undefined> {
  if (parseToken('admin', secret, 0) === undefined) return undefined
  const secretSha256 = sha256(secret)
  const found = await store.findTokenOfSecret(db, secretSha256)
  if (!found || found.expiresAt <= now || !isInNetworks(address, found.networks)) return undefined
  const isPresent = equalBytes(found.tokenSha256, secretSha256)
  if (!isPresent && (found.previousUntil === null || found.previousUntil <= now)) return undefined

  const hour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000)
  if (found.lastUsedAt === null || found.lastUsedAt < hour) await store.touchToken(db, found.tokenId, address, hour)
  const { tokenId, name, permissions, createdBy, role } = found
  return { actor: 'operator', kind: 'token', tokenId, name, permissions, createdBy, role, readAt: now }
}

/** Deletes up to `batch` admin tokens that expired a month ago. Returns their number. */
export function pruneAdminTokens(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredTokens(db, addSeconds(now, -limits.adminTokenListedSeconds), batch)
}

function readNetwork(written: string): string {
  const network = parseNetwork(written)
  if (!network) throw errors.invalid_request()
  return `${network.address}/${network.bits}`
}

function readExpiry(written: string | undefined, now: Date): Date {
  const expiresAt =
    written === undefined ? addSeconds(now, limits.adminTokenDaysDefault * daySeconds) : readInstant(written)
  if (expiresAt <= now || expiresAt > addSeconds(now, limits.adminTokenDaysMax * daySeconds))
    throw errors.invalid_request({ sentence: `expiresAt must be within ${limits.adminTokenDaysMax} days.` })
  return expiresAt
}

function toPermissions(stored: readonly string[]): Permission[] {
  return tokenPermissions.filter((permission) => stored.includes(permission))
}

function toAdminToken(row: store.TokenRow): AdminToken {
  return {
    ...row,
    permissions: toPermissions(row.permissions),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    previousUntil: row.previousUntil?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }
}

/** Returns the role of an operator with the tokens that they created, for the export of their account. */
export async function exportOperator(db: Database, identityId: IdentityId) {
  const operator = await findOperator(db, identityId)
  if (!operator) return null
  const { role, grantedAt } = operator
  const tokens = (await store.listTokensOf(db, identityId)).map(toAdminToken)
  return {
    role,
    grantedAt: grantedAt.toISOString(),
    // Another operator may have used the token last, before it was rotated.
    tokens: tokens.map(({ createdBy: _createdBy, lastUsedAt: _usedAt, lastUsedAddress: _from, ...token }) => token),
  }
}
