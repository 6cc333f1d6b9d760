import type { Transaction } from '#platform/database/database.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import type { NewFamily } from './store.ts'

type Flow = Pick<NewFamily, 'identityId' | 'clientId' | 'sessionId' | 'redirectUri' | 'codeChallenge' | 'now'> & {
  nonce: string
}

/** Revokes unredeemed codes that were issued for the same authorization request, which its nonce identifies. */
export function revokeEarlierCodes(tx: Transaction, flow: Flow): void {
  const revoked = tx
    .updateTable('token_family')
    .set({ revoked_at: flow.now })
    .where('identity_id', '=', flow.identityId)
    .where('client_id', '=', flow.clientId)
    .where('session_id', '=', flow.sessionId)
    .where('redirect_uri', '=', flow.redirectUri)
    // Unlike `is not distinct from`, this uses an index.
    .where('code_challenge', flow.codeChallenge === undefined ? 'is' : '=', flow.codeChallenge ?? null)
    .where('nonce', '=', flow.nonce)
    .where('code_redeemed_at', 'is', null)
    .where('revoked_at', 'is', null)
  sendAhead(tx, revoked)
}
