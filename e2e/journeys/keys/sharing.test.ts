import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type * as Sdk from '../../../sdk/src/encryption/encryption.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

/** The globals of the app's page. */
declare global {
  var sdk: typeof Sdk
  var appKey: Sdk.AppKey | undefined
}

const sdk = join(import.meta.dirname, '../../../sdk')
/** A page without a server of its own, with the SDK as built. */
const page = `<!doctype html><title>Notes</title><script type="module">
  globalThis.sdk = await import('/sdk.js')
  globalThis.appKey = await sdk.readAppKey({ sealed: true })
  document.documentElement.dataset.ready = ''
</script>`
const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url')

let stage: TestEnvironment
let server: Server
let notes: string
let clientId: string

before(async () => {
  execFileSync(process.execPath, [join(sdk, 'build.ts')])
  const script = readFileSync(join(sdk, 'dist/encryption.js'))
  server = createServer(({ url }, response) => {
    const [type, content] = url === '/sdk.js' ? ['text/javascript', script] : ['text/html', page]
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content)
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  notes = `http://notes.localhost:${address.port}`
  stage = await openStage()
  const registered = await fetch(`${stage.service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...stage.service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Notes', redirectUris: [`${notes}/callback`], public: true, supportsE2ee: true }),
  })
  const app: { clientId: string } = JSON.parse(await registered.text())
  clientId = app.clientId
})
after(async () => {
  await stage.close()
  server.close().closeAllConnections()
})

/** Goes from the page of the app to the sign-in page and back, which brings the key. */
async function signIn({ page: tab, press }: Person, mode: string, presses: string[]) {
  await tab.goto(notes)
  await tab.locator('html[data-ready]').waitFor()
  const appKeyJwk = await tab.evaluate(() => globalThis.sdk.newEphemeralKey())
  const requested = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: `${notes}/callback`,
    scope: `openid profile e2ee:${mode}`,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    app_key_jwk: appKeyJwk,
  }
  await tab.goto(`${stage.service.authUrl}/signin?${new URLSearchParams(requested)}`)
  for (const action of presses) await press(action)
  await tab.waitForURL((url) => url.origin === notes)
  await tab.locator('html[data-ready]').waitFor()
  assert.equal(new URL(tab.url()).hash, '')
}

test('a page decrypts with the key of the next sign-in what it has encrypted with that of the previous', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  await signIn(ada, 'symmetric', ['approve'])
  const ciphertext = await ada.page.evaluate(() => {
    if (globalThis.appKey?.mode !== 'symmetric') throw new Error('There is no key')
    return globalThis.sdk.encrypt(globalThis.appKey.key, 'Milk, bread', { context: 'note:1' })
  })
  await signIn(ada, 'symmetric', ['unlock'])
  const text = await ada.page.evaluate((stored) => {
    if (globalThis.appKey?.mode !== 'symmetric') throw new Error('There is no key')
    return globalThis.sdk.decryptText(globalThis.appKey.key, stored, { context: 'note:1' })
  }, ciphertext)
  assert.equal(text, 'Milk, bread')
  await ada.leave()
})

test('only the recipient unwraps what one user wraps to another by username', async () => {
  const [bob, eve] = [
    await stage.enroll({ handle: 'bob', displayName: 'Bob' }),
    await stage.enroll({ handle: 'eve', displayName: 'Eve' }),
  ]
  for (const person of [bob, eve]) await signIn(person, 'asymmetric', ['approve'])
  const directory = { baseUrl: stage.service.baseUrl, clientId }
  const { ciphertext, recipient } = await eve.page.evaluate(
    (where) => globalThis.sdk.encryptToUser(where, 'BOB', 'Tea at five?', { context: 'message' }),
    directory,
  )
  assert.deepEqual([recipient.handle, recipient.displayName], ['bob', 'Bob'])

  const decryptWithPrivateKey = ({ page: tab }: Person) =>
    tab.evaluate(async (wrapped) => {
      if (globalThis.appKey?.mode !== 'asymmetric') throw new Error('There is no pair')
      const { publicKey, privateKey } = globalThis.appKey
      const bytes = await globalThis.sdk.decryptWithPrivateKey(privateKey, wrapped, { context: 'message' })
      return { publicKey, text: new TextDecoder().decode(bytes) }
    }, ciphertext)
  assert.deepEqual(await decryptWithPrivateKey(bob), { publicKey: recipient.publicKey, text: 'Tea at five?' })
  await assert.rejects(decryptWithPrivateKey(eve), /decryption_failed/)
  await bob.leave()
  await eve.leave()
})
