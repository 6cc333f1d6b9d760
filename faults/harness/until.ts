import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { exchange } from '../load/exchange.ts'

/** Asks until the answer has this status; how many milliseconds that took, and the slowest of the answers. */
export async function until(url: string, status: number) {
  const startedAt = performance.now()
  let slowest = 0
  for (;;) {
    const askedAt = performance.now()
    const reply = await exchange(url)
    slowest = Math.max(slowest, performance.now() - askedAt)
    if (reply?.status === status) return { milliseconds: Math.round(performance.now() - startedAt), slowest, reply }
    assert.ok(performance.now() - startedAt < 60_000, `${url} never answers ${status}`)
    await wait(20)
  }
}
