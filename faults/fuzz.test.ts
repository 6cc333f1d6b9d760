import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { startService, testAdminToken, type Service } from '../server/testing/service.ts'
import { SeededRandom } from './harness/chance.ts'
import { registerApp, registerTestUser } from './load/test-user.ts'
import { exchange } from './load/exchange.ts'
import { requests, seed } from './load/throughput.ts'
import { describeMemory, inspectable, megabytes, measureMemory, type Memory } from './load/memory.ts'
import { makeNonsense, type Nonsense, type ValidInput } from './harness/fuzz-inputs.ts'
import { originOf, readOperations } from './operations.ts'
import { timed } from './harness/stalls.ts'

/** Few enough that the users stay signed in most of the time: some of the requests sign them out. */
const batch = 250
const parallel = 24
/**
 * On PostgreSQL some operator requests wait five seconds, until every process knows of them. The duration of a backup
 * depends on the amount of data.
 */
const hangMillisecondsOf = ({ path }: Nonsense) => (/\/api\/admin\/(apps\/|backup)/.test(path) ? 7000 : 1000)
/**
 * Memory is measured at the start, then this many times at even intervals, and at the end. At the second time the
 * service is warm.
 */
const measurements = 5
/** Maximum growth between the warm service and the end: of the held memory, and of the embedded database's memory. */
const growthBytesMax = { held: 16 * 1024 * 1024, webAssembly: 64 * 1024 * 1024 }

test(`INJ-05 none of ${requests} malformed requests (seed ${seed}) causes an internal error or hangs`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off', LOG_LEVEL: 'error', ...inspectable } })
  t.after(() => service.close())
  const operations = await readOperations(service)
  assert.ok(operations.length > 30)
  const agent = new Agent({ keepAlive: true, maxSockets: parallel })
  t.after(() => agent.destroy())

  const statuses = new Map<number, number>()
  const faults: string[] = []
  const measured: Memory[] = []
  let slowest = 0
  let slowestProbe = 0
  const startedAt = performance.now()
  for (let first = 0; first < requests; first += batch) {
    const validInput = await goThroughGoodFlow(service)
    const slow: Nonsense[] = []
    let next = first
    const send = async () => {
      while (next < Math.min(first + batch, requests)) {
        const index = next++
        const nonsense = makeNonsense(new SeededRandom(seed * 1_000_003 + index), operations, validInput)
        const { status, milliseconds } = await sendNonsense(service, nonsense, agent)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        slowest = Math.max(slowest, milliseconds)
        const description = () =>
          `${index}: ${status} after ${Math.round(milliseconds)} ms: ${JSON.stringify(nonsense).slice(0, 1500)}`
        if (status >= 500) faults.push(description())
        if (milliseconds > hangMillisecondsOf(nonsense)) slow.push(nonsense)
      }
    }
    await Promise.all(Array.from({ length: parallel }, send))
    // The machine may have been busy. A request that really hangs does so alone, too.
    for (const nonsense of slow) {
      const { milliseconds } = await timed(() => sendNonsense(service, nonsense, agent))
      if (milliseconds > hangMillisecondsOf(nonsense)) faults.push(`hangs: ${JSON.stringify(nonsense).slice(0, 1500)}`)
    }
    const probedAt = performance.now()
    assert.equal((await exchange(`${service.baseUrl}/healthz`))?.status, 200)
    slowestProbe = Math.max(slowestProbe, performance.now() - probedAt)
    assert.deepEqual(faults, [], service.output().slice(-3000))
    if (first >= (requests / measurements) * measured.length) measured.push(await measureMemory(service))
  }
  await goThroughGoodFlow(service)
  measured.push(await measureMemory(service))

  const seconds = (performance.now() - startedAt) / 1000
  t.diagnostic([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '))
  t.diagnostic(`${Math.round(requests / seconds)} a second`)
  t.diagnostic(`slowest response ${Math.round(slowest)} ms, slowest probe ${Math.round(slowestProbe)} ms`)
  for (const each of measured) t.diagnostic(describeMemory(each))
  const [warm, end] = [measured[1], measured.at(-1)]
  assert.ok(warm && end)
  const held = end.heldBytes - warm.heldBytes
  const taken = end.webAssemblyBytes - warm.webAssemblyBytes
  assert.ok(held < growthBytesMax.held, `the held memory grew by ${megabytes(held)} MB since it was warm`)
  assert.ok(taken < growthBytesMax.webAssembly, `the memory of WebAssembly grew by ${megabytes(taken)} MB`)
})

test('LOD-09 of 64 concurrent users among malformed requests, each gets their own data', async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off', LOG_LEVEL: 'error' } })
  t.after(() => service.close())
  const app = await registerApp(service)
  const operations = await readOperations(service)
  const people = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const person = await registerTestUser(service, app)
      const family = await person.consent()
      if (family) await person.redeem(family)
      return { ...person, access: family?.access[0] ?? '' }
    }),
  )
  const rounds = 10
  const agent = new Agent({ keepAlive: true, maxSockets: parallel })
  t.after(() => agent.destroy())
  await Promise.all(
    people.map(async ({ access, handle, identityId, readSession, sessions, userinfo }, number) => {
      for (let round = 0; round < rounds; round += 1) {
        const chance = new SeededRandom(seed * 1_000_003 + number * rounds + round)
        const validInput = { values: { handle, identityId }, bearers: { session: ['wrong'] } }
        const [session, claims] = await Promise.all([
          readSession(sessions[0] ?? ''),
          userinfo(access),
          sendNonsense(service, makeNonsense(chance, operations, validInput), agent),
        ])
        assert.equal(claims?.body['sub'], identityId)
        assert.equal(claims.body['preferred_username'], handle)
        const text = JSON.stringify(session?.body)
        assert.ok(text.includes(handle), text)
        assert.ok(!people.some((other) => other.handle !== handle && text.includes(other.handle)))
      }
    }),
  )
})

