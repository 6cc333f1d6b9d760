import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { endpoints } from '#platform/process/openapi.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

/** Something with parts: two of a kind, whose parts have the same paths. */
type Whole = { path: string; part: string; isUnknown: string }
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const hook = 'http://localhost:9/hook'
let world: TestWorld
let people: [Person, Person]
before(async () => {
  world = await createWorld()
  people = [await world.person(), await world.person()]
})
after(() => world.close())

async function send(method: Method, path: string, payload?: object) {
  const url = `/api/admin${path}`
  const answer = await world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}

async function ask(method: Method, path: string, payload?: object) {
  const { status, body } = await send(method, path, payload)
  assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

async function resource(nth: number): Promise<Whole> {
  const { clientId } = await world.app()
  const resourceKey = `foreign.${nth}`
  const audience = `https://foreign-${nth}.example`
  const payload = { resourceKey, displayName: 'Notes', scopes: ['read'], audience }
  await ask('POST', `/apps/${clientId}/resources`, payload)
  return { path: `/apps/${clientId}/resources`, part: resourceKey, isUnknown: 'resource_not_found' }
}

/** Adds deliveries, of which the last has failed. */
async function deliveriesAt(path: string): Promise<Whole> {
  const made = [await ask('POST', `${path}/test`), await ask('POST', `${path}/test`), await ask('POST', `${path}/test`)]
  const { deliveryId } = made[2]
  await world.db
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_attempt_at: null })
    .where('delivery_id', '=', deliveryId)
    .execute()
  return { path: `${path}/deliveries`, part: deliveryId, isUnknown: 'delivery_not_found' }
}

async function deliveryOfApp(): Promise<Whole> {
  const { clientId } = await world.app()
  await ask('PUT', `/apps/${clientId}/webhook`, { url: hook })
  return deliveriesAt(`/apps/${clientId}/webhook`)
}

async function deliveryOfService(): Promise<Whole> {
  const { webhook } = await ask('POST', '/webhooks', { url: hook })
  return deliveriesAt(`/webhooks/${webhook.webhookId}`)
}

/** Requests about a part of something, with the two things that have such a part, or the test that has them. */
const requests: Record<string, { make: (nth: number) => Promise<Whole>; end?: string; payload?: object } | string> = {
  'PATCH /api/admin/apps/:clientId/resources/:resourceKey': { make: resource, payload: { displayName: 'Renamed' } },
  'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send': { make: deliveryOfApp, end: '/send' },
  'POST /api/admin/webhooks/:webhookId/deliveries/:deliveryId/send': { make: deliveryOfService, end: '/send' },
  'GET /api/admin/identities/:identityId/recovery-links/:recoveryLinkId': 'RCL-06',
  'DELETE /api/admin/identities/:identityId/recovery-links/:recoveryLinkId': 'RCL-06',
  'PUT /api/admin/groups/:groupId/members/:identityId': 'An identity is part of no group before.',
  'DELETE /api/admin/groups/:groupId/members/:identityId': 'It is the same as if the identity was no member.',
}
const ofAdmin = endpoints.flatMap(({ endpoint }) => (endpoint.config.security === 'admin' ? [endpoint] : []))

test('OPR-08 every request about a part of something has a row here', () => {
  const named = ofAdmin.filter(({ url }) => url.split(':').length > 2).map(({ name }) => name)
  assert.deepEqual(named.toSorted(), Object.keys(requests).toSorted())
})

for (const [name, row] of Object.entries(requests))
  if (typeof row === 'object')
    test(`OPR-08 ${name} finds no part of another one, and changes none`, async () => {
      const { make, end = '', payload } = row
      const [method] = name.split(' ')
      assert.ok(method === 'PATCH' || method === 'POST')
      const [own, other] = [await make(1), await make(2)]
      const before = await ask('GET', other.path)
      for (const part of [other.part, randomUUID()]) {
        const { status, body } = await send(method, `${own.path}/${part}${end}`, payload)
        assert.deepEqual([status, body.error], [404, own.isUnknown])
      }
      assert.deepEqual(await ask('GET', other.path), before)
      await ask(method, `${own.path}/${own.part}${end}`, payload)
    })

type List = { path: string; list: string; id: string }
const idsIn = (body: Record<string, unknown>, { list, id }: List): unknown[] => {
  const { [list]: entries } = body
  assert.ok(Array.isArray(entries))
  return entries.map((entry) => entry[id])
}

/** Lists of two things of a kind, each of at least two entries. */
async function twoLists(): Promise<[List, List][]> {
  const groups = await Promise.all(['one', 'other'].map((key) => ask('POST', '/groups', { key, displayName: key })))
  for (const { groupId } of groups)
    await ask('POST', `/groups/${groupId}/members/batch`, { add: people.map(({ identityId }) => identityId) })
  const deliveries = (whole: Whole) => ({ path: whole.path, list: 'deliveries', id: 'deliveryId' })
  const members = ({ groupId }: { groupId: string }) => ({
    path: `/groups/${groupId}/members`,
    list: 'members',
    id: 'identityId',
  })
  const activity = ({ identityId }: Person) => ({
    path: `/identities/${identityId}/activity`,
    list: 'entries',
    id: 'entryId',
  })
  return [
    [deliveries(await deliveryOfApp()), deliveries(await deliveryOfApp())],
    [deliveries(await deliveryOfService()), deliveries(await deliveryOfService())],
    [members(groups[0]), members(groups[1])],
    [activity(people[0]), activity(people[1])],
  ]
}

test('OPR-09 no cursor leads from a list to the entries of another one', async () => {
  for (const [own, other] of await twoLists()) {
    const ids = new Set(idsIn(await ask('GET', own.path), own))
    const { nextCursor } = await ask('GET', `${other.path}?limit=1`)
    assert.ok(nextCursor, other.path)
    const { status, body } = await send('GET', `${own.path}?cursor=${encodeURIComponent(nextCursor)}`)
    if (status === 200)
      assert.ok(
        idsIn(body, own).every((id) => ids.has(id)),
        own.path,
      )
    else assert.equal(status, 400, own.path)
  }
})

test('OPR-09 a forged cursor is refused, or leads to entries of the list alone', async () => {
  const lists = ofAdmin.filter(({ method, schema }) => method === 'GET' && hasCursor(schema))
  assert.ok(lists.length >= 10, `${lists.length} lists`)
  const forged = ["'", '%00', '-1', '1e99', '../..', randomUUID(), 'A'.repeat(2001), '{"key":"a"}', '0'.repeat(40)]
  for (const { url } of lists.filter((each) => !each.url.includes(':')))
    for (const cursor of forged) {
      const { status, body } = await send(
        'GET',
        `${url.replace('/api/admin', '')}?cursor=${encodeURIComponent(cursor)}`,
      )
      assert.ok(status === 200 || (status === 400 && body.error === 'invalid_request'), `${url} ${cursor}: ${status}`)
    }
})

function hasCursor(schema: object): boolean {
  return 'querystring' in schema && JSON.stringify(schema.querystring).includes('"cursor"')
}
