import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Answer } from '@countersign/protocol/api'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { Served } from '../../server/testing/service.ts'

export type Registered = Answer<'POST /api/admin/apps'>

/** A site of its own for an app: its origin, the app as the provider knows it, and the way to serve it. */
export async function openSite(service: Served, name: string, settings: Omit<NewApp, 'name' | 'redirectUris'> = {}) {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the site listens on no port')
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

/** A page that says who is signed in. */
export function greeting(name: string): string {
  const heading = `<p>Welcome, <strong id="name">${name}</strong></p>`
  return `<!doctype html><html lang="en"><title>Welcome</title>${heading}</html>`
}
