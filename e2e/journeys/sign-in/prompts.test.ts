import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { de } from '../../../web/locales/de/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let ada: Person
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
})
after(() => stage.close())

const name = () => ada.page.locator('#name').innerText()
const error = () => ada.page.locator('#error').innerText()

async function visitShop(query: Record<string, string>) {
  await ada.page.goto(`${stage.shop.origin}/sign-out`)
  await ada.page.goto(`${stage.shop.origin}/sign-in?${new URLSearchParams({ scope: 'openid profile', ...query })}`)
}

const authTime = async () => (await ada.call(stage.service.baseUrl, 'GET /api/auth/session')).authTime

test('prompt=none returns consent_required until consent is given', async () => {
  await visitShop({ prompt: 'none' })
  assert.equal(await error(), 'consent_required')
  await visitShop({})
  await ada.press('approve')
  assert.equal(await name(), 'Ada Lovelace')
  const clicks = ada.clicks()
  await visitShop({ prompt: 'none' })
  assert.equal(await name(), 'Ada Lovelace')
  assert.equal(ada.clicks(), clicks)
})

test('response_mode=form_post delivers the code, and no URL contains any of it', async () => {
  await visitShop({ response_mode: 'form_post' })
  assert.equal(await name(), 'Ada Lovelace')
  assert.equal(stage.shop.answers.at(-1)?.search, '')
})

test('response_mode=form_post delivers errors too, including those found before a page is shown', async () => {
  await visitShop({ response_mode: 'form_post', prompt: 'consent' })
  await ada.press('deny')
  assert.equal(await error(), 'access_denied')
  await visitShop({ response_mode: 'form_post', prompt: 'none login' })
  assert.equal(await error(), 'invalid_request')
  assert.equal(stage.shop.answers.at(-1)?.search, '')
})

test('prompt=consent asks again, and prompt=select_account shows even a single account', async () => {
  await visitShop({ prompt: 'consent' })
  await ada.press('approve')
  assert.equal(await name(), 'Ada Lovelace')
  await visitShop({ prompt: 'select_account' })
  await ada.press('choose-identity')
  assert.equal(await name(), 'Ada Lovelace')
})

test('prompt=login re-authenticates and updates auth_time', async () => {
  await ada.page.goto(`${stage.service.authUrl}/account`)
  const before = await authTime()
  ada.offerPasskeys(false)
  await visitShop({ prompt: 'login' })
  await ada.press('sign-in')
  assert.equal(await name(), 'Ada Lovelace')
  await ada.page.goto(`${stage.service.authUrl}/account`)
  assert.ok((await authTime()) > before)
})

/** Uses the passkey in this page without its knowledge, as another tab would. */
const useElsewhere = () =>
  ada.page.evaluate(async (baseUrl) => {
    const ask = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const sent = { method: 'POST', credentials: 'include', headers, body: JSON.stringify(body) } as const
      return (await fetch(`${baseUrl}/api/auth/reauthenticate/${path}`, sent)).json()
    }
    const { flowId, options } = await ask('start', {})
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
    const credential = await navigator.credentials.get({ publicKey })
    if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey was used')
    const { id, rawId, type, response } = credential.toJSON()
    return ask('finish', { flowId, credential: { id, rawId, type, response, clientExtensionResults: {} } })
  }, stage.service.baseUrl)

test('FRS-02 prompt=login requires the passkey again if it was used for another purpose meanwhile', async () => {
  await visitShop({ prompt: 'login consent' })
  await ada.press('sign-in')
  await ada.page.locator('[data-action="approve"]').waitFor()
  assert.ok((await useElsewhere()).authTime)
  const before = await authTime()
  await ada.press('approve')
  assert.equal(await name(), 'Ada Lovelace')
  await ada.page.goto(`${stage.service.authUrl}/account`)
  assert.ok((await authTime()) > before, 'the page has requested the passkey again')
})

test('max_age re-authenticates only sessions older than it', async () => {
  await visitShop({ max_age: '10000' })
  assert.equal(await name(), 'Ada Lovelace')
  await ada.page.goto(`${stage.service.authUrl}/account`)
  while ((await ada.call(stage.service.baseUrl, 'GET /api/auth/session')).secondsSinceAuthTime <= 1);
  await visitShop({ max_age: '1' })
  await ada.press('sign-in')
  assert.equal(await name(), 'Ada Lovelace')
})

test('the page uses the language that the app requests', async () => {
  await visitShop({ ui_locales: 'fr de', prompt: 'consent' })
  await ada.page.getByRole('button', { name: de.signin.approve }).waitFor()
  await ada.press('deny')
  assert.equal(await error(), 'access_denied')
})

test('prompt=none returns login_required without a session, and for another user too', async () => {
  const idToken = [...stage.shop.customers.values()].at(-1)?.idToken ?? ''
  await visitShop({ prompt: 'none', id_token_hint: idToken })
  assert.equal(await name(), 'Ada Lovelace')
  await visitShop({ prompt: 'none', login_hint: 'somebody-else' })
  assert.equal(await error(), 'login_required')
  await ada.page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  await visitShop({ prompt: 'none' })
  assert.equal(await error(), 'login_required')
})
