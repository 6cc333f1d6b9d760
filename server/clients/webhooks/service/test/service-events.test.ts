import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { Webhook } from 'standardwebhooks'
import { pruneDeletedGroups } from '#accounts/groups/group.ts'
import { enqueueAppEvents } from '#clients/webhooks/app-events.ts'
import { enqueueServiceTest, notifySender } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { transaction } from '#platform/database/database.ts'
import { countWaiting, isShared } from '#testing/lock-waits.ts'
import { activate, sibling, suspend } from '#testing/operators.ts'
import { rename } from '#testing/people.ts'
import { acceptedUser, openDirectory } from '#testing/scim.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let sender: ReturnType<typeof startSender>
before(async () => {
  world = await createWorld()
  sender = startSender(world.kernel)
})
after(async () => {
  await sender.stop()
  await world.close()
})

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
type Event = { id: string; type: string; timestamp: string; data: Record<string, unknown> }

async function ask<Answer = unknown>(method: Method, url: string, payload?: object): Promise<Answer> {
  const given = payload && { payload }
  const answer = await world.api.inject({ method, url: `/api/admin/${url}`, headers: world.admin, ...given })
  assert.ok(answer.statusCode < 300, answer.body)
  return JSON.parse(answer.body || '{}')
}

async function isOneRecorded(): Promise<boolean> {
  return (await world.db.selectFrom('app_event').select('event_id').limit(1).execute()).length > 0
}

/** Adds a webhook of the service, or one of an app, whose receiver verifies what it gets. */
async function hearing(t: TestContext, { of, events }: { of?: string; events?: string[] } = {}) {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const { url } = receiver
  let path = `apps/${of}/webhook`
  let secret = ''
  if (of === undefined) {
    const made = await ask<{ webhook: ServiceWebhook; secret: string }>('POST', 'webhooks', {
      url,
      ...(events && { events }),
    })
    path = `webhooks/${made.webhook.webhookId}`
    secret = made.secret
    t.after(() => ask('DELETE', path))
  } else secret = (await ask<{ secret: string }>('PUT', path, { url })).secret
  const webhook = new Webhook(secret)
  const deliveries = async () =>
    (await ask<{ deliveries: WebhookDelivery[] }>('GET', `${path}/deliveries?limit=100`)).deliveries

  /** Lets the delay of events pass, and returns all that the receiver got, in the order of their times. */
  async function received(): Promise<Event[]> {
    world.pass(60)
    // The sender may be about to queue some.
    while (await isOneRecorded()) await enqueueAppEvents(world.db, world.now())
    notifySender()
    // They are recorded after the receiver has responded. The embedded database does not yield to the network.
    while (!(await deliveries()).every(({ state }) => state === 'delivered')) await pause(10)
    const signed = receiver.received.map(({ headers, body }) => {
      const { 'webhook-id': id = '', 'webhook-timestamp': sentAt = '' } = headers
      assert.equal(webhook.sign(id, new Date(Number(sentAt) * 1000), body), headers['webhook-signature'])
      const event: Event = { ...JSON.parse(body), id }
      return [id, event] as const
    })
    // A sender that is overtaken by the clock of the test sends again, under the same ID.
    return [...new Map(signed).values()].toSorted((one, other) => one.timestamp.localeCompare(other.timestamp))
  }
  return { path, deliveries, received, body: () => receiver.received.map(({ body }) => body).join('\n') }
}

const typesOf = (events: Event[]) => events.map(({ type }) => type)

