import type { ClientId } from '@countersign/protocol/ids'
import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import { idle } from '#platform/idle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import {
  createClientMetadataFetcher,
  isAllowedClientIdUrl,
  isClientIdUrl,
} from '#clients/registration/metadata-documents/metadata-document.ts'
import { toMetadataDocumentClient } from '#clients/registration/metadata-documents/metadata-document-client.ts'
import * as store from './store.ts'
import type { ListedApp, RegisteredApp } from './store.ts'

type Entry<Value> = { value: Value; readAt: number }
type Settled<Key, Value> = Map<Key, Entry<Value>>

const cacheTtlMs = 5000
const foundMax = 10_000
const missedMax = 1000

/**
 * Waits until no process has an older value cached. The embedded database has a single process, which has already
 * dropped the value.
 */
export async function passStale({ databaseUrl }: Pick<Config, 'databaseUrl'>): Promise<void> {
  if (databaseUrl) await idle(cacheTtlMs)
}

/** Cache of values that were read in the last five seconds. */
export type Cache<Key, Value> = {
  /** Returns the value of a key, or undefined if it does not exist. Concurrent reads of a key share one query. */
  read: (key: Key) => Promise<Value | undefined>
  forget: (key: Key) => void
  forgetAll: () => void
}

/**
 * Creates a cache of bounded size. Missing keys are cached apart from existing ones: made-up keys cause no measurable
 * difference in time and evict no existing key.
 */
export function createCache<Key extends string, Value>(
  find: (key: Key) => Promise<Value | undefined>,
  clock: Clock,
): Cache<Key, Value> {
  const found: Settled<Key, Value> = new Map()
  const missed: Settled<Key, undefined> = new Map()
  const reading = new Map<Key, Entry<Promise<Value | undefined>>>()

  async function readAnew(key: Key): Promise<Value | undefined> {
    const readAt = clock().getTime()
    const answer = find(key)
    const mine = { value: answer, readAt }
    reading.set(key, mine)
    try {
      const value = await answer
      // A read that started before a change may return the old value.
      if (reading.get(key) === mine) settle(key, value, readAt)
      return value
    } finally {
      if (reading.get(key) === mine) reading.delete(key)
    }
  }

  function settle(key: Key, value: Value | undefined, readAt: number): void {
    found.delete(key)
    missed.delete(key)
    if (value === undefined) keep(missed, key, { value, readAt }, missedMax)
    else keep(found, key, { value, readAt }, foundMax)
  }

  return {
    async read(key) {
      const entry = found.get(key) ?? missed.get(key)
      if (entry && isFresh(entry, clock())) return entry.value
      const underWay = reading.get(key)
      return underWay && isFresh(underWay, clock()) ? underWay.value : readAnew(key)
    },
    forget(key) {
      for (const entries of [found, missed, reading]) entries.delete(key)
    },
    forgetAll() {
      for (const entries of [found, missed, reading]) entries.clear()
    },
  }
}

/** Adds an entry and evicts the oldest if there are too many. */
function keep<Key, Value>(entries: Settled<Key, Value>, key: Key, entry: Entry<Value>, max: number): void {
  const [oldest] = entries.keys()
  if (entries.size >= max && oldest !== undefined) entries.delete(oldest)
  entries.set(key, entry)
}

function isFresh({ readAt }: Entry<unknown>, now: Date): boolean {
  const age = now.getTime() - readAt
  return age >= 0 && age < cacheTtlMs
}

export type { ListedApp, RegisteredApp }

/** Directory of apps for all requests. Changes by other processes are visible here within five seconds. */
export type AppDirectory = {
  /** Finds an active app. Disabled apps are not found. */
  find: (clientId: ClientId) => Promise<RegisteredApp | undefined>
  /**
   * Returns the directory for an authorization request from a source address. It also finds unregistered apps with a
   * client metadata document at their client ID. Its `find` throws `invalid_client`, `rate_limited` or
   * `temporarily_unavailable`.
   */
  requestedFrom: (address: string) => AppDirectory
  /** Checks whether any app has a redirect URI of this origin. */
  hasRedirectOrigin: (origin: string) => Promise<boolean>
  /** Drops an app that was changed in this process, so that the change is visible here at once. */
  forget: (clientId: ClientId) => void
  /**
   * Drops an app and waits until no process has the old one cached. Only such changes wait; requests for the app do
   * not.
   */
  forgetEverywhere: (clientId: ClientId) => Promise<void>
}

/** Valid client IDs (RFC 6749 appendix A.1) and origins. Other text is rejected without a look-up. */
const visible = /^[\x21-\x7e]{1,300}$/

type Needed = Pick<ServerContext, 'db' | 'clock' | 'config' | 'outbound' | 'rateLimits' | 'log'>

export function createAppDirectory(kernel: Needed): AppDirectory {
  const { db, clock, config } = kernel
  const documents = createClientMetadataFetcher(kernel)
  const apps = createCache((clientId: ClientId) => findLasting(db, clientId), clock)
  const origins = createCache((origin: string) => store.findOrigin(db, origin), clock)
  function forget(clientId: ClientId): void {
    apps.forget(clientId)
    origins.forgetAll()
  }

  async function read(clientId: ClientId): Promise<RegisteredApp | undefined> {
    if (!visible.test(clientId) || (isClientIdUrl(clientId) && !config.clientDocuments)) return undefined
    const app = await apps.read(clientId)
    // The first consent stores such an app, and any process can then redeem its code at once.
    if (!app && isClientIdUrl(clientId)) apps.forget(clientId)
    return app
  }

  async function findDescribed(clientId: ClientId, address: string): Promise<RegisteredApp | undefined> {
    const row = await read(clientId)
    if (!config.clientDocuments || !isAllowedClientIdUrl(clientId, config) || row?.status === 'disabled')
      return undefined
    return toMetadataDocumentClient(clientId, await documents.read(clientId, address), row)
  }

  const directory: AppDirectory = {
    async find(clientId) {
      const app = await read(clientId)
      return app?.status === 'active' ? app : undefined
    },
    requestedFrom: (address) => ({
      ...directory,
      find: (clientId) => (isClientIdUrl(clientId) ? findDescribed(clientId, address) : directory.find(clientId)),
    }),
    hasRedirectOrigin: async (origin) => visible.test(origin) && (await origins.read(origin)) !== undefined,
    forget,
    async forgetEverywhere(clientId) {
      forget(clientId)
      await passStale(config)
    },
  }
  return directory
}

/**
 * Finds an app and copies its hashes. The driver's buffers are slices of a shared 64 KiB block, and a cached slice
 * would keep the whole block in memory.
 */
async function findLasting(db: ServerContext['db'], clientId: ClientId): Promise<RegisteredApp | undefined> {
  const app = await store.findApp(db, clientId)
  return app && { ...app, secretsSha256: app.secretsSha256.map((hash) => Buffer.from(new Uint8Array(hash).buffer)) }
}
