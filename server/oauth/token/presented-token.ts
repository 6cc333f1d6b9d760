import type { PresentedToken } from '@countersign/protocol/oauth/authorize'
import { authenticateClient, requireProof, type Client } from '#clients/registration/client-authentication.ts'
import { missing, readCredentials } from '#clients/registration/client-credentials.ts'
import type { TokenEndpoint } from './endpoint.ts'

type Sent = { authorization: string | undefined; body: PresentedToken; address: string }

/**
 * A token that a client hands in, and the client: one that has a secret has proved it (RFC 7009 §2.1, RFC 7662 §2.1).
 * Refuses `invalid_request`, `invalid_client`, `rate_limited`.
 */
export async function readPresentedToken(
  { apps, kernel: { rateLimits, clock } }: Pick<TokenEndpoint, 'apps' | 'kernel'>,
  { authorization, body, address }: Sent,
): Promise<{ client: Client; token: string }> {
  const credentials = readCredentials(authorization, body)
  if (!body.token) throw missing('token')
  const client = await authenticateClient({ apps, rateLimits }, credentials, address, clock())
  requireProof(client)
  return { client, token: body.token }
}
