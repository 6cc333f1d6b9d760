import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { startBeside, startService, type Service } from '#testing/service.ts'

/** Starts a receiver that takes its time, and counts requests that it gets at once. */
async function startSlowReceiver() {
  const places: number[] = []
  let [underWay, most] = [0, 0]
  let news = Promise.withResolvers<void>()
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    underWay += 1
    most = Math.max(most, underWay)
    const events = await json(request)
    if (Array.isArray(events)) places.push(...events.map(({ sequence }) => Number(sequence)))
    setTimeout(() => {
      underWay -= 1
      response.writeHead(204).end()
      news.resolve()
      news = Promise.withResolvers()
    }, 300)
  }
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://localhost:${port}/hook`,
    places,
    most: () => most,
    async until(holds: () => boolean): Promise<void> {
      while (!holds()) await news.promise
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function post(service: Service, path: string, body: object): Promise<void> {
  const headers = { ...service.admin, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${service.baseUrl}/api/admin/${path}`, init)
  assert.equal(answer.status, 201, await answer.text())
}

test('AUD-02 one process sends at a time, and what a killed one did not complete is sent by another', async (t) => {
  const receiver = await startSlowReceiver()
  t.after(receiver.close)
  const service = await startService()
  try {
    // An embedded database has one process.
    if (process.env['TEST_DATABASE_URL'] !== undefined) await startBeside(t, service)
    await post(service, 'sinks', { key: 'slow', kind: 'http', url: receiver.url, actions: ['group'] })
    for (let nth = 0; nth < 5; nth += 1) {
      await post(service, 'groups', { key: `group-${nth}`, displayName: 'Group' })
      await receiver.until(() => new Set(receiver.places).size > nth)
    }
    assert.equal(receiver.most(), 1)
    assert.equal(receiver.places.length, 5)
    assert.deepEqual(
      receiver.places,
      receiver.places.toSorted((one, other) => one - other),
    )

    await post(service, 'groups', { key: 'late', displayName: 'Group' })
    await service.end('SIGKILL')
    await service.restart()
    await receiver.until(() => new Set(receiver.places).size === 6)
  } finally {
    await service.close()
  }
})
