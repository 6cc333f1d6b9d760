import type { CustomFetch } from 'openid-client'
import { Unreachable, type Outbound } from '#platform/outbound/fetch.ts'

const bodyBytesMax = 256 * 1024
const requestMilliseconds = 5000
/** How long all requests of one step may take together: a person is waiting. */
const stepMilliseconds = 8000

/**
 * The requests of one step to an organization's provider, as openid-client makes them: over the guard that lets nobody
 * lead us into our own network, and within one time for all of them.
 */
export function createUpstreamFetch(outbound: Outbound): CustomFetch {
  const endsAt = performance.now() + stepMilliseconds
  return async (url, { method, headers, body }) => {
    const withinMilliseconds = Math.min(requestMilliseconds, Math.ceil(endsAt - performance.now()))
    if (withinMilliseconds <= 0) throw new Unreachable('timed_out')
    if (method !== 'GET' && method !== 'POST') throw new Unreachable('method_not_allowed')
    const sent = body === undefined || body === null ? {} : { body: textOf(body) }
    const answered = await outbound.exchange(url, { method, headers, ...sent, bodyBytesMax, withinMilliseconds })
    // A status without a body must have none, and one below 200 is no answer.
    const { status, contentType = '', body: bytes } = answered
    if (status < 200 || status > 599) throw new Unreachable(`status_${status}`)
    const isBodiless = status === 204 || status === 205 || status === 304
    return new Response(isBodiless ? null : new Uint8Array(bytes), { status, headers: { 'content-type': contentType } })
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Unreachable('body_not_allowed')
}
