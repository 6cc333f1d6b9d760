import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Resource } from '@countersign/protocol/clients/resources'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function admin(method: 'POST' | 'PATCH', path: string, payload: object) {
  const answer = await world.api.inject({ method, url: `/api/admin/apps/${path}`, headers: world.admin, payload })
  return { status: answer.statusCode, body: answer.json<Partial<Resource> & { error?: string }>() }
}
const outcomeOf = ({ status, body }: Awaited<ReturnType<typeof admin>>) => [status, body.error]
const newApp = async () => (await world.app()).clientId

let count = 0
/** Returns settings of a unique resource, except for `settings`. */
function anyResource(settings: object = {}) {
  count += 1
  const names = { resourceKey: `calendar-${count}`, audience: `https://calendar-${count}.example/api` }
  return { ...names, displayName: 'Calendar', scopes: ['events.read', 'events.write'], ...settings }
}

test('RES-01 a key and an audience are assigned once, to the first resource', async () => {
  const [clientId, other] = [await newApp(), await newApp()]
  const first = anyResource({ audience: 'https://once.example' })
  await admin('POST', `${clientId}/resources`, first)
  const again = anyResource({ resourceKey: first.resourceKey })
  assert.deepEqual(outcomeOf(await admin('POST', `${other}/resources`, again)), [409, 'resource_key_taken'])
  for (const audience of ['https://once.example', 'https://once.example/']) {
    const same = anyResource({ audience })
    assert.deepEqual(outcomeOf(await admin('POST', `${other}/resources`, same)), [409, 'audience_taken'])
    const mine = anyResource()
    await admin('POST', `${other}/resources`, mine)
    const stolen = await admin('PATCH', `${other}/resources/${mine.resourceKey}`, { audience })
    assert.deepEqual(outcomeOf(stolen), [409, 'audience_taken'])
  }
  assert.equal(
    (await admin('PATCH', `${clientId}/resources/${first.resourceKey}`, { audience: first.audience })).status,
    200,
  )
})

for (const [what, same] of [
  ['key', { resourceKey: 'wanted' }],
  ['audience', { audience: 'https://wanted.example' }],
] as const)
  test(`RES-01 of concurrent creations with one ${what}, one succeeds`, async () => {
    const apps = await Promise.all(Array.from({ length: 8 }, newApp))
    const requested = apps.map((clientId) => admin('POST', `${clientId}/resources`, anyResource(same)))
    const statuses = (await Promise.all(requested)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [201, ...Array.from({ length: 7 }, () => 409)])
  })

test('RES-01 of concurrent changes to one audience, one succeeds', async () => {
  const apps = await Promise.all(Array.from({ length: 8 }, newApp))
  const paths = await Promise.all(
    apps.map(async (clientId) => {
      const { body } = await admin('POST', `${clientId}/resources`, anyResource())
      return `${clientId}/resources/${body.resourceKey}`
    }),
  )
  const audience = 'https://wanted-later.example'
  const statuses = (await Promise.all(paths.map((path) => admin('PATCH', path, { audience })))).map(
    ({ status }) => status,
  )
  assert.deepEqual(statuses.toSorted(), [200, ...Array.from({ length: 7 }, () => 409)])
})
