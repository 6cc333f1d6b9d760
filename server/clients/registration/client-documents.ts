import { performance } from 'node:perf_hooks'
import { secondsAfter } from '#platform/clock.ts'
import { idle, whileIdle } from '#platform/idle.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable, type Document } from '#platform/outbound/fetch.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { readClientDocument, type Description } from './client-document.ts'

/** The documents in which apps describe themselves, each at its client id. */
export type ClientDocuments = {
  /**
   * What the document at an address says; reads it where it is not remembered, for somebody at a source address.
   * Refuses `invalid_client`, `rate_limited`, `temporarily_unavailable`.
   */
  read: (url: string, address: string) => Promise<ReadDescription>
}
export type ReadDescription = Description & { readAt: Date }

type Remembered = ReadDescription & { freshUntil: Date }

const refuse = refusals({
  invalid_client: [400, 'The document at this client_id cannot be read.'],
  temporarily_unavailable: [503, 'Too many documents of clients are being read. Try again in a moment.'],
})

const documentBytesMax = 5120
const withinMilliseconds = 5000
/** Whatever goes wrong is told no sooner: by how fast it is, nobody tells apart the doors at which we have knocked. */
const failureMilliseconds = 1000
const rememberedMax = 1000
const underWayMax = 500
/**
 * How many are asked for at once: in all, for callers of one network, and at one host. So hosts that never answer keep
 * nobody from using other apps, and callers of a few networks take no place of the others.
 */
const places = { all: 300, ofNetwork: 10, ofHost: 30 }
/** However long a document says that it stays good, it is remembered for so long. */
const freshSeconds = { least: 60, most: 3600 }

/**
 * Reads documents, each once at a time whoever asks, and remembers those that are good, for as long as they say within
 * bounds. What could not be read is not remembered: who mends it is not kept waiting, and the limit by source address
 * keeps us from knocking in vain too often.
 */
export function createClientDocuments(kernel: Pick<Kernel, 'outbound' | 'clock' | 'config' | 'rateLimits' | 'log'>) {
  const { outbound, clock, config, rateLimits, log } = kernel
  const remembered = new Map<string, Remembered>()
  const underWay = new Map<string, Promise<Remembered>>()
  const asked = new Set<{ network: string; host: string }>()

  /** Asks for a document at a place; refuses `temporarily_unavailable` where there is none. */
  async function ask(url: string, network: string): Promise<Document> {
    const { host } = new URL(url)
    const others = [...asked]
    const isFull =
      others.length >= places.all ||
      others.filter((other) => other.network === network).length >= places.ofNetwork ||
      others.filter((other) => other.host === host).length >= places.ofHost
    if (isFull) throw refuse.temporarily_unavailable({ headers: { 'retry-after': '5' } })
    const mine = { network, host }
    asked.add(mine)
    return outbound.get(url, { bodyBytesMax: documentBytesMax, withinMilliseconds }).finally(() => asked.delete(mine))
  }

  async function fetchDescription(url: string, network: string): Promise<Remembered> {
    const begun = performance.now()
    try {
      const readAt = clock()
      const document = await ask(url, network)
      const description = readClientDocument(document.json, url, config)
      return { ...description, readAt, freshUntil: secondsAfter(readAt, lifetimeOf(document)) }
    } catch (error) {
      if (error instanceof Refusal && error.code === 'temporarily_unavailable') throw error
      await idle(begun + failureMilliseconds - performance.now())
      if (!(error instanceof Unreachable)) throw error
      log.info({ reason: error.reason }, 'the document of a client could not be read')
      throw refuse.invalid_client()
    }
  }

  async function readAnew(url: string, network: string): Promise<Remembered> {
    if (underWay.size >= underWayMax) throw refuse.temporarily_unavailable({ headers: { 'retry-after': '5' } })
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

  const documents: ClientDocuments = {
    async read(url, address) {
      const known = remembered.get(url)
      if (known && known.freshUntil > clock()) return known
      await rateLimits.count('document of a client', address)
      return whileIdle(() => underWay.get(url) ?? readAnew(url, siteKey(address)))
    },
  }
  return documents
}

/** Keeps a description, in place of the oldest where there are too many. */
function remember(remembered: Map<string, Remembered>, url: string, read: Remembered): void {
  remembered.delete(url)
  const [oldest] = remembered.keys()
  if (remembered.size >= rememberedMax && oldest !== undefined) remembered.delete(oldest)
  remembered.set(url, read)
}

/** How long a document stays good from now on, in seconds (RFC 9111 §4.2.1); one that does not say so, the least. */
function lifetimeOf({ cacheControl = '', age }: Pick<Document, 'cacheControl' | 'age'>): number {
  const isForgotten = /\b(?:no-store|no-cache)\b/i.test(cacheControl)
  const [, maxAge = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl) ?? []
  const left = isForgotten ? 0 : Number(maxAge) - (Number(age) || 0)
  return Math.min(Math.max(left, freshSeconds.least), freshSeconds.most)
}
