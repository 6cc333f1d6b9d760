import { createHash, randomBytes } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { ClientId, UserId } from '@countersign/protocol/ids'
import { loadConfig } from '#platform/config/config.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Storage } from '#platform/database/database.ts'
import { openLargeReads } from '#platform/database/replica/replica.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { createLog } from '#platform/observability/log.ts'
import { createMailer } from '#platform/outbound/mail.ts'
import { createDnsResolver } from '#platform/outbound/dns-resolver.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { loadPages } from '#platform/http/page.ts'
import {
  applyRateLimitNumbers,
  createRateLimits,
  noRateLimits,
  type RateLimits,
} from '#platform/rate-limits/rate-limit.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'
import type { Hosts } from '#platform/http/host.ts'
import { openSettings, withCurrentBrand } from '#platform/settings/current-settings.ts'
import { rateLimitPolicies } from '../modules.ts'
import { mountModules, openServices } from '../services.ts'
import { createAuthenticator, type Authenticator } from './authenticator.ts'
import { openTestStorage, type Between } from './database.ts'
import { verifyInvariants } from './invariants.ts'
import { recordRequests } from './recorded-statements.ts'

export type TestWorld = Awaited<ReturnType<typeof createWorld>>
export type Person = Awaited<ReturnType<TestWorld['person']>>
export type TestApp = Awaited<ReturnType<TestWorld['app']>>

/** Context of a service whose ADMIN_TOKEN is not off. */
type TestKernel = ServerContext & { adminToken: Secret }

type Options = {
  environment?: Record<string, string>
  /** The real ones if true; none by default. */
  rateLimits?: boolean | RateLimits
  secretKey?: string
  between?: Between
  /** Storage that a test has prepared, instead of an empty one. */
  storage?: Storage
  /** Time at the start. */
  startedAt?: Date
}

/**
 * Creates a complete provider with its own database and a clock that the test controls. Each test file creates one and
 * closes it at the end, which fails if the database violates an invariant.
 */
export async function createWorld({ environment = {}, rateLimits = false, secretKey, ...more }: Options = {}) {
  const given = loadConfig({
    ...{ DEMO: 'on', LOG_LEVEL: 'silent', TRUST_PROXY: 'off' },
    // Outside of localhost, the default needs an invitation.
    ...(environment['AUTH_URL']?.startsWith('https:') && { REGISTRATION: 'open' }),
    ...environment,
  })
  const storage = more.storage ?? (await openTestStorage(more.between, given.statementNames))
  const settings = await openSettings({ config: given, db: storage.db })
  const config = withCurrentBrand(given, settings)
  let now = more.startedAt ?? new Date('2030-01-01T12:00:00.000Z')
  const clock = () => now
  const shared = process.env['TEST_DATABASE_URL'] === undefined ? undefined : storage.prepared
  const { log } = createLog(config.logLevel)
  const largeReads = openLargeReads({ url: config.databaseReadUrl, storage, onObstacle: () => {} })
  const policies = applyRateLimitNumbers(rateLimitPolicies, config.rateLimitNumbers)
  const real = () => createRateLimits({ clock, shared, policies })
  const limits = rateLimits === true ? real() : rateLimits || noRateLimits
  const kernel: TestKernel = {
    config,
    db: storage.db,
    prepared: storage.prepared,
    batched: storage.batched,
    alone: storage.withDedicatedConnection,
    largeReads,
    clock,
    log,
    telemetry: noTelemetry,
    rateLimits: limits,
    keyring: createKeyring([new Secret(secretKey ?? randomBytes(32).toString('base64url'))]),
    mail: await createMailer({ config, log, clock }),
    settings,
    outbound: createOutboundClient(config),
    dns: createDnsResolver(config),
    adminToken: new Secret(randomBytes(32).toString('hex')),
  }
  const services = await openServices(kernel, await loadPages(config))
  const hosts = await mountModules(services, storage)
  for (const host of Object.values(hosts)) recordRequests(host)
  return {
    ...hosts,
    kernel,
    services,
    config,
    db: storage.db,
    /** Runs a statement of the test itself, on more rows than one of the product could change in its time limit. */
    changeMany: async (statement: RawBuilder<unknown>) =>
      void (await storage.withDedicatedConnection((db) => statement.execute(db))),
    admin: { authorization: `Bearer ${kernel.adminToken.reveal()}` },
    now: () => now,
    pass: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
    person: (handle?: string) => registerPerson(hosts, config, handle),
    app: (settings?: Partial<NewApp>) => registerApp(hosts, kernel, settings),
    async close() {
      await Promise.all([hosts.api.close(), hosts.auth.close(), hosts.business.close()])
      try {
        // A test may have filled a table with more rows than a request could read in its time limit.
        await storage.withDedicatedConnection((db) => verifyInvariants(db, now))
      } finally {
        await largeReads.close()
        await storage.close()
      }
    },
  }
}

