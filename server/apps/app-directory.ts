import type { Kernel } from '#kernel/kernel.ts'
import { createCache } from './cache.ts'
import { findApp, findOrigin, type RegisteredApp } from './store.ts'

export type { RegisteredApp }

/** The apps as every request needs them. What another process changes is seen here within five seconds. */
export type AppDirectory = {
  find: (clientId: string) => Promise<RegisteredApp | undefined>
  /** Whether any app has a redirect URI of this origin. */
  hasRedirectOrigin: (origin: string) => Promise<boolean>
  /** Called by whoever has changed an app in this process, so that here the change is seen at once. */
  forget: (clientId: string) => void
}

/** What may be a client id (RFC 6749 appendix A.1) or an origin. Anything else is answered without being looked up. */
const visible = /^[\x21-\x7e]{1,300}$/

export function createAppDirectory({ db, clock }: Pick<Kernel, 'db' | 'clock'>): AppDirectory {
  const apps = createCache((clientId) => findApp(db, clientId), clock)
  const origins = createCache((origin) => findOrigin(db, origin), clock)
  return {
    find: async (clientId) => (visible.test(clientId) ? apps.read(clientId) : undefined),
    hasRedirectOrigin: async (origin) => visible.test(origin) && (await origins.read(origin)) !== undefined,
    forget(clientId) {
      apps.forget(clientId)
      origins.forgetAll()
    },
  }
}
