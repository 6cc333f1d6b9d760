import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { exchangeGrant } from '#testing/connectors.ts'
import { offerResource, registerRemoteSource } from '#testing/remote-connector.ts'
import { createRemoteSigner, registerRemoteApp } from '#testing/remote-signer.ts'
import { startBehind, startService, type Service } from '#testing/service.ts'

type Request = { method?: string; headers?: Record<string, string>; json?: object }
type Said = {
  flowId?: string
  options?: { challenge: string }
  sessionToken?: string
  redirectUrl?: string
  access_token?: string
  refresh_token?: string
  active?: boolean
  error?: string
}
type Answer = { status: number; said: Said }
/** Sends a request to one process of the service. */
type Send = (path: string, sent?: Request) => Promise<Answer>
/** Request that succeeds with what a user has. `gained` collects what its success gave. */
type Kind = (send: Send, gained: Gained) => Promise<Answer>
type Gained = { sessions: string[]; codes: string[]; access: string[]; refresh: string[] }

/** An embedded database has one process, which stands for all three. */
const isShared = process.env['TEST_DATABASE_URL'] !== undefined
/** Requests of each kind that are in progress at once. A process admits 500 of all kinds. */
const ofEachKind = isShared ? 200 : 20
const unusedCodes = 10
const redirectUri = 'https://app.example/callback'

/** Returns a function that sends requests to the process at a port, in the name of the service. */
function sendTo(port: number, { baseUrl }: Service): Send {
  const { host } = new URL(baseUrl)
  return async (path, { method = 'POST', headers, json } = {}) => {
    const body = json === undefined ? '' : JSON.stringify(json)
    const typed = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = { ...headers, ...(json !== undefined && typed), host }
    const sending = request({ host: 'localhost', port, agent: false, method, path, headers: sent }).end(body)
    const [response] = await once(sending, 'response')
    assert.ok(response instanceof IncomingMessage)
    const written = await text(response)
    return { status: response.statusCode ?? 0, said: written === '' ? {} : JSON.parse(written) }
  }
}

