import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { reopenStorage } from '#testing/database.ts'
import { startService, type Service } from '#testing/service.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'

async function serve(t: TestContext, environment: Record<string, string> = {}): Promise<Service> {
  const service = await startService({ environment: { RATE_LIMITS: 'off', ...environment } })
  t.after(() => service.close())
  return service
}

async function ask(service: Service, method: string, path: string, body?: object) {
  const answer = await fetch(`${service.baseUrl}/api/admin${path}`, {
    method,
    headers: { ...service.admin, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  return JSON.parse(await answer.text())
}

/** Creates an app with a webhook and returns the webhook's path and secret. */
async function hearing(service: Service, url: string): Promise<{ path: string; secret: string }> {
  const app = { name: 'Shop', redirectUris: ['https://shop.example/callback'] }
  const path = `/apps/${(await ask(service, 'POST', '/apps', app)).clientId}/webhook`
  return { path, secret: (await ask(service, 'PUT', path, { url })).secret }
}

/** Returns the last delivery when it has ended. */
async function ended(service: Service, path: string) {
  for (;;) {
    const [delivery] = (await ask(service, 'GET', `${path}/deliveries?limit=1`)).deliveries
    if (delivery.state !== 'pending') return delivery
    await pause(20)
  }
}

test('a delivery of a killed process is sent by the next one under the same ID', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const service = await serve(t)
  const { path } = await hearing(service, receiver.url)
  const { deliveryId } = await ask(service, 'POST', `${path}/test`)
  await receiver.has(1)
  await service.end('SIGKILL')

  // As if the lease of the killed process had expired.
  const storage = await reopenStorage(service.settings.DATABASE_URL, service.settings.DATA_DIR)
  await sql`
    update webhook_delivery
    set next_attempt_at = (next_attempt_at at time zone 'UTC' - interval '30 seconds') at time zone 'UTC'`.execute(
    storage.db,
  )
  await storage.close()
  await service.restart()
  await receiver.has(2)
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [deliveryId, deliveryId],
  )
  assert.equal((await ended(service, path)).state, 'delivered')
})

test('the log contains neither secret, signature, payload nor address, whatever the receiver responds', async (t) => {
  const receiver = await startWebhookReceiver([500, { status: 410, headers: { 'x-said': 'by-the-receiver' } }])
  t.after(receiver.close)
  const service = await serve(t, { LOG_LEVEL: 'trace' })
  const { path, secret } = await hearing(service, `${receiver.url}/a-path-to-find`)
  const rotated = await ask(service, 'POST', `${path}/secret`, { graceSeconds: 60 })
  await ask(service, 'POST', `${path}/test`)
  await receiver.has(1)
  await ask(service, 'POST', `${path}/test`)
  await receiver.has(2)
  await ended(service, path)
  await service.end('SIGTERM')

  const output = service.output()
  assert.match(output, /"route":"\/api\/admin\/apps\/:clientId\/webhook\/test","status":201/)
  const said = receiver.received.flatMap(({ headers, body }) => [
    body,
    ...(headers['webhook-signature'] ?? '').split(' '),
  ])
  const found = [secret, rotated.secret, 'whsec_', 'a-path-to-find', 'by-the-receiver', 'webhook.test', ...said]
  for (const each of found) assert.ok(!output.includes(each), each)
})

if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('several processes send each webhook once, whichever of them queued it', async (t) => {
    const receiver = await startWebhookReceiver()
    t.after(receiver.close)
    const service = await serve(t, { WORKERS: '2' })
    const { path } = await hearing(service, receiver.url)
    const sent = await Promise.all(Array.from({ length: 40 }, () => ask(service, 'POST', `${path}/test`)))
    await receiver.has(sent.length)
    await ended(service, path)
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    assert.deepEqual(ids.toSorted(), sent.map(({ deliveryId }) => deliveryId).toSorted())
  })
