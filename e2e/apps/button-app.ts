import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Served } from '../../server/testing/service.ts'

type Settings = {
  supportsE2ee?: boolean
  appKeyRecipientJwk?: string
  attributes?: string
  language?: string
  /** What follows the origin in the registered redirect URI. */
  callback?: string
}

const built = join(import.meta.dirname, '../../sdk/dist')

const listening = `
import { exchangeSignIn } from './sign-in.js'
import { decryptAppKey } from './encryption.js'
const output = document.querySelector('output')
addEventListener('signed-in', async ({ target, detail }) => {
  const { claims, scope } = await exchangeSignIn(target.app, detail.grant)
  globalThis.sealedKey = detail.sealedAppKey
  const isForServer = target.app.appKeyRecipientJwk !== undefined
  if (detail.sealedAppKey && !isForServer) globalThis.broughtKey = await decryptAppKey(detail.sealedAppKey)
  const way = 'assertion' in detail.grant ? 'dialog' : 'redirect'
  const words = ['Hello ' + claims.name, 'by a ' + way, 'with ' + scope]
  output.textContent = [...words, ...(detail.sealedAppKey ? ['and a key'] : [])].join(', ')
})
addEventListener('sign-in-failed', ({ detail }) => {
  output.textContent = detail.type + (detail.error ? ' ' + detail.error.code : '')
})
`

/**
 * A public app on its own site, whose page contains only the SDK's button as built, under the strictest content
 * security policy. The same page is the redirect URI.
 */
export async function openButtonApp(service: Served, given: Settings = {}) {
  const { attributes = '', language = 'en', callback = '/callback', ...settings } = given
  const parts = ['button.js', 'sign-in.js', 'encryption.js']
  const sdk = parts.map((name) => [`/${name}`, readFileSync(join(built, name))] as const)
  const scripts: Record<string, string | Buffer> = { ...Object.fromEntries(sdk), '/page.js': listening }
  let page = ''
  const server = createServer(({ url = '' }, response) => {
    const script = scripts[url]
    if (script !== undefined) return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    const connect = `connect-src ${service.baseUrl} ${service.authUrl}`
    const policy = `default-src 'none'; script-src 'self'; ${connect}; require-trusted-types-for 'script'`
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    response.writeHead(200, headers).end(page)
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app has no port')
  const origin = `http://gazette.localhost:${address.port}`
  const registered = await fetch(`${service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Gazette', redirectUris: [origin + callback], public: true, ...settings }),
  })
  const { clientId }: { clientId: string } = JSON.parse(await registered.text())
  const hosts = `base-url="${service.baseUrl}" auth-url="${service.authUrl}"`
  const redirectUri = callback.startsWith('/') ? callback : origin + callback
  const button = `<countersign-button ${hosts} client-id="${clientId}" redirect-uri="${redirectUri}" ${attributes}>`
  const scriptsOfPage = ['button', 'page'].map((name) => `<script type="module" src="/${name}.js"></script>`).join('')
  const head = `<meta name="viewport" content="width=device-width"><title>Gazette</title>${scriptsOfPage}`
  const body = `<main><h1>Gazette</h1>${button}</countersign-button><p><output></output></p></main>`
  page = `<!doctype html><html lang="${language}">${head}${body}</html>`

  return {
    origin,
    clientId,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
