import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Asked = { method?: 'GET' | 'POST' | 'DELETE'; url: string; payload?: object; headers?: Record<string, string> }
const volatile = new Set(['date', 'x-request-id', 'content-length'])

/** All that an answer tells, but for what was asked and what is random in every answer. */
async function toldBy(asked: Asked, sought: string) {
  const { statusCode, headers, body } = await world.api.inject({ method: 'GET', ...asked })
  const kept = Object.entries(headers).filter(([name]) => !volatile.has(name))
  const random = /[\w-]{43}|[0-9a-f]{8}-[0-9a-f-]{27}/g
  return { statusCode, headers: kept, body: body.replaceAll(sought, 'sought').replaceAll(random, 'random') }
}

test('LKP-09 where it tells who has an account, what is known and what is unknown are answered alike', async () => {
  const [person, asker, app] = [
    await createSigner(world),
    await world.person(),
    await world.app({ supportsE2ee: true }),
  ]
  const code = randomBytes(32).toString('base64url')
  const { headers } = asker
  const alike: Record<string, [number, (handle: string) => Asked]> = {
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
    const told = await toldBy(ask(person.handle), person.handle)
    assert.equal(told.statusCode, status, `${what}: ${told.body}`)
    assert.deepEqual(told, await toldBy(ask(unknown), unknown), what)
  }

  const [session] = (await world.api.inject({ url: '/api/auth/sessions', headers: person.headers })).json().sessions
  const others: Record<string, [string, (id: string) => Asked]> = {
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
    const told = await toldBy(ask(known), known)
    assert.deepEqual([told.statusCode, /_not_found/.test(told.body)], [404, true], `${what}: ${told.body}`)
    assert.deepEqual(told, await toldBy(ask(made), made), what)
  }
})

test('LKP-09 what is public tells known from unknown, and a credential id tells whether it signs in here', async () => {
  const [person, app] = [await createSigner(world), await world.app()]
  const status = async (asked: Asked) => (await world.api.inject({ method: 'GET', ...asked })).statusCode
  const registering = (handle: string): Asked => ({
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
