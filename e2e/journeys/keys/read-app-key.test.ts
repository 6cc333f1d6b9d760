import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { buildAppKeyFragment } from '../../../keys/src/app-key-fragment.ts'
import { formatAppKeyFragment, type AppKey } from '../../../protocol/src/formats/encryption/app-key-fragment.ts'
import { parseRecipientKey } from '../../../protocol/src/formats/encryption/recipient-key.ts'
import type * as Sdk from '../../../sdk/src/encryption/encryption.ts'
import { launchBrowser } from '../../fixtures/environment.ts'

/** The globals of the app's page. */
declare global {
  var sdk: typeof Sdk
}

const html = { 'content-type': 'text/html; charset=utf-8' }
const app = `<!doctype html><title>Notes</title><script type="module">
  globalThis.sdk = await import('/sdk.js')
  document.documentElement.dataset.ready = ''
</script>`

let browser: Browser
let page: Page
let server: Server
let notes: string

before(async () => {
  const sdk = join(import.meta.dirname, '../../../sdk')
  execFileSync(process.execPath, [join(sdk, 'build.ts')])
  const script = readFileSync(join(sdk, 'dist/encryption.js'))
  server = createServer(({ url }, response) => {
    if (url === '/sdk.js') return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    response.writeHead(200, html).end(app)
  }).listen(0)
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
  await page?.context().close()
  page = await (await browser.newContext()).newPage()
})

const newKey = () => ({ mode: 'symmetric' as const, key: Uint8Array.from(randomBytes(32)) })
const newPair = (curve: 'X25519' | 'P-256') => {
  const pair = curve === 'X25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privateKey = Uint8Array.from(pair.privateKey.export({ format: 'der', type: 'pkcs8' }))
  const publicKey = Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' }))
  return { mode: 'asymmetric' as const, privateKey, publicKey }
}

async function arrive(fragment: string, { path = '/callback?code=c&state=s', tab = page } = {}) {
  await tab.goto(`${notes}${path}#${fragment}`)
  await tab.locator('html[data-ready]').waitFor()
}

/** The key that the page reads, as far as it can be exported; or why it reads none. */
async function read({ sealed, tab = page }: { sealed?: boolean; tab?: Page } = {}) {
  return tab.evaluate(
    async (options) => {
      const { CountersignError, readAppKey } = globalThis.sdk
      try {
        const appKey = await readAppKey(options)
        return { mode: appKey?.mode, old: appKey?.old?.mode }
      } catch (error) {
        return { error: error instanceof CountersignError ? error.code : String(error) }
      }
    },
    sealed === undefined ? {} : { sealed },
  )
}

test('the page reads a symmetric key once, encrypts with it, and removes it from the URL', async () => {
  await page.goto(`${notes}/before`)
  await arrive(formatAppKeyFragment({ appKey: newKey() }))
  const seen = await page.evaluate(async () => {
    const { decryptText, encrypt, readAppKey } = globalThis.sdk
    history.replaceState({ kept: true }, '')
    const entries = history.length
    const reading = readAppKey()
    const { href } = location
    const appKey = await reading
    if (appKey?.mode !== 'symmetric') throw new Error('There is no symmetric key')
    const ciphertext = await encrypt(appKey.key, 'Milk', { context: 'note:1' })
    const text = await decryptText(appKey.key, ciphertext, { context: 'note:1' })
    const { extractable } = appKey.key
    const again = await readAppKey()
    return { href, text, extractable, again, isSameEntry: history.length === entries, state: history.state }
  })
  assert.deepEqual(seen, {
    href: `${notes}/callback?code=c&state=s`,
    text: 'Milk',
    extractable: false,
    again: undefined,
    isSameEntry: true,
    state: { kept: true },
  })
  await page.goBack()
  await page.goForward()
  assert.equal(page.url(), `${notes}/callback?code=c&state=s`)
})

for (const curve of ['X25519', 'P-256'] as const)
  test(`the page reads a pair of ${curve}, and decrypts what was wrapped to it`, async () => {
    const appKey = newPair(curve)
    await arrive(formatAppKeyFragment({ appKey }))
    const seen = await page.evaluate(async () => {
      const { readAppKey, decryptWithPrivateKey, encryptToPublicKey } = globalThis.sdk
      const pair = await readAppKey()
      if (pair?.mode !== 'asymmetric') throw new Error('There is no pair')
      const wrapped = await encryptToPublicKey(pair.publicKey, 'Milk', { context: 'note:1' })
      const opened = await decryptWithPrivateKey(pair.privateKey, wrapped, { context: 'note:1' })
      return { text: new TextDecoder().decode(opened), publicKey: pair.publicKey, ...{ old: pair.old?.mode } }
    })
    assert.equal(seen.text, 'Milk')
    assert.equal(seen.publicKey, Buffer.from(appKey.publicKey).toString('base64'))
    assert.equal(seen.old, undefined)
  })

