import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import pino from 'pino'
import { createAdmission } from '#platform/http/admission.ts'
import { loadConfig } from '#platform/config/config.ts'
import { createHost } from '#platform/http/host.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'

/** Creates a host with failing routes, and collects its log lines of level error. */
function hostWithFaults() {
  const lines: { requestId: string; msg: string }[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const config = loadConfig({})
  const host = createHost(
    { log, config, telemetry: noTelemetry },
    {
      origin: config.baseUrl,
      origins: { authHost: '', pages: [], isRegistered: async () => false },
      admission: createAdmission(),
      elsewhere: () => undefined,
      errorPage: (reply) => reply.send('a page'),
    },
  )
  host.get('/throws', () => {
    throw new TypeError('the secret of alice')
  })
  host.get('/rejects', async () => {
    await turn()
    throw new Error('the secret of alice')
  })
  host.get('/throws-no-error', async () => {
    await turn()
    return Promise.reject('the secret of alice')
  })
  const guard = { onRequest: () => Promise.reject(new RangeError('the secret of alice')) }
  host.get('/guard', guard, () => 'never')
  host.get('/serves', async () => 'well')
  return { host, lines }
}

for (const path of ['/throws', '/rejects', '/throws-no-error', '/guard'])
  test(`LOD-10 a fault in a handler fails only its own request and is logged once: ${path}`, async () => {
    const { host, lines } = hostWithFaults()
    const [faulty, ...others] = await Promise.all([
      host.inject({ url: path }),
      ...Array.from({ length: 16 }, () => host.inject({ url: '/serves' })),
    ])
    assert.equal(faulty.statusCode, 500)
    const { error, requestId } = faulty.json<{ error: string; requestId: string }>()
    assert.equal(error, 'server_error')
    assert.doesNotMatch(faulty.body, /alice|Error|\.ts/)
    assert.deepEqual(
      lines.map((line) => [line.requestId, line.msg]),
      [[requestId, 'request failed']],
    )
    assert.ok(others.every(({ body }) => body === 'well'))
    assert.equal((await host.inject({ url: '/serves' })).body, 'well')
  })
