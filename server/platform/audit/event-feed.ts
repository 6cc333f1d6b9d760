import { rest } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import type { Logger } from '#platform/observability/log.ts'
import { numberEvents } from './chain.ts'
import { findHead } from './chain-store.ts'

/** Last place of the audit log, and the last one whose event was deleted with all before it. 0 if there is none. */
export type FeedHead = { last: number; pruned: number }

/** Tells followers in this process that the audit log has grown. */
export type EventFeed = {
  /** Reads the head. All events up to it have their places: none appears there later. */
  readHead: () => Promise<FeedHead>
  /** Calls a listener with the head soon, and with each later one, until the returned function is called. */
  follow: (listener: (head: FeedHead) => void) => () => void
}

const pollMilliseconds = 1000

/** Reads the head as it is, without giving places to events that have none. */
export async function readHead(db: Database): Promise<FeedHead> {
  const head = await findHead(db)
  return { last: head?.sequence ?? 0, pruned: head?.prunedSequence ?? 0 }
}

/**
 * Creates the feed of a process. Processes that share a database do not notify each other, so each asks for the head
 * once a second, for all of its followers together, while there are some.
 */
export function createEventFeed({ db, log }: { db: Database; log: Logger }): EventFeed {
  const listeners = new Set<(head: FeedHead) => void>()
  let asking: AbortController | undefined
  /** Last place of the head that all followers have received. */
  let received: number | undefined

  async function readNextHead(): Promise<FeedHead> {
    await numberEvents(db)
    return readHead(db)
  }

  async function askUntil(left: AbortSignal): Promise<void> {
    for (; !left.aborted; await rest(pollMilliseconds, left)) {
      const head = await readNextHead().catch((error: unknown) => log.warn({ error }, 'audit log not followed'))
      if (!head || head.last === received) continue
      received = head.last
      for (const listener of listeners) listener(head)
    }
  }

  return {
    readHead: readNextHead,
    follow(listener) {
      listeners.add(listener)
      // What it has read may be older than what the others have received.
      received = undefined
      if (!asking) {
        asking = new AbortController()
        void askUntil(asking.signal)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        asking?.abort()
        asking = undefined
      }
    },
  }
}
