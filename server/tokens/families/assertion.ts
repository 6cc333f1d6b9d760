import type { ClientId, SessionId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken, uuidToBytes } from '#platform/crypto/token-format.ts'
import * as assertionStore from './assertion-store.ts'
import { initialCredentialExpiry, routingKeyOfCode } from './family.ts'

/**
 * An authorization code to exchange for an assertion, with the redirect URI that it was issued for and the widest scope
 * allowed.
 */
export type AssertionExchangeInput = {
  code: string
  clientId: ClientId
  sessionId: SessionId
  redirectUri: string
  codeChallenge: string | undefined
  nonce: string | undefined
  allowedScope: string[]
  /** True if the user must have used a passkey for this request. */
  loginPrompted: boolean
  /** Origin that may redeem the assertion. */
  audience: string
}

/**
 * Exchanges an unredeemed code for an assertion in one statement, after which the code is invalid. Returns undefined if
 * this session has no such code.
 */
export async function exchangeCodeForAssertion(
  tx: Transaction,
  { code, ...requested }: AssertionExchangeInput,
  now: Date,
) {
  const route = routingKeyOfCode('code', code)
  if (!route) return undefined
  const token = generateToken('assertion', uuidToBytes(route.identityId), uuidToBytes(route.familyId))
  const expiresAt = initialCredentialExpiry('assertion', now)
  const replacing = { ...route, ...requested, codeSha256: sha256(code), successorSha256: sha256(token), expiresAt }
  const replaced = await assertionStore.replaceCodeHash(tx, replacing, now)
  return replaced && { token, identityId: route.identityId, scope: new ScopeSet(replaced.scope) }
}
