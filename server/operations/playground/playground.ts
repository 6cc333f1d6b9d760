import type { NewDemoRequest } from '@countersign/protocol/signing/signing'
import { deleteBuiltInApp, ensureApp, playgroundClientId } from '#clients/registration/built-in-app.ts'
import { findByHandle } from '#accounts/identities/identity.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { createSigningRequest } from '#signing/requests/identities/request.ts'
import type { Config } from '#platform/config/config.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send exactly one of identityId and handle.'],
  identity_not_found: [404, 'No identity has this handle.'],
})

const pendingMax = 3

/**
 * Creates a demonstration request to sign, without authentication. Throws `invalid_request`, `reserved_payload`,
 * `identity_not_found`, `no_signing_key`, `rate_limited`, `too_many_pending`.
 */
export async function createDemoSigningRequest(
  kernel: Pick<ServerContext, 'db' | 'rateLimits'>,
  { handle, ...requested }: NewDemoRequest,
  now: Date,
) {
  if ((handle === undefined) === (requested.identityId === undefined)) throw errors.invalid_request()
  const identityId = requested.identityId ?? (await findByHandle(kernel.db, handle ?? ''))?.identityId
  if (identityId === undefined) throw errors.identity_not_found()
  const requester = { clientId: playgroundClientId, ownerUserId: null, pendingMax }
  return createSigningRequest(kernel, requester, { ...requested, identityId }, now)
}

/** Returns the URL of the playground page, which is also the redirect URI of its app. */
export function playgroundUrl({ authUrl }: Pick<Config, 'authUrl'>): string {
  return `${authUrl.origin}/playground`
}

/**
 * Creates or updates the playground's app at each start while `DEMO` is on. While it is off, deletes the app with all
 * its tokens, so that no demonstration data remains in production.
 */
export async function ensurePlayground({
  config,
  db,
  clock,
}: Pick<ServerContext, 'config' | 'db' | 'clock'>): Promise<void> {
  if (!config.demo) return deleteBuiltInApp(db, playgroundClientId, clock())

  const settings = {
    name: 'Playground',
    description: 'Shows step by step what an app sends and receives.',
    redirectUris: [playgroundUrl(config)],
    idTokenSignedResponseAlg: 'ES256' as const,
  }
  await ensureApp(db, playgroundClientId, settings, clock())
}
