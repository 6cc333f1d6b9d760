import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { createAuthenticator } from '#testing/authenticator.ts'
import { createConnectors } from '#testing/connectors.ts'
import { startBeside, startService } from '#testing/service.ts'
import { createWorld, newChallenge, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const userinfo = async (accessToken: string) => {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode
}
const errorOf = (answer: { statusCode: number; json: () => { error?: string } }) => [
  answer.statusCode,
  answer.json().error,
]
const invalidGrant = [400, 'invalid_grant']

test('COD-10 fifty codes, each redeemed sixteen times concurrently, issue tokens once each', async () => {
  const [person, app] = [await world.person(), await world.app()]
  for (let round = 0; round < 5; round += 1) {
    const codes = await Promise.all(Array.from({ length: 10 }, () => app.code(person)))
    const answers = await Promise.all(
      codes.map((code) => Promise.all(Array.from({ length: 16 }, () => app.redeem(code)))),
    )
    for (const each of answers) {
      assert.equal(each.filter(({ statusCode }) => statusCode === 200).length, 1)
      for (const answer of each.filter(({ statusCode }) => statusCode !== 200))
        assert.deepEqual(errorOf(answer), invalidGrant)
    }
  }
})

// Two processes share a PostgreSQL; the embedded database has a single process.
if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('COD-10 a code is redeemed once across two processes', async (t) => {
    const service = await startService({ environment: { RATE_LIMITS: 'off' } })
    t.after(() => service.close())
    const nodes = [service.baseUrl, (await startBeside(t, service)).baseUrl]
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) }
      const answer = await fetch(service.baseUrl + path, init)
      assert.ok(answer.ok, `${path}: ${answer.status}`)
      return JSON.parse(await answer.text())
    }
    const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
    const { flowId, options } = await post('/api/auth/register/start', { handle: 'ada-twice', displayName: 'Ada' })
    const finish = { flowId, credential: authenticator.register(options) }
    const { sessionToken, identities } = await post('/api/auth/register/finish', finish)
    const redirectUri = 'https://app.example/callback'
    const app = await post('/api/admin/apps', { name: 'An app', redirectUris: [redirectUri] }, service.admin)
    const requested = { clientId: app.clientId, redirectUri, identityId: identities[0].identityId, scope: 'openid' }
    for (let round = 0; round < 10; round += 1) {
      const session = { authorization: `Bearer ${sessionToken}` }
      const { redirectUrl } = await post('/api/oauth/authorize', requested, session)
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code: new URL(redirectUrl).searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        client_id: app.clientId,
        client_secret: app.clientSecret,
      })
      const statuses = await Promise.all(
        Array.from({ length: 16 }, async (_, nth) => {
          const answer = await fetch(`${nodes[nth % 2]}/api/oauth/token`, { method: 'POST', body })
          await answer.arrayBuffer()
          return answer.status
        }),
      )
      assert.deepEqual(statuses.toSorted(), [200, ...Array<number>(15).fill(400)], `round ${round}`)
    }
  })

test('COD-11 a replayed code invalidates its tokens at exchange and introspection too', async () => {
  const notes = await createConnectors(world)
  const person = await world.person()
  await notes.consent(person)
  const app = notes.source
  const code = await app.code(person)
  const tokens = (await app.redeem(code)).json()
  assert.equal((await notes.exchange(tokens.access_token_jwt)).statusCode, 200)
  assert.deepEqual(errorOf(await app.redeem(code)), invalidGrant)
  assert.deepEqual(errorOf(await notes.exchange(tokens.access_token_jwt)), [400, 'invalid_request'])
  for (const token of [tokens.access_token, tokens.access_token_jwt, tokens.refresh_token])
    assert.deepEqual((await notes.introspect(app, token)).json(), { active: false })
})

test('COD-12 another client that presents a used code revokes none of its tokens', async () => {
  const [person, app, stranger] = [await world.person(), await world.app(), await world.app()]
  const { verifier, challenge } = newChallenge()
  for (const proof of [{ code_verifier: verifier }, undefined]) {
    const code = await app.code(person, proof && { codeChallenge: challenge })
    const tokens = (await app.redeem(code, proof)).json()
    const request = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri }
    const { client_id } = app.credentials
    const refusals = [
      await postToken(world.api, { ...request, client_id }),
      await postToken(world.api, { ...request, client_id, client_secret: 'cs_wrong' }),
      await postToken(world.api, { ...request, client_id, code_verifier: newChallenge().verifier }),
      await postToken(world.api, { ...request, ...stranger.credentials, code_verifier: verifier }),
      await postToken(world.api, request),
    ]
    for (const { statusCode } of refusals) assert.ok([400, 401].includes(statusCode), String(statusCode))
    for (const token of [tokens.access_token, tokens.access_token_jwt]) assert.equal(await userinfo(token), 200)
    assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
  }
})

test('COD-13 a verifier of other characters, or an empty one, redeems and consumes nothing', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { verifier, challenge } = newChallenge()
  const code = await app.code(person, { codeChallenge: challenge })
  const [head, tail] = [verifier.slice(0, 20), verifier.slice(21)]
  const altered = [' ', '\n', '\0', '+', '/', '=', '%', 'é', '😀'].map((character) => `${head}${character}${tail}`)
  for (const code_verifier of [...altered, ` ${verifier}`, `${verifier}\n`, `${verifier}=`, '', ' ']) {
    const answer = await app.redeem(code, { code_verifier })
    assert.equal(answer.statusCode, 400, JSON.stringify(code_verifier))
    assert.ok(['invalid_request', 'invalid_grant'].includes(answer.json().error), answer.body)
  }
  assert.equal((await app.redeem(code, { code_verifier: verifier })).statusCode, 200)
})

test('COD-21 after a hundred cut connections every code is either used with tokens, or unused', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { port } = new URL(await world.api.listen({ host: '127.0.0.1', port: 0 }))
  const codes: string[] = []
  while (codes.length < 100) codes.push(await app.code(person))
  await Promise.all(
    codes.map(async (code, nth) => {
      const fields = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri, ...app.credentials }
      const body = new URLSearchParams(fields).toString()
      const head = 'POST /api/oauth/token HTTP/1.1\r\nHost: localhost\r\n'
      const type = 'Content-Type: application/x-www-form-urlencoded\r\n'
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      // Every other request is cut before the last byte, the rest as soon as all is sent.
      const sent = nth % 2 ? body : body.slice(0, -1)
      socket.write(`${head}${type}Content-Length: ${body.length}\r\n\r\n${sent}`, () => socket.destroy())
      await once(socket, 'close')
    }),
  )
  const spent = await world.db
    .selectFrom('token_family')
    .select('family_id')
    .where('client_id', '=', app.clientId)
    .where('code_redeemed_at', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('token_access_token')
            .whereRef('token_access_token.identity_id', '=', 'token_family.identity_id')
            .whereRef('token_access_token.family_id', '=', 'token_family.family_id'),
        ),
      ),
    )
    .execute()
  assert.deepEqual(spent, [], 'no used code without stored tokens')
  let unspent = 0
  for (const code of codes) {
    const answer = await app.redeem(code)
    if (answer.statusCode === 200) {
      unspent += 1
      assert.equal(await userinfo(answer.json().access_token), 200)
    } else assert.deepEqual(errorOf(answer), invalidGrant)
  }
  assert.ok(unspent < 100, 'some requests arrived in time')
  assert.ok(unspent >= 50, 'an incomplete request consumed nothing')
})
