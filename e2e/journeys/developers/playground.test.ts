import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { playgroundMessages as playground } from '../../../web/locales/en/pages/playground.ts'
import type { Person } from '../../fixtures/person.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new user of the playground sees what an app receives, and the address bar keeps none of it', async () => {
  const { service } = stage
  const ada = await stage.invite()
  const { page } = ada
  await page.goto(`${service.authUrl}/playground`)
  await ada.press('start')
  await page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')

  await page.getByRole('heading', { name: playground.gotTitle }).waitFor()
  assert.equal(page.url(), `${service.authUrl}/playground`)
  assert.equal(await page.locator('.checks .okay').count(), 5)
  assert.equal(await page.locator('.checks .failed').count(), 0)

  const idToken = JSON.parse(
    await page.locator('details', { hasText: playground.idToken }).locator('pre').nth(1).innerText(),
  )
  assert.equal(idToken.iss, service.authUrl)
  assert.equal(idToken.preferred_username, 'ada')
  await page.locator('summary', { hasText: playground.userinfo }).click()
  const userinfo = JSON.parse(
    await page.locator('details', { hasText: playground.userinfo }).locator('pre').innerText(),
  )
  assert.deepEqual([userinfo.sub, userinfo.name], [idToken.sub, 'Ada Lovelace'])

  await ada.press('refresh')
  await page.getByText(playground.refreshed(1)).waitFor()
  await ada.press('refresh')
  await page.getByText(playground.refreshed(2)).waitFor()

  await page.goBack()
  assert.doesNotMatch(page.url(), /code=/)
  await ada.leave()
})

test('DEV-64 the tour leads through another identity, a signature and a delegation, and keeps no token', async () => {
  const grace = await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  const { page } = grace
  await addIdentity(grace, { handle: 'compiler', displayName: 'A. Compiler' })
  await page.goto(`${stage.service.authUrl}/playground`)
  await grace.press('start')
  await grace.control('choose-identity').filter({ hasText: 'Grace Hopper' }).click()
  await grace.press('approve')
  await page.getByRole('heading', { name: playground.gotTitle }).waitFor()

  await grace.press('next-step')
  await grace.press('choose-another')
  await grace.control('choose-identity').filter({ hasText: 'A. Compiler' }).click()
  await grace.press('approve')
  await page.getByText(playground.unlinkable).waitFor()
  const subs = await page.locator('.sub').allInnerTexts()
  assert.equal(new Set(subs).size, 2)

  await grace.press('next-step')
  const [option] = await page.locator('option', { hasText: 'Grace Hopper' }).all()
  await page.locator('select').selectOption((await option?.getAttribute('value')) ?? '')
  const opened = page.waitForEvent('popup')
  await grace.press('ask-for-signature')
  const popup = await opened
  // Passkeys of tests belong to a tab, and a copy unlocks no keys.
  await (await addVirtualAuthenticator(popup, { prf: true })).take(await grace.authenticator.credentials())
  await popup.locator('[data-action="sign"][aria-disabled="false"]').click()
  await popup.locator('input[name="recoveryCode"]').fill(grace.code)
  await popup.locator('[data-action="unlock"]').click()
  await page.getByText(playground.whatYouSigned).waitFor()
  assert.equal(await page.locator('.checks .okay').count(), 4)
  await grace.press('change-letter')
  await page.locator('[data-check="signature"].failed').waitFor()
  await page.locator('[data-check="text"].failed').waitFor()
  await grace.press('change-letter')
  await page.locator('[data-check="signature"].okay').waitFor()

  await grace.press('next-step')
  await grace.press('ask-to-act')
  await grace.press('approve')
  await page.getByText('Tea with Mr Babbage').waitFor()
  assert.equal(await page.locator('.checks .okay').count(), 4)
  assert.equal(await page.locator('.tour-steps .done').count(), 4)
  const stored = await page.evaluate(() => [JSON.stringify(sessionStorage), JSON.stringify(localStorage)].join(' '))
  assert.doesNotMatch(stored, /eyJ|cs_/)
  await grace.leave()
})

