import type { TokenRequest, TokenResponse } from '@countersign/protocol/oauth'
import type { AppDirectory } from '#apps/app-directory.ts'
import { authenticateClient, type Client } from '#apps/client-authentication.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { textKey } from '#kernel/rate-limit.ts'
import { Refusal } from '#kernel/refusal.ts'
import type { Issued, Redeeming } from '#tokens/lineage.ts'
import type { SigningKeys } from '#tokens/signing-keys.ts'
import { redeem } from './code-grant.ts'
import { refresh } from './refresh-grant.ts'
import { readTokenRequest, type CodeRedemption, type Refreshment } from './token-request.ts'
import { tokenResponse } from './token-response.ts'

export type TokenEndpoint = { kernel: Kernel; apps: AppDirectory; keys: SigningKeys; redeeming: Redeeming }
type Sent = { authorization: string | undefined; body: TokenRequest; address: string }

/** Answers `POST /api/oauth/token`: who asks, which grant, what it gives. */
export async function answerTokenRequest(endpoint: TokenEndpoint, sent: Sent): Promise<TokenResponse> {
  const { kernel, apps, keys } = endpoint
  const request = readTokenRequest(sent.authorization, sent.body)
  const now = kernel.clock()
  const { rateLimits } = kernel
  const client = await authenticateClient({ apps, rateLimits }, request.credentials, sent.address, now)
  const issued = await countingFailures(kernel, client, request.grant, () => issue(endpoint, client, request, now))
  return tokenResponse({ app: client.app, keys, issuer: kernel.config.authUrl.origin }, issued, now)
}

function issue(
  endpoint: TokenEndpoint,
  client: Client,
  request: CodeRedemption | Refreshment,
  now: Date,
): Promise<Issued> {
  switch (request.grant) {
    case 'authorization_code':
      return redeem(endpoint, client, request, now)
    case 'refresh_token':
      return refresh(endpoint, client, request, now)
  }
}

/** Counts redemptions that fail against their client, so that nobody tries tokens by the thousand. */
async function countingFailures(
  { rateLimits, telemetry }: Kernel,
  { app }: Client,
  grant: string,
  work: () => Promise<Issued>,
): Promise<Issued> {
  try {
    const issued = await work()
    telemetry.granted(grant, 'issued')
    return issued
  } catch (error) {
    telemetry.granted(grant, error instanceof Refusal ? error.code : 'server_error')
    if (error instanceof Refusal) await rateLimits.count('failed redemption of a client', textKey(app.clientId))
    throw error
  }
}
