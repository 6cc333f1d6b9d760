import { limits } from '@countersign/protocol/formats/limits'
import type { PushedRequest, PushedRequestAnswer } from '@countersign/protocol/oauth/pushed-requests'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import {
  authenticateClient,
  parseClientCredentials,
  requireClientAuthentication,
} from '#clients/registration/authentication/authentication.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import { siteSettings } from '#platform/http/page.ts'
import { validateAuthorizationRequest } from './sign-in-request.ts'
import { type Source, storePushedRequest } from './pushed-request.ts'
import type { AuthorizationServices } from './routes.ts'

type ParHttpRequest = { authorization: string | undefined; body: PushedRequest; address: string }

const errors = defineErrors({ invalid_request: [400, 'A pushed authorization request must not contain request_uri.'] })

/**
 * Stores an authorization request that an app pushes before a browser is involved (RFC 9126 §2). Throws what `/signin`
 * rejects as an answer to the app, and `invalid_client`, `rate_limited`.
 */
export async function answerPushedRequest(
  { kernel, apps, usage, keys }: Pick<AuthorizationServices, 'kernel' | 'apps' | 'usage' | 'keys'>,
  { authorization, body, address }: ParHttpRequest,
): Promise<PushedRequestAnswer> {
  const { client_secret: _secret, clientId: _name, clientSecret: _legacy, ...standard } = body
  const { rateLimits, clock } = kernel
  const now = clock()
  const credentials = parseClientCredentials(authorization, body)
  const context = { apps: apps.requestedFrom(address), rateLimits }
  const client = await authenticateClient(context, credentials, address, now)
  requireClientAuthentication(client)
  if (body.request_uri !== undefined)
    throw errors.invalid_request({ sentence: 'A pushed authorization request must not contain request_uri.' })
  const { clientId } = client.app
  // The ID of a public app is not secret: requests under it do not count against the app or its owner.
  const source = client.authenticated ? ownerOf(client.app) : { address }
  if (client.authenticated) await rateLimits.count('par-requests-per-client', hashKey(clientId))
  else await rateLimits.count('par-requests-public-client', address)

  const parameters = { ...withoutEmpty(standard), client_id: clientId }
  await validateAuthorizationRequest(
    { db: kernel.db, apps: context.apps, keys, usage, site: siteSettings(kernel.config) },
    parameters,
  )
  const requestUri = await storePushedRequest(kernel.db, { clientId, parameters, source }, now)
  return { request_uri: requestUri, expires_in: limits.pushedRequestLifetimeSeconds }
}

/** All apps of one user share the quota that a single app of the operator has. */
const ownerOf = ({ clientId, ownerUserId }: RegisteredApp): Source =>
  ownerUserId === null ? { clientId } : { ownerUserId }

/** Removes parameters without a value, which count as omitted (RFC 6749 §3.1). */
function withoutEmpty(sent: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
}
