import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { buildAppKeyFragment } from '../../../keys/src/app-key-fragment.ts'
import { formatAppKeyFragment, type AppKey } from '../../../protocol/src/formats/encryption/app-key-fragment.ts'
import { parseRecipientKey } from '../../../protocol/src/formats/encryption/recipient-key.ts'
import { launchBrowser } from '../../fixtures/environment.ts'

const sdk = join(import.meta.dirname, '../../../sdk')
const guide = readFileSync(join(sdk, '../docs/guides/end-to-end-encryption.md'), 'utf8')
const page = (modules: string) => `<!doctype html><title>Notes</title><button id="sign-in">Sign in</button>
  <script type="importmap">{ "imports": { "@countersign/sdk/encryption": "/sdk.js" } }</script>
  <script type="module">${modules}; document.documentElement.dataset.ready = ''</script>`

/** The pages that import the code of the guide. */
const pages = new Map([
  ['/', page(`import '/sign-in.mjs'`)],
  [
    '/notes',
    page(
      `import * as note from '/note.mjs'; import * as share from '/share.mjs'; Object.assign(window, { note, share })`,
    ),
  ],
])

/** The globals of those pages. */
declare global {
  var note: { save: (text: string) => Promise<void>; load: () => Promise<string> }
  var share: {
    share: (handle: string, text: string, publicKey?: string) => Promise<{ ciphertext: string }>
    read: (ciphertext: string) => Promise<string>
  }
}

let browser: Browser
let tab: Page
let server: Server
let notes: string
/** The user's app key, and the data that the app's server has stored. */
let delivered: AppKey
let note: string

before(async () => {
  execFileSync(process.execPath, [join(sdk, 'build.ts')])
  server = createServer((request, response) => void answer(request, response)).listen(0)
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  notes = `http://notes.localhost:${address.port}`
  browser = await launchBrowser()
})
after(async () => {
  await browser.close()
  server.close().closeAllConnections()
})
beforeEach(async () => {
  await tab?.context().close()
  tab = await (await browser.newContext()).newPage()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', notes)
  if (pathname === '/sign-in') {
    // Acts as Countersign; its page leads to the callback of the app.
    const recipient = parseRecipientKey(searchParams.get('app_key_jwk') ?? '')
    assert.ok(recipient)
    const location = `/callback?code=c&state=s#${await buildAppKeyFragment({ appKey: delivered }, recipient)}`
    return void response.writeHead(303, { location }).end()
  }
  if (pathname === '/callback') return void response.writeHead(303, { location: '/notes' }).end()
  if (pathname === '/notes/1') {
    if (request.method === 'PUT') note = await text(request)
    return void response.end(note)
  }
  if (pathname === '/api/encryption/app-lookup') return void response.end(JSON.stringify(recordFor(searchParams)))
  const script = pathname === '/sdk.js' ? readFileSync(join(sdk, 'dist/encryption.js'), 'utf8') : moduleOf(pathname)
  const type = script === undefined ? 'text/html' : 'text/javascript'
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(script ?? pages.get(pathname) ?? '')
}

/** A module of the guide, with the URLs of this app instead of the examples. */
function moduleOf(pathname: string): string | undefined {
  const blocks = guide.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)
  const [, , code] = blocks.find(([, name]) => pathname === `/${name}`) ?? []
  return code?.replace('http://localhost:4400', notes)
}

function recordFor(query: URLSearchParams) {
  assert.ok(delivered.mode === 'asymmetric')
  const publicKey = Buffer.from(delivered.publicKey).toString('base64')
  const person = { identityId: '0198a3c2-7f10-7a11-8b22-0000000000b1', handle: 'ada', displayName: 'Ada' }
  assert.equal(query.get('handle'), 'ada')
  return { clientId: query.get('client_id'), ...person, publicKey, encryptionMode: 'asymmetric' }
}

async function signIn() {
  await tab.goto(notes)
  await tab.locator('html[data-ready]').waitFor()
  await tab.click('#sign-in')
  await tab.waitForURL(/\/notes(?:#|$)/)
  await tab.locator('html[data-ready]').waitFor()
}

test('the guide’s code receives the key by a redirect, and stores a note that the server cannot read', async () => {
  delivered = { mode: 'symmetric', key: Uint8Array.from(randomBytes(32)) }
  await signIn()
  assert.equal(tab.url(), `${notes}/notes`)
  const loaded = await tab.evaluate(async () => {
    await globalThis.note.save('Milk, bread')
    return globalThis.note.load()
  })
  assert.equal(loaded, 'Milk, bread')
  assert.match(note, /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
})

test('the code of the guide shares a text with a user, and detects a changed key', async () => {
  const pair = generateKeyPairSync('x25519')
  const privateKey = Uint8Array.from(pair.privateKey.export({ format: 'der', type: 'pkcs8' }))
  const publicKey = Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' }))
  delivered = { mode: 'asymmetric', privateKey, publicKey }
  await signIn()
  const read = await tab.evaluate(async () => {
    const { ciphertext } = await globalThis.share.share('ada', 'Milk')
    return globalThis.share.read(ciphertext)
  })
  assert.equal(read, 'Milk')
  const toAnother = tab.evaluate(() => globalThis.share.share('ada', 'Milk', 'another'))
  await assert.rejects(toAnother, /public_key_changed/)
})

test('a key from a crafted link is rejected', async () => {
  const planted = formatAppKeyFragment({ appKey: { mode: 'symmetric', key: Uint8Array.from(randomBytes(32)) } })
  const failed = tab.waitForEvent('pageerror')
  await tab.goto(`${notes}/notes#${planted}`)
  assert.match((await failed).message, /decryption_failed/)
  assert.equal(tab.url(), `${notes}/notes`)
})
