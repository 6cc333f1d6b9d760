import { CountersignError } from './error.ts'
import { JWKSMultipleMatchingKeys, JWKSNoMatchingKey } from 'jose/errors'
import { createRemoteJWKSet } from 'jose/jwks/remote'
import type { JWTVerifyGetKey } from 'jose/jwt/verify'

export type RequestOptions = {
  json?: object
  form?: URLSearchParams
  patienceMilliseconds: number
  signal?: AbortSignal | undefined
}

/**
 * Sends a request and returns the JSON of its response. Throws CountersignError, and the reason of the caller's signal
 * unchanged.
 */
export async function exchange(url: URL, options: RequestOptions): Promise<unknown> {
  const { response, text } = await send(url, options)
  const body = readJson(text)
  if (response.ok && body !== undefined) return body
  throw refusalIn(response, body)
}

/** Sends a request and returns the text of its response. */
export async function exchangeText(url: URL, options: RequestOptions): Promise<string> {
  const { response, text } = await send(url, options)
  if (response.ok) return text
  throw refusalIn(response, readJson(text))
}

async function send(url: URL, { json, form, patienceMilliseconds, signal }: RequestOptions) {
  const late = AbortSignal.timeout(patienceMilliseconds)
  return receive(url, {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    // A redirect must not receive the secret.
    redirect: 'manual',
    ...(json && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
    ...(form && { method: 'POST', body: form }),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    const reason = late.aborted ? `within ${patienceMilliseconds / 1000} s` : 'at all'
    throw new CountersignError(
      { code: 'network_error', description: `Request to ${url.origin} failed: no response ${reason}.` },
      { cause },
    )
  })
}

async function receive(url: URL, request: RequestInit): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, request)
  return { response, text: await response.text() }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalIn({ status, headers }: Response, body: unknown): CountersignError {
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const when = retryAfter >= 0 ? { retryAfterSeconds: retryAfter } : {}
  if (isRecord(body) && typeof body['error'] === 'string') {
    const { error: code, error_description: description = code } = body
    return new CountersignError({ code, description: String(description), status, ...when })
  }
  const description = `Unexpected response with status ${status}.`
  return new CountersignError({ code: 'unexpected_response', description, status, ...when })
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

const patienceMilliseconds = 5000
const keptMilliseconds = 600_000
/** Minimum interval for fetching unknown keys, because anyone can invent a key id. */
const restMilliseconds = 30_000

const keySets = new Map<string, JWTVerifyGetKey>()

/** The keys of a service, cached for all resources of this process and refreshed periodically. */
export function remoteKeySet({ origin }: URL): JWTVerifyGetKey {
  const known = keySets.get(origin) ?? readKeysOf(origin)
  keySets.set(origin, known)
  return known
}

/** Only the settings choose the key URL, never a token or a response: redirects are not followed. */
function readKeysOf(origin: string): JWTVerifyGetKey {
  const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', origin), {
    timeoutDuration: patienceMilliseconds,
    cooldownDuration: restMilliseconds,
    cacheMaxAge: keptMilliseconds,
  })
  return async (header, token) => {
    try {
      return await keySet(header, token)
    } catch (error) {
      if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) throw error
      const description = `Cannot fetch the keys of ${origin}.`
      throw new CountersignError({ code: 'verification_unavailable', description, status: 503 }, { cause: error })
    }
  }
}
