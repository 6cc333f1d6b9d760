import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { Type } from 'typebox'
import { Check } from 'typebox/schema'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { type Ours, requireRedirectUri } from '#clients/registration/settings.ts'
import { performance } from 'node:perf_hooks'
import { addSeconds } from '#platform/clock.ts'
import { idle, whileIdle } from '#platform/idle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Document, OutboundError } from '#platform/outbound/fetch.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId } from '@countersign/protocol/ids'
import { type Config, isLocal } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'

/** Metadata of an app from its document. */
export type ClientMetadata = { name: string; redirectUris: string[] }

const errors = defineErrors({
  invalid_client: [400, 'The document at this client_id does not describe a client.'],
  temporarily_unavailable: [503, 'Too many client metadata documents are being fetched. Retry later.'],
})

const redirectUrisMax = 50

/** Relevant members of client metadata (RFC 7591 §2). Logos, links and keys are ignored. */
const MetadataDocument = Type.Object({
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String(), { minItems: 1, maxItems: redirectUrisMax }),
  client_name: Type.Optional(Type.String()),
  token_endpoint_auth_method: Type.Optional(Type.String()),
  grant_types: Type.Optional(Type.Array(Type.String())),
})

/**
 * Parses the document at a client ID (OAuth Client ID Metadata Document §4.1). Its `client_id` must be identical to the
 * URL, so that a document of another client is not accepted. It must not contain a secret, which would be public.
 * Throws `invalid_client` with the reason, for the author of the document.
 */
export function parseClientMetadataDocument(document: unknown, clientId: ClientId, ours: Ours): ClientMetadata {
  const because = (what: string) => errors.invalid_client({ sentence: `The document at this client_id ${what}` })
  if (!Check(MetadataDocument, document))
    throw because('lacks client_id or redirect_uris, or has values of wrong types.')
  if (document.client_id !== clientId) throw because('has a client_id other than its own URL.')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw because('contains a client secret, which is public there. Remove it.')
  if ((document.token_endpoint_auth_method ?? 'none') !== 'none')
    throw because('has a token_endpoint_auth_method other than none, the only supported one.')
  if (document.grant_types?.includes('authorization_code') === false)
    throw because('has grant_types without authorization_code.')

  const redirectUris = [...new Set(document.redirect_uris.filter((uri) => isAcceptable(uri, ours)))]
  if (redirectUris.length === 0) throw because('has no redirect URI that can be registered here.')
  const { client_name: name = '' } = document
  return { name: isDisplayName(name) ? name : new URL(clientId).host, redirectUris }
}

