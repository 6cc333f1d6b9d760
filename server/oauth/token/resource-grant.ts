import type { TargetedResponse } from '@countersign/protocol/oauth/authorize'
import type { Client } from '#clients/registration/client-authentication.ts'
import { delegate, requireDelegation } from '#oauth/delegation/exchange.ts'
import type { Database } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import type { Told } from '#organizations/membership/context.ts'
import {
  findLineageOfFirst,
  findLineageOfRefresh,
  type Issued,
  type Lineage,
  type Redeeming,
} from '#tokens/families/family.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import type { Subject } from '#tokens/families/subject-token.ts'
import { redeem } from './code-grant.ts'
import { requireIndicator, splitScopes } from '#oauth/authorize/connector.ts'
import { withOrganization } from './organization.ts'
import { refresh } from './refresh-grant.ts'
import type { CodeRedemption, Refreshment } from './request.ts'
import { targetedResponse } from './token-response.ts'

const refuse = refusals({
  invalid_target: [400, 'The person has not let this app act at this resource.'],
  invalid_grant: [400, 'The person lets this app act at this resource no longer.'],
})

type Redemption = CodeRedemption | Refreshment
type Endpoint = { kernel: Kernel; keys: SigningKeys; redeeming: Redeeming }

/** Redeems a code or a refresh token, whichever comes. */
export async function redeemGrant(
  endpoint: Endpoint,
  client: Client,
  request: Redemption,
  now: Date,
): Promise<Issued & Told> {
  const issued =
    request.grant === 'authorization_code'
      ? await redeem(endpoint, client, { ...request, kind: 'code', token: request.code }, now)
      : await refresh(endpoint, client, request, now)
  return withOrganization(endpoint.kernel.db, issued)
}

/**
 * Redeems a code or a refresh token for a token that is for one resource (RFC 8707 §2.2), as MCP clients do. Nothing is
 * spent where the app may not have that token: `invalid_target` where there is no such resource, or the app may not act
 * there; for a refresh token that is `invalid_grant`, so that the app asks the person again; `invalid_scope`.
 */
export async function redeemForTarget(
  endpoint: Endpoint,
  client: Client,
  request: Redemption & { resource: string },
  now: Date,
): Promise<TargetedResponse> {
  const { kernel, keys } = endpoint
  const { db } = kernel
  const { resource: named, grant } = request
  requireIndicator(named)
  const { own, scope } = splitScopes('scope' in request ? (request.scope ?? '') : '')
  const narrowed = { ...request, scope: own.length > 0 ? own.join(' ') : undefined }
  const { clientId } = client.app
  const takenFor = (subject: Subject) => ({ subject, clientId, named, scope: scope.length > 0 ? scope : undefined })
  const denied = (error: unknown) => {
    if (!(error instanceof Refusal && error.code === 'access_denied')) throw error
    throw grant === 'refresh_token' ? refuse.invalid_grant() : refuse.invalid_target()
  }

  const lineage = await findLineage(db, request, now)
  // Who presents what is not theirs is told so, below.
  if (lineage?.clientId === clientId) await requireDelegation(db, takenFor(lineage), now).catch(denied)
  const { granted, ...issued } = await redeemGrant(endpoint, client, narrowed, now)
  const { identityId, byProviderAlone } = granted
  const subject = { identityId, authTime: new Date(granted.authTime * 1000), byProviderAlone }
  const delegated = await delegate(endpoint, takenFor(subject), now).catch(denied)
  const issuing = { app: client.app, keys, issuer: kernel.config.authUrl.origin }
  return targetedResponse(issuing, { granted, ...issued }, delegated, now)
}

async function findLineage(db: Database, request: Redemption, now: Date): Promise<Lineage | undefined> {
  if (request.grant === 'authorization_code') return findLineageOfFirst(db, 'code', request.code)
  return (await findLineageOfRefresh(db, request.refreshToken, now))?.lineage
}
