import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import type { ClientId } from '@countersign/protocol/ids'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { authenticateClient, type Client } from '#clients/registration/authentication/authentication.ts'
import type { UsageCounter } from '#clients/usage/usage.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError } from '#platform/api-error.ts'
import type { GrantDeps, GrantResponse } from './grants/grant.ts'
import { parseTokenRequest } from './request.ts'

export type TokenEndpoint = GrantDeps & { apps: AppDirectory; usage: UsageCounter }
type TokenHttpRequest = { authorization: string | undefined; body: TokenRequest; address: string }

/** Answers `POST /api/oauth/token`: authenticates the client and redeems its grant. */
export async function answerTokenRequest(endpoint: TokenEndpoint, sent: TokenHttpRequest): Promise<GrantResponse> {
  const { kernel, apps } = endpoint
  const { credentials, grant, redeem } = parseTokenRequest(sent.authorization, sent.body)
  const now = kernel.clock()
  const { rateLimits } = kernel
  const signsIn = grant === 'authorization_code'
  return countUsage(endpoint, { clientId: credentials.clientId, signsIn }, async () => {
    const client = await authenticateClient({ apps, rateLimits }, credentials, sent.address, now)
    return limitFailures(kernel, { client, grant, address: sent.address }, () => redeem(endpoint, client, now))
  })
}

/** Counts the outcome of a request for the developer of the app: a sign-in, or an error. */
export async function countUsage<Answer>(
  { apps, usage }: Pick<TokenEndpoint, 'apps' | 'usage'>,
  { clientId, signsIn }: { clientId: ClientId; signsIn: boolean },
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answered = await work()
    if (signsIn) usage.countSignIn(clientId)
    return answered
  } catch (error) {
    const app = error instanceof ApiError ? await apps.find(clientId) : undefined
    if (app && error instanceof ApiError) usage.countError(app, error.code)
    throw error
  }
}

/** Client, grant and network address of a redemption. */
type Counted = { client: Client; grant: string; address: string }

/** Errors of a token exchange that follow a valid subject token. A user who has not consented causes them. */
const deniedExchanges = ['access_denied', 'invalid_grant', 'invalid_scope', 'invalid_target']

/**
 * Counts failed redemptions against their client, to limit token guessing. A token exchange that is denied after its
 * subject token was valid guesses nothing, and does not count.
 *
 * Failures under the ID of an app that has not authenticated count against that ID and the address. Otherwise any
 * caller who knows the ID could turn other users' `invalid_grant` into `rate_limited`.
 */
export async function limitFailures<Answer>(
  { rateLimits, telemetry }: ServerContext,
  { client: { app, authenticated }, grant, address }: Counted,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answered = await work()
    telemetry.granted(grant, 'issued')
    return answered
  } catch (error) {
    telemetry.granted(grant, error instanceof ApiError ? error.code : 'server_error')
    if (error instanceof ApiError && !(grant === 'token_exchange' && deniedExchanges.includes(error.code))) {
      const key = authenticated ? app.clientId : `${app.clientId} ${siteKey(address)}`
      await rateLimits.count('grant-failures-per-client', hashKey(key))
    }
    throw error
  }
}
