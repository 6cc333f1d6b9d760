import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { transaction } from '#platform/database/database.ts'
import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { webhookBodies } from '@countersign/protocol/clients/webhook-events'
import { Value } from 'typebox/value'
import { answerOf, approverOf } from '#testing/approver.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { tablesWith } from '#testing/stored-text.ts'
import { startSender } from '#clients/webhooks/sender.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** An app whose receiver answers like this, and then 204. */
async function openShop(t: TestContext, sayings: number[] = []) {
  const receiver = await startWebhookReceiver(sayings)
  t.after(receiver.close)
  const app = await world.app({ name: 'Shop' })
  const url = `/api/admin/apps/${app.clientId}/webhook`
  const call = (method: 'GET' | 'PUT' | 'POST', path = '', payload?: object) =>
    world.api.inject({ method, url: url + path, headers: world.admin, ...(payload && { payload }) })
  const set = async () => assert.equal((await call('PUT', '', { url: receiver.url })).statusCode, 200)
  await set()
  const list = async (): Promise<WebhookDelivery[]> => (await call('GET', '/deliveries')).json().deliveries
  return {
    ...signingRequesterOf(world, app),
    set,
    list,
    sendAgain: (deliveryId = '') => call('POST', `/deliveries/${deliveryId}/send`),
    /** Sends what is due until each delivery is in this state. Returns the newest. */
    async deliver(state: WebhookDelivery['state']): Promise<WebhookDelivery | undefined> {
      const sender = startSender(world.kernel)
      // The embedded database responds without yielding to the network.
      while ((await list()).some((delivery) => delivery.state !== state)) await pause(10)
      await sender.stop()
      return (await list())[0]
    },
    events: () => receiver.received.map(({ body }) => JSON.parse(body)),
    bodies: () => receiver.received.map(({ body }) => body).join('\n'),
  }
}

/** The tables of webhooks that contain a text. */
const webhookTablesWith = async (text: string) =>
  (await tablesWith(world.db, text)).filter((name) => name.startsWith('webhook_'))

const remove = async ({ headers }: Pick<Person, 'headers'>) =>
  assert.equal((await world.api.inject({ method: 'DELETE', url: '/api/account', headers })).statusCode, 204)

/** A request to an organization that one member signs and its owner approves. */
async function openForOrganization(shop: Awaited<ReturnType<typeof openShop>>) {
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const { requestId } = (await shop.requestOf(id)).json()
  const [ann] = members
  return {
    ...{ id, owner, ann, requestId },
    sign: () => approverOf(world, ann).give(requestId, { role: 'sign' }),
    approve: () => approverOf(world, owner).give(requestId, { role: 'approve' }),
  }
}

test('SGN-33 an event contains the approval as the status does', async (t) => {
  const shop = await openShop(t)
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  assert.equal((await approverOf(world, ada).give(requestId)).statusCode, 200)
  await shop.deliver('delivered')
  const [event] = shop.events()
  assert.ok(event.data.approval.statement.includes(ada.handle))
  assert.deepEqual(event.data, { ...(await shop.status(requestId)).json(), identityId: ada.identityId })
  assert.deepEqual(Value.Clean(webhookBodies['signing.signed'] ?? assert.fail(), structuredClone(event)), event)
})

test('SGN-33 an event of an organization contains the approval of each member', async (t) => {
  const shop = await openShop(t)
  const { id, requestId, sign, approve } = await openForOrganization(shop)
  await sign()
  assert.equal((await approve()).json().status, 'signed')
  await shop.deliver('delivered')
  const [event] = shop.events()
  const approvals = event.data.signatures.map(({ approval }: { approval?: object }) => approval)
  assert.deepEqual([approvals.length, approvals.filter(Boolean).length], [2, 2])
  assert.deepEqual(event.data, { ...(await shop.status(requestId)).json(), organizationId: id })
  assert.deepEqual(Value.Clean(webhookBodies['signing.signed'] ?? assert.fail(), structuredClone(event)), event)
})

