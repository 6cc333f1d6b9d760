import { randomUUID } from 'node:crypto'
import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, type IdentityId, asId, isId } from '@countersign/protocol/ids'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import { toNumericDate } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { isUuid } from '@countersign/protocol/values'
import { verifyAccessJwt, type Issuing } from '#tokens/families/access-token.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import * as store from './store.ts'

/** Claims of a delegated token. */
export type DelegatedTokenClaims = {
  identityId: IdentityId
  delegationId: string
  sourceClientId: ClientId
  scope: ScopeSet
  mode: CommunicationMode
  audience: string
  resourceKey: string
}

/** Signs a token for a resource, with which the source app acts there as the identity (RFC 8693 §4.1, RFC 9068). */
export function issueDelegatedToken(
  { keys, issuer }: Issuing,
  delegated: DelegatedTokenClaims,
  now: Date,
): Promise<string> {
  const { identityId, delegationId, sourceClientId, scope, mode, audience, resourceKey } = delegated
  return signJwt(keys, 'ES256', 'at+jwt', {
    iss: issuer,
    sub: identityId,
    aud: audience,
    iat: toNumericDate(now),
    exp: toNumericDate(now) + limits.delegatedTokenLifetimeSeconds,
    jti: randomUUID(),
    client_id: sourceClientId,
    scope: scope.toString(),
    act: { sub: sourceClientId },
    grant_id: delegationId,
    target_resource: resourceKey,
    com_mode: mode,
  })
}

/**
 * Returns the state of a delegated token for the app that obtained it, or for the owner of its resource. Returns
 * undefined as soon as its delegation is revoked, or the app or resource is disabled.
 */
export async function verifyDelegatedToken(
  { db, ...issuing }: Issuing & { db: Database },
  { token, clientId }: { token: string; clientId: ClientId },
  now: Date,
) {
  const claims = await verifyAccessJwt(issuing, token, now)
  if (!claims) return undefined
  const { sub: identityId = '', aud: audience, iat = 0, exp = 0 } = claims
  const { client_id: source, grant_id: grantId, target_resource: resource, scope, com_mode: mode } = claims
  const texts = { audience, source, grantId, resource, scope, mode }
  if (!isId<IdentityId>(identityId) || !areTexts(texts) || !isUuid(texts.grantId)) return undefined

  const sourceClientId = asId<ClientId>(texts.source)
  const named = { identityId, delegationId: texts.grantId, sourceClientId, audience: texts.audience }
  const live = await store.findUsableDelegation(db, named)
  if (!live || (clientId !== sourceClientId && clientId !== live.ownerClientId)) return undefined
  return { ...named, resourceKey: texts.resource, scope: texts.scope, mode: texts.mode, issuedAt: iat, expiresAt: exp }
}

function areTexts<Name extends string>(values: Record<Name, unknown>): values is Record<Name, string> {
  return Object.values(values).every((value) => typeof value === 'string')
}
