import { PassThrough, type Readable } from 'node:stream'
import { createEventFeed } from '#platform/audit/event-feed.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { EventSender, type Pace, type Reader, usualPace } from './event-sender.ts'

/** Maximum number of streams of a process, and of these those of one operator or admin token. */
const streamsMax = 20
const streamsOfOperatorMax = 10
const retrySeconds = 10
/** Time in which a reader takes what was sent before the end of a stream. */
const lastReadMilliseconds = 1000

const errors = defineErrors({
  too_many_streams: [429, 'Too many streams of the audit log are open. Retry later.'],
  invalid_request: [400, 'The place to start after is beyond the end of the audit log.'],
})

export type StreamRequest = Reader & {
  /** Place after which the events follow. By default the last one, or the beginning without `isFollowing`. */
  after: number | undefined
  /** Cuts the connection of the reader. */
  cut: () => void
}

/** The open streams of the audit log of a process. */
export type EventStreams = {
  /** Opens a stream. Throws `too_many_streams`, or `invalid_request` for a place beyond the end. */
  open: (request: StreamRequest) => Promise<Readable>
  /** Ends all streams. Further ones end at once. */
  stop: () => void
}

export function createEventStreams(
  { db, log, keyring }: Pick<ServerContext, 'db' | 'log' | 'keyring'>,
  pace: Partial<Pace> = {},
): EventStreams {
  const feed = createEventFeed({ db, log })
  const operatorKeys: string[] = []
  const stopped = new AbortController()

  function enter(key: string): () => void {
    const own = operatorKeys.filter((each) => each === key)
    if (operatorKeys.length >= streamsMax || own.length >= streamsOfOperatorMax)
      throw errors.too_many_streams({ headers: { 'retry-after': String(retrySeconds) } })
    operatorKeys.push(key)
    return () => void operatorKeys.splice(operatorKeys.indexOf(key), 1)
  }

  /** Cuts a reader who does not read: the end of the service would otherwise wait for them. */
  function cutUnlessRead({ isFollowing, left, cut }: StreamRequest): void {
    if (left.aborted || !(isFollowing || stopped.signal.aborted)) return
    const timer = setTimeout(cut, lastReadMilliseconds)
    left.addEventListener('abort', () => clearTimeout(timer))
  }

  return {
    async open(request) {
      const { after, isFollowing } = request
      const leave = enter(request.operatorKey)
      try {
        const head = await feed.readHead()
        if (after !== undefined && after > head.last) throw errors.invalid_request()
        const text = new PassThrough()
        const place = after ?? (isFollowing ? head.last : 0)
        const left = AbortSignal.any([stopped.signal, request.left])
        const deps = { db, log, keyring, feed, text }
        const sender = new EventSender(deps, { ...request, left }, { ...usualPace, ...pace })
        void sender.run({ place, head }).finally(() => {
          leave()
          cutUnlessRead(request)
        })
        return text
      } catch (error) {
        leave()
        throw error
      }
    },
    stop: () => stopped.abort(),
  }
}