test('after a reset the page has the old key and the new one', async () => {
  const kinds: AppKey[] = [newKey(), newPair('X25519'), newPair('P-256')]
  for (const appKey of kinds)
    for (const former of kinds) {
      await arrive(formatAppKeyFragment({ appKey, former }), { path: '/' })
      assert.deepEqual(await read(), { mode: appKey.mode, old: former.mode })
    }
})

test('a fragment with an invalid key is removed from the URL too', async () => {
  const good = formatAppKeyFragment({ appKey: newKey() })
  for (const fragment of ['app_key=', `${good}&${good}`, `${good}&tab=2`, 'app_key=secret', 'app_key_jwe=e30....']) {
    await page.goto('about:blank')
    await arrive(fragment)
    assert.deepEqual(await read(), { error: 'decryption_failed' }, fragment)
    assert.equal(page.url(), `${notes}/callback?code=c&state=s`)
  }
})

test('a fragment of the app itself is preserved', async () => {
  for (const fragment of ['', 'note-2', 'app_keyboard', 'tab=1&app_key=2']) {
    await page.goto('about:blank')
    await arrive(fragment)
    assert.deepEqual(await read(), { mode: undefined, old: undefined })
    assert.equal(new URL(page.url()).hash, fragment && `#${fragment}`)
  }
})

test('a URL whose path looks like another host keeps its host', async () => {
  await arrive(formatAppKeyFragment({ appKey: newKey() }), { path: '//evil.example/callback' })
  assert.equal((await read()).mode, 'symmetric')
  assert.equal(page.url(), `${notes}//evil.example/callback`)
})

async function begin(tab = page) {
  await arrive('', { path: '/', tab })
  const appKeyJwk = await tab.evaluate(() => globalThis.sdk.newEphemeralKey())
  const recipient = parseRecipientKey(appKeyJwk)
  assert.ok(recipient)
  return recipient
}

test('a key that was encrypted to the page returns from another site, and can be decrypted once', async () => {
  const recipient = await begin()
  const fragment = await buildAppKeyFragment({ appKey: newKey(), former: newKey() }, recipient)
  await page.goto('data:text/html,elsewhere')
  await arrive(fragment)
  assert.deepEqual(await read({ sealed: true }), { mode: 'symmetric', old: 'symmetric' })
  assert.equal(page.url(), `${notes}/callback?code=c&state=s`)
  await page.goto('about:blank')
  await arrive(fragment)
  assert.deepEqual(await read({ sealed: true }), { error: 'decryption_failed' })
})

test('sign-ins of several tabs complete in any order and tab', async () => {
  const tab = await page.context().newPage()
  const [first, second] = [await begin(), await begin(tab)]
  const pair = newPair('X25519')
  await arrive(await buildAppKeyFragment({ appKey: pair }, second))
  assert.deepEqual(await read({ sealed: true }), { mode: 'asymmetric', old: undefined })
  await arrive(await buildAppKeyFragment({ appKey: newKey() }, first), { tab })
  assert.deepEqual(await read({ sealed: true, tab }), { mode: 'symmetric', old: undefined })
})

test('a key that was encrypted to another browser is not decrypted, and ends no pending sign-in', async () => {
  const recipient = await begin()
  const stranger = await (await browser.newContext()).newPage()
  const theirs = await begin(stranger)
  await arrive(await buildAppKeyFragment({ appKey: newKey() }, theirs))
  assert.deepEqual(await read({ sealed: true }), { error: 'decryption_failed' })
  await page.goto('about:blank')
  await arrive(await buildAppKeyFragment({ appKey: newKey() }, recipient))
  assert.equal((await read({ sealed: true })).mode, 'symmetric')
  await stranger.context().close()
})

test('a page that expects an encrypted key rejects an unencrypted one', async () => {
  await begin()
  await arrive(formatAppKeyFragment({ appKey: newKey() }))
  assert.deepEqual(await read({ sealed: true }), { error: 'decryption_failed' })
  assert.equal(new URL(page.url()).hash, '')
})

test('no script can read the private key of a page key, which is deleted after an hour', async () => {
  await page.clock.install()
  const old = await begin()
  const kept = () =>
    page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open('countersign')
        request.onsuccess = () => resolve(request.result)
      })
      const request = database.transaction('ephemeral-keys').objectStore('ephemeral-keys').getAll()
      await new Promise((resolve) => (request.onsuccess = resolve))
      database.close()
      const keys: { privateKey: CryptoKey }[] = request.result
      const exports = keys.map(({ privateKey }) => crypto.subtle.exportKey('jwk', privateKey))
      return (await Promise.allSettled(exports)).map(({ status }) => status)
    })
  assert.deepEqual(await kept(), ['rejected'])
  await page.clock.fastForward('01:00:01')
  await arrive(await buildAppKeyFragment({ appKey: newKey() }, old))
  assert.deepEqual(await read({ sealed: true }), { error: 'decryption_failed' })
  assert.deepEqual(await kept(), [])
})
