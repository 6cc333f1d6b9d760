import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import pino from 'pino'
import { createAdmission } from '#platform/http/admission.ts'
import { defineErrors } from '#platform/api-error.ts'
import { loadConfig } from '#platform/config/config.ts'
import { createHost } from '#platform/http/host.ts'
import { probeRoutes } from '#platform/process/site.ts'
import { createMetrics } from '#platform/observability/metrics.ts'

const errors = defineErrors({
  kms_unavailable: [503, 'The KMS did not respond.'],
  sso_provider_timeout: [504, 'The provider did not respond.'],
})

/** Creates a host with failing routes, and collects its log lines of level error, and its metrics. */
function hostWithFaults() {
  const lines: { requestId: string; msg: string }[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const config = loadConfig({})
  const metrics = createMetrics(() => ({ open: 0, idle: 0, waiting: 0 }))
  const host = createHost(
    { log, config, telemetry: metrics },
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
  host.get('/database', () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })))
  probeRoutes(host, () => Promise.reject(new Error('no response')))
  host.get('/kms', () => Promise.reject(errors.kms_unavailable()))
  host.get('/provider', () => Promise.reject(errors.sso_provider_timeout()))
  const faults = async () => {
    const family = (await metrics.read()).find(({ name }) => name === 'countersign_request_faults_total')
    return Object.fromEntries(family?.samples ?? [])
  }
  return { host, lines, faults }
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

test('LOD-10 metrics count faults of the service, and not those of a KMS or a provider', async () => {
  const { host, faults } = hostWithFaults()
  for (const [url, status] of [
    ['/kms', 503],
    ['/provider', 504],
    ['/nothing-here', 404],
  ] as const)
    assert.equal((await host.inject({ url })).statusCode, status)
  assert.deepEqual(await faults(), counts({}))
  for (const url of ['/throws', '/guard', '/database', '/readyz']) await host.inject({ url })
  assert.deepEqual(await faults(), counts({ server_error: 2, database_unavailable: 2 }))
})

function counts(given: { server_error?: number; database_unavailable?: number }) {
  const { server_error: ofServer = 0, database_unavailable: ofDatabase = 0 } = given
  return {
    '{fault="server_error"}': ofServer,
    '{fault="database_unavailable"}': ofDatabase,
    '{fault="mail_unavailable"}': 0,
    '{fault="overloaded"}': 0,
  }
}
