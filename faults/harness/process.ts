import { readFileSync } from 'node:fs'
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { exchange } from '../load/exchange.ts'

/** Returns the child processes of a process. */
export function childrenOf(pid: number): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return pids.filter((child) => child !== '').map(Number)
}

/** Sends requests until one has this status; returns the total time in milliseconds and that of the slowest request. */
export async function until(url: string, status: number) {
  const startedAt = performance.now()
  let slowest = 0
  for (;;) {
    const sentAt = performance.now()
    const reply = await exchange(url)
    slowest = Math.max(slowest, performance.now() - sentAt)
    if (reply?.status === status) return { milliseconds: Math.round(performance.now() - startedAt), slowest, reply }
    assert.ok(performance.now() - startedAt < 60_000, `${url} never answers ${status}`)
    await wait(20)
  }
}
