import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { after, before, test } from 'node:test'
import { startSender } from '#clients/webhooks/sender.ts'
import { freePorts } from '#testing/service.ts'
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

test('WHK-30 the duration of a failed delivery does not tell whether its address was reachable', async (t) => {
  const receiver = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const [closed = 0] = await freePorts(1)
  const attempts = new EventEmitter()
  const telemetry = { ...world.kernel.telemetry, webhookAttempted: (outcome: string) => attempts.emit('end', outcome) }
  const sender = startSender({ ...world.kernel, telemetry })
  t.after(() => sender.stop())
  for (const port of [portOf(receiver), closed]) {
    const { clientId } = await world.app()
    const webhook = { url: `/api/admin/apps/${clientId}/webhook`, headers: world.admin }
    const payload = { url: `http://localhost:${port}/` }
    assert.equal((await world.api.inject({ ...webhook, method: 'PUT', payload })).statusCode, 200)
    const ended = once(attempts, 'end', { signal: AbortSignal.timeout(20_000) })
    const began = performance.now()
    const sent = await world.api.inject({ ...webhook, url: `${webhook.url}/test`, method: 'POST' })
    assert.equal(sent.statusCode, 201)
    assert.deepEqual(await ended, ['retry_scheduled'])
    const milliseconds = performance.now() - began
    assert.ok(milliseconds >= 990, `it took ${milliseconds} ms`)
  }
})
