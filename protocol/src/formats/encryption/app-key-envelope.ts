/**
 * Content of the envelope of an app key: the key and where it may be delivered, in one ciphertext under the master key.
 * The server that stores the envelope can neither read the key nor change the places.
 */
import { fromCanonicalBase64, fromCanonicalBase64Url, toBase64 } from '../base64.ts'
import { isObject } from '../json.ts'
import { pageLimits } from '../registries/page-limits.ts'
import { parseCanonicalJson, writeCanonicalJson } from '../signing/canonical-json.ts'
import { appKeyOf, type FormerAppKey } from './app-key-fragment.ts'

/**
 * Where a key may be delivered, as its user has confirmed.
 *
 * `consentedAt` is the time of the first consent, by the clock of the user's device. `redirects` are the redirect
 * targets, as `redirectTargetOf` writes them, the newest last. `recipient` is the RFC 7638 thumbprint of the only key
 * to which the app key may be encrypted, or null.
 */
export type AppKeyPlaces = { consentedAt: string; redirects: string[]; recipient: string | null }

/** Key and places in an envelope. For a pair, the key is the private one. */
export type AppKeyEnvelope = { key: FormerAppKey; places: AppKeyPlaces }

const version = 2
const names = ['consentedAt', 'key', 'kind', 'recipient', 'redirects', 'version']

/** An instant in 24 characters, such as `2030-01-01T12:00:00.000Z`. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A private-use scheme, a reversed domain name: `com.example.app:` (RFC 8252 §7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/
const loopbackHosts = ['127.0.0.1', '[::1]']

/**
 * Returns what of a redirect URI must have been confirmed: scheme, host, port and path, without the query. URIs of
 * private-use schemes have no origin and count as a whole. Loopback addresses count without their port, which an
 * installed app cannot choose (RFC 8252 §7.3). Returns undefined for a URI to which no key is delivered.
 */
export function redirectTargetOf(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri)
  if (!url || url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  if (privateUseScheme.test(url.protocol)) return bounded(url.href)
  if (url.protocol === 'http:' && loopbackHosts.includes(url.hostname))
    return bounded(`http://${url.hostname}${url.pathname}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  return bounded(`${url.origin}${url.pathname}`)
}

/** Returns the places with another redirect target. If there are too many, the oldest are left out. */
export function withRedirect(places: AppKeyPlaces, target: string): AppKeyPlaces {
  const redirects = [...places.redirects.filter((each) => each !== target), target].slice(
    -pageLimits.appKeyRedirectsMax,
  )
  while (sizeOf(redirects) > pageLimits.appKeyRedirectsCharactersMax) redirects.shift()
  return { ...places, redirects }
}

/** Writes the plaintext of an envelope: canonical JSON (RFC 8785). */
export function writeAppKeyEnvelope({ key, places }: AppKeyEnvelope): Uint8Array<ArrayBuffer> {
  const secret = toBase64(key.mode === 'symmetric' ? key.key : key.privateKey)
  const { consentedAt, redirects, recipient } = places
  const content = { consentedAt, key: secret, kind: key.mode, recipient, redirects, version }
  return new TextEncoder().encode(writeCanonicalJson(content))
}

/** Parses the output of `writeAppKeyEnvelope`. Returns undefined for anything else, such as another version. */
export function parseAppKeyEnvelope(plaintext: Uint8Array): AppKeyEnvelope | undefined {
  const content = parseCanonicalJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(plaintext))
  if (!isObject(content) || Object.keys(content).join() !== names.join() || content['version'] !== version)
    return undefined
  const key = typeof content['key'] === 'string' ? fromCanonicalBase64(content['key']) : undefined
  const read = key && appKeyOf(key)
  const places = parsePlaces(content)
  return read && places && read.mode === content['kind'] ? { key: read, places } : undefined
}

function parsePlaces({ consentedAt, recipient, redirects }: Record<string, unknown>): AppKeyPlaces | undefined {
  if (typeof consentedAt !== 'string' || !instant.test(consentedAt) || Number.isNaN(Date.parse(consentedAt)))
    return undefined
  if (recipient !== null && !isThumbprint(recipient)) return undefined
  const listed: unknown[] = Array.isArray(redirects) ? redirects : []
  if (listed.length === 0 || listed.length > pageLimits.appKeyRedirectsMax) return undefined
  const targets = listed.filter(isTarget)
  if (new Set(targets).size !== listed.length || sizeOf(targets) > pageLimits.appKeyRedirectsCharactersMax)
    return undefined
  return { consentedAt, recipient, redirects: targets }
}

function isTarget(value: unknown): value is string {
  return typeof value === 'string' && redirectTargetOf(value) === value
}

/** Tells if a value is the base64url of a SHA-256 digest. */
function isThumbprint(value: unknown): value is string {
  return typeof value === 'string' && fromCanonicalBase64Url(value)?.length === 32
}

function bounded(target: string): string | undefined {
  return target.length <= pageLimits.appKeyRedirectCharactersMax ? target : undefined
}

function sizeOf(targets: string[]): number {
  return targets.join('').length
}
