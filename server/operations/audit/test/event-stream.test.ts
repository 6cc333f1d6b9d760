import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type ClientId, type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { randomUUIDv7 } from 'node:crypto'
import { transaction } from '#platform/database/database.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Follower, followAudit, openAuditStream } from '#testing/audit-follower.ts'
import { listenHere } from '#testing/held-request.ts'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let baseUrl = ''
before(async () => {
  world = await createWorld()
  baseUrl = `http://127.0.0.1:${await listenHere(world.api)}`
})
after(() => world.close())

let open: { leave: () => void }[] = []
afterEach(() => {
  for (const { leave } of open) leave()
  open = []
})

async function follow(query = '', headers: Record<string, string> = {}, readsAtMost?: number): Promise<Follower> {
  const follower = await followAudit(baseUrl, { query, headers: { ...world.admin, ...headers }, readsAtMost })
  open.push(follower)
  return follower
}

type Recorded = Partial<Parameters<typeof recordAuditEvent>[1]>

async function record(count = 1, event: Recorded = {}): Promise<void> {
  for (let nth = 0; nth < count; nth += 1)
    await recordAuditEvent(world.db, { action: 'app.updated', actor: 'operator', ...event }, world.now())
}

/** Lists the newest events by their places. Events of one millisecond are listed in either order. */
async function listNewest(limit: number) {
  const answer = await world.api.inject({ url: `/api/admin/audit?limit=${limit}`, headers: world.admin })
  const { entries } = answer.json<{ entries: { sequence: number }[] }>()
  return entries.toSorted((one, other) => one.sequence - other.sequence)
}