function keep(into: string[], value: string | null | undefined): void {
  if (value) into.push(value)
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** Prepares a user with a session, an app with their tokens and unused codes, and a resource of another app. */
async function prepare(service: Service, send: Send) {
  const person = await createRemoteSigner(service)
  const { settings, connect, signIn } = await registerRemoteSource(service)
  const { clientId } = await registerRemoteApp(service)
  const { resourceKey } = await offerResource(service, clientId, `notes-${randomBytes(4).toString('hex')}`)
  await connect(person, resourceKey)
  const tokens = await signIn(person)
  const { headers, identityId } = person
  const json = { clientId: settings.clientId, redirectUri, identityId, scope: 'openid offline_access' }
  const consent = async (to: Send, codes: string[]) => {
    const answer = await to('/api/oauth/authorize', { headers, json })
    const { redirectUrl } = answer.said
    if (redirectUrl !== undefined) keep(codes, new URL(redirectUrl).searchParams.get('code'))
    return answer
  }
  const codes: string[] = []
  while (codes.length < ofEachKind + unusedCodes)
    await Promise.all(Array.from({ length: 10 }, () => consent(send, codes)))
  const app = { client_id: settings.clientId, client_secret: settings.clientSecret }
  return { person, app, tokens, codes, consent, resourceKey }
}

/** Requests of a user in their session. */
function ofSession({ person: { headers, identityId }, consent }: Prepared): Record<string, Kind> {
  return {
    'read the session': (send) => send('/api/auth/session', { method: 'GET', headers }),
    'read the activity': (send) => send('/api/account/activity', { method: 'GET', headers }),
    'add a passkey': (send) => send('/api/auth/passkeys/start', { headers, json: {} }),
    'ask another device': (send) =>
      send('/api/account/device-approvals', {
        headers,
        json: { commitment: randomBytes(32).toString('base64url') },
      }),
    'change the identity': (send) =>
      send(`/api/identities/${identityId}`, {
        method: 'PATCH',
        headers,
        json: { displayName: randomBytes(4).toString('hex') },
      }),
    'consent to an app': (send, { codes }) => consent(send, codes),
  }
}

/** Sign-ins of a user, and requests of an app with what it has of them. */
function withoutSession({ person, app, tokens, codes, resourceKey }: Prepared): Record<string, Kind> {
  const token = async (send: Send, fields: object, { access, refresh }: Gained) => {
    const answer = await send('/api/oauth/token', { json: { ...app, ...fields } })
    keep(access, answer.said.access_token)
    keep(refresh, answer.said.refresh_token)
    return answer
  }
  const { access_token: opaque, access_token_jwt: subject_token, refresh_token } = tokens
  return {
    'sign in': async (send, { sessions }) => {
      const { flowId, options } = (await send('/api/auth/login/start', { json: {} })).said
      const credential = person.authenticator.authenticate({ challenge: options?.challenge ?? '' })
      const answer = await send('/api/auth/login/finish', { json: { flowId, credential } })
      keep(sessions, answer.said.sessionToken)
      return answer
    },
    'redeem a code': (send, gained) =>
      token(send, { grant_type: 'authorization_code', code: nextOf(codes), redirect_uri: redirectUri }, gained),
    refresh: (send, gained) => token(send, { grant_type: 'refresh_token', refresh_token }, gained),
    'read the user': (send) =>
      send('/api/oauth/userinfo', { method: 'GET', headers: { authorization: `Bearer ${subject_token}` } }),
    introspect: async (send) => {
      const answer = await send('/api/oauth/introspect', { json: { ...app, token: opaque } })
      return answer.said.active === false ? { ...answer, status: 400 } : answer
    },
    'exchange a token': (send) =>
      send('/api/oauth/token', { json: { ...app, grant_type: exchangeGrant, subject_token, resource: resourceKey } }),
    'request a signature': (send) => {
      const { client_id: clientId, client_secret: clientSecret } = app
      const json = { clientId, clientSecret, identityId: person.identityId, payload: 'Pay 10 €' }
      return send('/api/signing/request', { json })
    },
  }
}

/** Takes the next code. Some remain, which are unused when the user is suspended. */
const nextOf = (codes: string[]) => (codes.length > unusedCodes ? codes.pop() : codes[0])

const isDone = ({ status }: Answer) => status >= 200 && status < 300

/**
 * Suspends a user at one process while they send requests to all processes, until the suspension has succeeded. From
 * then on, no request succeeds, and what those in progress gain is worthless.
 */
async function suspendAmid(service: Service, sends: Send[], kindsOf: typeof ofSession): Promise<void> {
  const [first, second] = sends
  assert.ok(first && second)
  const prepared = await prepare(service, first)
  const kinds = Object.entries(kindsOf(prepared))
  const gained: Gained = { sessions: [], codes: [], access: [], refresh: [] }
  const suspension = { isAnswered: false }
  const underWay = kinds.map(([, kind]) => {
    const success = Promise.withResolvers<void>()
    const lanes = Array.from({ length: ofEachKind }, async (_, lane) => {
      const send = sends[lane % sends.length] ?? first
      while (!suspension.isAnswered) if (isDone(await kind(send, gained))) success.resolve()
    })
    return { success: success.promise, lanes }
  })
  // A kind that never succeeds would show nothing.
  await Promise.all(underWay.map(({ success }) => success))

  const url = `/api/admin/identities/${prepared.person.identityId}/suspension`
  const suspended = await second(url, { headers: service.admin, json: { reason: 'Left the company' } })
  suspension.isAnswered = true
  assert.equal(suspended.status, 200, suspended.said.error ?? '')
  const refused = kinds.flatMap(([name, kind]) =>
    sends.map(async (send, nth) => {
      const { status, said } = await kind(send, gained)
      assert.ok(status >= 400 && status < 500, `${name} at process ${nth}: ${status} ${said.error}`)
    }),
  )
  await Promise.all(refused)
  await Promise.all(underWay.flatMap(({ lanes }) => lanes))
  for (const send of sends) await requireDead(send, prepared, gained)
}

/** What requests in progress gained is worthless at every process. */
async function requireDead(send: Send, { app, codes }: Prepared, gained: Gained): Promise<void> {
  const bearer = (token: string) => ({ method: 'GET', headers: { authorization: `Bearer ${token}` } })
  const redeem = (fields: object) => send('/api/oauth/token', { json: { ...app, ...fields } })
  for (const token of gained.sessions) assert.equal((await send('/api/auth/session', bearer(token))).status, 401)
  for (const token of gained.access) assert.equal((await send('/api/oauth/userinfo', bearer(token))).status, 401)
  for (const refresh_token of gained.refresh)
    assert.equal((await redeem({ grant_type: 'refresh_token', refresh_token })).said.error, 'invalid_grant')
  for (const code of [...gained.codes, ...codes]) {
    const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    assert.equal((await redeem(fields)).said.error, 'invalid_grant')
  }
}

test(`PEO-01 a suspension at one process counts at all, amid ${ofEachKind} requests of each kind`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const own = Number(new URL(service.baseUrl).port)
  const ports = isShared ? [own, await startBehind(t, service), await startBehind(t, service)] : [own, own, own]
  const sends = ports.map((port) => sendTo(port, service))
  for (const kindsOf of [ofSession, withoutSession]) await suspendAmid(service, sends, kindsOf)
})
