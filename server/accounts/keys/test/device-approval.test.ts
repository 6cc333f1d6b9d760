import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { pruneDeviceApprovals } from '#accounts/keys/device-approval.ts'
import { reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let limitedWorld: TestWorld
before(async () => {
  world = await createWorld()
  limitedWorld = await createWorld({ rateLimits: true })
})
after(async () => {
  await world.close()
  await limitedWorld.close()
})

type Headers = { authorization: string }
const anything = () => randomBytes(32).toString('base64url')
const root = '/api/account/device-approvals'
const send = (headers: Headers, method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) =>
  world.api.inject({ method, url: `${root}${path}`, headers, ...(payload && { payload }) })

/** Signs a user in on the requesting device and on another one. */
async function twoDevices() {
  const person = await world.person()
  const asking = await person.signIn()
  return { person, asking, other: await person.signIn() }
}

async function ask(headers: Headers): Promise<string> {
  const requested = await send(headers, 'POST', '', { commitment: anything() })
  assert.equal(requested.statusCode, 201, requested.body)
  return requested.json().approvalId
}
const answer = (headers: Headers, id: string) => send(headers, 'POST', `/${id}/answer`, { publicKey: anything() })
const reveal = (headers: Headers, id: string) =>
  send(headers, 'POST', `/${id}/reveal`, { publicKey: anything(), nonce: anything() })
const wrap = (headers: Headers, id: string, ciphertext = 'sealed') =>
  send(headers, 'POST', `/${id}/wrap`, { ciphertext })
const take = (headers: Headers, id: string) => send(headers, 'POST', `/${id}/take`)
const read = (headers: Headers, id: string) => send(headers, 'GET', `/${id}`)
const cancel = (headers: Headers, id: string) => send(headers, 'DELETE', `/${id}`)
const waiting = async (headers: Headers) => (await send(headers, 'GET', '')).json().devices

/** The steps in order, with the device that takes each. */
const steps = [
  { name: 'answer', of: 'other', take: answer },
  { name: 'reveal', of: 'asking', take: reveal },
  { name: 'wrap', of: 'other', take: wrap },
  { name: 'take', of: 'asking', take },
] as const

/** Takes the first `count` steps. */
async function walk(devices: Awaited<ReturnType<typeof twoDevices>>, count: number): Promise<string> {
  const id = await ask(devices.asking)
  for (const step of steps.slice(0, count)) {
    const taken = await step.take(devices[step.of], id)
    assert.ok(taken.statusCode < 300, `${step.name}: ${taken.body}`)
  }
  return id
}
const errorOf = (answered: { statusCode: number; json: () => { error: string } }) => [
  answered.statusCode,
  answered.json().error,
]
const activityOf = async (person: Person): Promise<string[]> => {
  const { entries } = (await world.api.inject({ url: '/api/account/activity', headers: person.headers })).json()
  return entries.map(({ action }: { action: string }) => action)
}

test('the requesting device receives what another device of the same user sealed for it', async () => {
  const { person, asking, other } = await twoDevices()
  const commitment = anything()
  const requested = await send(asking, 'POST', '', { commitment })
  const { approvalId, expiresAt } = requested.json()
  assert.equal(Date.parse(expiresAt) - world.now().getTime(), 300_000)
  const [seen, ...more] = await waiting(other)
  assert.equal(more.length, 0)
  assert.deepEqual([seen.approvalId, seen.commitment], [approvalId, commitment])
  assert.deepEqual(await waiting(asking), [])

  const publicKey = anything()
  assert.equal((await send(other, 'POST', `/${approvalId}/answer`, { publicKey })).statusCode, 204)
  assert.deepEqual(await waiting(other), [])
  assert.deepEqual((await read(asking, approvalId)).json().answer, { publicKey })
  const opening = { publicKey: anything(), nonce: anything() }
  assert.equal((await send(asking, 'POST', `/${approvalId}/reveal`, opening)).statusCode, 204)
  assert.deepEqual((await read(other, approvalId)).json().opening, opening)
  assert.equal((await wrap(other, approvalId, 'for you')).statusCode, 204)
  assert.equal((await read(asking, approvalId)).json().sealed, true)
  assert.deepEqual((await take(asking, approvalId)).json(), { ciphertext: 'for you' })

  const acts = await activityOf(person)
  for (const act of ['account.device_approval.requested', 'account.device_approval.approved'])
    assert.equal(acts.filter((each) => each === act).length, 1)
})

test('DEV-04 each step happens once and in order, also under concurrency', async () => {
  for (const [index, step] of steps.entries()) {
    const devices = await twoDevices()
    const id = await walk(devices, index)
    for (const later of steps.slice(index + 1)) {
      const refused = await later.take(devices[later.of], id)
      assert.ok([403, 409].includes(refused.statusCode), `${later.name} before ${step.name}: ${refused.body}`)
    }
    const taken = await Promise.all(Array.from({ length: 6 }, () => step.take(devices[step.of], id)))
    const done = taken.filter(({ statusCode }) => statusCode < 300)
    assert.equal(done.length, 1, step.name)
    const refusals = taken.filter((each) => each !== done[0]).map(errorOf)
    for (const refused of refusals)
      assert.deepEqual(
        refused,
        step.name === 'take' ? [404, 'device_approval_not_found'] : [409, 'approval_step_out_of_order'],
      )
  }
})

test('DEV-05 a device cannot approve itself, and a third session can take no step of the two', async () => {
  const devices = await twoDevices()
  const third = await devices.person.signIn()
  const id = await ask(devices.asking)
  assert.deepEqual(errorOf(await answer(devices.asking, id)), [403, 'device_approval_wrong_session'])
  const wrong = { answer: devices.asking, reveal: devices.other, wrap: devices.asking, take: devices.other }
  for (const step of steps) {
    if (step.name !== 'answer')
      for (const thief of [third, wrong[step.name]])
        assert.deepEqual(errorOf(await step.take(thief, id)), [403, 'device_approval_wrong_session'], step.name)
    assert.ok((await step.take(devices[step.of], id)).statusCode < 300)
  }
})

test('DEV-06 another user’s approval and an unknown approval cause the same response', async () => {
  const stranger = await world.person()
  for (const [index, step] of steps.entries()) {
    const devices = await twoDevices()
    const id = await walk(devices, index)
    assert.deepEqual(await waiting(stranger.headers), [])
    for (const answered of [
      await read(stranger.headers, id),
      await step.take(stranger.headers, id),
      await cancel(stranger.headers, id),
    ])
      assert.deepEqual(errorOf(answered), [404, 'device_approval_not_found'])
    assert.ok((await step.take(devices[step.of], id)).statusCode < 300)
  }
})

test('DEV-07 after five minutes no step is accepted, and no data remains', async () => {
  for (const [index, step] of steps.entries()) {
    const devices = await twoDevices()
    const id = await walk(devices, index)
    world.pass(300)
    assert.deepEqual(await waiting(devices.other), [])
    // Five minutes later, the approving session must authenticate again first.
    await reauthenticate(world, { ...devices.person, headers: devices.other })
    assert.deepEqual(errorOf(await step.take(devices[step.of], id)), [404, 'device_approval_not_found'], step.name)
    assert.deepEqual(errorOf(await read(devices.asking, id)), [404, 'device_approval_not_found'])
  }
  assert.ok((await pruneDeviceApprovals(world.db, world.now(), 500)) >= steps.length)
  assert.equal(await pruneDeviceApprovals(world.db, world.now(), 500), 0)
  const left = await world.db.selectFrom('encryption_device_approval').select('approval_id').execute()
  assert.deepEqual(left, [])
})

test('DEV-08 the approval ends with the session of the requesting device, however that ends', async () => {
  const ends = {
    'signing out': ({ asking }: Devices) => end(asking, '/api/auth/session'),
    'all others': ({ other }: Devices) => end(other, '/api/auth/sessions'),
    'just this one': async ({ asking, other }: Devices) => {
      const listed = await world.api.inject({ url: '/api/auth/sessions', headers: asking })
      const { sessions }: { sessions: { sessionId: string; current: boolean }[] } = listed.json()
      await end(other, `/api/auth/sessions/${sessions.find(({ current }) => current)?.sessionId}`)
    },
  }
  for (const endIt of Object.values(ends))
    for (const [index, step] of steps.entries()) {
      const devices = await twoDevices()
      const id = await walk(devices, index)
      await endIt(devices)
      assert.deepEqual(await waiting(devices.other), [])
      const refused = await step.take(devices[step.of], id)
      assert.equal(refused.statusCode, step.of === 'asking' ? 401 : 404, step.name)
    }
})
type Devices = Awaited<ReturnType<typeof twoDevices>>
const end = async (headers: Headers, url: string) =>
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers })).statusCode, 204)

