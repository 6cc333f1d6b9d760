import { randomBytes } from 'node:crypto'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import type { Service } from '../../server/testing/service.ts'
import { exchange, textOf, type Asked, type Reply } from './exchange.ts'

/** All that descends from one code, as far as the service has acknowledged it. */
export type Lineage = {
  code: string
  /** What is known of the code, of the rotation asked for last, and of the end: `unknown` where no answer came. */
  redeemed: Known
  rotated: Known
  ended: Known
  access: string[]
  live: string | undefined
  spent: string[]
}
type Known = 'yes' | 'no' | 'unknown'

export type Customer = Awaited<ReturnType<typeof registerCustomer>>
export type TestApp = Awaited<ReturnType<typeof registerApp>>
type Place = Pick<Service, 'baseUrl' | 'authUrl' | 'admin'>

const redirectUri = 'https://app.example/callback'
const scope = 'openid profile offline_access'

/** An app that has all of the customers. */
export async function registerApp({ baseUrl, admin }: Place) {
  const json = { name: 'Paper Shop', redirectUris: [redirectUri] }
  const { body } = answered(await exchange(`${baseUrl}/api/admin/apps`, { method: 'POST', headers: admin, json }))
  return { client_id: textOf(body, 'clientId'), client_secret: textOf(body, 'clientSecret') }
}

/**
 * A person with a passkey who uses one app, one act after another, and remembers what the service acknowledged. Every
 * act is noted when it is asked and when it has ended: `ok`, `fail`, or `unknown` where the service gave no answer, or
 * said that it can't tell (503).
 */
export async function registerCustomer({ baseUrl, authUrl }: Place, app: TestApp) {
  const handle = `customer-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: authUrl, rpId: 'localhost' })
  const history: string[] = []
  const counts = { ok: 0, fail: 0, unknown: 0 }
  const lineages: Lineage[] = []
  const sessions: string[] = []

  async function send(what: string, path: string, asked: Asked): Promise<Reply> {
    history.push(`${what}: asked`)
    const reply = await exchange(baseUrl + path, asked)
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
    /** The sessions and lineages that the service has acknowledged. */
    sessions,
    lineages,

    async signIn(): Promise<void> {
      const begun = await post('sign in', '/api/auth/login/start', {})
      if (!begun) return
      const credential = authenticator.authenticate(optionsIn(begun.body))
      const done = await post('sign in', '/api/auth/login/finish', { flowId: begun.body['flowId'], credential })
      if (done) sessions.push(textOf(answered(done).body, 'sessionToken'))
    },
    async consent(): Promise<Lineage | undefined> {
      const wanted = { clientId: app.client_id, redirectUri, identityId, scope }
      const reply = await post('consent', '/api/oauth/authorize', wanted, bearer(sessions.at(-1)))
      if (!reply) return undefined
      const code = new URL(textOf(answered(reply).body, 'redirectUrl')).searchParams.get('code') ?? ''
      const lineage = newLineage(code)
      lineages.push(lineage)
      return lineage
    },
    /** Presents the code; takes the tokens where it is redeemed. */
    async redeem(lineage: Lineage): Promise<Reply> {
      const fields = { grant_type: 'authorization_code', code: lineage.code, redirect_uri: redirectUri }
      const reply = await token('redeem', fields)
      if (!reply) lineage.redeemed = 'unknown'
      if (reply?.status === 200) take(lineage, reply)
      return reply
    },
    /** Presents a refresh token; takes the tokens where it is rotated. */
    async refresh(lineage: Lineage, presented: string): Promise<Reply> {
      const reply = await token('refresh', { grant_type: 'refresh_token', refresh_token: presented })
      if (!reply) lineage.rotated = 'unknown'
      if (reply?.status === 200) {
        lineage.spent.push(presented)
        take(lineage, reply)
      }
      return reply
    },
    userinfo: (access: string) => send('userinfo', '/api/oauth/userinfo', { headers: bearer(access) }),
    readSession: (session: string) => send('session', '/api/auth/session', { headers: bearer(session) }),
    /** Ends everything that the app has of this person. */
    async disconnect(): Promise<void> {
      const headers = bearer(sessions.at(-1))
      const listed = await send('list', '/api/oauth/authorizations', { headers })
      const id = listed && idOfFirst(listed.body['authorizations'])
      if (id === undefined) return
      const reply = await send('disconnect', `/api/oauth/authorizations/${id}`, { method: 'DELETE', headers })
      for (const lineage of lineages.filter(({ ended }) => ended !== 'yes')) lineage.ended = reply ? 'yes' : 'unknown'
    },
  }
}

function newLineage(code: string): Lineage {
  return { code, redeemed: 'no', rotated: 'no', ended: 'no', access: [], live: undefined, spent: [] }
}

function take(lineage: Lineage, { body }: NonNullable<Reply>): void {
  lineage.redeemed = 'yes'
  lineage.rotated = 'no'
  lineage.access.push(textOf(body, 'access_token'))
  lineage.live = textOf(body, 'refresh_token')
}

/** A reply that had to be a success. */
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
