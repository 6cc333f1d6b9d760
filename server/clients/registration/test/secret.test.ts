import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freePorts, launch, startService, type Service } from '#testing/service.ts'
import { createWorld, postToken, type TestApp, type TestWorld } from '#testing/world.ts'
import { pruneSecrets } from '#clients/registration/authentication/secret.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const rotate = ({ clientId }: { clientId: string }, payload?: object) =>
  world.api.inject({
    method: 'POST',
    url: `/api/admin/apps/${clientId}/secret`,
    headers: world.admin,
    ...(payload && { payload }),
  })
const change = ({ clientId }: TestApp, payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${clientId}`, headers: world.admin, payload })

/** Returns the token endpoint's error for a secret. With a correct one the error concerns the code. */
async function errorFor({ clientId }: { clientId: string }, secret: string): Promise<string> {
  const fields = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://app.example/callback' }
  return (await postToken(world.api, { ...fields, client_id: clientId, client_secret: secret })).json().error
}
const [accepted, refused] = ['invalid_grant', 'invalid_client']

async function rotated(app: { clientId: string }, payload?: object): Promise<string> {
  const answer = await rotate(app, payload)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().clientSecret
}

test('TOK-16 without a grace period the old secret is invalid at once', async () => {
  const app = await world.app()
  assert.equal(await errorFor(app, app.clientSecret), accepted)
  const young = await rotated(app)
  assert.equal(await errorFor(app, app.clientSecret), refused)
  assert.equal(await errorFor(app, young), accepted)
})

test('TOK-16 both secrets work during a grace period, then only the new one, cleaned up or not', async () => {
  const app = await world.app()
  const young = await rotated(app, { graceSeconds: 600 })
  world.pass(599)
  assert.deepEqual([await errorFor(app, app.clientSecret), await errorFor(app, young)], [accepted, accepted])
  world.pass(1)
  assert.deepEqual([await errorFor(app, app.clientSecret), await errorFor(app, young)], [refused, accepted])
  assert.equal(await pruneSecrets(world.db, world.now(), 500), 1)
  assert.deepEqual([await errorFor(app, app.clientSecret), await errorFor(app, young)], [refused, accepted])
})

test('TOK-16 a second rotation prolongs no grace period, and one without a grace period ends them all', async () => {
  const app = await world.app()
  const second = await rotated(app, { graceSeconds: 60 })
  const third = await rotated(app, { graceSeconds: 600 })
  world.pass(60)
  assert.equal(await errorFor(app, app.clientSecret), refused)
  assert.deepEqual([await errorFor(app, second), await errorFor(app, third)], [accepted, accepted])
  const fourth = await rotated(app, { graceSeconds: 0 })
  assert.deepEqual([await errorFor(app, second), await errorFor(app, third)], [refused, refused])
  assert.equal(await errorFor(app, fourth), accepted)
})

test('an invalid rotation is rejected and keeps the secret', async () => {
  const app = await world.app()
  for (const graceSeconds of [-1, 1.5, '60', 7 * 24 * 3600 + 1])
    assert.equal((await rotate(app, { graceSeconds })).json().error, 'invalid_request')
  assert.equal((await rotate({ clientId: 'app_unknown' })).json().error, 'app_not_found')
  assert.equal((await rotate(await world.app({ public: true }))).json().error, 'invalid_request')
  assert.equal(await errorFor(app, app.clientSecret), accepted)

  for (let count = 0; count < 9; count += 1) await rotated(app, { graceSeconds: 60 })
  assert.equal((await rotate(app, { graceSeconds: 60 })).json().error, 'too_many_secrets')
  assert.equal(await errorFor(app, await rotated(app)), accepted)
})

test('every rotation is in the audit log, without the secret', async () => {
  const app = await world.app()
  const secret = await rotated(app, { graceSeconds: 5 })
  const { body } = await world.api.inject({ url: '/api/admin/audit', headers: world.admin })
  const { entries } = JSON.parse(body)
  const found = entries.filter((entry: { clientId: string }) => entry.clientId === app.clientId)
  assert.deepEqual(
    [found[0].action, found[0].actor.kind, found[0].details],
    ['app.secret.rotated', 'break_glass', { graceSeconds: 5 }],
  )
  assert.ok(!body.includes(secret))
})

test('TOK-15 REF-08 secrets, codes and tokens of a disabled app are rejected until it is enabled', async () => {
  const person = await world.person()
  const app = await world.app()
  const tokens = await app.tokens(person)
  const code = await app.code(person)
  const userinfo = (token: string) =>
    world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
  assert.equal((await change(app, { status: 'disabled' })).json().status, 'disabled')

  for (const answer of [await app.refresh(tokens.refresh_token), await app.redeem(code)])
    assert.deepEqual([answer.statusCode, answer.json().error], [401, refused])
  for (const token of [tokens.access_token, tokens.access_token_jwt])
    assert.deepEqual([(await userinfo(token)).statusCode, (await userinfo(token)).json().error], [401, 'invalid_token'])

  const query = new URLSearchParams({ client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code' })
  const page = await world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
  assert.equal(page.statusCode, 400)
  assert.equal(page.headers.location, undefined)
  assert.equal((await world.api.inject({ url: `/api/oauth/app/${app.clientId}` })).statusCode, 404)
  await assert.rejects(app.code(person), /invalid_client/)

  assert.equal((await change(app, { status: 'active' })).statusCode, 200)
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
  assert.equal((await change(app, { status: 'gone' })).json().error, 'invalid_request')
})

if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('TOK-16 TOK-15 a change that one process acknowledged applies in every other', async (t) => {
    const here = await startService()
    t.after(() => here.close())
    const [api, auth, business] = await freePorts(3)
    const there = {
      BASE_URL: `http://localhost:${api}`,
      AUTH_URL: `http://localhost:${auth}`,
      BUSINESS_URL: `http://localhost:${business}`,
    }
    const second = launch({ ...here.settings, ...there })
    t.after(() => second.process.kill('SIGKILL'))
    await second.ready

    const app = await ask(here, 'POST', '', { name: 'An app', redirectUris: ['https://app.example/'] })
    const path = `/${app['clientId']}`
    const young = await ask(here, 'POST', `${path}/secret`, { graceSeconds: 60 })
    const error = async (secret: string | undefined) => {
      const fields = { grant_type: 'refresh_token', refresh_token: 'none', client_id: app['clientId'] ?? '' }
      const body = new URLSearchParams({ ...fields, client_secret: secret ?? '' })
      const answer = await fetch(`${there.BASE_URL}/api/oauth/token`, { method: 'POST', body })
      const said: { error: string } = JSON.parse(await answer.text())
      return said.error
    }
    assert.deepEqual([await error(app['clientSecret']), await error(young['clientSecret'])], [accepted, accepted])
    const last = await ask(here, 'POST', `${path}/secret`, {})
    assert.deepEqual([await error(app['clientSecret']), await error(young['clientSecret'])], [refused, refused])
    assert.equal(await error(last['clientSecret']), accepted)
    await ask(here, 'PATCH', path, { status: 'disabled' })
    assert.equal(await error(last['clientSecret']), refused)
  })

async function ask({ baseUrl, admin }: Service, method: string, path: string, body: object) {
  const headers = { ...admin, 'content-type': 'application/json' }
  const answer = await fetch(`${baseUrl}/api/admin/apps${path}`, { method, headers, body: JSON.stringify(body) })
  assert.ok(answer.ok)
  const said: Record<string, string> = JSON.parse(await answer.text())
  return said
}
