import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { limits } from '@countersign/protocol/formats/limits'
import type { StandardScope } from '@countersign/protocol/formats/scope'
import { Webhook } from 'standardwebhooks'
import { pruneDeletedGroups } from '#accounts/groups/group.ts'
import { pruneSuspensions } from '#accounts/identities/suspension.ts'
import { enqueueAppEvents } from '#clients/webhooks/app-events.ts'
import { notifySender } from '#clients/webhooks/delivery.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { activate, sibling, suspend } from '#testing/operators.ts'
import { editAddress, rename, verifyAddress } from '#testing/people.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
let sender: ReturnType<typeof startSender>
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  sender = startSender(world.kernel)
})
after(async () => {
  await sender.stop()
  await world.close()
  await mailbox.close()
})

const allowedScopes: StandardScope[] = ['openid', 'profile', 'email', 'offline_access', 'groups']
type Event = { type: string; timestamp: string; data: Record<string, unknown> & { sequence: number } }

const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${url}`, headers: world.admin, ...(payload && { payload }) })

async function isOneDue(): Promise<boolean> {
  const due = world.db.selectFrom('app_event').select('event_id').where('happened_at', '<=', world.now())
  return (await due.limit(1).execute()).length > 0
}

/** Registers an app with a webhook, which verifies what it receives. */
async function listeningApp(settings: object = {}) {
  const app = await world.app({ allowedScopes, ...settings })
  const receiver = await startWebhookReceiver()
  const { secret } = (await ask('PUT', `apps/${app.clientId}/webhook`, { url: receiver.url })).json()
  const webhook = new Webhook(secret)

  async function deliveries(): Promise<WebhookDelivery[]> {
    return (await ask('GET', `apps/${app.clientId}/webhook/deliveries?limit=100`)).json().deliveries
  }

  /** Lets the delay of events pass, and returns all that the app has received, with their IDs, the oldest first. */
  async function events(): Promise<(Event & { id: string })[]> {
    world.pass(60)
    // The sender may be about to queue some.
    while (await isOneDue()) await enqueueAppEvents(world.db, world.now())
    notifySender()
    const isDelivered = ({ state }: WebhookDelivery) => state === 'delivered'
    // They are recorded after the receiver has responded. The embedded database does not yield to the network.
    while (!(await deliveries()).every(isDelivered)) await pause(10)
    const received = receiver.received.map(({ headers, body }) => {
      const { 'webhook-id': id = '', 'webhook-timestamp': sentAt = '' } = headers
      assert.equal(webhook.sign(id, new Date(Number(sentAt) * 1000), body), headers['webhook-signature'])
      return { ...JSON.parse(body), id }
    })
    // A sender that is overtaken by the clock of the test sends again, under the same ID.
    const events = [...new Map(received.map((event) => [event.id, event])).values()]
    assert.equal(events.length, (await deliveries()).length)
    return events.toSorted((one, other) => one.timestamp.localeCompare(other.timestamp))
  }
  return {
    ...app,
    close: receiver.close,
    deliveries,
    events,
    types: async () => (await events()).map(({ type }) => type),
  }
}

const connect = (app: Awaited<ReturnType<typeof listeningApp>>, person: Person, scope = 'openid profile groups') =>
  app.tokens(person, { scope })

const scheduleDeletion = (person: Person, fields: object = {}) =>
  ask('DELETE', `identities/${person.identityId}`, { confirm: person.handle, reason: 'Left', ...fields })

const naming = (key: string) => ({ access: { mode: 'everyone', groups: [key] } })

async function prove(person: Person, email: string): Promise<void> {
  // Mails to former addresses.
  while (mailbox.count() > 0) await mailbox.take()
  await verifyAddress(world, mailbox, person, email)
}

async function newGroup(key: string): Promise<string> {
  return (await ask('POST', 'groups', { key, displayName: key })).json().groupId
}

test('WHK-14 an app gets events of the identities connected to it, as far as its scope shows them', async (t) => {
  const groupId = await newGroup('reach')
  const other = await newGroup('elsewhere')
  const [app, narrow, unconnected] = [await listeningApp(naming('reach')), await listeningApp(), await listeningApp()]
  t.after(() => Promise.all([app.close(), narrow.close(), unconnected.close()]))
  const [person, stranger] = [await world.person(), await world.person()]
  await prove(person, 'former@example.com')
  await connect(app, person, allowedScopes.join(' '))
  await connect(narrow, person, 'openid groups')
  await connect(unconnected, await world.person())
  for (const each of [person, stranger]) {
    await rename(world, each, { displayName: 'Renamed' })
    await editAddress(world, each.identityId, 'unproved@example.com')
    await prove(each, 'proved@example.com')
    assert.equal((await ask('PUT', `groups/${groupId}/members/${each.identityId}`)).statusCode, 204)
    assert.equal((await ask('PUT', `groups/${other}/members/${each.identityId}`)).statusCode, 204)
    assert.equal((await ask('DELETE', `groups/${groupId}/members/${each.identityId}`)).statusCode, 204)
  }
  await suspend(world, person)
  const { identityId } = person
  const membership = { identityId, groupId, key: 'reach', source: 'manual', by: 'operator' }
  const events = (await app.events()).map(({ type, data: { sequence: _sequence, ...data } }) => [type, data])
  const byType = Map.groupBy(events, ([type]) => type)
  assert.deepEqual(
    byType.get('identity.updated')?.map(([, data]) => data),
    [
      { identityId, by: 'self', fields: ['name'] },
      { identityId, by: 'operator', fields: ['email'] },
      { identityId, by: 'self', fields: ['email'] },
    ],
  )
  assert.deepEqual(byType.get('group.member.added'), [['group.member.added', membership]])
  assert.deepEqual(byType.get('group.member.removed'), [['group.member.removed', membership]])
  assert.deepEqual(byType.get('identity.suspended'), [['identity.suspended', { identityId, by: 'operator' }]])
  assert.equal(events.length, 6)
  assert.deepEqual(await narrow.types(), ['identity.suspended'])
  assert.deepEqual(await unconnected.types(), [])
})

test('WHK-15 no event has a name, an address, a reason or a user ID', async (t) => {
  const app = await listeningApp()
  t.after(app.close)
  const person = await world.person()
  await prove(person, 'ada@former.example')
  await connect(app, person, allowedScopes.join(' '))
  await rename(world, person, { displayName: 'Ada Lovelace', handle: 'countess-of-events' })
  await prove(person, 'ada@lovelace.example')
  await suspend(world, person, { reason: 'Stole the engine' })
  await activate(world, person)
  const scheduled = await scheduleDeletion({ ...person, handle: 'countess-of-events' }, { reason: 'Of no use' })
  assert.equal(scheduled.statusCode, 200, scheduled.body)
  const events = await app.events()
  assert.equal(events.length, 6)
  const text = JSON.stringify(events)
  for (const secret of ['Ada', 'Lovelace', 'countess', 'lovelace', 'engine', 'no use', person.userId])
    assert.ok(!text.includes(secret), secret)
})

test('an app learns of a suspension, its end, and a deletion until it is done', async (t) => {
  const app = await listeningApp()
  t.after(app.close)
  const person = await world.person()
  await connect(app, person)
  const acts: [act: () => Promise<unknown>, types: string[]][] = [
    [() => suspend(world, person), ['identity.suspended']],
    [() => suspend(world, person, { scope: 'identity' }), []],
    [() => scheduleDeletion(person), ['identity.deletion_scheduled']],
    [() => activate(world, person), []],
    [() => ask('POST', `identities/${person.identityId}/restore`), ['identity.activated', 'identity.restored']],
    [() => ask('POST', `identities/${person.identityId}/restore`), []],
    [() => scheduleDeletion(person), ['identity.deletion_scheduled', 'identity.suspended']],
    [() => scheduleDeletion(person, { retainDays: 0, legalErasure: true }), ['identity.deleted']],
  ]
  const known: string[] = []
  for (const [act, types] of acts) {
    await act()
    const events = (await app.events()).filter(({ id }) => !known.includes(id))
    assert.deepEqual(events.map(({ type }) => type).toSorted(), types, String(act))
    known.push(...events.map(({ id }) => id))
  }
  const events = await app.events()
  const scheduled = events.filter(({ type }) => type === 'identity.deletion_scheduled')
  for (const { timestamp, data } of scheduled)
    assert.equal(data['until'], new Date(Date.parse(timestamp) + limits.deletionRetainDays * 86_400_000).toISOString())
  const sequences = events.map(({ data }) => data.sequence)
  assert.deepEqual(
    sequences,
    sequences.toSorted((one, other) => one - other),
    'a later event is never lower',
  )
})

test('a suspension that ends by itself is reported once, also if another act comes first', async (t) => {
  const app = await listeningApp()
  t.after(app.close)
  const person = await world.person()
  const other = await sibling(world, person)
  for (const each of [person, other]) await connect(app, each)
  await suspend(world, person, { until: new Date(world.now().getTime() + 600_000).toISOString() })
  assert.deepEqual(await app.types(), ['identity.suspended', 'identity.suspended'])
  world.pass(600)
  await suspend(world, person, { scope: 'identity' })
  for (let again = 0; again < 2; again += 1) await pruneSuspensions(world.db, world.now(), 10)
  const [, , activated, ...more] = await app.events()
  assert.deepEqual([activated?.type, activated?.data['identityId'], more], ['identity.activated', other.identityId, []])

  await suspend(world, other, { scope: 'identity', until: new Date(world.now().getTime() + 60_000).toISOString() })
  assert.equal((await app.types()).length, 4)
  for (let again = 0; again < 2; again += 1) await pruneSuspensions(world.db, world.now(), 10)
  const { type, data } = (await app.events()).at(-1) ?? {}
  assert.deepEqual([type, data?.['identityId'], data?.['by']], ['identity.activated', other.identityId, 'system'])
  assert.equal((await app.events()).length, 5)
})

test('WHK-16 no time and no ID joins the events of siblings in one app', async (t) => {
  const app = await listeningApp()
  t.after(app.close)
  const person = await world.person()
  const siblings = [person, await sibling(world, person), await sibling(world, person), await sibling(world, person)]
  for (const each of siblings) await connect(app, each)
  const until = new Date(world.now().getTime() + 86_400_000).toISOString()
  const deleteAccount = async () =>
    world.api.inject({ method: 'DELETE', url: '/api/account', headers: await person.signIn() })
  const acts: [type: string, act: () => Promise<unknown>][] = [
    ['identity.suspended', () => suspend(world, person, { until })],
    ['identity.activated', () => activate(world, person)],
    ['identity.deleted', deleteAccount],
  ]
  for (const [type, act] of acts) {
    const actedAt = world.now().toISOString()
    await act()
    await enqueueAppEvents(world.db, world.now())
    const shown = (await app.deliveries()).filter((delivery) => delivery.type === type)
    assert.ok(shown.length < siblings.length, 'no list shows them together before their time')
    const events = (await app.events()).filter((event) => event.type === type)
    assert.equal(events.length, siblings.length)
    assert.ok(new Set(events.map(({ timestamp }) => timestamp)).size > 1)
    assert.ok(events.some(({ timestamp }) => timestamp > actedAt))
    for (const { data } of events) assert.deepEqual(Object.keys(data), ['identityId', 'sequence', 'by'])
  }
})

test('WHK-17 of raced acts each event is sent once, and the highest sequence has the final state', async (t) => {
  const app = await listeningApp()
  t.after(app.close)
  const person = await world.person()
  await connect(app, person)
  await Promise.all([suspend(world, person), activate(world, person), suspend(world, person), activate(world, person)])
  world.pass(60)
  await Promise.all(Array.from({ length: 4 }, () => enqueueAppEvents(world.db, world.now())))
  const { status } = (await ask('GET', `identities/${person.identityId}`)).json().identity
  const events = (await app.events()).toSorted((one, other) => one.data.sequence - other.data.sequence)
  assert.equal(new Set(events.map(({ data }) => data.sequence)).size, events.length)
  assert.equal(events.at(-1)?.type ?? 'identity.activated', `identity.${status === 'active' ? 'activated' : status}`)
})

test('members of a deleted group leave it for their apps', async (t) => {
  const app = await listeningApp({ groupsClaim: { include: 'all' } })
  t.after(app.close)
  const person = await world.person()
  await connect(app, person)
  const groupId = await newGroup('dissolved')
  await ask('PUT', `groups/${groupId}/members/${person.identityId}`)
  assert.deepEqual(await app.types(), ['group.member.added'])
  await ask('DELETE', `groups/${groupId}`)
  while ((await pruneDeletedGroups(world.db, world.now(), 10)) > 0);
  const { type, data } = (await app.events()).at(-1) ?? {}
  assert.deepEqual([type, data?.['groupId'], data?.['by']], ['group.member.removed', groupId, 'system'])
})
