import { addressOf } from '../shared/address.ts'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { createMemory } from './memory.ts'

/** Lets a resource ask whether a consent still stands. */
export type Introspection = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The app whose resource it is. */
  clientId: string
  clientSecret: string
  /** For how long an answer is believed, 60 if not given; with 0 it asks for each request. */
  everySeconds?: number | undefined
}

const patienceMilliseconds = 5000
const tokensMax = 10_000

/**
 * Whether the service says that a token is still active (RFC 7662). Where it says nothing, nobody knows, and that is
 * thrown: `cannot_verify`.
 */
export function createGrantCheck({ baseUrl, clientId, clientSecret, everySeconds = 60 }: Introspection) {
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret are those of the app of the resource')
  if (!(everySeconds >= 0)) throw new TypeError('everySeconds is a number of seconds')
  const url = new URL('/api/oauth/introspect', addressOf('baseUrl', baseUrl))
  const freshUntil = () => Date.now() + everySeconds * 1000
  const memory = createMemory<boolean>({ entriesMax: tokensMax, freshUntil })

  async function ask(token: string): Promise<boolean> {
    const form = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret })
    const answer = await exchange(url, { form, patienceMilliseconds }).catch(asUnknown)
    if (isRecord(answer) && typeof answer['active'] === 'boolean') return answer['active']
    return asUnknown(new CountersignError({ code: 'unexpected_answer', description: 'It says neither yes nor no.' }))
  }

  return {
    isActive: (token: string, tokenId: string): Promise<boolean> => memory.recall(tokenId, () => ask(token)),
  }
}

function asUnknown(cause: unknown): never {
  const description = 'The service does not say whether the consent still stands.'
  throw new CountersignError({ code: 'cannot_verify', description, status: 503 }, { cause })
}
