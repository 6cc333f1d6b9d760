import assert from 'node:assert/strict'
import { readEventStream } from '@countersign/protocol/formats/files/event-stream'
import type { AuditEvent } from '@countersign/protocol/operations/audit'

type Followed = {
  query?: string
  headers?: Record<string, string>
  /** Number of events after which the reader cuts the connection. */
  readsAtMost?: number | undefined
}

/** A reader of the stream of the audit log. */
export type Follower = Awaited<ReturnType<typeof followAudit>>

/** Opens a stream of the audit log. Throws unless it is accepted. */
export async function followAudit(baseUrl: string, followed: Followed) {
  const { response, leave } = await openAuditStream(baseUrl, followed)
  assert.equal(response.status, 200, await (response.ok ? '' : response.text()))
  const { body } = response
  assert.ok(body)
  const events: AuditEvent[] = []
  let [place, isEnded] = ['', false]
  let news = Promise.withResolvers<void>()
  const ended = (async () => {
    try {
      for await (const { id, data } of readEventStream(body.pipeThrough(new TextDecoderStream()))) {
        if (data !== undefined) events.push(JSON.parse(data))
        place = id ?? place
        news.resolve()
        news = Promise.withResolvers<void>()
        if (data !== undefined && events.length === followed.readsAtMost) {
          leave()
          return 'cut off' as const
        }
      }
      return 'complete' as const
    } catch {
      return 'cut off' as const
    } finally {
      isEnded = true
      news.resolve()
    }
  })()
  return {
    response,
    events,
    /** Resolves when the stream ends. */
    ended,
    leave,
    /** Place after which a reader continues, as text. */
    place: () => place,
    places: () => events.map(({ sequence }) => sequence),
    /** Resolves when a condition holds. Fails if the stream ends before. */
    async until(holds: () => boolean): Promise<void> {
      while (!holds()) {
        assert.ok(!isEnded, 'the stream ended')
        await news.promise
      }
    },
  }
}

/** Requests a stream of the audit log, without reading it. */
export async function openAuditStream(baseUrl: string, { query = '', headers = {} }: Followed) {
  const leaving = new AbortController()
  const { signal } = leaving
  const response = await fetch(`${baseUrl}/api/admin/audit/stream${query}`, { headers, signal })
  return { response, leave: () => leaving.abort() }
}