/**
 * Signs a user in to an app and checks that all tokens and sessions work; returns what the next malformed requests can
 * use.
 */
async function goThroughGoodFlow(service: Service): Promise<ValidInput> {
  const app = await registerApp(service)
  const customer = await registerTestUser(service, app)
  for (let session = 0; session < 5; session += 1) await customer.signIn()
  const family = await customer.consent()
  assert.ok(family)
  assert.equal((await customer.redeem(family))?.status, 200)
  const { code, live = '' } = family
  assert.equal((await customer.refresh(family, live))?.status, 200)
  const access = family.access.at(-1) ?? ''
  assert.equal((await customer.userinfo(access))?.body['preferred_username'], customer.handle)
  const { handle, identityId, sessions } = customer
  const values = { handle, identityId, identity_id: identityId, code, refresh_token: family.live ?? '' }
  const names = {
    clientId: app.client_id,
    ...app,
    redirectUri: 'https://app.example/callback',
    scope: 'openid profile',
  }
  return {
    values: { ...values, ...names },
    bearers: { session: sessions, access_token: [access], admin: [testAdminToken] },
  }
}

/** Status 0 means that the connection was closed without a response, as after an invalid request line. */
function sendNonsense(service: Service, { host, method, path, headers, body }: Nonsense, agent: Agent) {
  const startedAt = performance.now()
  const origin = new URL(originOf(service, host))
  return new Promise<{ status: number; milliseconds: number }>((resolve) => {
    const done = (status: number) => resolve({ status, milliseconds: performance.now() - startedAt })
    const asking = request(
      { agent, hostname: origin.hostname, port: origin.port, method, path, headers },
      (response) => {
        response.resume().once('close', () => done(response.statusCode ?? 0))
      },
    )
    asking.once('error', () => done(0)).setTimeout(20_000, () => asking.destroy())
    asking.end(body)
  })
}
