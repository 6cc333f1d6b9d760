import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { createAdmission } from '#platform/http/admission.ts'
import { readConfig } from '#platform/config/config.ts'
import { guard } from '#platform/http/guard.ts'
import { createHost } from '#platform/http/http.ts'
import { whileIdle } from '#platform/idle.ts'
import { createOutbound } from '#platform/outbound/fetch.ts'
import { noTelemetry } from '#platform/observability/telemetry.ts'

const admittedMax = 500

/** Two hosts of one process, one of them with a route that answers when it is let. */
function hostsOfOneProcess() {
  const config = readConfig({})
  const admission = createAdmission()
  const [api, auth] = [1, 2].map(() =>
    createHost(
      { log: pino({ level: 'silent' }), config, telemetry: noTelemetry },
      {
        origin: config.baseUrl,
        admission,
        origins: { pages: [], isRegistered: async () => false },
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
  // As an act that is awaited, and as one whose end nobody waits for.
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
  return { api, auth, guarded, idling, release: () => release('done') }
}

test('LOD-04 a process that works on as much as it can says so at once, and is alive', async () => {
  const { api, auth, release } = hostsOfOneProcess()
  const working = Array.from({ length: admittedMax }, async () => api.inject({ url: '/slow' }))
  await api.inject({ url: '/nothing-here' })
  const refused = await auth.inject({ url: '/quick' })
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error, 'temporarily_unavailable')
  assert.equal(refused.headers['retry-after'], '2')
  assert.equal((await auth.inject({ url: '/probe' })).body, 'alive')

  release()
  assert.ok(
    (await Promise.all(working)).every(({ statusCode }) => statusCode === 200),
    'what was admitted is answered',
  )
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('however requests end, they make room for others', async () => {
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

test('LOD-02 a caller whose body takes its time keeps nobody out', async () => {
  const { api, auth } = hostsOfOneProcess()
  const bodies = Array.from({ length: admittedMax + 1 }, () => new PassThrough())
  const headers = { 'content-type': 'application/json' }
  const asked = bodies.map(async (payload) => api.inject({ method: 'POST', url: '/takes', headers, payload }))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  for (const body of bodies) body.end('{}')
  const answers = await Promise.all(asked)
  assert.ok(answers.every(({ statusCode }) => [200, 503].includes(statusCode)))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-12 a process looks into no more requests at once than it works on, with bodies or without', async () => {
  const { api, auth, guarded, release } = hostsOfOneProcess()
  const asked = Array.from({ length: admittedMax + 100 }, async () =>
    api.inject({ method: 'POST', url: '/guarded', payload: {} }),
  )
  const early = await Promise.all(asked.slice(admittedMax))
  assert.ok(early.every(({ statusCode }) => statusCode === 503))
  assert.equal(guarded.most, admittedMax)
  release()
  const answers = await Promise.all(asked.slice(0, admittedMax))
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-13 once they are let in, callers whose body takes its time keep nobody out', async () => {
  const { api, auth, guarded, release } = hostsOfOneProcess()
  const bodies = Array.from({ length: admittedMax }, () => new PassThrough())
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const asked = bodies.map(async (payload) => api.inject({ method: 'POST', url: '/guarded', headers, payload }))
  while (guarded.waiting < admittedMax) await turn()
  assert.equal((await auth.inject({ url: '/quick' })).statusCode, 503, 'it looks into as many as it can')
  release()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  for (const body of bodies) body.end('{}')
  const answers = await Promise.all(asked)
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
})

test('LOD-04 callers who go away before they are answered keep nobody out', async (t) => {
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
  assert.equal((await auth.inject({ url: '/quick' })).statusCode, 503, 'what they asked is worked on still')
  release()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).statusCode, 200)
})

const waits = [{ url: '/idle' }, { url: '/idle', method: 'POST', payload: {} }, { url: '/idle-twice' }] as const
for (const [nth, asked] of waits.entries())
  test(`LOD-31 requests that only wait keep nobody out, and come back: ${nth + 1} of ${waits.length}`, async () => {
    const { api, auth, idling, release } = hostsOfOneProcess()
    const waiting = Array.from({ length: admittedMax + 100 }, async () => api.inject(asked))
    while (idling.now < admittedMax + 100) await turn()
    assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
    release()
    const answers = await Promise.all(waiting)
    assert.ok(answers.every(({ statusCode }) => statusCode === 200))
    await Promise.all(Array.from({ length: admittedMax }, () => auth.inject({ url: '/quick' })))
  })

test('LOD-31 what is left to do after an answer takes no place', async () => {
  const { api, auth, idling, release } = hostsOfOneProcess()
  await Promise.all(Array.from({ length: admittedMax }, () => api.inject({ url: '/leaves-work' })))
  assert.equal(idling.now, admittedMax)
  release()
  while (idling.now > 0) await turn()
  await turn()
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
})

test('LOD-32 requests that wait for other services keep nobody out, and only so many wait for those', async () => {
  const { promise: resolved, resolve } = Promise.withResolvers<void>()
  const outbound = createOutbound({ baseUrl: new URL('https://api.example') }, (_name, _options, found) => {
    void resolved.then(() => found(new Error('no such name'), []))
  })
  const { api, auth } = hostsOfOneProcess()
  const wanted = { bodyBytesMax: 100, withinMilliseconds: 60_000 }
  api.get('/elsewhere', () => outbound.get('https://app.example/', wanted))
  const waiting = Array.from({ length: admittedMax }, async () => api.inject({ url: '/elsewhere' }))
  const refused = await api.inject({ url: '/elsewhere' })
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().error, 'temporarily_unavailable')
  assert.equal((await auth.inject({ url: '/quick' })).body, 'well')
  resolve()
  await Promise.all(waiting)
  assert.equal((await api.inject({ url: '/elsewhere' })).statusCode, 500, 'it is asked again')
})
