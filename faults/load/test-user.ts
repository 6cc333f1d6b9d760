import { randomBytes } from 'node:crypto'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import { type Service, startService } from '../../server/testing/service.ts'
import { type Reply, type RequestOptions, exchange, textOf } from './exchange.ts'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

/** A code and all tokens issued from it, as far as the service has acknowledged it. */
export type Family = {
  code: string
  /** The state of the code, the last rotation and the revocation: `unknown` if there was no response. */
  redeemed: Known
  rotated: Known
  ended: Known
  access: string[]
  live: string | undefined
  used: string[]
}
type Known = 'yes' | 'no' | 'unknown'

export type TestUser = Awaited<ReturnType<typeof registerTestUser>>
export type TestApp = Awaited<ReturnType<typeof registerApp>>
type ServiceUrls = Pick<Service, 'baseUrl' | 'authUrl' | 'admin'>

const redirectUri = 'https://app.example/callback'
const scope = 'openid profile offline_access'
/** A user has at most a hundred sessions, with those of sign-ins that got no response. The oldest ones end. */
const sessionsKept = 90

/** An app with all of the users. */
export async function registerApp({ baseUrl, admin }: ServiceUrls) {
  const json = { name: 'Paper Shop', redirectUris: [redirectUri] }
  const { body } = answered(await exchange(`${baseUrl}/api/admin/apps`, { method: 'POST', headers: admin, json }))
  return { client_id: textOf(body, 'clientId'), client_secret: textOf(body, 'clientSecret') }
}

/**
 * A user with a passkey and one app who sends one request after another, and records what the service acknowledged.
 * Each operation is recorded at its start and end: `ok`, `fail`, or `unknown` if the service gave no response, or
 * reported that it does not know (503).
 */
export async function registerTestUser({ baseUrl, authUrl }: ServiceUrls, app: TestApp) {
  const handle = `customer-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: authUrl, rpId: 'localhost' })
  const history: string[] = []
  const counts = { ok: 0, fail: 0, unknown: 0 }
  const families: Family[] = []
  const sessions: string[] = []

  async function send(what: string, path: string, options: RequestOptions): Promise<Reply> {
    history.push(`${what}: asked`)
    const reply = await exchange(baseUrl + path, options)
    const outcome = !reply || reply.status === 503 ? 'unknown' : reply.status < 300 ? 'ok' : 'fail'
    counts[outcome] += 1
    history.push(`${what}: ${outcome}${reply ? ` ${reply.status} ${textIn(reply.body['error'])}` : ''}`)
    if (reply && reply.status === 500) throw new Error(`500 for ${what}: ${JSON.stringify(reply.body)}`)
    return outcome === 'unknown' ? undefined : reply
  }
  const post = (what: string, path: string, json: object, headers = {}) =>
    send(what, path, { method: 'POST', headers, json })
  const token = (what: string, fields: Record<string, string>) =>
    send(what, '/api/oauth/token', { method: 'POST', form: { ...fields, ...app } })
  const bearer = (secret: string | undefined) => ({ authorization: `Bearer ${secret}` })

  const started = answered(await post('register', '/api/auth/register/start', { handle, displayName: handle })).body
  const registration = { flowId: started['flowId'], credential: authenticator.register(optionsIn(started)) }
  const { body: registered } = answered(await post('register', '/api/auth/register/finish', registration))
  const identityId = firstIdentityIn(registered)
  sessions.push(textOf(registered, 'sessionToken'))

  return {
    handle,
    identityId,
    history,
    counts,
    /** The sessions that the service keeps, and the token families, as far as it has acknowledged them. */
    sessions,
    families,

    async signIn(): Promise<void> {
      const started = await post('sign in', '/api/auth/login/start', {})
      if (!started) return
      const credential = authenticator.authenticate(optionsIn(started.body))
      const done = await post('sign in', '/api/auth/login/finish', { flowId: started.body['flowId'], credential })
      if (done) sessions.push(textOf(answered(done).body, 'sessionToken'))
      if (sessions.length > sessionsKept) sessions.shift()
    },
    async consent(): Promise<Family | undefined> {
      const requested = { clientId: app.client_id, redirectUri, identityId, scope }
      const reply = await post('consent', '/api/oauth/authorize', requested, bearer(sessions.at(-1)))
      if (!reply) return undefined
      const code = new URL(textOf(answered(reply).body, 'redirectUrl')).searchParams.get('code') ?? ''
      const family = newFamily(code)
      families.push(family)
      return family
    },
    /** Redeems the code; stores the tokens if that succeeds. */
    async redeem(family: Family): Promise<Reply> {
      const fields = { grant_type: 'authorization_code', code: family.code, redirect_uri: redirectUri }
      const reply = await token('redeem', fields)
      if (!reply) family.redeemed = 'unknown'
      if (reply?.status === 200) take(family, reply)
      return reply
    },
    /** Rotates a refresh token; stores the tokens if that succeeds. */
    async refresh(family: Family, presented: string): Promise<Reply> {
      const reply = await token('refresh', { grant_type: 'refresh_token', refresh_token: presented })
      if (!reply) family.rotated = 'unknown'
      if (reply?.status === 200) {
        family.used.push(presented)
        take(family, reply)
      }
      return reply
    },
    userinfo: (access: string) => send('userinfo', '/api/oauth/userinfo', { headers: bearer(access) }),
    readSession: (session: string) => send('session', '/api/auth/session', { headers: bearer(session) }),
    /** Disconnects the app from this user. */
    async disconnect(): Promise<void> {
      const headers = bearer(sessions.at(-1))
      const listed = await send('list', '/api/oauth/authorizations', { headers })
      const id = listed && idOfFirst(listed.body['authorizations'])
      if (id === undefined) return
      const reply = await send('disconnect', `/api/oauth/authorizations/${id}`, { method: 'DELETE', headers })
      for (const family of families.filter(({ ended }) => ended !== 'yes')) family.ended = reply ? 'yes' : 'unknown'
    },
  }
}

function newFamily(code: string): Family {
  return { code, redeemed: 'no', rotated: 'no', ended: 'no', access: [], live: undefined, used: [] }
}

function take(family: Family, { body }: NonNullable<Reply>): void {
  family.redeemed = 'yes'
  family.rotated = 'no'
  family.access.push(textOf(body, 'access_token'))
  family.live = textOf(body, 'refresh_token')
}

/** Returns a response that must be a success. */
function answered(reply: Reply): NonNullable<Reply> {
  if (!reply || reply.status >= 300) throw new Error(`refused: ${JSON.stringify(reply)}`)
  return reply
}

type Ceremony = { challenge: string; user: { id: string; name: string; displayName: string } }

function optionsIn(body: Record<string, unknown>): Ceremony {
  return body['options'] as Ceremony
}

function firstIdentityIn(body: Record<string, unknown>): string {
  const [first] = body['identities'] as { identityId: string }[]
  return first?.identityId ?? ''
}

function idOfFirst(list: unknown): string | undefined {
  return (list as { id: string }[])[0]?.id
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Starts a service with that many users, each with tokens, which ends with the test. */
export async function startWithUsers(t: TestContext, count: number, environment: Record<string, string>) {
  const service = await startService({ environment: { LOG_LEVEL: 'error', ...environment } })
  t.after(() => service.close())
  const app = await registerApp(service)
  const customers: TestUser[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const customer = await registerTestUser(service, app)
    const family = await customer.consent()
    assert.ok(family)
    assert.equal((await customer.redeem(family))?.status, 200)
    customers.push(customer)
  }
  return { service, app, customers }
}
