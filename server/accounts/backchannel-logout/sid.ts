import type { ClientId, IdentityId, SessionId } from '@countersign/protocol/ids'
import { sha256 } from '#platform/crypto/secret.ts'

/**
 * Returns the session ID for one app and one identity. Two apps cannot correlate a user by it, and one app cannot
 * detect that two of its users are the same.
 */
export function pairwiseSid(
  { sessionId, identityId }: { sessionId: SessionId; identityId: IdentityId },
  clientId: ClientId,
): string {
  return sha256(`${sessionId} ${identityId} ${clientId}`).subarray(0, 16).toString('base64url')
}
