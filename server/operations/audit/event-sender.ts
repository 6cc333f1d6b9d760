import type { PassThrough } from 'node:stream'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { EventFeed, FeedHead } from '#platform/audit/event-feed.ts'
import { type AuditFilter, listEventsAfter } from '#platform/audit/event-list.ts'
import { ApiError } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'

/** Who reads a stream, and what. */
export type Reader = {
  filter: AuditFilter
  /** Operator or admin token that reads. */
  operatorKey: string
  /** False if the stream ends after the events that exist now. */
  isFollowing: boolean
  /** Throws if the reader may not read any longer. */
  requireRights: () => Promise<unknown>
  /** Aborts when the reader has left. */
  left: AbortSignal
}

export type Pace = { heartbeatMilliseconds: number; rightsMilliseconds: number }

export const usualPace: Pace = {
  heartbeatMilliseconds: 15_000,
  /** Shorter than the five seconds after which a former operator reads nothing, by the time that the check may take. */
  rightsMilliseconds: 4000,
}

const reconnectMilliseconds = 2000
const eventsPerRead = 100

type SenderDeps = Pick<ServerContext, 'db' | 'keyring' | 'log'> & { feed: EventFeed; text: PassThrough }

/** Writes events to the stream of one reader: one query at a time, and none while the reader is slow. */
export class EventSender {
  readonly #deps: SenderDeps
  readonly #reader: Reader
  readonly #pace: Pace
  #head: FeedHead = { last: 0, pruned: 0 }
  /** Place up to which events were sent, or not selected. */
  #place = 0
  #checkedAt = performance.now()
  #sentAt = performance.now()
  #wake = () => {}
  #isWoken = false

  constructor(deps: SenderDeps, reader: Reader, pace: Pace) {
    this.#deps = deps
    this.#reader = reader
    this.#pace = pace
  }

  /** Sends the events after a place, until the stream ends. */
  async run({ place, head }: { place: number; head: FeedHead }): Promise<void> {
    const { feed, text, log } = this.#deps
    const { isFollowing, left } = this.#reader
    this.#place = place
    this.#head = head
    const ring = () => this.#ring()
    const follow = () => feed.follow((later) => this.#ring(later))
    const unfollow = isFollowing ? follow() : () => {}
    text.on('drain', ring)
    left.addEventListener('abort', ring)
    try {
      this.#send(`retry: ${reconnectMilliseconds}\n${this.#continueAt()}`)
      while (!left.aborted) if (!(await this.#step(performance.now()))) return void text.end()
      end(text, isFollowing)
    } catch (error) {
      if (!(error instanceof ApiError)) log.warn({ error }, 'stream of the audit log aborted')
      end(text, isFollowing && error instanceof ApiError)
    } finally {
      unfollow()
      text.off('drain', ring)
      left.removeEventListener('abort', ring)
    }
  }

  /** Does what is due first. Returns false if there is nothing more to do. */
  async #step(now: number): Promise<boolean> {
    const { isFollowing, requireRights } = this.#reader
    const checkDue = this.#checkedAt + this.#pace.rightsMilliseconds - now
    const heartbeatDue = this.#sentAt + this.#pace.heartbeatMilliseconds - now
    if (checkDue <= 0) {
      await requireRights()
      this.#checkedAt = now
    } else if (this.#deps.text.writableNeedDrain) await this.#rest(checkDue)
    // With the place, a reader whose filter selects few events does not start far behind again.
    else if (heartbeatDue <= 0) this.#send(`: nothing new\n${this.#continueAt()}`)
    else if (this.#place < this.#head.last) await this.#sendNext()
    else if (isFollowing) await this.#rest(Math.min(checkDue, heartbeatDue))
    else return false
    return true
  }

  async #sendNext(): Promise<void> {
    const { last, pruned } = this.#head
    const range = { after: Math.max(this.#place, pruned), to: last, count: eventsPerRead }
    const { filter, operatorKey: readerKey } = this.#reader
    const { entries, upTo } = await listEventsAfter({ ...this.#deps, readerKey }, filter, range)
    if (entries.length > 0) this.#send(entries.map(writeEvent).join(''))
    this.#place = upTo
  }

  #continueAt(): string {
    return `id: ${this.#place}\n\n`
  }

  #send(written: string): void {
    this.#sentAt = performance.now()
    this.#deps.text.write(written)
  }

  /** Wakes the sender: the log has grown, the reader has read, or the stream ends. */
  #ring(head: FeedHead = this.#head): void {
    this.#head = head
    this.#isWoken = true
    this.#wake()
  }

  /** Waits for a time, or until it is woken. It returns at once if it was woken since the last rest. */
  async #rest(milliseconds: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = resolve
      await promise
      clearTimeout(timer)
    }
    this.#isWoken = false
  }
}

/** Ends a stream so that its reader does not take it for complete if it is not, and does not wait for a slow reader. */
function end(text: PassThrough, isFollowed: boolean): void {
  if (isFollowed && !text.writableNeedDrain) text.end()
  else text.destroy()
}

/** Writes an event as a server-sent event (HTML Living Standard §9.2). JSON has no line breaks. */
function writeEvent(event: AuditEvent): string {
  return `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`
}
