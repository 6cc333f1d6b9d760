import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { transaction } from '#platform/database/database.ts'
import { readEventStream } from '@countersign/protocol/formats/files/event-stream'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { followAudit } from '#testing/audit-follower.ts'
import { listenHere } from '#testing/held-request.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { createEventStreams } from '../event-stream.ts'

let world: TestWorld
let port = 0
let baseUrl = ''
before(async () => {
  world = await createWorld()
  port = await listenHere(world.api)
  baseUrl = `http://127.0.0.1:${port}`
  await recordLargeEvents(world)
})
after(() => world.close())

/** Records ten megabytes of events. */
async function recordLargeEvents({ db, now }: TestWorld): Promise<void> {
  const details = { text: 'a'.repeat(10_000) }
  await transaction(db, async (tx) => {
    for (let nth = 0; nth < 1000; nth += 1)
      await recordAuditEvent(tx, { action: 'app.updated', actor: 'system', details }, now())
  })
}

const request = {
  filter: {},
  after: 0,
  isFollowing: true,
  operatorKey: 'a reader',
  requireRights: async () => {},
  left: new AbortController().signal,
  cut: () => {},
}

test('AUD-02 what a slow reader has not read stays in the database, and reaches it later', async () => {
  const streams = createEventStreams(world.kernel)
  const slow = await streams.open(request)
  assert.ok(slow instanceof PassThrough)
  const quick = await followAudit(baseUrl, { query: '?after=0', headers: world.admin })
  await quick.until(() => quick.events.length >= 1000)
  quick.leave()
  assert.ok(slow.readableLength + slow.writableLength < 2_000_000)
  const places: number[] = []
  for await (const { id, data } of readEventStream(slow.setEncoding('utf8'))) {
    if (data !== undefined) places.push(Number(id))
    if (places.length === 1000) break
  }
  streams.stop()
  assert.deepEqual(
    places,
    Array.from({ length: 1000 }, (_, index) => index + 1),
  )
})

test('a reader hears from the service while nothing happens, with the place at which to continue', async () => {
  const streams = createEventStreams(world.kernel, { heartbeatMilliseconds: 20 })
  const found = await streams.open({ ...request, after: undefined, filter: { action: 'group' } })
  let read = ''
  for await (const piece of found) {
    read += String(piece)
    if (read.split(': nothing new\n').length > 2) break
  }
  streams.stop()
  const [, place = ''] = /^retry: 2000\nid: (\d+)\n\n/.exec(read) ?? []
  assert.equal(read.slice(read.indexOf('\n\n') + 2), `: nothing new\nid: ${place}\n\n`.repeat(2))
})

test('a stream ends at once when the service ends, also those of readers who do not read', async () => {
  const own = await createWorld()
  await recordLargeEvents(own)
  const ownPort = await listenHere(own.api)
  // Of one to nine megabytes, what the system does not take waits in the response, in the stream or in the database.
  const blocked = Array.from({ length: 9 }, (_, nth) => {
    const path = `/api/admin/audit/stream?after=${nth * 100}`
    const lines = [`GET ${path} HTTP/1.1`, 'host: localhost', `authorization: ${own.admin.authorization}`]
    const socket = connect(ownPort, '127.0.0.1').pause()
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    return socket
  })
  const follower = await followAudit(`http://127.0.0.1:${ownPort}`, { query: '?after=0', headers: own.admin })
  await follower.until(() => follower.events.length >= 1000)
  using watch = startStopwatch()
  const closing = own.api.close()
  assert.equal(await follower.ended, 'complete')
  await closing
  assert.ok(watch.milliseconds() < 5000)
  await own.close()
  for (const socket of blocked) socket.destroy()
})

test('a stream that does not follow breaks off if it cannot be completed', async () => {
  const streams = createEventStreams(world.kernel)
  const broken = await streams.open({ ...request, isFollowing: false })
  streams.stop()
  await assert.rejects(text(broken))
})
