import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AuditEntry } from '@countersign/protocol/operations/audit'
import { record } from '#platform/audit/audit.ts'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
  for (let count = 0; count < 120; count += 1)
    await record(world.db, { action: 'app.changed', actor: 'operator', clientId: `app_${count}` }, world.now())
})
after(() => world.close())

const read = (query = '', headers: Record<string, string> = world.admin) =>
  world.api.inject({ url: `/api/admin/audit${query}`, headers })

async function page(query = ''): Promise<{ entries: AuditEntry[]; nextCursor: string | null }> {
  const answer = await read(query)
  assert.equal(answer.statusCode, 200)
  return answer.json()
}

test('an entry tells who did what, when, and to whom', async () => {
  const [userId, identityId] = [randomUUIDv7(), randomUUIDv7()]
  const details = { scope: ['openid', 'profile'], first: true, count: 2, page: 'signin' }
  const act = { action: 'app.authorized', actor: 'person', userId, identityId, clientId: 'app_1', details } as const
  await record(world.db, act, world.now())
  const { entries } = await page()
  const entry = entries.find((each) => each.action === 'app.authorized')
  assert.match(entry?.entryId ?? '', /^[0-9a-f-]{36}$/)
  assert.deepEqual(entry, { entryId: entry?.entryId, at: world.now().toISOString(), ...act })
})

test('what an act does not concern is null', async () => {
  const { entries } = await page('?limit=100')
  const entry = entries.find(({ clientId }) => clientId === 'app_100')
  assert.deepEqual([entry?.userId, entry?.identityId, entry?.details], [null, null, {}])
})

test('page after page gives every entry once, the newest first', async () => {
  const ids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { entries, nextCursor } = await page(`?limit=50${cursor ? `&cursor=${cursor}` : ''}`)
    ids.push(...entries.map(({ entryId }) => entryId))
    cursor = nextCursor
  }
  assert.ok(ids.length >= 120)
  assert.deepEqual(ids, [...new Set(ids)].toSorted().toReversed())
})

test('a page has 50 entries unless one asks for up to 100, and the last one says that it is', async () => {
  assert.equal((await page()).entries.length, 50)
  assert.equal((await page('?limit=1')).entries.length, 1)
  assert.equal((await page('?limit=100')).entries.length, 100)
  assert.deepEqual(await page('?cursor=00000000-0000-7000-8000-000000000000'), { entries: [], nextCursor: null })
})

test('a cursor or a limit that is none is refused', async () => {
  for (const query of ['?limit=0', '?limit=101', '?limit=-1', '?limit=1e1', '?limit=%20', '?cursor=x', "?cursor='--"]) {
    const answer = await read(query)
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [400, 'invalid_request'], query)
  }
})

test('only the operator reads it', async () => {
  for (const headers of [{}, { authorization: 'Bearer guess' }]) assert.equal((await read('', headers)).statusCode, 401)
})
