import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { findLeaks, openMasterKeyBytes, overhearPrf, secretsOfCode } from '../../fixtures/key-leak-detection.ts'
import { spellingsIn } from '../../fixtures/signing-keys.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new user comes from an app and returns to it by name, and no secret leaves the browser', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const prfOutputs = await overhearPrf(ada)

  await ada.page.goto(shop.origin)
  await ada.page.locator('#sign-in').click()
  await ada.page.getByRole('link', { name: words.login.register }).click()
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  assert.match(code, /^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/)
  await ada.press('confirm-recovery-saved')
  await ada.control('approve').waitFor()
  const masterKey = await openMasterKeyBytes(ada, service, code)
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  assert.equal(ada.page.url(), `${shop.origin}/`)

  const sub = await ada.page.locator('#sub').innerText()
  const customer = shop.customers.get(sub)
  assert.ok(customer?.refreshToken, 'the app requested a refresh token')
  assert.equal((await shop.readUserinfo(customer)).preferred_username, 'ada')

  const sent = await ada.sent()
  const origins = new Set(sent.map(({ url }) => new URL(url).origin))
  assert.deepEqual(origins, new Set([shop.origin, service.authUrl, service.baseUrl]))

  assert.ok(sent.some(({ body }) => body.includes('recoveryAuth')))
  assert.equal(prfOutputs.length, 1)
  const secrets = [...prfOutputs, { name: 'master key', bytes: masterKey }, ...secretsOfCode(code)]
  assert.deepEqual(findLeaks(sent, secrets), [])
  await ada.leave()
})

test('each encoding of a secret would have been detected', () => {
  const bytes = randomBytes(32)
  const secret = { name: 'planted', bytes }
  const within = Buffer.concat([randomBytes(4), bytes, randomBytes(5)])
  const texts = [
    `{"key":"${bytes.toString('base64')}"}`,
    `key=${bytes.toString('base64url')}`,
    within.toString('base64'),
    within.subarray(1).toString('base64url'),
    within.subarray(2).toString('base64'),
    bytes.toString('hex').toUpperCase(),
    JSON.stringify([...bytes]),
    JSON.stringify(new Uint8Array(bytes)),
    within.toString('latin1'),
  ]
  for (const text of texts) assert.notDeepEqual(spellingsIn(text, secret), [], text)
  assert.deepEqual(spellingsIn(randomBytes(4096).toString('base64'), secret), [])
})
