import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

type Options = { headers: Record<string, string>; [option: string]: unknown }

async function send(world: TestWorld, document: object, { headers, ...options }: Options): Promise<[number, string]> {
  const payload = { document: { apiVersion: 'countersign/v1', source: 'limits', ...document }, ...options }
  const answer = await world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
  return [answer.statusCode, answer.json().error]
}

const refused = [429, 'rate_limited']

test('CNF-15 the plans of an operator cost a bounded time, also dry runs, and use up nothing of others', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const [one, other] = [
    await createToken(world, ['configuration.apply', 'groups.manage']),
    await createToken(world, ['configuration.apply', 'groups.manage']),
  ]
  const small = { groups: [{ key: 'small', displayName: 'Small' }] }
  // The first is refused, so that the others cost this test nothing.
  const keys = ['system:large', ...Array.from({ length: 1999 }, (_, nth) => `large-${nth}`)]
  const large = { groups: keys.map((key) => ({ key, displayName: 'Large' })) }
  const { headers } = one
  // 21 of 600 each.
  for (let nth = 0; nth < 28; nth += 1) {
    assert.deepEqual(await send(world, large, { headers }), [400, 'invalid_request'])
    world.pass(60)
  }
  assert.deepEqual(await send(world, large, { headers }), refused)
  for (const dryRun of [true, false]) assert.deepEqual(await send(world, small, { headers, dryRun }), refused)
  for (const its of [other.headers, world.admin])
    assert.deepEqual(await send(world, small, { headers: its }), [200, undefined])
  world.pass(3600)
  assert.deepEqual(await send(world, small, { headers, dryRun: false }), [200, undefined])
})

test('CNF-15 documents of an operator send no more mails than single invitations', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const { headers } = await createToken(world, ['configuration.apply', 'people.invite'])
  const invite = (name: string, dryRun = false) =>
    send(world, { invitations: [{ email: `${name}@example.com`, message: 'Join us' }] }, { headers, dryRun })
  for (let nth = 0; nth < 30; nth += 1) {
    assert.deepEqual(await invite(`new-${nth}`), [200, undefined])
    // What invites no one does not count.
    for (const dryRun of [true, false]) assert.deepEqual(await invite('new-0', dryRun), [200, undefined])
    world.pass(60)
  }
  assert.deepEqual(await invite('late'), refused)
  for (const [name, dryRun] of [
    ['new-0', false],
    ['late', true],
  ] as const)
    assert.deepEqual(await invite(name, dryRun), [200, undefined])
  const { count } = await world.db
    .selectFrom('invitation')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(count), 30)
  world.pass(3600)
  assert.deepEqual(await invite('late'), [200, undefined])
})

test('CNF-15 an operator exports ten times a minute', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const [one, other] = [
    await createToken(world, ['configuration.export']),
    await createToken(world, ['configuration.export']),
  ]
  const read = async (url: string, { headers }: { headers: Record<string, string> }) =>
    (await world.api.inject({ url, headers })).statusCode
  for (let nth = 0; nth < 5; nth += 1)
    for (const url of ['/api/admin/export', '/api/admin/export?source=limits']) assert.equal(await read(url, one), 200)
  assert.equal(await read('/api/admin/export', one), 429)
  assert.equal(await read('/api/admin/export', other), 200)
  world.pass(61)
  assert.equal(await read('/api/admin/export', one), 200)
})
