import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { openSigningPopup, SigningPopupResult } from '../../../sdk/src/browser/browser.ts'
import { launchBrowser } from '../../fixtures/environment.ts'

/** The globals of the app's page. */
declare global {
  var openPopup: typeof openSigningPopup
  var answer: Promise<SigningPopupResult>
  var stopped: Promise<string>
}

const sdk = join(import.meta.dirname, '../../../sdk')
const requestId = '4b2f6d9e-1a3c-4e5f-8a7b-9c0d1e2f3a4b'
const signed = { type: 'countersign:signed', payload: { requestId, signature: 'c2ln', publicKey: 'a2V5' } }
const denied = { type: 'countersign:denied', payload: { requestId } }

/** A page of the provider that sends the messages in its URL to its opener or parent. */
const provider = `<!doctype html><title>Sign</title><script>
  const parameters = new URLSearchParams(location.search)
  for (const words of JSON.parse(parameters.get('say') ?? '[]')) (opener ?? parent).postMessage(words, '*')
  if (parameters.has('closing')) close()
</script>`
/** The code of the guide, in a page with what it needs. */
const guide = readFileSync(join(sdk, '../docs/guides/request-a-signature.md'), 'utf8')
const shown = /^```js sign.mjs\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
const followed = `<!doctype html><title>Shop</title><button>Sign</button><p role="status"></p>
  <script type="importmap">{ "imports": { "@countersign/sdk/browser": "/sdk.js" } }</script>
  <script type="module">${shown}</script>`
const app = `<!doctype html><title>Shop</title><button>Sign</button><script type="module">
  import { openSigningPopup } from '/sdk.js'
  globalThis.openPopup = openSigningPopup
  document.documentElement.dataset.ready = ''
</script>`

let browser: Browser
let page: Page
let servers: Server[]
let shop: string
let auth: string

before(async () => {
  execFileSync(process.execPath, [join(sdk, 'build.ts')])
  const script = readFileSync(join(sdk, 'dist/browser.js'))
  const providers = createServer((_, response) => void response.writeHead(200, html).end(provider)).listen(0)
  const shops = createServer(({ url = '/' }, response) => {
    if (url === '/sdk.js') return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    if (url === '/payments/2026-0114') return void response.end(signingUrl({ say: [signed] }))
    const policy = { 'cross-origin-opener-policy': url === '/careful' ? 'same-origin-allow-popups' : 'unsafe-none' }
    response.writeHead(200, { ...html, ...policy }).end(url === '/guide' ? followed : app)
  }).listen(0)
  servers = [providers, shops]
  auth = `http://auth.localhost:${await portOf(providers)}`
  shop = `http://shop.localhost:${await portOf(shops)}`
  browser = await launchBrowser()
})
after(async () => {
  await browser.close()
  for (const server of servers) server.close().closeAllConnections()
})
beforeEach(async () => {
  await page?.context().close()
  page = await (await browser.newContext()).newPage()
  await visit('/')
})

const html = { 'content-type': 'text/html; charset=utf-8' }

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('this server has no port')
  return address.port
}

async function visit(path: string) {
  await page.goto(shop + path)
  await page.locator('html[data-ready]').waitFor()
}

function signingUrl({ say = [], closing = false }: { say?: unknown[]; closing?: boolean } = {}) {
  const words = new URLSearchParams({ requestId, say: JSON.stringify(say), ...(closing && { closing: '' }) })
  return `${auth}/sign?${words.toString()}`
}

/**
 * Clicks the button, whose handler opens the signing page at that URL; a moment later, as if a server had been called.
 */
async function press(address: string): Promise<Page> {
  await page.evaluate((url) => {
    const later = () => new Promise<string>((resolve) => setTimeout(resolve, 200, url))
    const sign = () => void (globalThis.answer = globalThis.openPopup({ signingUrl: later() }))
    document.querySelector('button')?.addEventListener('click', sign)
  }, address)
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
  return popup
}

/** Navigates as by a link: a URL typed into the address bar has no opener. */
async function go(popup: Page, address: string) {
  await popup.evaluate((url) => globalThis.location.assign(url), address)
  await popup.waitForURL(address)
}

async function allClosed(popups: Page[]) {
  const open = popups.filter((popup) => !popup.isClosed())
  await Promise.all(open.map((popup) => popup.waitForEvent('close')))
}

const answer = () => page.evaluate(() => globalThis.answer)

