import type { FastifyRequest } from 'fastify'
import { holdRights, type Operator, readRights, scimPermissions } from '#accounts/operators/acting-operator.ts'
import { defineErrors } from '#platform/api-error.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { parseToken } from '#platform/crypto/token-format.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import * as store from './token-store.ts'

/** Directory that acts by its SCIM token. */
export type ScimSource = Extract<Operator, { kind: 'scim' }>

const errors = defineErrors({ unauthorized: [401, 'SCIM token required: Authorization: Bearer <token>.'] })

/**
 * Creates the guard of SCIM requests. Throws `unauthorized` for every kind of failure, and `rate_limited`. Directories
 * share the addresses of their vendors, so wrong tokens from an address do not lock out valid ones.
 */
export function sourceGuard(kernel: ServerContext) {
  const { rateLimits } = kernel
  async function prove(request: FastifyRequest): Promise<ScimSource> {
    const source = await findSource(kernel, bearerToken(request) ?? '')
    if (source) return source
    await rateLimits.count('scim-token-failures', clientAddressKey(request))
    throw errors.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })
  }
  return guard(async (request) => {
    const source = await prove(request)
    await rateLimits.count('scim-requests-per-token', source.tokenId)
    return source
  }, prove)
}

/** Returns the source of a secret, unless it has expired or its creator has lost the rights by which it acts. */
async function findSource({ db, clock }: ServerContext, secret: string): Promise<ScimSource | undefined> {
  if (parseToken('provisioning', secret, 0) === undefined) return undefined
  const now = clock()
  const tokenSha256 = sha256(secret)
  const found = await store.findTokenOfSecret(db, tokenSha256)
  if (!found || found.expiresAt <= now) return undefined
  const { tokenId, name, createdBy } = found
  const rights = { operatorId: createdBy, tokenId: null }
  const held = (await readRights(db, [rights], now))(rights)
  if (!scimPermissions.every((permission) => held.includes(permission))) return undefined

  const hour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000)
  if (found.lastUsedAt === null || found.lastUsedAt < hour) await store.touchToken(db, tokenId, hour)
  return {
    ...{ actor: 'operator', kind: 'scim', tokenId, name, createdBy },
    async hold(tx) {
      const standing = await holdRights(tx, rights, now)
      return (
        scimPermissions.every((permission) => standing.includes(permission)) && (await store.holdToken(tx, tokenSha256))
      )
    },
  }
}