/** Checks whether a redirect URI could be registered. Documents serve many providers, so other URIs are ignored. */
function isAcceptable(uri: string, ours: Ours): boolean {
  try {
    requireRedirectUri(uri, { isPublic: true, ours })
    return uri.length <= 2000
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Fetches client metadata documents by client ID. */
export type ClientMetadataFetcher = {
  /**
   * Returns the metadata at a URL, from the cache or by a request on behalf of a source address. Throws
   * `invalid_client`, `rate_limited` or `temporarily_unavailable`.
   */
  read: (url: ClientId, address: string) => Promise<FetchedClientMetadata>
}
export type FetchedClientMetadata = ClientMetadata & { readAt: Date }

type Remembered = FetchedClientMetadata & { freshUntil: Date }

const documentBytesMax = 5120
const withinMilliseconds = 5000
/** Minimum duration of a failure, so that its timing does not disclose which hosts were reachable. */
const failureMilliseconds = 1000
const rememberedMax = 1000
const underWayMax = 500
/**
 * Maximum numbers of concurrent fetches: in total, for clients of one network, and per host. Hosts that never respond
 * then do not block other apps, and clients of a few networks do not block others.
 */
const places = { all: 300, ofNetwork: 10, ofHost: 30 }
/** Bounds of the cache duration, whatever a document declares. */
const freshSeconds = { least: 60, most: 3600 }

/**
 * Creates a fetcher that reads each document once at a time and caches valid ones for the declared time within bounds.
 * Failures are not cached, so that a corrected document works at once. The rate limit by source address limits failed
 * fetches.
 */
export function createClientMetadataFetcher(
  kernel: Pick<ServerContext, 'outbound' | 'clock' | 'config' | 'rateLimits' | 'log'>,
) {
  const { outbound, clock, config, rateLimits, log } = kernel
  const remembered = new Map<string, Remembered>()
  const underWay = new Map<string, Promise<Remembered>>()
  const requested = new Set<{ network: string; host: string }>()

  /** Fetches a document within the limits. Throws `temporarily_unavailable` if they are reached. */
  async function ask(url: string, network: string): Promise<Document> {
    const { host } = new URL(url)
    const others = [...requested]
    const isFull =
      others.length >= places.all ||
      others.filter((other) => other.network === network).length >= places.ofNetwork ||
      others.filter((other) => other.host === host).length >= places.ofHost
    if (isFull) throw errors.temporarily_unavailable({ headers: { 'retry-after': '5' } })
    const mine = { network, host }
    requested.add(mine)
    return outbound
      .get(url, { bodyBytesMax: documentBytesMax, withinMilliseconds })
      .finally(() => requested.delete(mine))
  }

  async function fetchDescription(url: ClientId, network: string): Promise<Remembered> {
    const begun = performance.now()
    try {
      const readAt = clock()
      const document = await ask(url, network)
      const description = parseClientMetadataDocument(document.json, url, config)
      return { ...description, readAt, freshUntil: addSeconds(readAt, lifetimeOf(document)) }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'temporarily_unavailable') throw error
      await idle(begun + failureMilliseconds - performance.now())
      if (!(error instanceof OutboundError)) throw error
      log.info({ reason: error.reason }, 'client metadata document fetch failed')
      throw errors.invalid_client({
        sentence: 'The client metadata document at this client_id could not be fetched or is invalid.',
      })
    }
  }

  async function readAnew(url: ClientId, network: string): Promise<Remembered> {
    if (underWay.size >= underWayMax) throw errors.temporarily_unavailable({ headers: { 'retry-after': '5' } })
    const reading = fetchDescription(url, network)
    underWay.set(url, reading)
    try {
      const read = await reading
      remember(remembered, url, read)
      return read
    } finally {
      underWay.delete(url)
    }
  }

  const documents: ClientMetadataFetcher = {
    async read(url, address) {
      const known = remembered.get(url)
      if (known && known.freshUntil > clock()) return known
      await rateLimits.count('client-metadata-fetches', address)
      return whileIdle(() => underWay.get(url) ?? readAnew(url, siteKey(address)))
    },
  }
  return documents
}

/** Adds metadata to the cache and evicts the oldest entry if there are too many. */
function remember(remembered: Map<string, Remembered>, url: string, read: Remembered): void {
  remembered.delete(url)
  const [oldest] = remembered.keys()
  if (remembered.size >= rememberedMax && oldest !== undefined) remembered.delete(oldest)
  remembered.set(url, read)
}

/** Returns the freshness lifetime of a document in seconds (RFC 9111 §4.2.1), or the minimum if it declares none. */
function lifetimeOf({ cacheControl = '', age }: Pick<Document, 'cacheControl' | 'age'>): number {
  const isForgotten = /\b(?:no-store|no-cache)\b/i.test(cacheControl)
  const [, maxAge = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl) ?? []
  const left = isForgotten ? 0 : Number(maxAge) - (Number(age) || 0)
  return Math.min(Math.max(left, freshSeconds.least), freshSeconds.most)
}

type Hosts = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

/** Checks whether a client ID has the form of a document URL. Client IDs issued by this service never have. */
export function isClientIdUrl(clientId: string): boolean {
  return clientId.startsWith('https://') || clientId.startsWith('http://')
}

/**
 * Checks whether a client ID is an allowed document URL (OAuth Client ID Metadata Document §3). Only the serialization
 * of the URL standard is accepted: two spellings of one URL would be two apps, one of which could impersonate the
 * other. This also excludes dot segments and non-ASCII hosts. The hosts of this service are excluded, so that it does
 * not send requests to itself.
 */
export function isAllowedClientIdUrl(clientId: string, { baseUrl, authUrl, businessUrl }: Hosts): boolean {
  if (!isClientIdUrl(clientId) || clientId.length > limits.clientIdCharactersMax) return false
  const url = URL.parse(clientId)
  if (url?.href !== clientId || !hasPlainHost(url)) return false
  if (url.protocol === 'http:' && !(isLocal(url) && isLocal(baseUrl))) return false
  if (url.username !== '' || url.password !== '' || clientId.includes('#')) return false
  if ([baseUrl, authUrl, businessUrl].some(({ origin }) => origin === url.origin)) return false
  return url.pathname !== '/' && !url.hostname.endsWith('.')
}
