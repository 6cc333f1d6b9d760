import type { ExchangeOfAssertion } from '@countersign/protocol/oauth/fedcm'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import { authenticateClient, type Client } from '#clients/registration/client-authentication.ts'
import { either } from '#platform/http/parse.ts'
import { refusals } from '#platform/refusal.ts'
import { readCredentials } from '#clients/registration/client-credentials.ts'
import { redeem } from '#oauth/token/code-grant.ts'
import { withOrganization } from '#oauth/token/organization.ts'
import { requireAllowedScopes } from '#oauth/authorize/scope.ts'
import { countingFailures, type TokenEndpoint } from '#oauth/token/endpoint.ts'
import { tokenResponse } from '#oauth/token/token-response.ts'
import { readAssertion } from './assertion-token.ts'

const refuse = refusals({ invalid_grant: [400, 'The assertion is unknown, expired, spent, or not yours.'] })

type Sent = { authorization: string | undefined; body: ExchangeOfAssertion; address: string }

/**
 * Redeems an assertion, once, by the rules of an authorization code: with the verifier of the challenge that the app
 * sent, or its secret. Refuses `invalid_client`, `invalid_grant`, `invalid_request`, and `invalid_scope` where the app
 * has lost a scope since the person agreed to it.
 */
export async function exchangeAssertion(endpoint: TokenEndpoint, sent: Sent): Promise<TokenResponse> {
  const { kernel, apps } = endpoint
  const { rateLimits } = kernel
  const { authorization, body, address } = sent
  const now = kernel.clock()
  const client = await authenticateClient({ apps, rateLimits }, readCredentials(authorization, body), address, now)
  const codeVerifier = either(body.code_verifier || undefined, body.codeVerifier || undefined)
  const presented = { assertion: body.assertion, codeVerifier }
  return countingFailures(kernel, { client, grant: 'fedcm_assertion', address }, () =>
    answer(endpoint, client, presented, now),
  )
}

async function answer(
  endpoint: TokenEndpoint,
  client: Client,
  { assertion: text, codeVerifier }: { assertion: string; codeVerifier: string | undefined },
  now: Date,
): Promise<TokenResponse> {
  const { kernel, keys } = endpoint
  const { app } = client
  const assertion = await readAssertion({ kernel, keys }, text)
  if (assertion?.clientId !== app.clientId) throw refuse.invalid_grant()
  requireAllowedScopes(assertion.scope, app)
  const presented = { kind: 'assertion', token: assertion.token, redirectUri: assertion.origin, codeVerifier } as const
  const issued = await withOrganization(kernel.db, await redeem(endpoint, client, presented, now))
  return tokenResponse({ app, keys, issuer: kernel.config.authUrl.origin }, issued, now)
}