test('WHK-18 a webhook of the service gets the events of all identities and groups, and apps do not', async (t) => {
  const app = await world.app()
  const [service, ofApp] = [await hearing(t), await hearing(t, { of: app.clientId })]
  const person = await world.person()
  const { identityId } = person
  await rename(world, person, { displayName: 'Ada Lovelace' })
  const group = await ask<{ groupId: string }>('POST', 'groups', { key: 'engine', displayName: 'Analytical Engine' })
  const { groupId } = group
  await ask('PATCH', `groups/${groupId}`, { displayName: 'Difference Engine' })
  await ask('PUT', `groups/${groupId}/members/${identityId}`)
  await ask('DELETE', `groups/${groupId}/members/${identityId}`)
  await ask('DELETE', `groups/${groupId}`)
  await suspend(world, person, { reason: 'Stole the engine' })
  await activate(world, person)
  const erasure = { retainDays: 0, legalErasure: true }
  await ask('DELETE', `identities/${identityId}`, { confirm: person.handle, reason: 'Of no use' })
  await ask('POST', `identities/${identityId}/restore`)
  await ask('DELETE', `identities/${identityId}`, { confirm: person.handle, reason: 'Of no use', ...erasure })

  const events = await service.received()
  const byType = Map.groupBy(events, ({ type }) => type)
  const membership = { identityId, groupId, key: 'engine', source: 'manual', by: 'operator' }
  const thing = { groupId, key: 'engine', by: 'operator' }
  const expected: Record<string, object[]> = {
    'identity.created': [{ identityId, by: 'self' }],
    'identity.updated': [{ identityId, by: 'self', fields: ['name'] }],
    'group.created': [thing],
    'group.updated': [{ ...thing, fields: ['displayName'] }],
    'group.member.added': [membership],
    'group.member.removed': [membership],
    'group.deleted': [thing],
    'identity.restored': [{ identityId, by: 'operator' }],
    'identity.deleted': [{ identityId, by: 'operator' }],
  }
  for (const [type, data] of Object.entries(expected)) {
    const shown = byType.get(type)?.map(({ data: { sequence: _sequence, ...rest } }) => rest)
    assert.deepEqual(shown, data, type)
  }
  assert.equal(byType.get('identity.deletion_scheduled')?.length, 1)
  for (const each of ['identity.suspended', 'identity.activated']) assert.equal(byType.get(each)?.length, 2, each)
  assert.equal(events.length, 14)
  assert.deepEqual(await ofApp.received(), [])
  for (const secret of ['Lovelace', 'Engine', 'Stole', 'no use', person.handle, person.userId])
    assert.ok(!service.body().includes(secret), secret)
})

test('WHK-19 events of acts on a whole account arrive apart, and only their minute joins siblings', async (t) => {
  const service = await hearing(t, { events: ['identity.created', 'identity.suspended', 'identity.deleted'] })
  const [person, stranger] = [await world.person(), await world.person()]
  world.pass(3600)
  const siblings = [person, await sibling(world, person), await sibling(world, person), await sibling(world, person)]
  await service.received()
  const actedAt = world.now().toISOString()
  await suspend(world, person)
  await suspend(world, stranger)
  await enqueueAppEvents(world.db, world.now())
  const early = (await service.deliveries()).filter(({ type }) => type === 'identity.suspended')
  assert.ok(early.length < siblings.length + 1, 'no list shows them together before their time')
  await activate(world, person)
  const deleting = { method: 'DELETE', url: '/api/account', headers: await person.signIn() } as const
  assert.equal((await world.api.inject(deleting)).statusCode, 204)
  const events = await service.received()
  for (const [type, count] of [
    ['identity.suspended', 5],
    ['identity.deleted', 4],
  ] as const) {
    const some = events.filter((event) => event.type === type)
    assert.equal(some.length, count)
    assert.ok(new Set(some.map(({ timestamp }) => timestamp)).size > 1)
    assert.ok(some.some(({ timestamp }) => timestamp > actedAt))
    for (const { data } of some) assert.deepEqual(Object.keys(data), ['identityId', 'sequence', 'by'])
  }
  // Their IDs begin with a time of their own, not with that of the account.
  const starts = events.filter(({ type }) => type === 'identity.deleted').map(({ id }) => id.slice(0, 13))
  assert.deepEqual(starts, starts.toSorted())
  assert.ok(!service.body().includes(person.userId))
  const created = events.filter(({ type }) => type === 'identity.created')
  assert.ok(created.every(({ data }) => data['sequence'] === created[0]?.data['sequence']))
})

test('WHK-20 an event is recorded with its change, and a change that is undone records none', async (t) => {
  const service = await hearing(t, { events: ['identity.created', 'group.created'] })
  const taken = await world.person()
  await service.received()
  const count = (await service.received()).length
  const headers = taken.headers
  const payload = { handle: taken.handle, displayName: 'Again' }
  const refused = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(refused.statusCode, 409, refused.body)
  assert.equal((await service.received()).length, count)

  await sender.stop()
  await ask('POST', 'groups', { key: 'while-no-process-sends', displayName: 'Waiting' })
  const rows = await world.db.selectFrom('app_event').select(['client_id', 'type']).execute()
  assert.deepEqual(rows, [{ client_id: null, type: 'group.created' }])
  sender = startSender(world.kernel)
  assert.equal((await service.received()).length, count + 1)
})

/** Waits until a statement waits for the lock of another. The embedded database runs one transaction after another. */
async function untilOneWaits(): Promise<void> {
  if (!isShared) return
  for (let looked = 0; looked < 5000; looked += 1) if ((await countWaiting(world.db)) > 0) return
  assert.fail('no statement waits')
}