test('DEV-65 the tour stores a note only encrypted, and reads it only with the key of its user', async () => {
  const hedy = await stage.enroll({ handle: 'hedy', displayName: 'Hedy Lamarr' })
  const { page } = hedy
  await addIdentity(hedy, { handle: 'markey', displayName: 'H. K. Markey' })
  await page.goto(`${stage.service.authUrl}/playground#encryption`)
  const getKey = async (identity: string, press: 'approve' | 'unlock') => {
    await hedy.press('get-key')
    await hedy.control('choose-identity').filter({ hasText: identity }).click()
    await hedy.press(press)
    await page.getByRole('heading', { name: playground.yourNote }).waitFor()
    assert.equal(page.url(), `${stage.service.authUrl}/playground`)
  }
  await getKey('Hedy Lamarr', 'approve')
  await page.getByText(playground.keyOf('@hedy')).waitFor()
  await hedy.write('note', 'Frequency hopping')
  await hedy.press('encrypt-note')
  const decrypted = page.locator('.decrypted')
  assert.equal(await decrypted.innerText(), 'Frequency hopping')
  const ciphertext = await page.locator('.ciphertext').innerText()
  assert.match(ciphertext, /^eyJ[\w.-]+$/)

  // Everything that this browser stores, and everything that has left it.
  const stored = await page.evaluate(() => [JSON.stringify(sessionStorage), JSON.stringify(localStorage)].join(' '))
  assert.ok(stored.includes(ciphertext))
  assert.doesNotMatch(stored, /Frequency|app_key/)
  for (const { url, body } of await hedy.sent()) {
    assert.doesNotMatch(url, /app_key(?:_jwe)?=/)
    assert.doesNotMatch(body.toString(), /Frequency/)
  }

  await hedy.press('forget-key')
  await page.getByText(playground.noKey).waitFor()
  await page.reload()
  await page.goto(`${stage.service.authUrl}/playground#encryption`)
  await page.getByText(playground.noKey).waitFor()
  assert.equal(await decrypted.count(), 0)
  await getKey('Hedy Lamarr', 'unlock')
  assert.equal(await decrypted.innerText(), 'Frequency hopping')
  assert.equal(await page.locator('.tour-steps .done').count(), 1)

  await hedy.press('forget-key')
  await getKey('H. K. Markey', 'approve')
  await page.getByText(playground.otherKey).waitFor()
  assert.equal(await decrypted.count(), 0)
  await hedy.leave()
})

test('the tour rejects a key that was encrypted for another browser', async () => {
  const ida = await stage.enroll({ handle: 'ida', displayName: 'Ida Rhodes' })
  const { page } = ida
  await page.goto(`${stage.service.authUrl}/playground#encryption`)
  await ida.control('get-key').waitFor()
  // As an attacker who makes the request, and knows the key that the page of the attacker gets.
  await page.route(/\/signin\?/, async (route) => {
    const url = new URL(route.request().url())
    url.searchParams.set('app_key_jwk', await foreignKey())
    await route.fulfill({ status: 302, headers: { location: url.href } })
    await page.unroute(/\/signin\?/)
  })
  await ida.press('get-key')
  await ida.press('approve')
  await page.getByText(playground.wrongKey).waitFor()
  assert.equal(await page.locator('textarea').count(), 0)
  await ida.leave()
})

async function foreignKey(): Promise<string> {
  const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  return Buffer.from(JSON.stringify({ kty, crv, x, y })).toString('base64url')
}

async function addIdentity({ page }: Person, payload: { handle: string; displayName: string }): Promise<void> {
  const send = async ([url, body]: [string, string]) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(url, { method: 'POST', credentials: 'include', headers, body })).status
  }
  const sent: [string, string] = [`${stage.service.baseUrl}/api/identities`, JSON.stringify(payload)]
  assert.equal(await page.evaluate(send, sent), 201)
}

test('the way to another step of the playground moves the focus to its heading', async () => {
  const ida = await stage.invite()
  const { page } = ida
  await page.goto(`${stage.service.authUrl}/playground`)
  for (const way of ['next-step', 'next-step', 'previous-step']) {
    await ida.control(way).press('Enter')
    await page.locator('.tour-main h2:focus').waitFor()
  }
  assert.equal(await page.locator('h2:focus').innerText(), playground.steps.identity.heading)
  await ida.leave()
})
