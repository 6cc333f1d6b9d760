import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { createAdmission } from '#platform/http/admission.ts'
import { loadConfig } from '#platform/config/config.ts'
import { guard } from '#platform/http/guard.ts'
import { createHost } from '#platform/http/host.ts'
import { whileIdle } from '#platform/idle.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { createMetrics } from '#platform/observability/metrics.ts'

const admittedMax = 500

/** Creates two hosts of one process, one of them with a route that responds when released. */
function hostsOfOneProcess() {
  const config = loadConfig({})
  const admission = createAdmission()
  const metrics = createMetrics(() => ({ open: 0, idle: 0, waiting: 0 }))
  const [api, auth] = [1, 2].map(() =>
    createHost(
      { log: pino({ level: 'silent' }), config, telemetry: metrics },
      {
        origin: config.baseUrl,
        admission,
        origins: { authHost: '', pages: [], isRegistered: async () => false },
        elsewhere: () => undefined,
        errorPage: (reply) => reply.send('a page'),
      },
    ),
  )
  assert.ok(api && auth)
  const { promise: leave, resolve: release } = Promise.withResolvers<string>()
  const guarded = { waiting: 0, most: 0 }
  const { onRequest } = guard(async () => {
    guarded.waiting += 1
    guarded.most = Math.max(guarded.most, guarded.waiting)
    await leave
    guarded.waiting -= 1
    return {}
  })
  const idling = { now: 0 }
  const idle = () =>
    whileIdle(async () => {
      idling.now += 1
      await leave
      idling.now -= 1
      return 'waited'
    })
  // Like an awaited action, and like one that is not awaited.
  api.route({ method: ['GET', 'POST'], url: '/idle', handler: idle })
  api.get('/leaves-work', () => {
    void idle()
    return 'well'
  })
  api.get('/idle-twice', async () => Promise.all([idle(), idle()]))
  api.get('/slow', () => leave)
  api.post('/guarded', { onRequest }, async () => 'taken')
  api.post('/takes', async () => 'taken')
  api.get('/faulty', () => Promise.reject(new Error('broken')))
  auth.get('/quick', async () => 'well')
  auth.get('/probe', { config: { host: 'every host' } }, async () => 'alive')
  return { api, auth, metrics, guarded, idling, release: () => release('done') }
}