async function lastPlace(): Promise<number> {
  return (await listNewest(10)).at(-1)?.sequence ?? 0
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('AUD-02 a follower reads each later event as the list has it, and only those', async () => {
  await record(3)
  const before = await lastPlace()
  const follower = await follow()
  assert.equal(follower.response.headers.get('content-type'), 'text/event-stream')
  assert.equal(follower.response.headers.get('cache-control'), 'no-store')
  assert.equal(follower.response.headers.get('x-accel-buffering'), 'no')
  await record(2)
  await follower.until(() => follower.events.length === 2)
  assert.deepEqual(follower.events, await listNewest(2))
  assert.deepEqual(follower.places(), range(before + 1, before + 2))
})

test('AUD-02 a reader that is cut off after any event continues without loss or repetition', async () => {
  await record(230)
  const last = await lastPlace()
  const seen: number[] = []
  let place = '0'
  for (const readsAtMost of [1, 2, 98, 1, 1, 1, 3, 60, 1, 40, 1]) {
    const follower = await follow('?after=0', { 'last-event-id': place }, readsAtMost)
    assert.equal(await follower.ended, 'cut off')
    assert.equal(follower.events.length, readsAtMost)
    seen.push(...follower.places())
    place = follower.place()
  }
  const remaining = await follow('', { 'last-event-id': place })
  await remaining.until(() => remaining.place() === String(last))
  seen.push(...remaining.places())
  assert.deepEqual(seen, range(1, last))
})

test('AUD-02 a stream names the place after which it begins, for a reader who has read no event', async () => {
  const follower = await follow()
  await follower.until(() => follower.place() !== '')
  const place = follower.place()
  assert.equal(place, String(await lastPlace()))
  follower.leave()
  await record(2)
  const second = await follow('', { 'last-event-id': place })
  await second.until(() => second.events.length === 2)
  assert.deepEqual(second.places(), range(Number(place) + 1, Number(place) + 2))
})

test('AUD-02 events that are recorded while readers come and go reach each of them once', async () => {
  const before = await lastPlace()
  const recording = record(120)
  const seen: number[] = []
  for (let place = String(before); seen.length < 120;) {
    const follower = await follow('', { 'last-event-id': place }, 7)
    await follower.until(() => follower.events.length > 0)
    follower.leave()
    await follower.ended
    seen.push(...follower.places())
    place = follower.place()
  }
  await recording
  assert.deepEqual(seen, range(before + 1, before + 120))
})

test('a stream that does not follow ends after the events that exist', async () => {
  const last = await lastPlace()
  const all = await follow('?follow=false')
  assert.equal(await all.ended, 'complete')
  assert.deepEqual(all.places(), range(1, last))
  const some = await follow(`?follow=false&after=${last - 3}`)
  assert.equal(await some.ended, 'complete')
  assert.deepEqual(some.places(), range(last - 2, last))
})

test('filters select the same events as in the list, however far apart, and the place goes on', async () => {
  const identityId = asId<IdentityId>(randomUUIDv7())
  const organizationId = asId<OrganizationId>(randomUUIDv7())
  const clientId = asId<ClientId>('app_followed')
  const start = await lastPlace()
  const operatorId = randomUUIDv7()
  const filters = ['action=group', `identity=${identityId}`, `organizationId=${organizationId}`, `clientId=${clientId}`]
  filters.push(`actor=${operatorId}`)
  const followers = await Promise.all(filters.map((filter) => follow(`?${filter}`)))
  await record(1, { action: 'group.created' })
  await record(1, { action: 'group.member.added', identityId })
  await record(1, { action: 'organization.created', organizationId })
  await record(1, { action: 'app.created', clientId })
  await record(1, { action: 'settings.updated', operator: { kind: 'operator', id: asId<IdentityId>(operatorId) } })
  const expected = [['group.created', 'group.member.added'], ['group.member.added'], ['organization.created']]
  for (const [nth, actions] of [...expected, ['app.created'], ['settings.updated']].entries()) {
    const follower = followers[nth]
    assert.ok(follower)
    await follower.until(() => follower.events.length === actions.length)
    assert.deepEqual(
      follower.events.map(({ action }) => action),
      actions,
    )
  }
  await record(1100)
  await record(1, { action: 'group.deleted' })
  const found = await follow(`?follow=false&action=group&after=${start}`)
  assert.equal(await found.ended, 'complete')
  assert.deepEqual(
    found.events.map(({ action }) => action),
    ['group.created', 'group.member.added', 'group.deleted'],
  )
})

async function errorOf(response: Response): Promise<unknown> {
  const answer: { error?: unknown } = JSON.parse(await response.text())
  return answer.error
}

test('a place that is none, or beyond the end, is refused', async () => {
  const last = await lastPlace()
  for (const place of ['-1', 'x', '1.5', '01', '1e3', '9'.repeat(16), String(last + 1)]) {
    for (const request of [{ query: `?after=${place}` }, { headers: { 'last-event-id': place } }]) {
      const { response } = await openAuditStream(baseUrl, {
        ...request,
        headers: { ...world.admin, ...request.headers },
      })
      assert.equal(response.status, 400, place)
      assert.equal(await errorOf(response), 'invalid_request')
    }
  }
  const { response } = await openAuditStream(baseUrl, { query: '?follow=maybe', headers: world.admin })
  assert.equal(response.status, 400)
})

test('AUD-05 a process has 20 streams at most, and 10 of one operator; one that ends makes room', async () => {
  const { headers } = await createToken(world, ['audit.read'])
  const others = await createToken(world, ['audit.read'])
  const request = async (of: Record<string, string>) => {
    const opened = await openAuditStream(baseUrl, { headers: of })
    open.push(opened)
    return opened
  }
  for (let nth = 0; nth < 10; nth += 1) assert.equal((await request(headers)).response.status, 200)
  const { response } = await request(headers)
  assert.equal(response.status, 429)
  assert.equal(await errorOf(response), 'too_many_streams')
  assert.equal(response.headers.get('retry-after'), '10')
  for (let nth = 0; nth < 10; nth += 1) assert.equal((await request(others.headers)).response.status, 200)
  assert.equal((await request(world.admin)).response.status, 429)

  open.pop()?.leave()
  open.pop()?.leave()
  // The service notices when the connection closes.
  while ((await request(world.admin)).response.status === 429);
})

test('AUD-05 requests that leave at once, and HEAD, leave no stream behind', async () => {
  while ((await openAuditStream(baseUrl, { query: '?follow=false', headers: world.admin })).response.status === 429);
  for (let nth = 0; nth < 25; nth += 1) {
    const head = await fetch(`${baseUrl}/api/admin/audit/stream`, { method: 'HEAD', headers: world.admin })
    assert.equal(head.status, 200)
  }
  while ((await openAuditStream(baseUrl, { headers: world.admin })).response.status === 429);
})

// The embedded database runs one transaction after another.
if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('AUD-02 an event that commits late reaches a reader who has read later ones, as the next', async () => {
    const follower = await follow()
    await follower.until(() => follower.place() !== '')
    const begun = Promise.withResolvers<void>()
    const committing = Promise.withResolvers<void>()
    const late = transaction(world.db, async (tx) => {
      await recordAuditEvent(tx, { action: 'group.deleted', actor: 'operator' }, world.now())
      begun.resolve()
      await committing.promise
    })
    await begun.promise
    await record(3)
    await follower.until(() => follower.events.length === 3)
    committing.resolve()
    await late
    await follower.until(() => follower.events.length === 4)
    const { places, events } = follower
    assert.equal(events.at(-1)?.action, 'group.deleted')
    assert.deepEqual(places(), range(places()[0] ?? 0, (places()[0] ?? 0) + 3))
  })
