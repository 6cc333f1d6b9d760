import type { PresentedToken } from '@countersign/protocol/oauth/authorize'
import {
  type Client,
  authenticateClient,
  missing,
  parseClientCredentials,
  requireClientAuthentication,
} from '#clients/registration/authentication/authentication.ts'
import type { TokenEndpoint } from './endpoint.ts'
import { verifyDelegatedToken } from '#oauth/delegation/delegated-token.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'
import { resolveAccessToken } from '#tokens/families/access-token.ts'
import { revokeAccess, revokeRefresh } from '#tokens/families/presented-token.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

type PresentedTokenRequest = { authorization: string | undefined; body: PresentedToken; address: string }

/**
 * Parses a token that a client sends, and authenticates the client if it has a secret (RFC 7009 §2.1, RFC 7662 §2.1).
 * Throws `invalid_request`, `invalid_client`, `rate_limited`.
 */
export async function parsePresentedToken(
  { apps, kernel: { rateLimits, clock } }: Pick<TokenEndpoint, 'apps' | 'kernel'>,
  { authorization, body, address }: PresentedTokenRequest,
): Promise<{ client: Client; token: string }> {
  const credentials = parseClientCredentials(authorization, body)
  if (!body.token) throw missing('token')
  const client = await authenticateClient({ apps, rateLimits }, credentials, address, clock())
  requireClientAuthentication(client)
  return { client, token: body.token }
}

const errors = defineErrors({
  unsupported_token_type: [
    400,
    'Delegated tokens cannot be revoked here. They expire, or end when the user revokes the delegation.',
  ],
})

/**
 * Revokes a token at the request of the app that holds it (RFC 7009).
 *
 * A refresh token takes its whole token family with it; an access token is revoked alone, in both forms. Unknown and
 * ended tokens and those of other apps stay unchanged, and the answer does not reveal which it was. Throws
 * `unsupported_token_type` for a live delegated token of the app.
 */
export async function revoke(
  { kernel: { db, config }, keys }: { kernel: ServerContext; keys: SigningKeys },
  { app }: Client,
  token: string,
  now: Date,
): Promise<void> {
  if (token.startsWith(tokenPrefix.refresh)) return revokeRefresh(db, app.clientId, token, now)

  const issuing = { keys, issuer: config.authUrl.origin }
  const key = await resolveAccessToken(issuing, token, now)
  if (key) return revokeAccess(db, app.clientId, key, now)
  const delegated = await verifyDelegatedToken({ db, ...issuing }, { token, clientId: app.clientId }, now)
  if (delegated?.sourceClientId === app.clientId) throw errors.unsupported_token_type()
}
