import assert from 'node:assert/strict'
import { on } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pngOf } from '#testing/pictures.ts'
import { startService, workersOf, type Service } from '#testing/service.ts'
import { readDockerfile } from '../../tools/image.ts'

/** Intruder code in a process of the service: it tries several actions and reports the results. */
const intruder = `
import { spawn } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { writeFileSync } from 'node:fs'
const attempt = (act) => { try { act(); return 'done' } catch (error) { return error.code } }
process.on('SIGUSR2', () => console.log('intruder ' + JSON.stringify({
  starts: attempt(() => spawn('true')),
  thinks: attempt(() => new Worker('0', { eval: true })),
  writes: attempt(() => writeFileSync(import.meta.dirname + '/mine', '')),
  reaches: '__proto__' in {} ? 'the prototype' : 'nothing',
})))
`

/** Starts the service with the flags of its image, and the intruder in each of its processes. */
async function startGuarded(t: TestContext, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-intruder-'))
  const dataDirectory = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'intruder.mjs'), intruder)
  const command = (await readDockerfile()).find(({ word }) => word === 'CMD')?.rest ?? ''
  const flags = [...command.matchAll(/"(--[^"]+)"/g)].map(([, flag = '']) => flag)
  const own = flags.map((flag) => flag.replace(/^(--allow-fs-write)=.*/, `$1=${dataDirectory}`))
  const options = [...own, `--import=${join(folder, 'intruder.mjs')}`].join(' ')
  const service = await startService({ dataDirectory, environment: { ...environment, NODE_OPTIONS: options } })
  t.after(() => service.close())
  return { service, folder }
}

/** Returns the results of the intruder in that process of the service. */
async function intrude({ process: { stdout } }: Service, pid = 0): Promise<unknown> {
  const said = on(stdout, 'data')
  process.kill(pid, 'SIGUSR2')
  let text = ''
  for await (const [chunk] of said) {
    text += String(chunk)
    const found = /intruder (\{.*\})\n/.exec(text)
    if (found) return JSON.parse(found[1] ?? '')
  }
  return undefined
}

const nowhere = {
  starts: 'ERR_ACCESS_DENIED',
  thinks: 'ERR_ACCESS_DENIED',
  writes: 'ERR_ACCESS_DENIED',
  reaches: 'nothing',
}

async function works({ baseUrl, authUrl, admin }: Service): Promise<void> {
  const app = { name: 'Shop', redirectUris: ['https://shop.example/callback'] }
  const headers = { ...admin, 'content-type': 'application/json' }
  const made = await fetch(`${baseUrl}/api/admin/apps`, { method: 'POST', headers, body: JSON.stringify(app) })
  assert.equal(made.status, 201)
  const [clientId = ''] = /app_\w+/.exec(await made.text()) ?? []
  const icon = `${baseUrl}/api/admin/apps/${clientId}/icon`
  const drawn = await fetch(icon, { method: 'PUT', headers: admin, body: new Uint8Array(pngOf(300, 300)) })
  assert.equal(drawn.status, 200)
  const backup = await fetch(`${baseUrl}/api/admin/backup`, { headers: admin })
  assert.ok((await backup.bytes()).length > 100)
  assert.equal((await fetch(`${authUrl}/login`)).status, 200)
}

test('SUP-10 under the flags of the image the service works, and injected code does nothing', async (t) => {
  const { service, folder } = await startGuarded(t)
  await works(service)
  assert.deepEqual(await intrude(service, service.process.pid), nowhere)
  assert.deepEqual(await readdir(folder), ['intruder.mjs'])
  assert.equal(await service.end('SIGTERM'), 0)
})

if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('SUP-10 workers cannot start processes: only the main process can, which serves no requests', async (t) => {
    const { service } = await startGuarded(t, { WORKERS: '2', LOG_LEVEL: 'info' })
    await works(service)
    await service.wrote((output) => workersOf(output).length === 2)
    for (const pid of workersOf(service.output())) assert.deepEqual(await intrude(service, pid), nowhere)
    assert.equal(await service.end('SIGTERM'), 0)
  })