/** Registers a user like their browser; `headers` authenticate requests with their session. */
async function registerPerson({ api }: Hosts, config: ServerContext['config'], requested?: string) {
  const handle = requested ?? `person-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const started = await api.inject({
    method: 'POST',
    url: '/api/auth/register/start',
    payload: { handle, displayName: `The ${handle}` },
  })
  const { flowId, options } = started.json()
  const finished = await api.inject({
    method: 'POST',
    url: '/api/auth/register/finish',
    payload: { flowId, credential: authenticator.register(options) },
  })
  if (finished.statusCode !== 201) throw new Error(`${handle} not registered: ${finished.body}`)
  const { sessionToken, user, identities } = finished.json<{
    sessionToken: string
    user: { userId: UserId }
    identities: [Identity]
  }>()
  const { identityId } = identities[0]
  return personOf(api, { handle, userId: user.userId, identityId, sessionToken, authenticator })
}

type Registered = {
  handle: string
  userId: UserId
  identityId: Identity['identityId']
  sessionToken: string
  authenticator: Authenticator
}

/** Returns a user who is registered, with a sign-in by their passkey. */
export function personOf(api: Hosts['api'], registered: Registered) {
  return {
    ...registered,
    headers: { authorization: `Bearer ${registered.sessionToken}` },
    signIn: () => signIn(api, registered.authenticator),
  }
}

/** Signs in again, like another browser; returns the new session's headers. */
async function signIn(api: Hosts['api'], authenticator: Authenticator) {
  const started = await api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const finished = await api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  if (finished.statusCode !== 200) throw new Error(`sign-in failed: ${finished.body}`)
  return { authorization: `Bearer ${finished.json<{ sessionToken: string }>().sessionToken}` }
}

/** Registers an app over the admin API, with functions for its flows. */
async function registerApp({ api }: Hosts, kernel: TestKernel, settings: Partial<NewApp> = {}) {
  const redirectUri = settings.redirectUris?.[0] ?? 'https://app.example/callback'
  const created = await api.inject({
    method: 'POST',
    url: '/api/admin/apps',
    headers: { authorization: `Bearer ${kernel.adminToken.reveal()}` },
    payload: { name: 'An app', redirectUris: [redirectUri], ...settings },
  })
  if (created.statusCode !== 201) throw new Error(`app not registered: ${created.body}`)
  return appOf(api, { redirectUri, ...created.json<{ clientId: ClientId; clientSecret?: string }>() })
}

/** Returns the functions for the flows of an app that is registered. */
export function appOf(
  api: Hosts['api'],
  { clientId, clientSecret, redirectUri }: { clientId: ClientId; clientSecret?: string; redirectUri: string },
) {
  const credentials = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  const redeem = (code: string, fields: Record<string, string> = {}) =>
    postToken(api, { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...credentials, ...fields })
  const refresh = (refreshToken: string, fields: Record<string, string> = {}) =>
    postToken(api, { grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials, ...fields })

  /** Sends a user's consent to this app, and returns the code. */
  async function code(person: Consenting, requested: Record<string, unknown> = {}): Promise<string> {
    const answer = await api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: {
        clientId,
        redirectUri,
        identityId: person.identityId,
        scope: 'openid profile offline_access',
        ...requested,
      },
    })
    if (answer.statusCode !== 200) throw new Error(`consent failed: ${answer.body}`)
    return new URL(answer.json<{ redirectUrl: string }>().redirectUrl).searchParams.get('code') ?? ''
  }

  /** Returns the tokens of a complete sign-in. */
  async function tokens(
    person: Consenting,
    requested: Record<string, unknown> = {},
  ): Promise<TokenResponse & { refresh_token: string }> {
    const answer = await redeem(await code(person, requested))
    if (answer.statusCode !== 200) throw new Error(`no tokens issued: ${answer.body}`)
    return answer.json()
  }
  return { clientId, clientSecret: clientSecret ?? '', redirectUri, credentials, code, redeem, refresh, tokens }
}

type Consenting = { headers: Record<string, string>; identityId: string }

/** Sends a form-encoded token request. */
export function postToken(api: Hosts['api'], fields: Record<string, string>, headers: Record<string, string> = {}) {
  return postForm(api, '/api/oauth/token', fields, headers)
}

export function postForm(
  api: Hosts['api'],
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return api.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
}

/** Creates a PKCE verifier and its challenge (RFC 7636 §4.1, §4.2). */
export function newChallenge() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
