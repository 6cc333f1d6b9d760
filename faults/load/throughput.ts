import assert from 'node:assert/strict'
import { type Span, withoutStalls } from '../harness/stalls.ts'
import type { TestUser } from './test-user.ts'

/** The duration of the fault tests, set by `npm run faults`. A file that runs alone runs in the short form. */
export const rounds = Number(process.env['FAULT_ROUNDS'] ?? 3)
export const requests = Number(process.env['FAULT_REQUESTS'] ?? 5000)
export const seed = Number(process.env['FAULT_SEED'] ?? 1)
/** The duration of the costliest requests, which need a machine without other load: `npm run faults -- --hostile`. */
export const hostileSeconds = Number(process.env['HOSTILE_SECONDS'] ?? 300)
/** The duration of the soak, in seconds: `npm run faults -- --soak`. */
export const soakSeconds = Number(process.env['SOAK_SECONDS'] ?? 1800)

/**
 * The rate at which the token endpoint serves users who refresh, each again after the previous response, and how long
 * that takes them without stalls.
 */
export type Throughput = { perSecond: number; medianMilliseconds: number; p99Milliseconds: number }

/** A machine that stands still for all of the time measures nothing, so it gets more. */
const refreshesMin = 100

/** Makes these users refresh for a while, and at least a hundred times; every response must contain tokens. */
export async function measureThroughput(customers: TestUser[], milliseconds: number): Promise<Throughput> {
  const startedAt = performance.now()
  let begun = 0
  const requests: Span[] = []
  await Promise.all(
    customers.map(async (customer) => {
      const family = customer.families.at(-1)
      assert.ok(family)
      while (performance.now() < startedAt + milliseconds || begun < refreshesMin) {
        begun += 1
        const sentAt = performance.now()
        const reply = await customer.refresh(family, family.live ?? '')
        requests.push({ from: sentAt, to: performance.now() })
        assert.equal(reply?.status, 200, JSON.stringify(reply?.body))
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const ordered = (await withoutStalls(requests)).toSorted((a, b) => a - b)
  const at = (share: number) => Math.round((ordered[Math.floor(ordered.length * share)] ?? 0) * 10) / 10
  return {
    perSecond: Math.round(requests.length / seconds),
    medianMilliseconds: at(0.5),
    p99Milliseconds: at(0.99),
  }
}

export function describeThroughput({ perSecond, medianMilliseconds, p99Milliseconds }: Throughput): string {
  return `${perSecond} refreshes a second, median ${medianMilliseconds} ms, p99 ${p99Milliseconds} ms`
}
