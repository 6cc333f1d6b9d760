import type { Kernel } from '#platform/module/services.ts'
import { createCache, passStale } from './cache.ts'
import { createClientDocuments } from './client-documents.ts'
import { describeApp } from './described-app.ts'
import { isAddress, isDocumentUrl } from './document-url.ts'
import * as store from './store.ts'
import type { RegisteredApp } from './store.ts'

export type { RegisteredApp }

/** The apps as every request needs them. What another process changes is seen here within five seconds. */
export type AppDirectory = {
  /** An app; one that is disabled is as good as none. */
  find: (clientId: string) => Promise<RegisteredApp | undefined>
  /**
   * The directory for an authorization request from a source address: it also finds apps that nobody has registered,
   * and that describe themselves in a document at their client id. Its `find` refuses `invalid_client`, `rate_limited`,
   * `temporarily_unavailable`.
   */
  askedFrom: (address: string) => AppDirectory
  /** Whether any app has a redirect URI of this origin. */
  hasRedirectOrigin: (origin: string) => Promise<boolean>
  /** Called by whoever has changed an app in this process, so that here the change is seen at once. */
  forget: (clientId: string) => void
  /**
   * The same, and waits until no process remembers what was: so an act that must hold everywhere when it is
   * acknowledged costs those who ask nothing.
   */
  forgetEverywhere: (clientId: string) => Promise<void>
}

/** What may be a client id (RFC 6749 appendix A.1) or an origin. Anything else is answered without being looked up. */
const visible = /^[\x21-\x7e]{1,300}$/

type Needed = Pick<Kernel, 'db' | 'clock' | 'config' | 'outbound' | 'rateLimits' | 'log'>

export function createAppDirectory(kernel: Needed): AppDirectory {
  const { db, clock, config } = kernel
  const documents = createClientDocuments(kernel)
  const apps = createCache((clientId) => findLasting(db, clientId), clock)
  const origins = createCache((origin) => store.findOrigin(db, origin), clock)
  function forget(clientId: string): void {
    apps.forget(clientId)
    origins.forgetAll()
  }

  async function read(clientId: string): Promise<RegisteredApp | undefined> {
    if (!visible.test(clientId) || (isAddress(clientId) && !config.clientDocuments)) return undefined
    const app = await apps.read(clientId)
    // The first consent puts such an app on record, and its code may be redeemed at once in any process.
    if (!app && isAddress(clientId)) apps.forget(clientId)
    return app
  }

  async function findDescribed(clientId: string, address: string): Promise<RegisteredApp | undefined> {
    const row = await read(clientId)
    if (!config.clientDocuments || !isDocumentUrl(clientId, config) || row?.status === 'disabled') return undefined
    return describeApp(clientId, await documents.read(clientId, address), row)
  }

  const directory: AppDirectory = {
    async find(clientId) {
      const app = await read(clientId)
      return app?.status === 'active' ? app : undefined
    },
    askedFrom: (address) => ({
      ...directory,
      find: (clientId) => (isAddress(clientId) ? findDescribed(clientId, address) : directory.find(clientId)),
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
 * An app as it may be kept. The driver's bytes are a part of a piece of memory that other answers share (64 KiB), and
 * whoever keeps them keeps all of it: hence copies.
 */
async function findLasting(db: Kernel['db'], clientId: string): Promise<RegisteredApp | undefined> {
  const app = await store.findApp(db, clientId)
  return app && { ...app, secretsSha256: app.secretsSha256.map((hash) => Buffer.from(new Uint8Array(hash).buffer)) }
}
