import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listMissingKeyProofs, readKeyHistory } from '@countersign/protocol/formats/signing/key-history'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { Page } from 'playwright-core'
import { newSigningPair } from '../../../server/testing/signer.ts'
import { words } from '../../pages/words.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { createDemonstration } from '../../fixtures/signing-keys.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function get(path: string) {
  return JSON.parse(await (await fetch(stage.service.baseUrl + path)).text())
}

/** Reads the history of an identity's key like a verifier: its events, and what each key lacks. */
async function historyOf(identityId: string) {
  const { origin: log } = await get('/api/transparency/jwks')
  const { events } = await get(`/api/transparency/identities/${identityId}`)
  const history = readKeyHistory(nodeSuite, { log, identityId, leaves: events })
  assert.ok('keys' in history, JSON.stringify(history))
  return {
    events: events.map(({ leaf }: { leaf: string }) => JSON.parse(leaf).event),
    missing: history.keys.map(({ keyVersion }) => listMissingKeyProofs(history, keyVersion)),
  }
}

async function identityOf(person: Person): Promise<string> {
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  return identities[0]?.identityId ?? ''
}

async function enroll(handle: string) {
  const person = await stage.enroll({ handle, displayName: 'Ada Lovelace' })
  return { person, identityId: await identityOf(person) }
}

async function replaceKey(person: Person, handle: string): Promise<void> {
  await person.page.goto(`${stage.service.authUrl}/account/signing`)
  await person.press('replace-key')
  await person.press('unlock')
  await person.page.getByText(words.signing.inForce(handle)).waitFor()
}

/** Removes proofs from requests of the page: the rest is what a client of the interface alone sends. */
async function withoutProofs(page: Page, url: string, method: string): Promise<void> {
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    const { previous: _previous, link: _link, possession: _possession, ...body } = route.request().postDataJSON()
    await route.continue({ postData: JSON.stringify(body) })
  })
}

async function sign(person: Person, handle: string): Promise<void> {
  const { page } = person
  await page.goto(`${stage.service.authUrl}/sign?requestId=${await createDemonstration(stage.service, handle)}`)
  await page.locator('[data-action="sign"][aria-disabled="false"]').click()
}

test('KEY-32 pages prove the first key of a registration, and each key that replaces it', async () => {
  const { person, identityId } = await enroll('ada')
  assert.deepEqual(await historyOf(identityId), { events: ['created'], missing: [[]] })
  await replaceKey(person, 'ada')
  await replaceKey(person, 'ada')
  assert.deepEqual(await historyOf(identityId), {
    events: ['created', 'rotated', 'rotated'],
    missing: [[], [], []],
  })
  await person.leave()
})

test('KEY-32 the page that signs adopts a key that another client has made without proofs', async () => {
  const { person, identityId } = await enroll('bob')
  await withoutProofs(person.page, `**/api/signing/keys/${identityId}`, 'PUT')
  await replaceKey(person, 'bob')
  const lacking = ['unlinked_key', 'no_possession']
  assert.deepEqual(await historyOf(identityId), { events: ['created', 'rotated'], missing: [[], lacking] })
  await sign(person, 'bob')
  await person.page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.deepEqual(await historyOf(identityId), {
    events: ['created', 'rotated', 'adopted'],
    missing: [[], []],
  })
  await person.leave()
})

test('KEY-32 the page that replaces a key without proofs adopts it first, so that no break stays', async () => {
  const { person, identityId } = await enroll('cleo')
  await withoutProofs(person.page, `**/api/signing/keys/${identityId}`, 'PUT')
  await replaceKey(person, 'cleo')
  await person.page.unroute(`**/api/signing/keys/${identityId}`)
  await replaceKey(person, 'cleo')
  assert.deepEqual(await historyOf(identityId), {
    events: ['created', 'rotated', 'adopted', 'rotated'],
    missing: [[], [], []],
  })
  await person.leave()
})

test('KEY-33 a service that names a key of its own gets neither its adoption nor a signature', async () => {
  const { person, identityId } = await enroll('dora')
  const { page } = person
  const { publicKey } = newSigningPair()
  const own = await get(`/api/signing/public-key/dora`)
  // The lie: the user's key is the former one of a key that the service has made.
  await page.route(`**/api/signing/keys/${identityId}`, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    const key = await response.json()
    const { encryptedPrivateKey } = key
    const former = { publicKey: own.publicKey, encryptedPrivateKey }
    await route.fulfill({ response, json: { ...key, publicKey, chain: { ...key.chain, adoption: { former } } } })
  })
  await page.route('**/api/signing/requests/*', async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), publicKey } })
  })
  await page.route('**/api/signing/requests/*/approval', async (route) => {
    const response = await route.fetch()
    const started = await response.json()
    await route.fulfill({
      response,
      json: { ...started, statement: started.statement.replace(own.publicKey, publicKey) },
    })
  })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
  })
  await sign(person, 'dora')
  await page.getByText(words.problem.refused['foreign_signing_key'] ?? '').waitFor()
  assert.deepEqual(
    sent.filter((path) => path.endsWith('/adoption') || path.endsWith('/sign')),
    [],
  )
  assert.deepEqual(await historyOf(identityId), { events: ['created'], missing: [[]] })
  await person.leave()
})

test('KEY-32 a page knows the name of the log before it creates a passkey', async () => {
  const person = await stage.invite()
  const { page } = person
  const sent: string[] = []
  page.on('request', (request) => sent.push(new URL(request.url()).pathname))
  await page.goto(`${stage.service.authUrl}/register`)
  // The handle is checked while it is typed, which takes a moment and must be over.
  await person.write('handle', 'eve')
  await page.getByText(words.register.handleAvailable).waitFor()
  await person.createAccount({ handle: 'eve', displayName: 'Eve' })
  const paths = sent.filter((path) => path.startsWith('/api/'))
  const start = paths.indexOf('/api/auth/register/start')
  assert.deepEqual(paths.slice(start, start + 2), ['/api/auth/register/start', '/api/auth/register/finish'])
  await person.leave()
})
