import type { Client } from '#clients/registration/client-authentication.ts'
import { readDelegatedToken } from '#oauth/delegation/delegated-token.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'
import { accessKeyOf } from '#tokens/families/access-token.ts'
import { revokeAccess, revokeRefresh } from '#tokens/families/revocation.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

const refuse = refusals({
  unsupported_token_type: [400, 'A delegated token ends by itself, or when the person revokes the delegation.'],
})

/**
 * Ends a token at the word of the app that holds it (RFC 7009): a refresh token with all that its consent has given, an
 * access token by itself, both forms of it. What is unknown, has ended, or is another app's stays as it is, and the
 * answer does not tell. Refuses `unsupported_token_type` for a live token of the app at a resource of another.
 */
export async function revoke(
  { kernel: { db, config }, keys }: { kernel: Kernel; keys: SigningKeys },
  { app }: Client,
  token: string,
  now: Date,
): Promise<void> {
  if (token.startsWith(tokenPrefix.refresh)) return revokeRefresh(db, app.clientId, token, now)

  const issuing = { keys, issuer: config.authUrl.origin }
  const key = await accessKeyOf(issuing, token, now)
  if (key) return revokeAccess(db, app.clientId, key, now)
  const delegated = await readDelegatedToken({ db, ...issuing }, { token, clientId: app.clientId }, now)
  if (delegated?.sourceClientId === app.clientId) throw refuse.unsupported_token_type()
}
