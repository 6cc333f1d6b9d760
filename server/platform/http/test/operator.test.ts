import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ rateLimits: true })
})
after(() => world.close())

const listApps = (headers: Record<string, string>, remoteAddress: string) =>
  world.api.inject({ url: '/api/admin/apps', headers, remoteAddress })

test('a request without the admin token gets WWW-Authenticate', async () => {
  const basic = `Basic ${Buffer.from('admin:admin').toString('base64')}`
  for (const headers of [{}, { authorization: '' }, { authorization: 'Bearer' }, { authorization: basic }]) {
    const answer = await listApps(headers, '192.0.2.1')
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [401, 'unauthorized'])
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  }
})

test('a token that differs in one character is rejected', async () => {
  const token = world.kernel.adminToken.reveal()
  for (const near of [token.slice(1), token.slice(0, -1), `${token}0`, token.toUpperCase(), 'undefined', '[secret]']) {
    const answer = await listApps({ authorization: `Bearer ${near}` }, '192.0.2.2')
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [401, 'invalid_token'])
    assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
  }
  assert.equal((await listApps(world.admin, '192.0.2.2')).statusCode, 200)
})

test('guesses of the admin token are limited, and the operator at another address is not', async () => {
  const guess = () => listApps({ authorization: 'Bearer guess' }, '192.0.2.3')
  for (let count = 0; count < 30; count += 1) assert.equal((await guess()).statusCode, 401)
  const stopped = await guess()
  assert.deepEqual([stopped.statusCode, stopped.json<{ error: string }>().error], [429, 'rate_limited'])
  assert.match(String(stopped.headers['retry-after']), /^[1-9]\d*$/)

  assert.equal((await listApps(world.admin, '192.0.2.3')).statusCode, 429)
  assert.equal((await listApps(world.admin, '192.0.2.4')).statusCode, 200)
})

test('public app metadata is rate-limited to six hundred requests a minute', async () => {
  const read = () => world.api.inject({ url: '/api/oauth/app/app_playground', remoteAddress: '192.0.2.5' })
  for (let count = 0; count < 600; count += 1) assert.equal((await read()).statusCode, 200)
  assert.equal((await read()).statusCode, 429)
})

test('QRY-05 the operator lists all apps in pages, each once, during changes', async () => {
  type Page = { apps: { clientId: string }[]; nextCursor: string | null }
  const read = async (query: string): Promise<Page> => {
    const answer = await world.api.inject({ url: `/api/admin/apps?${query}`, headers: world.admin })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json<Page>()
  }
  const made: string[] = []
  for (let nth = 0; nth < 7; nth += 1) {
    if (nth % 2 === 0) world.pass(60)
    made.push((await world.app()).clientId)
  }
  const idsOf = ({ apps }: Page) => apps.map(({ clientId }) => clientId)
  const all = idsOf(await read(''))
  assert.deepEqual(made.toSorted(), all.slice(0, made.length).toSorted(), 'newest first')

  const found: string[] = []
  for (let query = 'limit=2'; query !== '';) {
    const page = await read(query)
    assert.ok(page.apps.length <= 2)
    found.push(...idsOf(page))
    // The app of a cursor may be deleted: the next page still starts after it.
    const [last = ''] = found.slice(-1)
    if (found.length === 4) {
      const url = `/api/admin/apps/${last}`
      assert.equal((await world.api.inject({ method: 'DELETE', url, headers: world.admin })).statusCode, 204)
    }
    query = page.nextCursor === null ? '' : new URLSearchParams({ limit: '2', cursor: page.nextCursor }).toString()
  }
  assert.deepEqual(found, all)
  for (const query of ['limit=0', 'limit=101', 'cursor=x', `cursor=${all[0]}`]) {
    const refused = await world.api.inject({ url: `/api/admin/apps?${query}`, headers: world.admin })
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'], query)
  }
})

test('QRY-05 a page has at most a hundred apps', async () => {
  await sql`
    insert into app (client_id, name, redirect_uris, allowed_scopes, is_public, id_token_signed_response_alg,
      access_token_ttl_seconds, refresh_token_ttl_seconds, created_at, updated_at)
    select 'app_' || nth, 'One of many', '{https://app.example/callback}', '{openid}', true, 'ES256', 600, 600,
      ${world.now()}, ${world.now()}
    from generate_series(1, 150) nth`.execute(world.db)
  const first = (await listApps(world.admin, '192.0.2.9')).json()
  assert.equal(first.apps.length, 100)
  const cursor = encodeURIComponent(first.nextCursor)
  const second = await world.api.inject({ url: `/api/admin/apps?cursor=${cursor}`, headers: world.admin })
  assert.ok(second.json().apps.length > 50)
})
