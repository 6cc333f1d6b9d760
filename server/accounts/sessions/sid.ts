import { sha256 } from '#platform/crypto/digest.ts'

/**
 * Names a session to one app, for one identity: neither can two apps tell by it that they have the same person, nor one
 * app that two of its users are.
 */
export function sidOf({ sessionId, identityId }: { sessionId: string; identityId: string }, clientId: string): string {
  return sha256(`${sessionId} ${identityId} ${clientId}`).subarray(0, 16).toString('base64url')
}
