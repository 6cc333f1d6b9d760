import type { Answer } from '@countersign/protocol/api'

/** What a person has answered, from the newest on, and where it goes on. */
export type Trail = Answer<'GET /api/signing/history'>

/** A trail whose newest page was read again: what it had after that stays. */
export function withNewest(held: Trail | undefined, newest: Trail): Trail {
  const last = newest.requests.at(-1)
  const place = held?.requests.findIndex(({ requestId }) => requestId === last?.requestId) ?? -1
  if (!held || place < 0) return newest
  return { requests: [...newest.requests, ...held.requests.slice(place + 1)], nextCursor: held.nextCursor }
}

/** A trail with the page after it. */
export function withNext(held: Trail, next: Trail): Trail {
  return { ...next, requests: [...held.requests, ...next.requests] }
}