test('LOD-04 an overloaded process rejects requests at once and passes health checks', async () => {
  const { api, auth, metrics, release } = hostsOfOneProcess()
  const working = Array.from({ length: admittedMax }, async () => api.inject({ url: '/slow' }))
  await api.inject({ url: '/nothing-here' })
  const refused = await auth.inject({ url: '/quick' })
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error, 'temporarily_unavailable')
  assert.equal(refused.headers['retry-after'], '2')
  assert.equal((await auth.inject({ url: '/probe' })).body, 'alive')
  const faults = (await metrics.read()).find(({ name }) => name === 'countersign_request_faults_total')
  // That of an unknown path was rejected too.
  assert.ok(faults?.samples.some(([labels, count]) => labels === '{fault="overloaded"}' && count === 2))

  release()
  assert.ok(
    (await Promise.all(working)).every(({ statusCode }) => statusCode === 200),
    'admitted requests are answered',
  )
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('a request frees its place however it ends', async () => {
  const { api, auth } = hostsOfOneProcess()
  for (const url of ['/faulty', '/nothing-here'])
    await Promise.all(Array.from({ length: admittedMax }, () => api.inject({ url })))
  const malformed = {
    method: 'POST',
    url: '/takes',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  } as const
  await Promise.all(Array.from({ length: admittedMax }, () => api.inject(malformed)))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-02 a slow request body does not block other requests', async () => {
  const { api, auth } = hostsOfOneProcess()
  const bodies = Array.from({ length: admittedMax + 1 }, () => new PassThrough())
  const headers = { 'content-type': 'application/json' }
  const input = bodies.map(async (payload) => api.inject({ method: 'POST', url: '/takes', headers, payload }))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  for (const body of bodies) body.end('{}')
  const answers = await Promise.all(input)
  assert.ok(answers.every(({ statusCode }) => [200, 503].includes(statusCode)))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-12 a process authenticates no more concurrent requests than it admits, with or without bodies', async () => {
  const { api, auth, guarded, release } = hostsOfOneProcess()
  const input = Array.from({ length: admittedMax + 100 }, async () =>
    api.inject({ method: 'POST', url: '/guarded', payload: {} }),
  )
  const early = await Promise.all(input.slice(admittedMax))
  assert.ok(early.every(({ statusCode }) => statusCode === 503))
  assert.equal(guarded.most, admittedMax)
  release()
  const answers = await Promise.all(input.slice(0, admittedMax))
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-13 slow request bodies block no other requests after authentication', async () => {
  const { api, auth, guarded, release } = hostsOfOneProcess()
  const bodies = Array.from({ length: admittedMax }, () => new PassThrough())
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const input = bodies.map(async (payload) => api.inject({ method: 'POST', url: '/guarded', headers, payload }))
  while (guarded.waiting < admittedMax) await turn()
  assert.equal(
    (await auth.inject({ url: '/quick' })).statusCode,
    503,
    'the limit of concurrent authentications is reached',
  )
  release()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  for (const body of bodies) body.end('{}')
  const answers = await Promise.all(input)
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
})

test('LOD-04 clients that disconnect early do not block other requests', async (t) => {
  const { api, auth, release } = hostsOfOneProcess()
  t.after(() => api.close())
  const { promise: allCame, resolve: come } = Promise.withResolvers<void>()
  const { promise: allWent, resolve: go } = Promise.withResolvers<void>()
  let came = 0
  let gone = 0
  api.server.on('request', (_request, response) => {
    response.once('close', () => (gone += 1) === admittedMax && go())
    if ((came += 1) === admittedMax) come()
  })
  const { port, hostname } = new URL(await api.listen({ port: 0, host: '127.0.0.1' }))
  const sockets = Array.from({ length: admittedMax }, () => connect(Number(port), hostname))
  for (const socket of sockets) socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await allCame
  for (const socket of sockets) socket.destroy()
  await allWent
  assert.equal((await auth.inject({ url: '/quick' })).statusCode, 503, 'their requests are still in progress')
  release()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).statusCode, 200)
})

const waits = [{ url: '/idle' }, { url: '/idle', method: 'POST', payload: {} }, { url: '/idle-twice' }] as const
for (const [nth, input] of waits.entries())
  test(`LOD-31 requests that only wait block no others, and continue: ${nth + 1} of ${waits.length}`, async () => {
    const { api, auth, idling, release } = hostsOfOneProcess()
    const waiting = Array.from({ length: admittedMax + 100 }, async () => api.inject(input))
    while (idling.now < admittedMax + 100) await turn()
    assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
    release()
    const answers = await Promise.all(waiting)
    assert.ok(answers.every(({ statusCode }) => statusCode === 200))
    await Promise.all(Array.from({ length: admittedMax }, () => auth.inject({ url: '/quick' })))
  })

test('LOD-31 work after the response takes no place', async () => {
  const { api, auth, idling, release } = hostsOfOneProcess()
  await Promise.all(Array.from({ length: admittedMax }, () => api.inject({ url: '/leaves-work' })))
  assert.equal(idling.now, admittedMax)
  release()
  while (idling.now > 0) await turn()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-32 requests that wait for other services block no others, and their number is limited', async () => {
  const { promise: resolved, resolve } = Promise.withResolvers<void>()
  const outbound = createOutboundClient({ baseUrl: new URL('https://api.example') }, (_name, _options, found) => {
    void resolved.then(() => found(new Error('no such name'), []))
  })
  const { api, auth } = hostsOfOneProcess()
  const requested = { bodyBytesMax: 100, withinMilliseconds: 60_000 }
  api.get('/elsewhere', () => outbound.get('https://app.example/', requested))
  const waiting = Array.from({ length: admittedMax }, async () => api.inject({ url: '/elsewhere' }))
  const refused = await api.inject({ url: '/elsewhere' })
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error, 'temporarily_unavailable')
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  resolve()
  await Promise.all(waiting)
  assert.equal((await api.inject({ url: '/elsewhere' })).statusCode, 500, 'it is looked up again')
})
