import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import type { AppUsage } from '@countersign/protocol/clients/usage'
import { limits } from '@countersign/protocol/formats/limits'
import { pruneUsage } from '#clients/usage/usage.ts'
import { createWorld, postToken, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const redirectUri = 'https://ledger.example/callback'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const day = 24 * 3600

async function register({ headers }: Person) {
  const payload = { name: 'Ledger', redirectUris: [redirectUri], public: true }
  const created = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  assert.equal(created.statusCode, 201, created.body)
  return created.json<App>()
}

async function readUsage({ headers }: Person, clientId: string) {
  await world.services.usage.flush()
  const answer = await world.api.inject({ url: `/api/developer/apps/${clientId}/usage`, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<AppUsage>()
}

async function signIn({ headers, identityId }: Person, clientId: string) {
  const payload = {
    clientId,
    redirectUri,
    identityId,
    scope: 'openid',
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    codeChallengeMethod: 'S256',
  }
  const allowed = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
  assert.equal(allowed.statusCode, 200, allowed.body)
  const code = new URL(allowed.json<{ redirectUrl: string }>().redirectUrl).searchParams.get('code') ?? ''
  return redeem(clientId, code)
}

const redeem = (clientId: string, code: string) =>
  postToken(world.api, {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  })

test('a developer sees sign-ins and errors of each day, and the last sign-in', async () => {
  const ada = await world.person()
  const { clientId } = await register(ada)
  const before = await readUsage(ada, clientId)
  assert.equal(before.days.length, limits.usageShownDays)
  assert.deepEqual([before.errors, before.lastSignInAt], [[], null])

  await signIn(ada, clientId)
  await redeem(clientId, 'none')
  world.pass(day)
  await signIn(ada, clientId)
  await world.services.usage.flush()
  await signIn(ada, clientId)
  const query = new URLSearchParams({ client_id: clientId, response_type: 'code', redirect_uri: `${redirectUri}/` })
  assert.equal((await world.auth.inject({ url: `/signin?${query}` })).statusCode, 400)
  query.set('redirect_uri', redirectUri)
  query.set('response_type', 'token')
  await world.auth.inject({ url: `/signin?${query}` })

  const { days, errors, lastSignInAt } = await readUsage(ada, clientId)
  const today = world.now().toISOString()
  assert.equal(days.at(-1)?.day, today.slice(0, 10))
  assert.deepEqual(
    days.slice(-2).map(({ signInCount, errorCount }) => [signInCount, errorCount]),
    [
      [1, 1],
      [2, 2],
    ],
  )
  assert.deepEqual(errors.map(({ error, count }) => `${error} ${count}`).toSorted(), [
    'invalid_grant 1',
    'invalid_redirect_uri 1',
    'unsupported_response_type 1',
  ])
  assert.equal(lastSignInAt, today)
  const { apps } = (await world.api.inject({ url: '/api/developer/apps', headers: ada.headers })).json()
  assert.equal(apps[0].lastSignInAt, today)
})

test('DEV-60 the usage of another user’s app is as unknown as none', async () => {
  const [ada, mallory] = [await world.person(), await world.person()]
  const { clientId } = await register(ada)
  for (const unknown of [clientId, 'app_none']) {
    const answer = await world.api.inject({
      url: `/api/developer/apps/${unknown}/usage`,
      headers: mallory.headers,
    })
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'app_not_found'])
  }
  assert.equal((await world.api.inject({ url: `/api/developer/apps/${clientId}/usage` })).statusCode, 401)
})

test('DEV-61 requests of strangers add one row per app, day and known error, and none for unknown apps', async () => {
  const ada = await world.person()
  const { clientId } = await register(ada)
  for (let nth = 0; nth < 5; nth += 1) {
    await redeem(clientId, `guess-${nth}`)
    await redeem(`app_unknown_${nth}`, 'guess')
  }
  world.services.usage.countError({ clientId: ada.handle as App['clientId'], metadataFetchedAt: null }, 'invalid_grant')
  for (const code of ['made_up', 'made_up_too'])
    world.services.usage.countError({ clientId, metadataFetchedAt: null }, code)
  const { errors } = await readUsage(ada, clientId)
  assert.deepEqual(errors.map(({ error, count }) => `${error} ${count}`).toSorted(), ['invalid_grant 5', 'other 2'])
  const rows = await world.db.selectFrom('app_usage').select('kind').where('client_id', '=', clientId).execute()
  assert.equal(rows.length, 2)
})

test('counts survive a failed flush, add up across processes, and end with their time or their app', async () => {
  const ada = await world.person()
  const { clientId } = await register(ada)
  await signIn(ada, clientId)
  await world.db.schema.alterTable('app_usage').renameTo('app_usage_away').execute()
  await assert.rejects(world.services.usage.flush())
  await world.db.schema.alterTable('app_usage_away').renameTo('app_usage').execute()
  await signIn(ada, clientId)
  assert.equal((await readUsage(ada, clientId)).days.at(-1)?.signInCount, 2)

  world.pass((limits.usageKeptDays + 1) * day)
  while ((await pruneUsage(world.db, world.now(), 1)) > 0);
  const { headers } = await world.person()
  assert.equal((await world.api.inject({ url: '/api/developer/apps', headers })).statusCode, 200)
  const left = await world.db.selectFrom('app_usage').select('kind').where('client_id', '=', clientId).execute()
  assert.deepEqual(left, [])
})
