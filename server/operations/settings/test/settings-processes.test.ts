import assert from 'node:assert/strict'
import { once } from 'node:events'
import { IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { startBehind, startService } from '#testing/service.ts'
import { startStopwatch } from '#testing/stopwatch.ts'

/** Reads a page of the auth host from the process at a port. */
async function readPage(port: number, authUrl: string): Promise<string> {
  const sent = request({ host: 'localhost', port, agent: false, path: '/', headers: { host: new URL(authUrl).host } })
  const [response] = await once(sent.end(), 'response')
  assert.ok(response instanceof IncomingMessage)
  return text(response)
}

/** Only one process can open the embedded database. */
const others = process.env['TEST_DATABASE_URL'] === undefined ? 0 : 2

test('SET-01 a change at one process applies on the pages of all within five seconds', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const ports = [Number(new URL(service.authUrl).port)]
  for (let nth = 0; nth < others; nth += 1) ports.push(await startBehind(t, service))
  const answer = await fetch(`${service.baseUrl}/api/admin/settings`, {
    method: 'PATCH',
    headers: { ...service.admin, 'content-type': 'application/json', 'if-match': '"0"' },
    body: JSON.stringify({ settings: { 'branding.name': 'Example ID' } }),
  })
  assert.equal(answer.status, 200, await answer.text())
  using watch = startStopwatch()
  for (const port of ports)
    while (!(await readPage(port, service.authUrl)).includes('<title>Example ID</title>')) {
      assert.ok(watch.milliseconds() < 5000, `not within five seconds at port ${port}`)
      await pause(50)
    }
})
