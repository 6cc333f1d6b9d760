import { isResourceKey } from '@countersign/protocol/formats/resource'
import type { Kernel } from '#kernel/kernel.ts'
import { createCache } from './cache.ts'
import { findResource, listResources, type RegisteredResource } from './resource-store.ts'

export type { RegisteredResource }

/** The active resources as anyone may read them. What another process changes is seen here within five seconds. */
export type ResourceDirectory = {
  find: (resourceKey: string) => Promise<RegisteredResource | undefined>
  /** Those of an app, the oldest first. */
  listOf: (clientId: string) => Promise<RegisteredResource[]>
  /** Called by whoever has changed a resource in this process, so that here the change is seen at once. */
  forget: (resource: { clientId: string; resourceKey: string }) => void
}

export function createResourceDirectory({ db, clock }: Pick<Kernel, 'db' | 'clock'>): ResourceDirectory {
  const byKey = createCache((resourceKey) => findResource(db, resourceKey), clock)
  const byApp = createCache((clientId) => listResources(db, clientId), clock)
  return {
    async find(resourceKey) {
      const resource = isResourceKey(resourceKey) ? await byKey.read(resourceKey) : undefined
      return resource?.status === 'active' ? resource : undefined
    },
    async listOf(clientId) {
      const found = (await byApp.read(clientId)) ?? []
      return found.filter(({ status }) => status === 'active')
    },
    forget({ clientId, resourceKey }) {
      byKey.forget(resourceKey)
      byApp.forget(clientId)
    },
  }
}
