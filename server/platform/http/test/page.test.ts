import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pino from 'pino'
import { createAdmission } from '#platform/http/admission.ts'
import { loadConfig } from '#platform/config/config.ts'
import { findBuiltAssets } from '#platform/http/page.ts'
import { createHost } from '#platform/http/host.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'

test('SUP-12 files of another version that are copied into the folder are served without a restart', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-assets-'))
  t.after(() => rm(folder, { recursive: true }))
  const clock = t.mock.method(performance, 'now', () => 0)
  await writeFile(join(folder, 'signin-AbCd1234.js'), 'former')
  const config = loadConfig({})
  const host = createHost(
    { log: pino({ level: 'silent' }), config, telemetry: noTelemetry },
    {
      origin: config.baseUrl,
      origins: { authHost: '', pages: [], isRegistered: async () => false },
      admission: createAdmission(),
      elsewhere: () => undefined,
      errorPage: (reply) => reply.send('a page'),
    },
  )
  const mountOn = await findBuiltAssets(folder)
  mountOn(host)
  const get = async (name: string) => {
    const { statusCode, body } = await host.inject({ url: `/assets/${name}` })
    return statusCode === 200 ? body : statusCode
  }
  assert.deepEqual([await get('signin-AbCd1234.js'), await get('signin-EfGh5678.js')], ['former', 404])
  await writeFile(join(folder, 'signin-EfGh5678.js'), 'later')
  await writeFile(join(folder, 'signin-EfGh5678.js.br'), 'compressed')
  assert.equal(await get('signin-EfGh5678.js'), 404, 'the folder is listed once a second')
  clock.mock.mockImplementation(() => 1000)
  const together = ['signin-EfGh5678.js', 'signin-AbCd1234.js', 'signin-EfGh5678.js']
  assert.deepEqual(await Promise.all(together.map(get)), ['later', 'former', 'later'])
  for (const name of ['signin-EfGh5678.js.br', '..%2fsignin-EfGh5678.js', 'SIGNIN-EfGh5678.js'])
    assert.equal(await get(name), 404, name)
})