test('DEV-09 a stolen session cannot approve a device without recent authentication', async () => {
  const devices = await twoDevices()
  world.pass(299)
  const asking = await devices.person.signIn()
  const id = await walk({ ...devices, asking }, 2)
  world.pass(2)
  assert.deepEqual(errorOf(await wrap(devices.other, id)), [403, 'reauthentication_required'])
  assert.equal((await read(asking, id)).json().sealed, false)
})

test('DEV-10 either device can cancel the approval at every step', async () => {
  for (const side of ['asking', 'other'] as const)
    for (const [index, step] of steps.entries()) {
      const devices = await twoDevices()
      const id = await walk(devices, index)
      assert.equal((await cancel(devices[side], id)).statusCode, 204)
      assert.deepEqual(errorOf(await step.take(devices[step.of], id)), [404, 'device_approval_not_found'])
      assert.deepEqual(errorOf(await cancel(devices[side], id)), [404, 'device_approval_not_found'])
    }
})

test('DEV-11 a user has at most three pending approvals, also under concurrency', async () => {
  const { asking, other } = await twoDevices()
  const requested = await Promise.all(
    Array.from({ length: 8 }, () => send(asking, 'POST', '', { commitment: anything() })),
  )
  assert.equal(requested.filter(({ statusCode }) => statusCode === 201).length, 3)
  for (const refused of requested.filter(({ statusCode }) => statusCode !== 201)) {
    assert.deepEqual(errorOf(refused), [429, 'too_many_pending'])
    assert.equal(refused.headers['retry-after'], '300')
  }
  const [first] = await waiting(other)
  await cancel(other, first.approvalId)
  await ask(asking)
  assert.equal((await waiting(other)).length, 3)
})

