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
import { fieldsOf, tokenRequest, userinfoRequest, type Implementation } from './implementation.ts'
import { runLoad, type Answer as Answered, type Call } from './load.ts'
import { newSignature, verificationRequest } from './signature.ts'

const ownRoot = join(import.meta.dirname, '..')
/** The rate limits that the load would reach. */
const ownLimits = ['signature-verifications', 'changes-per-user']
const redirectUri = 'https://app.example/callback'

/** Calls that only this product supports, and what further measurements need. */
export type Countersign = Implementation & {
  verify: Call
  status: Call
  baseUrl: string
  authUrl: string
  app: { clientId: ClientId; clientSecret: string }
}

/**
 * The product as `npm start` runs it, with rate limits, audit log, log and durable PostgreSQL, in one process. `root`
 * is the checkout to run, and `reached` are the rate limits of that version which the load would reach.
 */
export async function startCountersign(
  databaseUrl: string,
  { root = ownRoot, reached = ownLimits } = {},
): Promise<Countersign> {
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
    NODE_OPTIONS: '--max-semi-space-size=4',
  }
  const child = spawn(process.execPath, [join(root, 'server/main.ts')], {
    env: settings,
    stdio: ['ignore', log.fd, 'inherit'],
  })
  await log.close()
  await readiness(child, `${baseUrl}/readyz`)
  const call = callerOf(baseUrl)
  const person = await register(call, authUrl)
  const { clientId, clientSecret } = await call('POST /api/admin/apps', testAdminToken, {
    name: 'Bench',
    redirectUris: [redirectUri],
    idTokenSignedResponseAlg: 'ES256',
  })
  const credentials = { client_id: clientId, client_secret: clientSecret ?? '' }
  const signed = newSignature()
  await call(`POST /api/signing/keys/:identityId`, person.sessionToken, signed.key, { identityId: person.identityId })
  const { requestId } = await call('POST /api/signing/request', undefined, {
    ...{ clientId, clientSecret, identityId: person.identityId },
    ...{ payload: signed.verification.message, expiresInSeconds: 3600 },
  })

  const consent = (verifier: string): Call => ({
    method: 'POST',
    url: `${baseUrl}/api/oauth/authorize`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${person.sessionToken}` },
    body: JSON.stringify({
      clientId,
      redirectUri,
      identityId: person.identityId,
      scope: 'openid profile offline_access',
      codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
      nonce: 'a-nonce-of-usual-length',
    }),
  })
  const redemption = (verifier: string, consented: Answered | undefined): Call => {
    const code = new URL(String(fieldsOf(consented?.body ?? '{}')['redirectUrl'])).searchParams.get('code') ?? ''
    const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    return tokenRequest(`${baseUrl}/api/oauth/token`, { ...fields, ...credentials })
  }

  return {
    name: 'Countersign',
    pid: child.pid ?? 0,
    async codeGrants(count) {
      const verifiers = Array.from({ length: count }, () => randomBytes(32).toString('base64url'))
      const consents = await runLoad(verifiers.map(consent), 16)
      return verifiers.map((verifier, index) => redemption(verifier, consents[index]))
    },
    refresh: ({ refreshToken }) =>
      tokenRequest(`${baseUrl}/api/oauth/token`, {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        ...credentials,
      }),
    userinfo: (tokens) => userinfoRequest(`${baseUrl}/api/oauth/userinfo`, tokens),
    baseUrl,
    authUrl,
    app: { clientId, clientSecret: clientSecret ?? '' },
    verify: verificationRequest(`${baseUrl}/api/signing/verify`, signed.verification),
    status: { method: 'GET', url: `${baseUrl}/api/signing/request/${requestId}/status?clientId=${clientId}` },
    keySet: { method: 'GET', url: `${authUrl}/.well-known/jwks.json` },
    discovery: { method: 'GET', url: `${authUrl}/.well-known/openid-configuration` },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(directory, { recursive: true, force: true })
    },
  }
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
