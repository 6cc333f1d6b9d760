import { sql } from 'kysely'
import type { ClientId, IdentityId, SessionId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'

type Replacement = {
  identityId: IdentityId
  familyId: string
  codeSha256: Uint8Array
  clientId: ClientId
  sessionId: SessionId
  redirectUri: string
  codeChallenge: string | undefined
  nonce: string | undefined
  allowedScope: string[]
  /** True if the family must belong to a request with `prompt=login`. */
  loginPrompted: boolean
  successorSha256: Uint8Array
  audience: string
  expiresAt: Date
}

/** Replaces an unredeemed code by another credential. Returns the granted scope. */
export function replaceCodeHash(tx: Transaction, replacing: Replacement, now: Date) {
  return tx
    .updateTable('token_family')
    .set({
      code_sha256: replacing.successorSha256,
      redirect_uri: replacing.audience,
      code_expires_at: replacing.expiresAt,
      expires_at: replacing.expiresAt,
    })
    .where('identity_id', '=', replacing.identityId)
    .where('family_id', '=', replacing.familyId)
    .where('code_sha256', '=', replacing.codeSha256)
    .where('client_id', '=', replacing.clientId)
    .where('session_id', '=', replacing.sessionId)
    .where('redirect_uri', '=', replacing.redirectUri)
    .where('code_challenge', 'is not distinct from', replacing.codeChallenge ?? null)
    .where('nonce', 'is not distinct from', replacing.nonce ?? null)
    .where('scope', '<@', sql<string[]>`${replacing.allowedScope}::text[]`)
    .where((where) => (replacing.loginPrompted ? where('login_prompted', '=', true) : where.val(true)))
    .where('code_expires_at', '>', now)
    .where('code_redeemed_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('scope')
    .executeTakeFirst()
}