test('DEV-11 requests for device approval are rate-limited', async () => {
  const { headers } = await limitedWorld.person()
  const url = root
  const once = async () => {
    const requested = await limitedWorld.api.inject({
      method: 'POST',
      url,
      headers,
      payload: { commitment: anything() },
    })
    if (requested.statusCode === 201)
      await limitedWorld.api.inject({ method: 'DELETE', url: `${root}/${requested.json().approvalId}`, headers })
    return requested.statusCode
  }
  for (let count = 0; count < 12; count += 1) assert.equal(await once(), 201)
  assert.equal(await once(), 429)
})

test('DEV-12 anything but 32 bytes in canonical encoding is rejected', async () => {
  const { asking, other } = await twoDevices()
  const malformed = ['', 'AAAA', `${'A'.repeat(42)}B`, `${'A'.repeat(43)}=`, 'A'.repeat(44)]
  const id = await ask(asking)
  for (const text of malformed) {
    assert.equal((await send(asking, 'POST', '', { commitment: text })).statusCode, 400)
    assert.equal((await send(other, 'POST', `/${id}/answer`, { publicKey: text })).statusCode, 400)
  }
  assert.equal((await send(other, 'POST', '/not-a-uuid/answer', { publicKey: anything() })).statusCode, 404)
  await answer(other, id)
  for (const text of malformed)
    for (const opening of [
      { publicKey: anything(), nonce: text },
      { publicKey: text, nonce: anything() },
    ])
      assert.equal((await send(asking, 'POST', `/${id}/reveal`, opening)).statusCode, 400)
  await reveal(asking, id)
  assert.equal((await wrap(other, id, 'x'.repeat(16 * 1024 + 1))).statusCode, 400)
})

test('deleting an account deletes its device approvals', async () => {
  const { person, asking } = await twoDevices()
  await ask(asking)
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: asking })
  assert.equal(deleted.statusCode, 204, deleted.body)
  const left = await world.db
    .selectFrom('encryption_device_approval')
    .select('approval_id')
    .where('user_id', '=', person.userId)
    .execute()
  assert.deepEqual(left, [])
})
