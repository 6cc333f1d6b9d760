import { randomUUID } from 'node:crypto'
import type { NewScimToken, ScimToken } from '@countersign/protocol/operations/scim-tokens'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { Operator } from '#accounts/operators/operator-guard.ts'
import { auditFieldsOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { identityOf } from '#accounts/operators/acting-operator.ts'
import { addSeconds } from '#platform/clock.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import type { Database } from '#platform/database/database.ts'
import { readInstant } from '#platform/http/instant.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import * as store from './token-store.ts'

const errors = defineErrors({
  invalid_request: [400, `expiresAt must be within ${limits.scimTokenDaysMax} days.`],
  token_not_found: [404, 'No SCIM token has this ID.'],
  too_many_tokens: [409, `There can be at most ${limits.scimTokensMax} SCIM tokens.`],
})

type Deps = Pick<ServerContext, 'db' | 'config'>

export async function listScimTokens(db: Database): Promise<ScimToken[]> {
  return (await store.listTokens(db)).map(toScimToken)
}

/** Creates a SCIM token. The answer alone contains its secret. Throws `invalid_request`, `too_many_tokens`. */
export async function createScimToken(
  { db, config }: Deps,
  operator: Operator,
  { name, expiresAt: written }: { name: string; expiresAt?: string | undefined },
  now: Date,
): Promise<NewScimToken> {
  if (!isDisplayName(name)) throw errors.invalid_request({ sentence: 'name must be 1 to 80 visible characters.' })
  const latest = addSeconds(now, limits.scimTokenDaysMax * 24 * 3600)
  const expiresAt = written === undefined ? latest : readInstant(written)
  if (expiresAt <= now || expiresAt > latest) throw errors.invalid_request()
  const secret = generateToken('provisioning')
  const requested = {
    ...{ tokenId: randomUUID(), name, expiresAt },
    ...{ tokenSha256: sha256(secret), createdBy: identityOf(operator) },
  }
  const created = await operatorTransaction(db, operator, async (tx) => {
    const token = await store.insertToken(tx, requested, { max: limits.scimTokensMax, now })
    if (!token) throw errors.too_many_tokens()
    const details = { tokenId: token.tokenId, name }
    await recordAuditEvent(tx, { action: 'scim_token.created', ...auditFieldsOf(operator), details }, now)
    return token
  })
  return toNewToken(config, secret, created)
}

/** Replaces the secret of a SCIM token, which from then on belongs to the caller. Throws `token_not_found`. */
export async function rotateScimToken(
  { db, config }: Deps,
  operator: Operator,
  tokenId: string,
  now: Date,
): Promise<NewScimToken> {
  const secret = generateToken('provisioning')
  const rotated = await operatorTransaction(db, operator, async (tx) => {
    const replaced = { tokenSha256: sha256(secret), createdBy: identityOf(operator) }
    const token = await store.rotateToken(tx, tokenId, replaced, now)
    if (!token) throw errors.token_not_found()
    const details = { tokenId, name: token.name }
    await recordAuditEvent(tx, { action: 'scim_token.rotated', ...auditFieldsOf(operator), details }, now)
    return token
  })
  return toNewToken(config, secret, rotated)
}

/** Deletes a SCIM token. A cleanup task releases what it manages. Throws `token_not_found`. */
export async function deleteScimToken(db: Database, operator: Operator, tokenId: string, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const deleted = await store.markDeleted(tx, tokenId, now)
    if (!deleted) throw errors.token_not_found()
    const details = { tokenId, name: deleted.name }
    await recordAuditEvent(tx, { action: 'scim_token.deleted', ...auditFieldsOf(operator), details }, now)
  })
}

/** Returns the base URL of SCIM. */
export function scimUrlOf({ baseUrl }: Pick<ServerContext['config'], 'baseUrl'>): string {
  return `${baseUrl.origin}/scim/v2`
}

function toNewToken(config: ServerContext['config'], token: string, row: store.TokenRow): NewScimToken {
  return { token, url: scimUrlOf(config), scimToken: toScimToken(row) }
}

function toScimToken({ createdAt, expiresAt, lastUsedAt, ...row }: store.TokenRow): ScimToken {
  return {
    ...row,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}