test('SGN-34 the content of a delivered event is not kept, and it cannot be sent again', async (t) => {
  const shop = await openShop(t, [500])
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  await approverOf(world, ada).give(requestId)
  assert.ok((await webhookTablesWith(ada.handle)).length > 0)
  const sender = startSender(world.kernel)
  while ((await shop.list())[0]?.attempts.length !== 1) await pause(10)
  await sender.stop()
  assert.ok((await webhookTablesWith(ada.handle)).length > 0, 'to be sent again')
  world.pass(400)
  const delivery = await shop.deliver('delivered')
  assert.deepEqual(await webhookTablesWith(ada.handle), [])
  assert.deepEqual(await webhookTablesWith(requestId), [])
  assert.equal(shop.events()[1].data.approval.statement, shop.events()[0].data.approval.statement)
  assert.equal(delivery?.type, 'signing.signed')
  assert.deepEqual(
    delivery.attempts.map(({ status }) => status),
    [500, 204],
  )
  const again = await shop.sendAgain(delivery.deliveryId)
  assert.deepEqual([again.statusCode, again.json().error], [409, 'delivery_not_redeliverable'])
})

test('SGN-35 an identity takes its approvals from events that wait or failed; these arrive', async (t) => {
  for (const state of ['pending', 'failed'] as const) {
    const shop = await openShop(t, state === 'failed' ? [410] : [])
    const ada = await createSigner(world)
    const { requestId } = (await shop.request(ada.identityId)).json()
    await approverOf(world, ada).give(requestId)
    if (state === 'failed') await shop.deliver('failed')
    await remove(ada)
    assert.deepEqual(await webhookTablesWith(ada.handle), [], state)
    await shop.set()
    if (state === 'failed') {
      const [delivery] = await shop.list()
      assert.equal((await shop.sendAgain(delivery?.deliveryId)).statusCode, 200)
    }
    await shop.deliver('delivered')
    const { type, data } = shop.events().at(-1)
    assert.deepEqual(
      [type, data.requestId, data.status, data.approval],
      ['signing.signed', requestId, 'signed', undefined],
    )
    assert.equal(typeof data.signature, 'string')
  }
})

test('SGN-35 in an event of an organization, the approvals of the other members stay', async (t) => {
  const shop = await openShop(t)
  const { id, ann, owner, requestId, sign, approve } = await openForOrganization(shop)
  await sign()
  await approve()
  await remove(ann)
  await shop.deliver('delivered')
  const [{ data }] = shop.events()
  const kept = data.signatures.map(({ role, approval }: { role: string; approval?: object }) => [role, !!approval])
  assert.deepEqual(kept.toSorted(), [
    ['approve', true],
    ['sign', false],
  ])
  assert.deepEqual(data, { ...(await shop.status(requestId)).json(), organizationId: id })
  assert.ok(shop.bodies().includes(owner.handle) && !shop.bodies().includes(ann.handle))
})

test('SGN-35 a member deleted while another completes the request leaves no approval in the event', async (t) => {
  const shop = await openShop(t)
  const { ann, owner, requestId, sign } = await openForOrganization(shop)
  await sign()
  const byOwner = approverOf(world, owner)
  const body = answerOf(owner, await byOwner.begin(requestId, 'approve'))
  const both = await transaction(world.db, async (tx) => {
    const held = tx.selectFrom('webhook_endpoint').select('client_id').where('client_id', '=', shop.clientId)
    assert.equal((await held.forUpdate().execute()).length, 1)
    // It has read the approvals, and waits to queue the event.
    const completed = byOwner.send(requestId, body, 'approve')
    await untilWaiting(world.db, 1)
    const removed = remove(ann)
    await Promise.race([removed, untilWaiting(world.db, 2)])
    return { completed, removed }
  })
  await both.removed
  const { status } = (await both.completed).json()
  if (isShared) assert.equal(status, 'signed')
  assert.deepEqual(await webhookTablesWith(ann.handle), [])
  await shop.deliver('delivered')
  if (isShared) assert.ok(shop.bodies().includes(owner.handle))
  assert.ok(!shop.bodies().includes(ann.handle))
})
