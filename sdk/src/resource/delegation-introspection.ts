import { CountersignError, parseBaseUrl } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'

type Entry<Value> = { pending: Promise<Value>; value?: Value; freshUntil: number }

type Limits<Value> = {
  entriesMax: number
  /** Time until which a result can be reused, as `Date.now()` counts. */
  freshUntil: (value: Value) => number
}

/**
 * Caches results by key until they expire. Concurrent requests for one key share one result. Failures are not cached,
 * and a full cache drops its oldest entry.
 */
export function createTtlCache<Value>({ entriesMax, freshUntil }: Limits<Value>) {
  const entries = new Map<string, Entry<Value>>()

  /** Runs before the result is returned. */
  function keep(key: string, entry: Entry<Value>): void {
    entries.delete(key)
    entries.set(key, entry)
    const [oldest = key] = entries.keys()
    if (entries.size > entriesMax) entries.delete(oldest)
    entry.pending.then(
      (value) => Object.assign(entry, { value, freshUntil: freshUntil(value) }),
      () => entries.get(key) === entry && entries.delete(key),
    )
  }

  return {
    recall(key: string, fetchValue: () => Promise<Value>): Promise<Value> {
      const known = entries.get(key)
      if (known && Date.now() < known.freshUntil) return known.pending
      const entry: Entry<Value> = { pending: fetchValue(), freshUntil: Number.POSITIVE_INFINITY }
      keep(key, entry)
      return entry.pending
    },
    forget(isMeant: (value: Value) => boolean): void {
      for (const [key, { value }] of entries) if (value !== undefined && isMeant(value)) entries.delete(key)
    },
  }
}

/** Settings with which a resource checks that a delegation is still active. */
export type Introspection = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The app that offers the resource. */
  clientId: string
  clientSecret: string
  /** Cache lifetime in seconds, 60 by default; with 0 each request is checked. */
  everySeconds?: number | undefined
}

const patienceMilliseconds = 5000
const tokensMax = 10_000

/**
 * Introspects a token (RFC 7662) and returns if it is active. Throws `verification_unavailable` if the service does not
 * respond.
 */
export function createDelegationIntrospection({ baseUrl, clientId, clientSecret, everySeconds = 60 }: Introspection) {
  if (!clientId || !clientSecret) throw new TypeError("clientId and clientSecret of the resource's app are required")
  if (!(everySeconds >= 0)) throw new TypeError('everySeconds must be a number of seconds')
  const url = new URL('/api/oauth/introspect', parseBaseUrl('baseUrl', baseUrl))
  const freshUntil = () => Date.now() + everySeconds * 1000
  const memory = createTtlCache<boolean>({ entriesMax: tokensMax, freshUntil })

  async function fetchValue(token: string): Promise<boolean> {
    const form = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret })
    const answer = await exchange(url, { form, patienceMilliseconds }).catch(asUnknown)
    if (isRecord(answer) && typeof answer['active'] === 'boolean') return answer['active']
    return asUnknown(
      new CountersignError({
        code: 'unexpected_response',
        description: 'The introspection response has no valid "active" field.',
      }),
    )
  }

  return {
    isActive: (token: string, tokenId: string): Promise<boolean> => memory.recall(tokenId, () => fetchValue(token)),
  }
}

function asUnknown(cause: unknown): never {
  const description = 'The service did not return the state of the delegation.'
  throw new CountersignError({ code: 'verification_unavailable', description, status: 503 }, { cause })
}
