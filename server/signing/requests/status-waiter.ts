import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { ServerContext } from '#platform/module/services.ts'
import * as store from './identities/store.ts'
import * as organizationRequestStore from './organizations/organization-request-store.ts'

/** Pending request of an identity or an organization, whose status a caller waits for. */
export type PendingRequestRef = { requestId: string; expiresAt: Date } & (
  | { identityId: IdentityId }
  | { organizationId: OrganizationId }
)

/** Lets callers wait until requests are resolved. */
export type StatusWaiter = {
  /** Resolves when the request is resolved or expired, or when the caller should not wait any longer. */
  untilSettled: (request: PendingRequestRef, milliseconds: number, gone: AbortSignal) => Promise<void>
  /** Notifies the waiting callers in this process. */
  settled: (requestIds: string[]) => void
  /** Releases all waiting callers. */
  stop: () => void
}

/** Limit of waiting callers. Further callers get the current status at once and may retry. */
const maxWaiters = 5000
const waitersOfRequestMax = 8
const restMilliseconds = 500

type WaiterDeps = Pick<ServerContext, 'db' | 'clock' | 'config'>

/**
 * Creates the waiter. Processes that share a database do not notify each other, so each polls for all its requests at
 * once, every half second while callers wait.
 */
export function createStatusWaiter({ db, clock, config }: WaiterDeps): StatusWaiter {
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
      // A request deleted together with its identity counts as resolved too.
      settled(awaited.map(({ requestId }) => requestId).filter((requestId) => !pending.has(requestId)))
    } catch {
      // Each caller then reads the status itself and gets the error.
      settled([...waiters.keys()])
    }
  }

  return {
    settled,
    untilSettled(request, milliseconds, gone) {
      const of = waiters.get(request.requestId) ?? new Set<Waiter>()
      if (stopped || gone.aborted || count >= maxWaiters || of.size >= waitersOfRequestMax) return Promise.resolve()
      waiters.set(request.requestId, of)
      count += 1
      const { promise, resolve } = Promise.withResolvers<void>()
      // A timer may fire a millisecond early.
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

type Waiter = { request: PendingRequestRef; leave: () => void }
