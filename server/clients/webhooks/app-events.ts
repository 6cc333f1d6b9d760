import { randomUUIDv7 } from 'node:crypto'
import { onEventRecorded, takeDueEvents } from '#accounts/app-events/event.ts'
import { afterCommit, type Database, transaction } from '#platform/database/database.ts'
import { notifySender } from './delivery.ts'
import { insertDeliveries } from './store.ts'
import { listSubscribers } from './service/store.ts'

const batch = 500
/** Interval at which a process looks for events of others, and for those whose delay is over. */
const lookMilliseconds = 2000

/**
 * Queues up to 500 events of identities and groups that are due, each once, in the order of their times: that in which
 * they were recorded would show which identities belong to one user. Their time is when the receiver may know of them.
 * Returns their number.
 */
export function enqueueAppEvents(db: Database, now: Date): Promise<number> {
  return transaction(db, async (tx) => {
    const due = (await takeDueEvents(tx, now, batch)).toSorted((one, other) => +one.happenedAt - +other.happenedAt)
    if (due.length === 0) return 0
    const isOfService = due.some(({ clientId }) => clientId === null)
    const subscribers = isOfService ? await listSubscribers(tx) : []
    const deliveries = due.flatMap(({ clientId, type, data: recorded, happenedAt }) => {
      const data: unknown = JSON.parse(recorded)
      const payload = JSON.stringify({ type, timestamp: happenedAt.toISOString(), data })
      const ofService = subscribers.filter(isFor(type)).map((each) => each.receiverId)
      const addressees = clientId === null ? ofService : [clientId]
      return addressees.map((to) => ({ to, type, payload, deliveryId: randomUUIDv7() }))
    })
    await insertDeliveries(tx, deliveries, now)
    afterCommit(tx, notifySender)
    return due.length
  })
}

function isFor(type: string) {
  return ({ eventTypes }: { eventTypes: string[] }) => eventTypes.length === 0 || eventTypes.includes(type)
}

/**
 * Queues events of identities and groups for the sender of a process. A sender claims deliveries after each attempt,
 * and looks for events only when this process has recorded some, or after a while.
 */
export function createAppEventQueue(db: Database) {
  let isToLook = true
  let lookAt = 0
  return {
    onEnqueued: (wake: () => void) =>
      onEventRecorded(() => {
        isToLook = true
        wake()
      }),
    async enqueueDue(now: Date): Promise<void> {
      if (!isToLook && performance.now() < lookAt) return
      isToLook = false
      lookAt = performance.now() + lookMilliseconds
      if ((await enqueueAppEvents(db, now)) > 0) isToLook = true
    },
  }
}
