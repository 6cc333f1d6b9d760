import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { newToken, uuidToBytes } from '#platform/crypto/token-format.ts'
import * as assertionStore from './assertion-store.ts'
import { endOfFirst, routeOfFirst } from './family.ts'

/** A code to give an assertion for: where it was to be sent, and what it may be for at the most. */
export type Reissuing = {
  code: string
  clientId: string
  sessionId: string
  redirectUri: string
  codeChallenge: string | undefined
  nonce: string | undefined
  allowedScope: string[]
  /** Whether the person must have used a passkey for this request. */
  loginPrompted: boolean
  /** Where the assertion may be redeemed for. */
  audience: string
}

/**
 * Puts an assertion in the place of a code that nobody has redeemed, in one statement: the code is worth nothing from
 * then on. Undefined where there is no such code of this session.
 */
export async function reissueAsAssertion(tx: Transaction, { code, ...wanted }: Reissuing, now: Date) {
  const route = routeOfFirst('code', code)
  if (!route) return undefined
  const token = newToken('assertion', uuidToBytes(route.identityId), uuidToBytes(route.lineageId))
  const expiresAt = endOfFirst('assertion', now)
  const replacing = { ...route, ...wanted, codeSha256: sha256(code), successorSha256: sha256(token), expiresAt }
  const replaced = await assertionStore.replaceCode(tx, replacing, now)
  return replaced && { token, identityId: route.identityId, scope: replaced.scope }
}
