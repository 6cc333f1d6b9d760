import { isResourceKey } from '@countersign/protocol/formats/resource'
import type { Kernel } from '#platform/module/services.ts'
import { createCache, passStale } from '#clients/registration/cache.ts'
import * as store from './store.ts'
import type { RegisteredResource } from './store.ts'

export type { RegisteredResource }

/** The active resources as anyone may read them. What another process changes is seen here within five seconds. */
export type ResourceDirectory = {
  find: (resourceKey: string) => Promise<RegisteredResource | undefined>
  /** Those of an app, the oldest first. */
  listOf: (clientId: string) => Promise<RegisteredResource[]>
  /** Called by whoever has changed a resource in this process, so that here the change is seen at once. */
  forget: (resource: { clientId: string; resourceKey: string }) => void
  /** The same, and waits until no process remembers what was, where a change takes something away. */
  forgetEverywhere: (resource: { clientId: string; resourceKey: string }) => Promise<void>
}

export function createResourceDirectory({
  db,
  clock,
  config,
}: Pick<Kernel, 'db' | 'clock' | 'config'>): ResourceDirectory {
  const byKey = createCache((resourceKey) => store.findResource(db, resourceKey), clock)
  const byApp = createCache((clientId) => store.listResources(db, clientId), clock)
  function forget({ clientId, resourceKey }: { clientId: string; resourceKey: string }): void {
    byKey.forget(resourceKey)
    byApp.forget(clientId)
  }
  return {
    async find(resourceKey) {
      const resource = isResourceKey(resourceKey) ? await byKey.read(resourceKey) : undefined
      return resource?.status === 'active' ? resource : undefined
    },
    async listOf(clientId) {
      const found = (await byApp.read(clientId)) ?? []
      return found.filter(({ status }) => status === 'active')
    },
    forget,
    async forgetEverywhere(resource) {
      forget(resource)
      await passStale(config)
    },
  }
}
