import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { writeEvents } from '../export.ts'

const count = 1200
let world: TestWorld
before(async () => {
  world = await createWorld()
  const clientId = asId<ClientId>('app_exported')
  for (let nth = 0; nth < count; nth += 1)
    await recordAuditEvent(
      world.db,
      { action: 'app.updated', actor: 'operator', clientId, details: { nth } },
      world.now(),
    )
})
after(() => world.close())

const read = (query: string, headers: Record<string, string> = world.admin) =>
  world.api.inject({ url: `/api/admin/audit/export?${query}`, headers })

const linesOf = (text: string) => text.split('\n').slice(0, -1)

test('an export has every event that the list has, newest first, as JSON lines', async () => {
  const answer = await read('format=jsonl')
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'application/jsonl; charset=utf-8')
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="audit-log.jsonl"')
  const events = linesOf(answer.body).map((line): AuditEvent => JSON.parse(line))
  assert.ok(events.length >= count)
  const places = events.map(({ sequence }) => sequence)
  assert.deepEqual(
    places,
    places.map((_, nth) => places.length - nth),
  )
  const { entries } = (await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })).json()
  assert.deepEqual(events.slice(0, 100), entries)
})

test('an export has the events that its filter selects, also behind thousands of others', async () => {
  const grace = await makeOperator(world, await world.person('grace'), 'owner')
  const all = linesOf((await read('format=jsonl&clientId=app_exported')).body)
  assert.equal(all.length, count)
  const added = linesOf((await read('format=jsonl&action=operator')).body).map((line): AuditEvent => JSON.parse(line))
  assert.deepEqual(
    added.map(({ action, identityId }) => [action, identityId]),
    [['operator.added', grace.identityId]],
  )
  assert.equal((await read('format=jsonl&from=2030-02-30T00:00:00Z')).statusCode, 400)
  assert.equal((await read('format=xml')).statusCode, 400)
})

test('CSV-01 a spreadsheet runs no formula of an exported audit log', async () => {
  const details = { reason: '=HYPERLINK("https://evil.example")' }
  const name = '=cmd|calc'
  const operator = { kind: 'token', id: '0198c1de-6b2c-7d35-8f0a-5a9d6f1c2e41', name } as const
  await recordAuditEvent(world.db, { action: 'group.updated', actor: 'operator', operator, details }, world.now())
  const answer = await read('format=csv&action=group')
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8; header=present')
  const [head, line = ''] = answer.body.split('\r\n')
  const names = ['sequence', 'entryId', 'at', 'action', 'result', 'actorKind', 'actorId', 'actorName', 'objectKind']
  names.push('objectId', 'objectName', 'identityId', 'clientId', 'organizationId', 'address', 'requestId', 'personRef')
  assert.equal(head, [...names, 'details'].map((each) => `"${each}"`).join())
  assert.ok(line.includes(`"'=cmd|calc"`), line)
})

test('an export needs its permission, and one operator has six a minute', async () => {
  const [people, reader] = [
    await makeOperator(world, await world.person(), 'people'),
    await createToken(world, ['audit.read']),
  ]
  for (const headers of [people.page, reader.headers]) {
    const refused = await read('format=csv', headers)
    assert.deepEqual([refused.statusCode, refused.json().permission], [403, 'audit.export'])
  }
  const auditor = await makeOperator(world, await world.person(), 'auditor')
  assert.equal((await read('format=csv&action=operator', auditor.page)).statusCode, 200)

  const limited = await createWorld({ rateLimits: true })
  const { headers } = await createToken(limited, ['audit.export'])
  const statuses: number[] = []
  for (let nth = 0; nth < 7; nth += 1) {
    const url = '/api/admin/audit/export?format=jsonl&action=app'
    statuses.push((await limited.api.inject({ url, headers })).statusCode)
  }
  await limited.close()
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429])
})

test('AUD-03 an export ends when its reader loses their rights', async () => {
  let isDemoted = false
  const pieces = writeEvents(
    { ...world.kernel, readerKey: 'auditor' },
    {
      ...{ filter: {}, format: 'jsonl', everySeconds: 0 },
      requireRights: () => (isDemoted ? Promise.reject(new Error('permission_denied')) : Promise.resolve()),
    },
  )
  assert.equal(linesOf(String((await pieces.next()).value)).length, 500)
  isDemoted = true
  await assert.rejects(pieces.next(), /permission_denied/)
})
