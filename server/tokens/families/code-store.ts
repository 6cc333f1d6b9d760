import type { Transaction } from '#platform/database/database.ts'
import type { NewLineage } from './store.ts'

type Flow = Pick<
  NewLineage,
  'identityId' | 'clientId' | 'sessionId' | 'redirectUri' | 'codeChallenge' | 'nonce' | 'now'
>

/**
 * Revokes what the same authorization request has given before and nobody has redeemed. Requests are told apart by
 * challenge and nonce.
 */
export async function revokeEarlierCodes(tx: Transaction, flow: Flow): Promise<void> {
  await tx
    .updateTable('token_lineage')
    .set({ revoked_at: flow.now })
    .where('identity_id', '=', flow.identityId)
    .where('client_id', '=', flow.clientId)
    .where('session_id', '=', flow.sessionId)
    .where('redirect_uri', '=', flow.redirectUri)
    .where('code_challenge', 'is not distinct from', flow.codeChallenge ?? null)
    .where('nonce', 'is not distinct from', flow.nonce ?? null)
    .where('code_spent_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
}
