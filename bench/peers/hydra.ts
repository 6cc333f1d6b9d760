/**
 * Ory Hydra in a process of its own, a child of this one: on PostgreSQL, with JWT access tokens and ES256 throughout.
 * Codes come from its own authorization endpoint. This process takes the place of the pages for signing in and consent,
 * which Hydra leaves to other programs.
 */
import { execFileSync, spawn, type StdioOptions } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pass } from 'node:timers/promises'
import { authorizationQuery, claims, clientId, clientSecret, onOrder, redirectUri, scope, sendReady } from './order.ts'

const host = '127.0.0.1'
const origin = `http://${host}:${process.env['SERVE_PUBLIC_PORT']}`
const admin = `http://${host}:${process.env['SERVE_ADMIN_PORT']}/admin`
const program = join(import.meta.dirname, 'hydra', 'hydra')
/** Its server gives up a response after ten seconds. */
const codesInFlight = 32
const env = {
  ...process.env,
  SERVE_PUBLIC_HOST: host,
  SERVE_ADMIN_HOST: host,
  URLS_SELF_ISSUER: origin,
  URLS_LOGIN: 'https://app.example/login',
  URLS_CONSENT: 'https://app.example/consent',
  SECRETS_SYSTEM: 'a-secret-of-the-bench-that-is-long-enough',
  STRATEGIES_ACCESS_TOKEN: 'jwt',
  // By default 25,000: the hash of the client's secret would take most of the time of a token request.
  OAUTH2_HASHERS_PBKDF2_ITERATIONS: '1',
  LOG_LEVEL: 'error',
  SQA_OPT_OUT: 'true',
}
const stdio: StdioOptions = ['ignore', 'ignore', 'inherit']

execFileSync(program, ['migrate', 'sql', 'up', '--read-from-env', '--yes'], { env, stdio })
// Without TLS, it starts only with `--dev`.
const hydra = spawn(program, ['serve', 'all', '--dev'], { env, stdio })
hydra.once('exit', () => process.exit(1))
process.once('exit', () => hydra.kill())
while (!(await isReady())) await pass(50)

// It would sign with RS256.
for (const set of ['hydra.openid.id-token', 'hydra.jwt.access-token']) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: set }
  await send('PUT', `keys/${set}`, { keys: [key] })
}
await send('POST', 'clients', {
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'client_secret_post',
  scope,
})

onOrder(async (challenges) => {
  const codes: string[] = []
  const queue = challenges.entries()
  const lane = async () => {
    for (const [index, challenge] of queue) codes[index] = await newCode(challenge)
  }
  await Promise.all(Array.from({ length: codesInFlight }, lane))
  return codes
})
sendReady({
  pid: hydra.pid,
  token: `${origin}/oauth2/token`,
  userinfo: `${origin}/userinfo`,
  introspection: `${admin}/oauth2/introspect`,
  keySet: `${origin}/.well-known/jwks.json`,
  discovery: `${origin}/.well-known/openid-configuration`,
  clientId,
  clientSecret,
})

/** Goes the way of a browser, from the app to the pages and back to the app with a code. */
async function newCode(challenge: string): Promise<string> {
  let cookie = ''
  const redirectionOf = async (url: string): Promise<URL> => {
    const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    const text = await answer.text()
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`no redirection: ${answer.status} ${text}`)
    cookie = [cookie, ...answer.headers.getSetCookie().map((each) => each.split(';')[0])].join('; ')
    return new URL(location)
  }
  const login = await redirectionOf(`${origin}/oauth2/auth?${authorizationQuery(clientId, challenge)}`)
  const consent = await redirectionOf(await accept('login', login, { subject: 'ada' }))
  const consented = { grant_scope: scope.split(' '), session: { id_token: claims } }
  const callback = await redirectionOf(await accept('consent', consent, consented))
  const code = callback.searchParams.get('code')
  if (code === null) throw new Error(`no code: ${callback.href}`)
  return code
}

/** Answers for the page that the browser was sent to, and returns where the page would send it next. */
async function accept(what: 'login' | 'consent', { search }: URL, answer: object): Promise<string> {
  const { redirect_to: next } = await send('PUT', `oauth2/auth/requests/${what}/accept${search}`, answer)
  return String(next)
}

/** Sends a request to the interface for operators. */
async function send(method: 'POST' | 'PUT', path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${admin}/${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} failed: ${text}`)
  return JSON.parse(text)
}

async function isReady(): Promise<boolean> {
  return fetch(`${origin}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}
