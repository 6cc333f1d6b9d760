import { limits } from '@countersign/protocol/formats/limits'
import type { PushedRequest, PushedRequestAnswer } from '@countersign/protocol/oauth/pushed-requests'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import { authenticateClient, requireProof } from '#clients/registration/client-authentication.ts'
import { textKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import { siteOf } from '#platform/http/page.ts'
import { requireAuthorizationRequest } from './authorization-request.ts'
import { readCredentials } from '#clients/registration/client-credentials.ts'
import { keepPushed, type Source } from './pushed-request.ts'
import type { TokenEndpoint } from '#oauth/token/endpoint.ts'

type Sent = { authorization: string | undefined; body: PushedRequest; address: string }

const refuse = refusals({ invalid_request: [400, 'A request that is pushed has no request_uri of its own.'] })

/**
 * Takes an authorization request from its app, before any browser is there (RFC 9126 §2). Refuses what `/signin` would,
 * as an answer to the app, and `invalid_client`, `rate_limited`.
 */
export async function answerPushedRequest(
  { kernel, apps, keys }: Pick<TokenEndpoint, 'kernel' | 'apps' | 'keys'>,
  { authorization, body, address }: Sent,
): Promise<PushedRequestAnswer> {
  const { client_secret: _secret, clientId: _name, clientSecret: _legacy, ...standard } = body
  const { rateLimits, clock } = kernel
  const now = clock()
  const credentials = readCredentials(authorization, body)
  const asked = { apps: apps.askedFrom(address), rateLimits }
  const client = await authenticateClient(asked, credentials, address, now)
  requireProof(client)
  if (body.request_uri !== undefined) throw refuse.invalid_request()
  const { clientId } = client.app
  // The id of a public app is no secret: what comes under it is not held against the app, or its owner.
  const source = client.proved ? ownerOf(client.app) : { address }
  if (client.proved) await rateLimits.count('pushed request of a client', textKey(clientId))
  else await rateLimits.count('pushed request without a secret', address)

  const parameters = { ...withoutEmpty(standard), client_id: clientId }
  await requireAuthorizationRequest({ db: kernel.db, apps: asked.apps, keys, site: siteOf(kernel.config) }, parameters)
  const requestUri = await keepPushed(kernel.db, { clientId, parameters, source }, now)
  return { request_uri: requestUri, expires_in: limits.pushedRequestLifetimeSeconds }
}

/** A user may have many apps, which together keep no more than one app of the operator. */
const ownerOf = ({ clientId, ownerUserId }: RegisteredApp): Source =>
  ownerUserId === null ? { clientId } : { ownerUserId }

/** A parameter without a value counts as left out (RFC 6749 §3.1). */
function withoutEmpty(sent: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
}
