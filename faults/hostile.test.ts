import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startSamlProvider } from '../server/testing/saml-provider.ts'
import { startService, testAdminToken, type Service } from '../server/testing/service.ts'
import { registerApp, registerTestUser } from './load/test-user.ts'
import { beginProbing } from './health-probe.ts'
import {
  attackByAttestation,
  attackBySaml,
  attackOn,
  openSamlConnection,
  type Attack,
  type HostileRequest,
  type Known,
} from './hostile-requests.ts'
import { hostileSeconds } from './load/throughput.ts'
import { describeMemory, inspectable, measureMemory } from './load/memory.ts'
import { readOperations, type Operation } from './operations.ts'

const probeMillisecondsMax = 100
const growthMax = 1.2
/** The share of the time after which the service is warm. */
const warmUp = 0.2
/** How often new accounts are created: some of the requests sign out, or delete the account. */
const renewalMilliseconds = 15_000
/** Requests that may end what the others need use an account of their own. */
const isEnding = ({ method, path }: Operation) => method === 'DELETE' || /\/(?:logout|session\/end|revoke)\b/.test(path)
/** The address of the attacker, as the proxy in front of the service reports it. */
const address = { 'x-forwarded-for': '203.0.113.7' }

test(`LOD-11 ${hostileSeconds} s of the costliest requests at their limits delay no other user`, async (t) => {
  const service = await startService({ environment: { TRUST_PROXY: '1', LOG_LEVEL: 'error', ...inspectable } })
  t.after(() => service.close())
  const idp = await startSamlProvider(() => new Date())
  t.after(() => idp.close())
  let [known, ending] = [await makeKnown(service), await makeKnown(service)]
  const owner = { identityId: known.values['identityId'] ?? '', headers: bearerOf(known.bearers['session']) }
  const connectionId = await openSamlConnection(service, await idp.metadata(), owner)
  const operations = await readOperations(service)
  const attacks = [
    ...operations.map((operation) => attackOn(service, operation, () => (isEnding(operation) ? ending : known))),
    attackByAttestation(service, address),
    attackBySaml(service, connectionId, address),
  ]
  const renewing = new AbortController()
  const renewal = renew(renewing.signal, async () => {
    known = await makeKnown(service)
    ending = await makeKnown(service)
  })

  const attacking = beginAttacks(attacks)
  await wait(hostileSeconds * 1000 * warmUp)
  const warm = await measureMemory(service)
  const probing = beginProbing(service.baseUrl)
  await wait(hostileSeconds * 1000 * (1 - warmUp))
  const taken = (await probing.end()).toSorted((a, b) => a - b)
  const { statuses, faults } = await attacking.stop()
  renewing.abort()
  await renewal
  const end = await measureMemory(service)

  report(t, attacks, statuses, taken)
  for (const each of [warm, end]) t.diagnostic(describeMemory(each))
  assert.deepEqual(faults, [], service.output().slice(-3000))
  const slowest = taken[Math.floor(taken.length * 0.99)] ?? Infinity
  assert.ok(slowest < probeMillisecondsMax, `one probe of a hundred takes ${slowest} ms`)
  assert.ok(end.heldBytes < warm.heldBytes * growthMax, `${end.heldBytes} bytes are held; warm ${warm.heldBytes}`)
})

/** A user of an app, and their tokens. */
async function makeKnown(service: Service): Promise<Known> {
  const app = await registerApp(service)
  const customer = await registerTestUser(service, app)
  const family = await customer.consent()
  assert.ok(family)
  await customer.redeem(family)
  const { handle, identityId, sessions } = customer
  return {
    bearers: { session: sessions[0] ?? '', access_token: family.access[0] ?? '', admin: testAdminToken },
    values: { handle, identityId, clientId: app.client_id },
  }
}

function bearerOf(token: string | undefined): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

async function renew(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await wait(renewalMilliseconds, undefined, { signal }).catch(() => {})
    if (!signal.aborted) await act()
  }
}

/** Sends each attack at its own rate, even if the previous request is still pending. */
function beginAttacks(attacks: Attack[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const statuses = new Map<number, number>()
  const faults: string[] = []
  const stopped = new AbortController()
  const pending = new Set<Promise<void>>()
  const pause = (milliseconds: number) => wait(milliseconds, undefined, { signal: stopped.signal }).catch(() => {})

  async function strike({ name, next }: Attack, nth: number): Promise<void> {
    const sent = await next(nth)
    const status = await send(agent, sent)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status >= 500) faults.push(`${name}, ${nth}: ${status}, ${JSON.stringify(sent).slice(0, 1000)}`)
  }

  const flowing = attacks.map(async (attack, place) => {
    const pauseMilliseconds = 60_000 / attack.perMinute
    await pause(pauseMilliseconds * (place / attacks.length))
    for (let nth = 0; !stopped.signal.aborted; nth += 1) {
      const striking = strike(attack, nth).catch((error: unknown) => void faults.push(`${attack.name}: ${error}`))
      pending.add(striking)
      void striking.finally(() => pending.delete(striking))
      await pause(pauseMilliseconds)
    }
  })

  return {
    async stop() {
      stopped.abort()
      await Promise.all(flowing)
      await Promise.all(pending)
      agent.destroy()
      return { statuses, faults }
    },
  }
}

/** Status 0 means that the connection was closed without a response, as with too long headers. */
function send(agent: Agent, { url, method, headers, body }: HostileRequest): Promise<number> {
  return new Promise((resolve) => {
    const asking = request(url, { agent, method, headers: { ...address, ...headers } }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0))
    })
    asking.once('error', () => resolve(0)).setTimeout(20_000, () => asking.destroy())
    asking.end(body)
  })
}

function report(t: TestContext, attacks: Attack[], statuses: Map<number, number>, taken: number[]): void {
  const perSecond = attacks.reduce((sum, { perMinute }) => sum + perMinute / 60, 0)
  t.diagnostic(`${attacks.length} attacks, ${Math.round(perSecond)} requests a second`)
  t.diagnostic([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '))
  const at = (share: number) => `${Math.round((taken[Math.floor(taken.length * share)] ?? 0) * 10) / 10} ms`
  t.diagnostic(`${taken.length} probes: median ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(0.9999)}`)
}
