import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followAudit } from '#testing/audit-follower.ts'
import { startBeside, startService, type Service } from '#testing/service.ts'
import { startStopwatch } from '#testing/stopwatch.ts'

type Line = { route?: string; status?: number; milliseconds?: number }

/** Returns the log line of the stream, once it is written. */
async function loggedStream({ wrote, output }: Service): Promise<Line | undefined> {
  await wrote((text) => text.includes('/api/admin/audit/stream'))
  const lines = output().split('\n').slice(0, -1)
  const parsed = lines.filter((line) => line.startsWith('{')).map((line): Line => JSON.parse(line))
  return parsed.find(({ route }) => route === '/api/admin/audit/stream')
}

test('a stream is logged when it begins, with the time until then, and ends when the service does', async () => {
  const service = await startService({ environment: { LOG_LEVEL: 'info' } })
  try {
    const requestedAt = performance.now()
    const { ended, until, place } = await followAudit(service.baseUrl, { headers: service.admin })
    await until(() => place() !== '')
    const untilBegin = performance.now() - requestedAt
    const { status, milliseconds = Infinity } = (await loggedStream(service)) ?? {}
    assert.equal(status, 200)
    assert.ok(milliseconds <= untilBegin, `${milliseconds} ms`)

    using watch = startStopwatch()
    assert.equal(await service.end(), 0)
    assert.equal(await ended, 'complete')
    assert.ok(watch.milliseconds() < 5000)
  } finally {
    await service.close()
  }
})

// An embedded database has one process.
if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('AUD-02 a reader continues at another process, which also shows what others record', async (t) => {
    const service = await startService()
    try {
      const [here, there] = [service.baseUrl, (await startBeside(t, service)).baseUrl]
      const headers = { ...service.admin, 'content-type': 'application/json' }
      const create = async (key: string) => {
        const body = JSON.stringify({ key, displayName: key })
        const answer = await fetch(`${here}/api/admin/groups`, { method: 'POST', headers, body })
        assert.equal(answer.status, 201, await answer.text())
      }
      const first = await followAudit(here, { query: '?action=group', headers: service.admin })
      await create('one')
      await first.until(() => first.events.length === 1)
      first.leave()
      await create('two')
      const second = await followAudit(there, {
        query: '?action=group',
        headers: { ...service.admin, 'last-event-id': first.place() },
      })
      await create('three')
      await second.until(() => second.events.length === 2)
      assert.deepEqual(
        second.events.map(({ details }) => details['key']),
        ['two', 'three'],
      )
      second.leave()
    } finally {
      await service.close()
    }
  })
