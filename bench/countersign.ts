import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pass } from 'node:timers/promises'
import type { ResponseOf, Api } from '@countersign/protocol/api'
import type { ClientId } from '@countersign/protocol/ids'
import { createAuthenticator } from '../server/testing/authenticator.ts'
import { freePorts, testAdminToken } from '../server/testing/service.ts'
import { newSigningPair } from '../server/testing/signer.ts'
import { fieldsOf, tokenRequest, userinfoRequest, type Implementation } from './implementation.ts'
import { runLoad, type Answer as Answered, type Call } from './load.ts'
import { newSignature, verificationRequest } from './signature.ts'

const ownRoot = join(import.meta.dirname, '..')
/** The rate limits that the load would reach. */
const ownLimits = ['signature-verifications', 'changes-per-user']
const redirectUri = 'https://app.example/callback'
export const scope = 'openid profile offline_access'

/** Calls that only this product supports, and what further measurements need. */
export type Countersign = Implementation & {
  verify: Call
  status: Call
  baseUrl: string
  authUrl: string
  app: App
}

type Launch = {
  /** The checkout to run. */
  root?: string
  /** The rate limits of that version which the load would reach. */
  reached?: string[]
  environment?: Record<string, string>
}

/** The product as `npm start` runs it, with rate limits, audit log, log and durable PostgreSQL, in one process. */
export async function launchCountersign(
  databaseUrl: string,
  { root = ownRoot, reached = ownLimits, environment = {} }: Launch = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const [api, auth, business] = await freePorts(3)
  const baseUrl = `http://localhost:${api}`
  const authUrl = `http://localhost:${auth}`
  // The log goes to a file: reading it must not burden the load generator, nor be measured.
  const log = await open(join(directory, 'log'), 'a')
  const settings = {
    PATH: process.env['PATH'] ?? '',
    BASE_URL: baseUrl,
    AUTH_URL: authUrl,
    BUSINESS_URL: `http://localhost:${business}`,
    DATA_DIR: directory,
    DATABASE_URL: databaseUrl,
    SECRET_KEY: randomBytes(32).toString('base64url'),
    ADMIN_TOKEN: testAdminToken,
    WORKERS: '1',
    // Counted as usual, but never reached: all of the load comes from one address.
    RATE_LIMIT_NUMBERS: reached.map((limit) => `${limit}=1000000`).join(),
    // As `npm start` runs it.
    NODE_OPTIONS: '--max-semi-space-size=8',
    NODE_COMPILE_CACHE: join(root, 'node_modules/.countersign'),
    ...environment,
  }
  const child = spawn(process.execPath, [join(root, 'server/main.ts')], {
    env: settings,
    stdio: ['ignore', log.fd, 'inherit'],
  })
  await log.close()
  await readiness(child, `${baseUrl}/readyz`)
  return {
    pid: child.pid ?? 0,
    baseUrl,
    authUrl,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts the product with a user and an app. */
export async function startCountersign(databaseUrl: string, launch: Launch = {}): Promise<Countersign> {
  const service = await launchCountersign(databaseUrl, launch)
  const { baseUrl, authUrl } = service
  const call = callerOf(baseUrl)
  const person = await register(call, authUrl)
  const { clientId, clientSecret } = await call('POST /api/admin/apps', testAdminToken, {
    name: 'Bench',
    redirectUris: [redirectUri],
    idTokenSignedResponseAlg: 'ES256',
  })
  const app = { clientId, clientSecret: clientSecret ?? '' }
  const signed = newSignature()
  await call(`POST /api/signing/keys/:identityId`, person.sessionToken, signed.key, { identityId: person.identityId })
  const { requestId } = await call('POST /api/signing/request', undefined, {
    ...{ clientId, clientSecret, identityId: person.identityId },
    ...{ payload: signed.verification.message, expiresInSeconds: 3600 },
  })

  return {
    ...service,
    name: 'Countersign',
    async codeGrants(count) {
      const verifiers = Array.from({ length: count }, newVerifier)
      const consents = await runLoad(
        verifiers.map((verifier) => authorizationRequest({ baseUrl, app }, person, verifier)),
        16,
      )
      return verifiers.map((verifier, index) => codeGrantRequest({ baseUrl, app }, verifier, consents[index]))
    },
    refresh: ({ refreshToken }) =>
      tokenRequest(`${baseUrl}/api/oauth/token`, {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        ...credentialsOf(app),
      }),
    userinfo: (tokens) => userinfoRequest(`${baseUrl}/api/oauth/userinfo`, tokens),
    introspection: ({ accessToken }) =>
      tokenRequest(`${baseUrl}/api/oauth/introspect`, { token: accessToken, ...credentialsOf(app) }),
    app,
    verify: verificationRequest(`${baseUrl}/api/signing/verify`, signed.verification),
    status: { method: 'GET', url: `${baseUrl}/api/signing/request/${requestId}/status?clientId=${clientId}` },
    keySet: { method: 'GET', url: `${authUrl}/.well-known/jwks.json` },
    discovery: { method: 'GET', url: `${authUrl}/.well-known/openid-configuration` },
  }
}

type App = { clientId: ClientId; clientSecret: string }

export function newVerifier(): string {
  return randomBytes(32).toString('base64url')
}

/** The request of the page by which a signed-in user lets the app have an authorization code. */
export function authorizationRequest(
  { baseUrl, app: { clientId } }: { baseUrl: string; app: App },
  { sessionToken, identityId }: { sessionToken: string; identityId: string },
  verifier: string,
): Call {
  const fields = {
    ...{ clientId, redirectUri, identityId, scope },
    codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
    nonce: 'a-nonce-of-usual-length',
  }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${sessionToken}` }
  return { method: 'POST', url: `${baseUrl}/api/oauth/authorize`, headers, body: JSON.stringify(fields) }
}

/** The token request with the code of that answer. */
export function codeGrantRequest(
  { baseUrl, app }: { baseUrl: string; app: App },
  verifier: string,
  authorized: Answered | undefined,
): Call {
  const code = new URL(String(fieldsOf(authorized?.body ?? '{}')['redirectUrl'])).searchParams.get('code') ?? ''
  const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  return tokenRequest(`${baseUrl}/api/oauth/token`, { ...fields, ...credentialsOf(app) })
}

function credentialsOf({ clientId, clientSecret }: App) {
  return { client_id: clientId, client_secret: clientSecret }
}

/** Resolves when the service is ready; rejects if it ends before. The service has logged the reason. */
async function readiness(child: ChildProcess, probe: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('the service ended')
    const answer = await fetch(probe).catch(() => undefined)
    if (answer?.ok) return
    await pass(50)
  }
}

export type Caller = ReturnType<typeof callerOf>

/** Calls an endpoint by its name, with a bearer token where it needs one. */
export function callerOf(baseUrl: string) {
  return async <Name extends keyof Api & `POST ${string}`>(
    name: Name,
    bearer: string | undefined,
    body: object,
    params: Record<string, string> = {},
  ): Promise<ResponseOf<Name>> => {
    const headers = { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) }
    const url = baseUrl + name.slice('POST '.length).replace(/:(\w+)/, (_, field: string) => params[field] ?? '')
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as ResponseOf<Name>
  }
}

export async function register(call: Caller, authUrl: string, handle = 'ada') {
  const authenticator = createAuthenticator({ origin: authUrl, rpId: 'localhost' })
  const requested = { handle, displayName: 'Ada Lovelace' }
  const { flowId, options } = await call('POST /api/auth/register/start', undefined, requested)
  const credential = authenticator.register(options)
  const registered = await call('POST /api/auth/register/finish', undefined, { flowId, credential })
  return {
    authenticator,
    sessionToken: registered.sessionToken,
    identityId: registered.identities[0]?.identityId ?? '',
  }
}

export type Person = Awaited<ReturnType<typeof enroll>>

/** Registers a user with a signing key. */
export async function enroll(call: Caller, authUrl: string, handle: string) {
  const person = await register(call, authUrl, handle)
  const pair = newSigningPair()
  const key = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await call('POST /api/signing/keys/:identityId', person.sessionToken, key, { identityId: person.identityId })
  return { ...person, pair }
}
