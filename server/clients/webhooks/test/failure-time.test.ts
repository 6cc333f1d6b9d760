import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { startSender } from '#clients/webhooks/sender.ts'
import { freePorts } from '#testing/service.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

function portOf(server: Server): number {
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}

/** Returns a function that sends an event to a port, and returns how long the failed attempt took. */
function startSending(t: TestContext) {
  const attempts = new EventEmitter()
  const telemetry = { ...world.kernel.telemetry, webhookAttempted: (outcome: string) => attempts.emit('end', outcome) }
  const sender = startSender({ ...world.kernel, telemetry })
  t.after(() => sender.stop())
  return async (port: number) => {
    const { clientId } = await world.app()
    const url = `/api/admin/apps/${clientId}/webhook`
    const { admin: headers } = world
    const payload = { url: `http://localhost:${port}/` }
    assert.equal((await world.api.inject({ method: 'PUT', url, headers, payload })).statusCode, 200)
    const ended = once(attempts, 'end', { signal: AbortSignal.timeout(60_000) })
    const began = performance.now()
    assert.equal((await world.api.inject({ method: 'POST', url: `${url}/test`, headers })).statusCode, 201)
    assert.deepEqual(await ended, ['retry_scheduled'])
    return performance.now() - began
  }
}

test('WHK-30 the duration of a failed delivery does not tell whether its address was reachable', async (t) => {
  const receiver = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const [closed = 0] = await freePorts(1)
  const attempt = startSending(t)
  for (const port of [portOf(receiver), closed]) {
    const milliseconds = await attempt(port)
    assert.ok(milliseconds >= 990, `it took ${milliseconds} ms`)
  }
})

test('WHK-06 a delivery to a receiver that never responds fails after ten seconds', async (t) => {
  const receiver = await startWebhookReceiver(['nothing'])
  t.after(receiver.close)
  const milliseconds = await startSending(t)(receiver.port)
  assert.equal(limits.webhookAnswerSeconds, 10)
  assert.ok(milliseconds >= 9990, `it took ${milliseconds} ms`)
  assert.equal(receiver.received.length, 1)
})
