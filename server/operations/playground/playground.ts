import type { NewDemoRequest } from '@countersign/protocol/signing/signing'
import {
  builtInClientIds,
  deleteBuiltInApp,
  ensureApp,
  playgroundCalendarClientId,
  playgroundClientId,
  playgroundNotesClientId,
} from '#clients/registration/built-in-app.ts'
import { ensureResource } from '#clients/resources/built-in-resource.ts'
import { findByHandle } from '#accounts/identities/identity.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { verifyDelegatedToken } from '#oauth/delegation/delegated-token.ts'
import { bearerChallenges } from '#tokens/families/access-token.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { ScopeSet } from '@countersign/protocol/scope-set'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { createSigningRequest } from '#signing/requests/identities/request.ts'
import type { Config } from '#platform/config/config.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send exactly one of identityId and handle.'],
  identity_not_found: [404, 'No identity has this handle.'],
  unauthorized: [401, 'Authentication required.'],
  invalid_token: [401, 'The token is not a valid delegated token for the calendar with the scope calendar.read.'],
})

const pendingMax = 3

/** No host has this name (RFC 6761 §6.4), so the token of the calendar is worth nothing elsewhere. */
const calendarOrigin = 'https://calendar.playground.invalid'
export const demoCalendar = { resourceKey: 'playground-calendar', audience: calendarOrigin, scope: 'calendar.read' }

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
 * Creates or updates the playground's apps at each start while `DEMO` is on. While it is off, deletes the apps with all
 * their tokens and keys, so that no demonstration data remains in production.
 */
export async function ensurePlayground({
  config,
  db,
  clock,
}: Pick<ServerContext, 'config' | 'db' | 'clock'>): Promise<void> {
  if (!config.demo) {
    for (const clientId of builtInClientIds) await deleteBuiltInApp(db, clientId, clock())
    return
  }

  const settings = {
    name: 'Playground',
    description: 'Shows step by step what an app sends and receives.',
    redirectUris: [playgroundUrl(config)],
    idTokenSignedResponseAlg: 'ES256' as const,
  }
  await ensureApp(db, playgroundClientId, settings, clock())
  await ensureApp(db, playgroundNotesClientId, notesSettings(config), clock())
  await ensureCalendar(db, clock())
}

function notesSettings(config: Pick<Config, 'authUrl'>) {
  return {
    name: 'Playground Notes',
    description: 'Encrypts a note in your browser.',
    redirectUris: [playgroundUrl(config)],
    allowedScopes: ['openid', 'profile'],
    supportsE2ee: true,
    organizationAccess: 'none' as const,
    idTokenSignedResponseAlg: 'ES256' as const,
  }
}

async function ensureCalendar(db: Database, now: Date): Promise<void> {
  const settings = {
    name: 'Playground Calendar',
    description: 'The app at which the playground acts for you.',
    redirectUris: [`${calendarOrigin}/callback`],
  }
  await ensureApp(db, playgroundCalendarClientId, settings, now)
  const { resourceKey, audience, scope } = demoCalendar
  const resource = {
    clientId: playgroundCalendarClientId,
    resourceKey,
    audience,
    displayName: 'Playground Calendar',
    description: 'Two events of a demonstration.',
    scopes: [scope],
    scopeDescriptions: ['See your events'],
  }
  await ensureResource(db, resource, now)
}

/**
 * Returns the events of the demonstration calendar, as the calendar of another app does: it accepts only a token that
 * is for it, with its scope, and still granted. Throws `unauthorized`, `invalid_token`.
 */
export async function readDemoCalendar(
  { kernel: { db, config }, keys }: { kernel: Pick<ServerContext, 'db' | 'config'>; keys: SigningKeys },
  token: string | undefined,
  now: Date,
) {
  if (token === undefined) throw errors.unauthorized({ headers: bearerChallenges.missing })
  const issuing = { keys, issuer: config.authUrl.origin, db }
  const verified = await verifyDelegatedToken(issuing, { token, clientId: playgroundCalendarClientId }, now)
  if (verified?.audience !== demoCalendar.audience) throw errors.invalid_token({ headers: bearerChallenges.invalid })
  if (!ScopeSet.parse(verified.scope).has(demoCalendar.scope))
    throw errors.invalid_token({ headers: bearerChallenges.invalid })
  const { audience, scope, expiresAt } = verified
  const tomorrow = addSeconds(now, 24 * 3600)
    .toISOString()
    .slice(0, 10)
  return {
    events: [
      { title: 'Tea with Mr Babbage', startsAt: `${tomorrow}T15:00:00.000Z` },
      { title: 'Notes on the engine', startsAt: `${tomorrow}T17:30:00.000Z` },
    ],
    verified: { audience, scope, expiresAt: new Date(expiresAt * 1000).toISOString() },
  }
}
