import { readFileSync } from 'node:fs'
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { exchange } from '../load/exchange.ts'
import { type Span, withoutStalls } from './stalls.ts'

/** Returns the child processes of a process. */
export function childrenOf(pid: number): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return pids.filter((child) => child !== '').map(Number)
}

/**
 * Sends requests until one has this status; returns the total time in milliseconds and that of the slowest request,
 * both without stalls.
 */
export async function until(url: string, status: number) {
  const startedAt = performance.now()
  const requests: Span[] = []
  for (;;) {
    const sentAt = performance.now()
    const reply = await exchange(url)
    const answeredAt = performance.now()
    requests.push({ from: sentAt, to: answeredAt })
    if (reply?.status === status) {
      const [total = 0, ...each] = await withoutStalls([{ from: startedAt, to: answeredAt }, ...requests])
      return { milliseconds: Math.round(total), slowest: Math.max(...each), reply }
    }
    assert.ok(performance.now() - startedAt < 60_000, `${url} never answers ${status}`)
    await wait(20)
  }
}
