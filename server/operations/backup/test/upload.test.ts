import assert from 'node:assert/strict'
import { readdir, readlink } from 'node:fs/promises'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { once } from 'node:events'
import { setTimeout as elapsed } from 'node:timers/promises'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { startService, type Service } from '#testing/service.ts'

const environment = { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters' }
/** Longer than any other request may take. */
const uploadMilliseconds = 14_000
const pieces = 14

let service: Service
let empty: Service
before(async () => {
  service = await startService({ environment })
  empty = await startService({ environment })
})
after(async () => {
  await service.close()
  await empty.close()
})

function post(path: string, type: string): ClientRequest {
  const headers = { ...empty.admin, 'content-type': type }
  return request(`${empty.baseUrl}${path}`, { method: 'POST', headers })
}

async function answerTo(sent: ClientRequest): Promise<{ status: number | undefined; body: unknown }> {
  const [response]: IncomingMessage[] = await once(sent, 'response')
  assert.ok(response)
  return { status: response.statusCode, body: await json(response) }
}

/** Sends a body in chunks with long pauses, as over a slow connection. */
async function sendSlowly(sent: ClientRequest, body: Buffer): Promise<void> {
  const size = Math.ceil(body.length / pieces)
  for (let start = 0; start < body.length; start += size) {
    sent.write(body.subarray(start, start + size))
    await elapsed(uploadMilliseconds / pieces)
  }
  sent.end()
}

test('a backup may be uploaded slowly, other bodies may not', async () => {
  const taken = await fetch(`${service.baseUrl}/api/admin/backup`, { headers: service.admin })
  const backup = Buffer.from(await taken.arrayBuffer())

  const other = post('/api/admin/apps', 'application/json')
  other.write('{')
  const refused = answerTo(other)
  const restoring = post('/api/admin/restore', backupMediaType)
  const restored = answerTo(restoring)
  await sendSlowly(restoring, backup)

  assert.equal((await refused).status, 408)
  const { status, body } = await restored
  assert.equal(status, 200, JSON.stringify(body))
})

test('an interrupted upload changes nothing and leaves no file open', async () => {
  const sent = post('/api/admin/restore', backupMediaType)
  const cut = once(sent, 'error')
  sent.write(Buffer.alloc(1_000_000))
  while ((await spooled(empty)).length === 0);
  sent.destroy(new Error('cut'))
  await cut
  while ((await spooled(empty)).length > 0);
  const whole = await fetch(`${empty.baseUrl}/readyz`)
  assert.equal(whole.status, 200)
})

/** Lists the unnamed files that the process has open in its data directory. */
async function spooled({ process, settings }: Service): Promise<string[]> {
  const folder = `/proc/${process.pid}/fd`
  const names = await readdir(folder)
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(`${settings.DATA_DIR}/backup-`))
}
