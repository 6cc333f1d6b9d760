import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Requested = { method?: 'GET' | 'POST' | 'DELETE'; url: string; payload?: object; headers?: Record<string, string> }
const volatile = new Set(['date', 'x-request-id', 'content-length'])

/** Returns everything that an answer reveals, except the input and random values. */
async function responseOf(requested: Requested, target: string) {
  const { statusCode, headers, body } = await world.api.inject({ method: 'GET', ...requested })
  const kept = Object.entries(headers).filter(([name]) => !volatile.has(name))
  const random = /[\w-]{43}|[0-9a-f]{8}-[0-9a-f-]{27}/g
  return { statusCode, headers: kept, body: body.replaceAll(target, 'sought').replaceAll(random, 'random') }
}

test('LKP-09 endpoints that could reveal accounts answer known and unknown ones alike', async () => {
  const [person, requester, app] = [
    await createSigner(world),
    await world.person(),
    await world.app({ supportsE2ee: true }),
  ]
  const code = randomBytes(32).toString('base64url')
  const { headers } = requester
  const alike: Record<string, [number, (handle: string) => Requested]> = {
    'a sign-in': [200, (handle) => ({ method: 'POST', url: '/api/auth/login/start', payload: { handle } })],
    'a recovery': [
      401,
      (handle) => ({ method: 'POST', url: '/api/auth/recover/start', payload: { handle, recoveryAuth: code } }),
    ],
    'a look-up by an app': [
      404,
      (handle) => ({ url: `/api/encryption/app-lookup?client_id=${app.clientId}&handle=${handle}` }),
    ],
    'the organization that signs somebody in': [
      404,
      (handle) => ({ method: 'POST', url: '/api/sso/discover', payload: { email: `${handle}@example.com` } }),
    ],
  }
  const unknown = `nobody-${randomBytes(6).toString('hex')}`
  for (const [what, [status, ask]] of Object.entries(alike)) {
    const received = await responseOf(ask(person.handle), person.handle)
    assert.equal(received.statusCode, status, `${what}: ${received.body}`)
    assert.deepEqual(received, await responseOf(ask(unknown), unknown), what)
  }

  const [session] = (await world.api.inject({ url: '/api/auth/sessions', headers: person.headers })).json().sessions
  const others: Record<string, [string, (id: string) => Requested]> = {
    'an identity of another user': [person.identityId, (id) => ({ url: `/api/identities/${id}`, headers })],
    'a key of another user': [person.identityId, (id) => ({ url: `/api/signing/keys/${id}`, headers })],
    'a session of another user': [
      session.sessionId,
      (id) => ({ method: 'DELETE', url: `/api/auth/sessions/${id}`, headers }),
    ],
    'a passkey of another user': [
      person.authenticator.credentialId,
      (id) => ({ method: 'DELETE', url: `/api/auth/passkeys/${id}`, headers }),
    ],
  }
  for (const [what, [known, ask]] of Object.entries(others)) {
    const made = known.includes('-') && known.length === 36 ? randomUUID() : randomBytes(32).toString('base64url')
    const received = await responseOf(ask(known), known)
    assert.deepEqual([received.statusCode, /_not_found/.test(received.body)], [404, true], `${what}: ${received.body}`)
    assert.deepEqual(received, await responseOf(ask(made), made), what)
  }
})

test('LKP-09 public lookups tell known from unknown, and a credential ID shows if it is registered', async () => {
  const [person, app] = [await createSigner(world), await world.app()]
  const status = async (requested: Requested) => (await world.api.inject({ method: 'GET', ...requested })).statusCode
  const registering = (handle: string): Requested => ({
    method: 'POST',
    url: '/api/auth/register/start',
    payload: { handle, displayName: 'Someone' },
  })
  assert.deepEqual([await status(registering(person.handle)), await status(registering('nobody-yet'))], [409, 200])
  for (const url of ['/api/signing/public-key/', '/api/oauth/app/']) {
    const known = url.includes('app') ? app.clientId : person.handle
    assert.deepEqual([await status({ url: url + known }), await status({ url: `${url}app_nobody` })], [200, 404])
  }
  const knows = async (credentialId: string) => {
    const payload = { credentialId }
    return (await world.api.inject({ method: 'POST', url: '/api/auth/passkeys/known', payload })).json()
  }
  assert.deepEqual(await knows(person.authenticator.credentialId), { known: true })
  assert.deepEqual(await knows(randomBytes(32).toString('base64url')), { known: false })
})
