import type { Client } from '#apps/client-authentication.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { tokenPrefix } from '#kernel/token-format.ts'
import { accessKeyOf } from '#tokens/access-token.ts'
import { revokeAccess, revokeRefresh } from '#tokens/revocation.ts'
import type { SigningKeys } from '#tokens/signing-keys.ts'

/**
 * Ends a token at the word of the app that holds it (RFC 7009): a refresh token with all that its consent has given, an
 * access token by itself, both forms of it. What is unknown, has ended, or is another app's stays as it is, and the
 * answer does not tell.
 */
export async function revoke(
  { kernel: { db, config }, keys }: { kernel: Kernel; keys: SigningKeys },
  { app }: Client,
  token: string,
  now: Date,
): Promise<void> {
  if (token.startsWith(tokenPrefix.refresh)) return revokeRefresh(db, app.clientId, token, now)

  const key = await accessKeyOf({ keys, issuer: config.authUrl.origin }, token, now)
  if (key) await revokeAccess(db, app.clientId, key, now)
}
