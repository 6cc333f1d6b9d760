import assert from 'node:assert/strict'
import type { Customer } from './customer.ts'

/** How quickly the token endpoint serves customers who refresh, each again as soon as they were answered. */
export type Tempo = { perSecond: number; medianMilliseconds: number; p99Milliseconds: number }

/** Lets these customers refresh for a while; every answer must be tokens. */
export async function measureTempo(customers: Customer[], milliseconds: number): Promise<Tempo> {
  const endsAt = performance.now() + milliseconds
  const taken: number[] = []
  await Promise.all(
    customers.map(async (customer) => {
      const lineage = customer.lineages.at(-1)
      assert.ok(lineage)
      while (performance.now() < endsAt) {
        const askedAt = performance.now()
        const reply = await customer.refresh(lineage, lineage.live ?? '')
        taken.push(performance.now() - askedAt)
        assert.equal(reply?.status, 200, JSON.stringify(reply?.body))
      }
    }),
  )
  const ordered = taken.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round((ordered[Math.floor(ordered.length * share)] ?? 0) * 10) / 10
  return {
    perSecond: Math.round((taken.length / milliseconds) * 1000),
    medianMilliseconds: at(0.5),
    p99Milliseconds: at(0.99),
  }
}

export function describeTempo({ perSecond, medianMilliseconds, p99Milliseconds }: Tempo): string {
  return `${perSecond} refreshes a second, median ${medianMilliseconds} ms, p99 ${p99Milliseconds} ms`
}
