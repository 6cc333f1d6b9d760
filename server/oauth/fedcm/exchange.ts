import type { FedcmExchangeRequest } from '@countersign/protocol/oauth/fedcm'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import {
  type Client,
  authenticateClient,
  parseClientCredentials,
} from '#clients/registration/authentication/authentication.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import { defineErrors } from '#platform/api-error.ts'
import { exchangeAuthorizationCode } from '#oauth/token/grants/code-grant.ts'
import { completeRedemption } from '#oauth/token/redemption.ts'
import { tokenResponse } from '#oauth/token/response.ts'
import { requireAllowedScopes } from '#oauth/authorize/parameters.ts'
import { type TokenEndpoint, countUsage, limitFailures } from '#oauth/token/endpoint.ts'
import { readAssertion } from './assertion.ts'

const errors = defineErrors({
  invalid_grant: [400, 'The assertion is invalid, expired, already used, or was issued to another client.'],
})

type FedcmExchangeHttpRequest = { authorization: string | undefined; body: FedcmExchangeRequest; address: string }

/**
 * Redeems an assertion, once, by the rules of an authorization code: with the PKCE verifier or the client secret.
 * Throws `invalid_client`, `invalid_grant`, `invalid_request`, and `invalid_scope` if the app has lost a scope since
 * the consent.
 */
export async function exchangeAssertion(
  endpoint: TokenEndpoint,
  sent: FedcmExchangeHttpRequest,
): Promise<TokenResponse> {
  const { kernel, apps } = endpoint
  const { rateLimits } = kernel
  const { authorization, body, address } = sent
  const now = kernel.clock()
  const credentials = parseClientCredentials(authorization, body)
  const codeVerifier = resolveFieldAlias(body.code_verifier || undefined, body.codeVerifier || undefined)
  const presented = { assertion: body.assertion, codeVerifier }
  return countUsage(endpoint, { clientId: credentials.clientId, signsIn: true }, async () => {
    const client = await authenticateClient({ apps, rateLimits }, credentials, address, now)
    return limitFailures(kernel, { client, grant: 'fedcm_assertion', address }, () =>
      answer(endpoint, client, presented, now),
    )
  })
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
  if (assertion?.clientId !== app.clientId) throw errors.invalid_grant()
  requireAllowedScopes(assertion.scope, app)
  const presented = { kind: 'assertion', token: assertion.token, redirectUri: assertion.origin, codeVerifier } as const
  const redeemed = await exchangeAuthorizationCode(endpoint, client, presented, now)
  const issued = await completeRedemption({ db: kernel.db, app }, redeemed, now)
  return tokenResponse({ app, keys, issuer: kernel.config.authUrl.origin }, issued, now)
}
