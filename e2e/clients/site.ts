import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { ResponseOf } from '@countersign/protocol/api'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { Served } from '../../server/testing/service.ts'

export type Registered = ResponseOf<'POST /api/admin/apps'>

/** A site for an app: its origin, the app's registration at the provider, and the function that serves it. */
export async function openSite(service: Served, name: string, settings: Omit<NewApp, 'name' | 'redirectUris'> = {}) {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the site has no port')
  const origin = `http://${name}.localhost:${address.port}`
  return {
    origin,
    serve: (listener: RequestListener) => void server.on('request', listener),
    async register(path: string, more: Partial<NewApp> = {}): Promise<Registered> {
      const response = await fetch(`${service.baseUrl}/api/admin/apps`, {
        method: 'POST',
        headers: { ...service.admin, 'content-type': 'application/json' },
        body: JSON.stringify({ name, redirectUris: [origin + path], ...settings, ...more }),
      })
      if (!response.ok) throw new Error(`${name} was not registered: ${await response.text()}`)
      return (await response.json()) as Registered
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Returns a page that names the signed-in user. */
export function greeting(name: string): string {
  const heading = `<p>Welcome, <strong id="name">${name}</strong></p>`
  return `<!doctype html><html lang="en"><title>Welcome</title>${heading}</html>`
}
