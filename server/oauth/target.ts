import type { TargetedResponse } from '@countersign/protocol/oauth'
import type { Client } from '#apps/client-authentication.ts'
import { delegate } from '#delegation/exchange.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { Refusal, refusals } from '#kernel/refusal.ts'
import type { Issued, Redeeming } from '#tokens/lineage.ts'
import type { SigningKeys } from '#tokens/signing-keys.ts'
import { redeem } from './code-grant.ts'
import { requireTarget, splitScopes } from './connector.ts'
import { refresh } from './refresh-grant.ts'
import type { CodeRedemption, Refreshment } from './token-request.ts'
import { targetedResponse } from './token-response.ts'

const refuse = refusals({
  invalid_target: [400, 'The person has not let this app act at this resource.'],
  invalid_grant: [400, 'The person lets this app act at this resource no longer.'],
})

type Redemption = CodeRedemption | Refreshment
type Endpoint = { kernel: Kernel; keys: SigningKeys; redeeming: Redeeming }

/** Redeems a code or a refresh token, whichever comes. */
export function redeemGrant(endpoint: Endpoint, client: Client, request: Redemption, now: Date): Promise<Issued> {
  return request.grant === 'authorization_code'
    ? redeem(endpoint, client, request, now)
    : refresh(endpoint, client, request, now)
}

/**
 * Redeems a code or a refresh token for a token that is for one resource (RFC 8707 §2.2), as MCP clients do. Refuses
 * `invalid_target` before anything is spent where there is no such resource; where the app may not act there,
 * `invalid_target` for a code, and `invalid_grant` for a refresh token, so that the app asks the person again.
 */
export async function redeemForTarget(
  endpoint: Endpoint,
  client: Client,
  request: Redemption & { resource: string },
  now: Date,
): Promise<TargetedResponse> {
  const { kernel, keys } = endpoint
  const { resource: named, grant } = request
  await requireTarget(kernel.db, named)
  const { own, scope } = splitScopes('scope' in request ? (request.scope ?? '') : '')
  const narrowed = { ...request, scope: own.length > 0 ? own.join(' ') : undefined }
  const issued = await redeemGrant(endpoint, client, narrowed, now)

  const { identityId, authTime } = issued.granted
  const subject = { identityId, authTime: new Date(authTime * 1000) }
  const wanted = { subject, clientId: client.app.clientId, named, scope: scope.length > 0 ? scope : undefined }
  const delegated = await delegate(endpoint, wanted, now).catch((error: unknown) => {
    if (!(error instanceof Refusal && error.code === 'access_denied')) throw error
    throw grant === 'refresh_token' ? refuse.invalid_grant() : refuse.invalid_target()
  })
  const issuing = { app: client.app, keys, issuer: kernel.config.authUrl.origin }
  return targetedResponse(issuing, issued, delegated, now)
}
