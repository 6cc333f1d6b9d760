import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import pino from 'pino'
import { holdRequest, listenHere } from '#testing/held-request.ts'
import { createAdmission } from '#platform/http/admission.ts'
import { loadConfig } from '#platform/config/config.ts'
import { guard } from '#platform/http/guard.ts'
import { createHost } from '#platform/http/host.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'

test('SES-14 a guard runs again only if the body was incomplete, and its last result counts', async (t) => {
  const config = loadConfig({})
  const host = createHost(
    { log: pino({ level: 'silent' }), config, telemetry: noTelemetry },
    {
      origin: config.baseUrl,
      admission: createAdmission(),
      origins: { authHost: '', pages: [], isRegistered: async () => false },
      elsewhere: () => undefined,
      errorPage: (reply) => reply.send('a page'),
    },
  )
  t.after(() => host.close())
  let looks = 0
  const { promise: looked, resolve: look } = Promise.withResolvers<void>()
  const counting = guard(async () => {
    looks += 1
    // At least as long as a database query, so that data sent with the header has been read.
    await wait(1)
    if (looks > 2) look()
    return { look: looks }
  })
  host.post('/counted', { onRequest: counting.onRequest }, async (request) => counting.of(request))
  const port = await listenHere(host)
  const headers = { 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${port}/counted`
  for (const expected of [1, 2])
    assert.deepEqual(await (await fetch(url, { method: 'POST', headers, body: '{}' })).json(), { look: expected })

  const held = await holdRequest(port, { method: 'POST', path: '/counted', headers, body: '{}' })
  await looked
  assert.deepEqual(await held.finish(), { status: 200, body: '{"look":4}' })
})
