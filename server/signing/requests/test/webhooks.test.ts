import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { webhookBodies } from '@countersign/protocol/clients/webhook-events'
import { Value } from 'typebox/value'
import { businessOf, councilOf } from '#testing/council.ts'
import { join, createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { startSender, type Sender } from '#clients/webhooks/sender.ts'
import { expireOrganizationRequests } from '#signing/requests/organizations/organization-request.ts'
import { expireFormerRequests, expireRequests } from '#signing/requests/identities/request.ts'

let world: TestWorld
let sender: Sender
before(async () => {
  world = await createWorld()
  sender = startSender(world.kernel)
})
after(async () => {
  await sender.stop()
  await world.close()
})

/** Creates an app with a webhook that collects events, and a user as signer. */
async function openShop() {
  const receiver = await startWebhookReceiver()
  const app = await world.app({ name: 'Shop' })
  const url = `/api/admin/apps/${app.clientId}/webhook`
  const set = await world.api.inject({ method: 'PUT', url, headers: world.admin, payload: { url: receiver.url } })
  assert.equal(set.statusCode, 200)
  const ada = await createSigner(world)
  const shop = signingRequesterOf(world, app)
  return {
    ada,
    close: receiver.close,
    open: async (): Promise<string> => (await shop.request(ada.identityId)).json().requestId,
    openTo: async (organizationId: string): Promise<string> => (await shop.requestOf(organizationId)).json().requestId,
    status: async (requestId: string) => (await shop.status(requestId)).json(),
    /** Resolves with the collected events when there are `count` and their deliveries are recorded. */
    async heard(count: number) {
      await receiver.has(count)
      while (await isWaiting(`${url}/deliveries`)) await pause(10)
      return receiver.received.map(({ body }) => requireDocumented(JSON.parse(body)))
    },
  }
}

/** Checks that the OpenAPI document describes an event and each of its fields. */
function requireDocumented(event: { type: string; data: { requestId: string; status: string } }) {
  const body = webhookBodies[event.type]
  assert.ok(body, event.type)
  assert.deepEqual([...Value.Errors(body, event)], [])
  assert.deepEqual(Value.Clean(body, structuredClone(event)), event)
  return event
}

async function isWaiting(url: string): Promise<boolean> {
  const { deliveries } = (await world.api.inject({ url, headers: world.admin })).json()
  return deliveries.some(({ state }: { state: string }) => state === 'pending')
}

test('an app gets a webhook event for a signature with the content of the status', async (t) => {
  const { ada, open, status, heard, close } = await openShop()
  t.after(close)
  const requestId = await open()
  assert.equal((await ada.sign(requestId, ada.pair.sign('Pay 10 €'))).statusCode, 200)
  const [event] = await heard(1)
  const data = { ...(await status(requestId)), identityId: ada.identityId }
  assert.equal(data.status, 'signed')
  assert.deepEqual(event, { type: 'signing.signed', timestamp: world.now().toISOString(), data })
})

test('an app gets one event for a denial, however often it is attempted', async (t) => {
  const { ada, open, status, heard, close } = await openShop()
  t.after(close)
  const requestId = await open()
  await Promise.all(Array.from({ length: 8 }, () => ada.deny(requestId)))
  const other = await open()
  await ada.deny(other)
  const events = await heard(2)
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.requestId]).toSorted(),
    [requestId, other].map((id) => ['signing.denied', id]).toSorted(),
  )
  assert.deepEqual((await status(requestId)).status, 'denied')
})

test('an app gets one event for an expiry: by cleanup, by reading, or by key rotation', async (t) => {
  const { ada, open, status, heard, close } = await openShop()
  t.after(close)
  const rotated = await open()
  const rotation = rotationOf(ada.identityId, ada.pair, newSigningPair())
  assert.equal((await ada.rotate(rotation)).statusCode, 200)
  assert.equal((await status(rotated)).status, 'expired')
  await heard(1)
  const [swept, looked] = [await open(), await open()]
  world.pass(301)
  assert.equal((await status(looked)).status, 'expired')
  while ((await expireRequests(world.db, world.now(), 500)) > 0);
  const events = await heard(3)
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.status, data.requestId]).toSorted(),
    [swept, looked, rotated].map((id) => ['signing.expired', 'expired', id]).toSorted(),
  )
})

test('requests to a deleted identity, or deleted account, expire at their own time', async (t) => {
  for (const path of ['identity', 'account'] as const) {
    const { ada, open, status, heard, close } = await openShop()
    t.after(close)
    if (path === 'identity') await addIdentity(ada)
    const denied = await open()
    await ada.deny(denied)
    await heard(1)
    const waiting = await open()
    const url = path === 'identity' ? `/api/identities/${ada.identityId}` : '/api/account'
    const deleted = await world.api.inject({ method: 'DELETE', url, headers: ada.headers })
    assert.equal(deleted.statusCode, 204, deleted.body)
    assert.equal((await status(waiting)).status, 'pending')
    world.pass(301)
    assert.equal((await status(waiting)).status, 'expired')
    while ((await expireFormerRequests(world.db, world.now(), 500)) > 0);
    const events = await heard(2)
    assert.deepEqual(events.map(({ type, data }) => [type, data.requestId]).toSorted(), [
      ['signing.denied', denied],
      ['signing.expired', waiting],
    ])
  }
})

test("an app gets one event for an organization's signature, with all signatures, denial or expiry", async (t) => {
  const { ada, openTo, status, heard, close } = await openShop()
  t.after(close)
  const bob = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  await join(world, { id, owner: ada, role: 'signer' }, bob)
  const council = councilOf(businessOf(world), id)
  await council.decide({ by: ada, others: [bob] }, 'PATCH', { approvalsNeeded: 1 })
  const [signed, denied] = [await openTo(id), await openTo(id)]
  for (const requestId of [signed, denied]) await ada.sign(requestId, ada.pair.sign('Pay 10 €'))
  await bob.approve(signed, bob.pair.sign('Pay 10 €'))
  await bob.deny(denied)
  await heard(2)
  const [swept, looked] = [await openTo(id), await openTo(id)]
  await ada.sign(swept, ada.pair.sign('Pay 10 €'))
  world.pass(301)
  assert.equal((await status(looked)).status, 'expired')
  while ((await expireOrganizationRequests(world.db, world.now(), 500)) > 0);
  const events = await heard(4)
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.requestId]).toSorted(),
    [
      ['signing.signed', signed],
      ['signing.denied', denied],
      ['signing.expired', swept],
      ['signing.expired', looked],
    ].toSorted(),
  )
  for (const { data } of events) assert.deepEqual(data, { ...(await status(data.requestId)), organizationId: id })
  assert.equal((await status(signed)).signatures.length, 2)
})

async function addIdentity({ headers }: Pick<Person, 'headers'>): Promise<void> {
  const payload = { handle: `other-${randomBytes(6).toString('hex')}`, displayName: 'Other' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(added.statusCode, 201)
}