for (const path of ['/', '/careful'])
  test(`the page of the app (${path}) gets the message about the signature, and stops listening`, async () => {
    await visit(path)
    await press(signingUrl({ say: [signed] }))
    assert.deepEqual(await answer(), { type: 'signed', ...signed.payload })

    const devtools = await page.context().newCDPSession(page)
    const { result } = await devtools.send('Runtime.evaluate', { expression: 'window' })
    const { listeners } = await devtools.send('DOMDebugger.getEventListeners', { objectId: result.objectId ?? '' })
    assert.deepEqual(listeners, [])
  })

test('the page of the guide calls its server, opens the window, and shows the result', async () => {
  await page.goto(`${shop}/guide`)
  await page.click('button')
  await page.getByText('signed', { exact: true }).waitFor()
})

test('it gets the message about a denial, also from a window that then closes itself', async () => {
  await press(signingUrl({ say: [denied], closing: true }))
  assert.deepEqual(await answer(), { type: 'denied', requestId })
})

test('it detects that the window was closed', async () => {
  const popup = await press(signingUrl())
  await popup.waitForURL(/\/sign\?/)
  await popup.close()
  assert.deepEqual(await answer(), { type: 'closed' })
})

test('the window has the size that the page requests', async () => {
  const popup = await press(signingUrl())
  await popup.waitForURL(/\/sign\?/)
  assert.deepEqual(await popup.evaluate(() => [innerWidth, innerHeight]), [480, 760])
})

test('it ignores other windows, origins, requests and messages', async () => {
  const other = { ...signed, payload: { ...signed.payload, requestId: requestId.replace('4', '5') } }
  const half = { ...signed, payload: { requestId } }
  const nonsense = [null, 'signed', { type: 'signed' }, { ...signed, payload: null }, { ...signed, type: 'signed' }]
  const popup = await press(signingUrl({ say: [...nonsense, other, half] }))
  await popup.waitForURL(/\/sign\?/)
  await page.evaluate((words) => globalThis.postMessage(words, '*'), signed)
  await page.evaluate(
    async (address) => {
      const frame = document.createElement('iframe')
      frame.src = address
      document.body.append(frame)
      await new Promise((resolve) => addEventListener('message', resolve, { once: true }))
    },
    signingUrl({ say: [signed] }),
  )
  await go(popup, `${shop}/`)
  await popup.evaluate((words) => globalThis.opener.postMessage(words, '*'), signed)
  await go(popup, signingUrl({ say: [denied] }))
  assert.deepEqual(await answer(), { type: 'denied', requestId })
})

test('if popups are blocked it returns the URL, for a link', async () => {
  const url = signingUrl({ say: [signed] })
  await page.setContent(`<iframe sandbox="allow-scripts allow-same-origin" src="${shop}/"></iframe>`)
  const frame = page.frameLocator('iframe')
  await frame.locator('html[data-ready]').waitFor()
  const answered = await frame.locator('html').evaluate((_, address) => openPopup({ signingUrl: address }), url)
  assert.deepEqual(answered, { type: 'blocked', signingUrl: url })
})

test('it closes the window if there is nothing to sign, and runs no script in place of a page', async () => {
  const popups: Page[] = []
  page.on('popup', (popup) => popups.push(popup))
  const failures = await page.evaluate(async () => {
    const addresses = [Promise.reject(new Error('not today')), 'javascript:opener.harmed=true', 'sign', '']
    const messageOf = (error: Error) => error.message
    return Promise.all(
      addresses.map((address) => globalThis.openPopup({ signingUrl: address }).then(String, messageOf)),
    )
  })
  assert.equal(failures[0], 'not today')
  assert.equal(failures[1], 'signingUrl must be a page URL')
  assert.equal(await page.evaluate(() => 'harmed' in globalThis), false)
  await allClosed(popups)
})

for (const isCreated of [true, false])
  test(`the app can stop before it has the URL, which closes the window; request created: ${isCreated}`, async () => {
    await page.evaluate(
      ({ address, isCreated }) => {
        const aborter = new AbortController()
        const { promise, resolve } = Promise.withResolvers<string>()
        const waiting = globalThis.openPopup({ signingUrl: promise, signal: aborter.signal })
        aborter.abort('expired')
        if (isCreated) resolve(address)
        globalThis.stopped = waiting.then(String, String)
      },
      { address: signingUrl(), isCreated },
    )
    await allClosed(page.context().pages().slice(1))
    assert.equal(await page.evaluate(() => globalThis.stopped), 'expired')
  })

test('the app can stop waiting, which closes the window', async () => {
  const reason = await page.evaluate(async (address) => {
    const aborter = new AbortController()
    const waiting = globalThis.openPopup({ signingUrl: address, signal: aborter.signal })
    setTimeout(() => aborter.abort('expired'), 300)
    return waiting.then(String, String)
  }, signingUrl())
  assert.equal(reason, 'expired')
  await allClosed(page.context().pages().slice(1))
})
