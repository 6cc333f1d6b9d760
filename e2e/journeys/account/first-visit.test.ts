import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en.ts'
import { leaks, openMasterKeyBytes, overhearPrf, secretsOfCode } from '../../fixtures/overhearing.ts'
import { spellingsIn } from '../../fixtures/secret.ts'
import { openStage, type Stage } from '../../fixtures/stage.ts'

let stage: Stage
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a newcomer comes from an app and goes back to it by name, and nothing secret leaves the browser', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const prfOutputs = await overhearPrf(ada)

  await ada.page.goto(shop.origin)
  await ada.page.locator('#sign-in').click()
  await ada.page.getByRole('link', { name: words.login.register }).click()
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  assert.match(code, /^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/)
  const masterKey = await openMasterKeyBytes(ada, service, code)
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  assert.equal(ada.page.url(), `${shop.origin}/`)

  const sub = await ada.page.locator('#sub').innerText()
  const customer = shop.customers.get(sub)
  assert.ok(customer?.refreshToken, 'the app asked for a refresh token')
  assert.equal((await shop.readUserinfo(customer)).preferred_username, 'ada')

  const sent = await ada.sent()
  const origins = new Set(sent.map(({ url }) => new URL(url).origin))
  assert.deepEqual(origins, new Set([shop.origin, service.authUrl, service.baseUrl]))

  assert.ok(sent.some(({ body }) => body.includes('recoveryAuth')))
  assert.equal(prfOutputs.length, 1)
  const secrets = [...prfOutputs, { name: 'master key', bytes: masterKey }, ...secretsOfCode(code)]
  assert.deepEqual(leaks(sent, secrets), [])
  await ada.leave()
})

test('each spelling of a secret would have been noticed', () => {
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
