import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import { scopesOf } from '@countersign/protocol/formats/scope'
import type { TargetedResponse, TokenRequest, TokenResponse } from '@countersign/protocol/oauth/authorize'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import { authenticateClient, type Client } from '#clients/registration/client-authentication.ts'
import { exchange } from '#oauth/delegation/exchange.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { textKey } from '#platform/rate-limits/rate-limit.ts'
import { Refusal } from '#platform/refusal.ts'
import type { Redeeming } from '#tokens/families/family.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { readTokenRequest, type GrantRequest } from './request.ts'
import { redeemForTarget, redeemGrant } from './resource-grant.ts'
import { tokenResponse } from './token-response.ts'

export type TokenEndpoint = { kernel: Kernel; apps: AppDirectory; keys: SigningKeys; redeeming: Redeeming }
type Sent = { authorization: string | undefined; body: TokenRequest; address: string }

/** Answers `POST /api/oauth/token`: who asks, which grant, what it gives. */
export async function answerTokenRequest(
  endpoint: TokenEndpoint,
  sent: Sent,
): Promise<TokenResponse | TargetedResponse | ExchangeResponse> {
  const { kernel, apps } = endpoint
  const request = readTokenRequest(sent.authorization, sent.body)
  const now = kernel.clock()
  const { rateLimits } = kernel
  const client = await authenticateClient({ apps, rateLimits }, request.credentials, sent.address, now)
  return countingFailures(kernel, { client, grant: request.grant, address: sent.address }, () =>
    answer(endpoint, client, request, now),
  )
}

async function answer(
  endpoint: TokenEndpoint,
  client: Client,
  request: GrantRequest,
  now: Date,
): Promise<TokenResponse | TargetedResponse | ExchangeResponse> {
  const { kernel, keys } = endpoint
  if (request.grant === 'token_exchange') {
    const { scope, ...wanted } = request
    return exchange(endpoint, client, { ...wanted, scope: scope === undefined ? undefined : scopesOf(scope) }, now)
  }
  const { resource } = request
  if (resource !== undefined) return redeemForTarget(endpoint, client, { ...request, resource }, now)
  const issuing = { app: client.app, keys, issuer: kernel.config.authUrl.origin }
  return tokenResponse(issuing, await redeemGrant(endpoint, client, request, now), now)
}

/** Who has a grant redeemed, which one, and from where. */
type Counted = { client: Client; grant: string; address: string }

/**
 * Counts redemptions that fail against their client, so that nobody tries tokens by the thousand. What comes under the
 * id of an app that has not proved itself counts against its address there: otherwise a caller who knows the id could
 * turn the `invalid_grant` of everybody else into `rate_limited`.
 */
export async function countingFailures<Answer>(
  { rateLimits, telemetry }: Kernel,
  { client: { app, proved }, grant, address }: Counted,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answered = await work()
    telemetry.granted(grant, 'issued')
    return answered
  } catch (error) {
    telemetry.granted(grant, error instanceof Refusal ? error.code : 'server_error')
    if (error instanceof Refusal) {
      const key = proved ? app.clientId : `${app.clientId} ${siteKey(address)}`
      await rateLimits.count('failed redemption of a client', textKey(key))
    }
    throw error
  }
}