test('WHK-26 a webhook that is disabled while an event is queued for it has none that waits', async (t) => {
  const service = await hearing(t)
  const webhookId = service.path.slice('webhooks/'.length)
  const { disabled } = await transaction(world.db, async (tx) => {
    assert.notEqual(await enqueueServiceTest(tx, webhookId, world.now()), undefined)
    const disabling = ask('PATCH', service.path, { status: 'disabled' })
    await untilOneWaits()
    return { disabled: disabling }
  })
  await disabled
  const [delivery, ...others] = await service.deliveries()
  assert.ok(delivery && delivery.state !== 'pending')
  assert.deepEqual(others, [])
})

test('WHK-29 of raced changes of a group, the later has the higher sequence, also with an earlier time', async (t) => {
  const service = await hearing(t, { events: ['group.member.added', 'group.member.removed'] })
  const [x, z] = [(await world.person()).identityId, (await world.person()).identityId]
  const { groupId } = await ask<{ groupId: string }>('POST', 'groups', { key: 'raced', displayName: 'Raced' })
  const addX = () => ask('PUT', `groups/${groupId}/members/${x}`)
  // The embedded database runs one transaction after another.
  if (!isShared) await addX()
  const { batch } = await transaction(world.db, async (tx) => {
    await tx.selectFrom('identity').select('identity_id').where('identity_id', '=', z).forUpdate().execute()
    const begun = ask('POST', `groups/${groupId}/members/batch`, { add: [z], remove: [x] })
    await untilOneWaits()
    world.pass(1)
    if (isShared) await addX()
    return { batch: begun }
  })
  await batch
  const { members } = await ask<{ members: { identityId: string }[] }>('GET', `groups/${groupId}/members`)
  assert.deepEqual(
    members.map(({ identityId }) => identityId),
    [z],
  )
  const bySequence = (await service.received())
    .map(({ type, data }) => ({ sequence: Number(data['sequence']), type, identityId: data['identityId'] }))
    .toSorted((one, other) => one.sequence - other.sequence)
  assert.deepEqual(bySequence.findLast(({ identityId }) => identityId === x)?.type, 'group.member.removed')
  assert.deepEqual(
    bySequence.map(({ sequence }) => sequence),
    [2, 3, 3],
  )
})

test('each webhook gets the types that it selects; without any, nothing is recorded', async (t) => {
  const [all, groups, people] = [
    await hearing(t),
    await hearing(t, { events: ['group.created', 'group.deleted', 'group.member.removed'] }),
    await hearing(t, { events: ['identity.created'] }),
  ]
  const { groupId } = await ask<{ groupId: string }>('POST', 'groups', { key: 'select', displayName: 'Select' })
  const person = await world.person()
  await ask('PUT', `groups/${groupId}/members/${person.identityId}`)
  await ask('DELETE', `groups/${groupId}`)
  while ((await pruneDeletedGroups(world.db, world.now(), 10)) > 0);
  const removed = ['group.created', 'group.deleted', 'group.member.removed']
  assert.deepEqual(typesOf(await groups.received()).toSorted(), removed)
  assert.deepEqual(typesOf(await people.received()), ['identity.created'])
  const seen = typesOf(await all.received())
  for (const type of [...removed, 'identity.created', 'group.member.added']) assert.ok(seen.includes(type), type)

  await ask('PATCH', all.path, { status: 'disabled' })
  await ask('PATCH', people.path, { status: 'disabled' })
  await world.person()
  assert.deepEqual(await world.db.selectFrom('app_event').selectAll().execute(), [])
  await ask('PATCH', people.path, { status: 'active' })
  assert.deepEqual(typesOf(await people.received()), ['identity.created'], 'events of that time are not sent later')
})

test('WHK-18 events say what a directory has caused', async (t) => {
  const directory = await openDirectory(world)
  const service = await hearing(t)
  const { id: identityId } = await acceptedUser(world, directory)
  const sent = { displayName: 'Scim', members: [{ value: identityId }] }
  const group = await directory.ask('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    ...sent,
  })
  assert.equal(group.statusCode, 201, group.body)
  await directory.patched(`/Users/${identityId}`, { op: 'replace', path: 'active', value: false })
  assert.equal((await directory.ask('DELETE', `/Users/${identityId}`)).statusCode, 204)
  assert.equal((await directory.ask('DELETE', `/Groups/${group.json().id}`)).statusCode, 204)
  const caused = (await service.received()).filter(({ data }) => data['by'] === 'scim')
  assert.deepEqual(typesOf(caused).toSorted(), [
    ...['group.created', 'group.deleted', 'group.member.added'],
    ...['identity.deletion_scheduled', 'identity.suspended'],
  ])
})
