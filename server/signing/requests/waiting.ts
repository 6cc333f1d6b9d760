import type { Kernel } from '#platform/module/services.ts'
import * as organizationRequestStore from './organization-request-store.ts'
import * as store from './store.ts'

/** A request that somebody waits for, of an identity or of an organization. */
export type Awaited = { requestId: string; expiresAt: Date } & ({ identityId: string } | { organizationId: string })

/** Who waits until requests are answered. */
export type Waiting = {
  /** Resolves when the request is answered, has expired, or nobody should wait any longer. */
  untilSettled: (request: Awaited, milliseconds: number, gone: AbortSignal) => Promise<void>
  /** Tells those who wait in this process. */
  settled: (requestIds: string[]) => void
  /** Lets everybody go. */
  stop: () => void
}

/** Further callers are answered at once with what is so now, and may ask again. */
const waitersMax = 5000
const waitersOfRequestMax = 8
const restMilliseconds = 500

/**
 * Processes that share a database don't tell each other what happened, so each asks for all of its own at once, every
 * half second, as long as anybody waits.
 */
export function createWaiting({ db, clock, config }: Pick<Kernel, 'db' | 'clock' | 'config'>): Waiting {
  const waiters = new Map<string, Set<Waiter>>()
  let count = 0
  let asking = false
  let stopped = false

  function settled(requestIds: string[]): void {
    for (const requestId of requestIds) for (const waiter of waiters.get(requestId) ?? []) waiter.leave()
  }

  async function askWhileAnybodyWaits(): Promise<void> {
    if (asking || config.databaseUrl === undefined) return
    asking = true
    while (waiters.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, restMilliseconds))
      await ask()
    }
    asking = false
  }

  async function ask(): Promise<void> {
    try {
      const awaited = [...waiters.values()].flatMap(([first]) => first?.request ?? [])
      if (awaited.length === 0) return
      const ofIdentities = awaited.filter((request) => 'identityId' in request)
      const ofOrganizations = awaited.filter((request) => 'organizationId' in request)
      const pending = new Set([
        ...(ofIdentities.length > 0 ? await store.listStillPending(db, ofIdentities) : []),
        ...(ofOrganizations.length > 0 ? await organizationRequestStore.listStillPending(db, ofOrganizations) : []),
      ])
      // One that is gone altogether, with its identity, is settled too.
      settled(awaited.map(({ requestId }) => requestId).filter((requestId) => !pending.has(requestId)))
    } catch {
      // Each then asks for itself, and is told what the matter is.
      settled([...waiters.keys()])
    }
  }

  return {
    settled,
    untilSettled(request, milliseconds, gone) {
      const of = waiters.get(request.requestId) ?? new Set<Waiter>()
      if (stopped || gone.aborted || count >= waitersMax || of.size >= waitersOfRequestMax) return Promise.resolve()
      waiters.set(request.requestId, of)
      count += 1
      const { promise, resolve } = Promise.withResolvers<void>()
      // A timer may be a millisecond early.
      const untilExpiry = request.expiresAt.getTime() - clock().getTime() + 1
      const late = setTimeout(leave, Math.max(0, Math.min(milliseconds, untilExpiry)))
      const waiter = { request, leave }
      function leave(): void {
        if (!of.delete(waiter)) return
        clearTimeout(late)
        gone.removeEventListener('abort', leave)
        count -= 1
        if (of.size === 0) waiters.delete(request.requestId)
        resolve()
      }
      of.add(waiter)
      gone.addEventListener('abort', leave)
      void askWhileAnybodyWaits()
      return promise
    },
    stop() {
      stopped = true
      settled([...waiters.keys()])
    },
  }
}

type Waiter = { request: Awaited; leave: () => void }
