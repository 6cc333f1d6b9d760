import { createHash, randomBytes } from 'node:crypto'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import type { NewApp } from '@countersign/protocol/clients/apps'
import { readConfig } from '#platform/config/config.ts'
import type { Kernel } from '#platform/module/services.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { createLog } from '#platform/observability/log.ts'
import { createMailer } from '#platform/outbound/mail.ts'
import { createNameServers } from '#platform/outbound/name-servers.ts'
import { createOutbound } from '#platform/outbound/fetch.ts'
import { openPages } from '#platform/http/page.ts'
import { createRateLimits, noRateLimits, type RateLimits } from '#platform/rate-limits/rate-limit.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'
import { mountHosts, type Hosts } from '#platform/process/mount.ts'
import { createAuthenticator, type Authenticator } from './authenticator.ts'
import { openTestStorage, type Between } from './database.ts'
import { verifyInvariants } from './invariants.ts'

export type World = Awaited<ReturnType<typeof createWorld>>
export type Person = Awaited<ReturnType<World['person']>>
export type TestApp = Awaited<ReturnType<World['app']>>

type Options = {
  environment?: Record<string, string>
  /** The real ones, if true; none, if not given. */
  rateLimits?: boolean | RateLimits
  secretKey?: string
  between?: Between
}

/**
 * A whole provider with its own database and a clock that the test turns. One for each test file, closed at its end:
 * that also fails where the test has left the database as it must never be.
 */
export async function createWorld({ environment = {}, rateLimits = false, secretKey, between }: Options = {}) {
  const config = readConfig({ DEMO: 'on', LOG_LEVEL: 'silent', TRUST_PROXY: 'off', ...environment })
  const storage = await openTestStorage(between)
  let now = new Date('2030-01-01T12:00:00.000Z')
  const clock = () => now
  const shared = process.env['TEST_DATABASE_URL'] === undefined ? undefined : storage.prepared
  const { log } = createLog(config.logLevel)
  const real = () => createRateLimits({ clock, shared, numbers: config.rateLimitNumbers })
  const limits = rateLimits === true ? real() : rateLimits || noRateLimits
  const kernel: Kernel = {
    config,
    db: storage.db,
    prepared: storage.prepared,
    gathered: storage.gathered,
    alone: storage.alone,
    clock,
    log,
    telemetry: noTelemetry,
    rateLimits: limits,
    keyring: createKeyring([new Secret(secretKey ?? randomBytes(32).toString('base64url'))]),
    mail: await createMailer(config.mail, log),
    outbound: createOutbound(config),
    nameServers: createNameServers(config),
    adminToken: new Secret(randomBytes(32).toString('hex')),
  }
  const hosts = await mountHosts(kernel, storage, await openPages(config))
  return {
    ...hosts,
    kernel,
    config,
    db: storage.db,
    admin: { authorization: `Bearer ${kernel.adminToken.reveal()}` },
    now: () => now,
    pass: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
    person: (handle?: string) => registerPerson(hosts, config, handle),
    app: (settings?: Partial<NewApp>) => registerApp(hosts, kernel, settings),
    async close() {
      await Promise.all([hosts.api.close(), hosts.auth.close(), hosts.business.close()])
      try {
        // A test may have filled a table with more rows than a request could read in its time.
        await storage.alone((db) => verifyInvariants(db, now))
      } finally {
        await storage.close()
      }
    },
  }
}

/** Registers a person as their browser would; `headers` sign requests with their session. */
async function registerPerson({ api }: Hosts, config: Kernel['config'], wanted?: string) {
  const handle = wanted ?? `person-${randomBytes(6).toString('hex')}`
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
  if (finished.statusCode !== 201) throw new Error(`${handle} was not registered: ${finished.body}`)
  const body = finished.json<{ sessionToken: string; user: { userId: string }; identities: [Identity] }>()
  return {
    handle,
    authenticator,
    userId: body.user.userId,
    identityId: body.identities[0].identityId,
    sessionToken: body.sessionToken,
    headers: { authorization: `Bearer ${body.sessionToken}` },
    signIn: () => signIn(api, authenticator),
  }
}

/** Signs in again, as from another browser; answers the new session's headers. */
async function signIn(api: Hosts['api'], authenticator: Authenticator) {
  const started = await api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const finished = await api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  if (finished.statusCode !== 200) throw new Error(`the sign-in failed: ${finished.body}`)
  return { authorization: `Bearer ${finished.json<{ sessionToken: string }>().sessionToken}` }
}

/** Registers an app over the admin API, with the means to go through its flows. */
async function registerApp({ api }: Hosts, kernel: Kernel, settings: Partial<NewApp> = {}) {
  const redirectUri = settings.redirectUris?.[0] ?? 'https://app.example/callback'
  const created = await api.inject({
    method: 'POST',
    url: '/api/admin/apps',
    headers: { authorization: `Bearer ${kernel.adminToken.reveal()}` },
    payload: { name: 'An app', redirectUris: [redirectUri], ...settings },
  })
  if (created.statusCode !== 201) throw new Error(`the app was not registered: ${created.body}`)
  const { clientId, clientSecret } = created.json<{ clientId: string; clientSecret?: string }>()
  const credentials = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  const redeem = (code: string, fields: Record<string, string> = {}) =>
    postToken(api, { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...credentials, ...fields })
  const refresh = (refreshToken: string, fields: Record<string, string> = {}) =>
    postToken(api, { grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials, ...fields })

  /** The consent of a person at this app, and the code that it gave. */
  async function code(person: Consenting, wanted: Record<string, unknown> = {}): Promise<string> {
    const answer = await api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: {
        clientId,
        redirectUri,
        identityId: person.identityId,
        scope: 'openid profile offline_access',
        ...wanted,
      },
    })
    if (answer.statusCode !== 200) throw new Error(`no consent: ${answer.body}`)
    return new URL(answer.json<{ redirectUrl: string }>().redirectUrl).searchParams.get('code') ?? ''
  }

  /** The tokens of a whole sign-in. */
  async function tokens(
    person: Consenting,
    wanted: Record<string, unknown> = {},
  ): Promise<TokenResponse & { refresh_token: string }> {
    const answer = await redeem(await code(person, wanted))
    if (answer.statusCode !== 200) throw new Error(`no tokens: ${answer.body}`)
    return answer.json()
  }
  return { clientId, clientSecret: clientSecret ?? '', redirectUri, credentials, code, redeem, refresh, tokens }
}

type Consenting = { headers: Record<string, string>; identityId: string }

/** A form-encoded token request. */
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

/** A PKCE verifier and its challenge (RFC 7636 §4.1, §4.2). */
export function newChallenge() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
