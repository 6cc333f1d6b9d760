import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a reload before the recovery code is saved offers a new one, and the one that was saved counts', async () => {
  const { authUrl, baseUrl } = stage.service
  const ada = await stage.invite()
  await ada.page.goto(`${authUrl}/register`)
  const lost = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.page.reload()
  await ada.page.getByText(words.recovery.missingTitle).waitFor()
  assert.deepEqual((await ada.call(baseUrl, 'GET /api/auth/session')).recoveryCode, { confirmedAt: null })
  await ada.press('unlock')
  const code = await ada.page.locator('output[name="recoveryCode"]').innerText()
  assert.notEqual(code, lost)
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  assert.ok((await ada.call(baseUrl, 'GET /api/auth/session')).recoveryCode?.confirmedAt)

  const found = await stage.invite()
  await found.page.goto(`${authUrl}/recover`)
  for (const [typed, isRight] of [
    [lost, false],
    [code, true],
  ] as const) {
    await found.write('handle', 'ada')
    await found.write('recoveryCode', typed)
    await found.press('recover')
    if (isRight) await found.control('confirm-recovery-saved').waitFor()
    else await found.page.locator('[aria-invalid="true"]').waitFor()
  }
  await Promise.all([ada.leave(), found.leave()])
})

test('SGN-66 a service that conceals the keys of a user does not get them replaced', async () => {
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  const { page } = bob
  const sent: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(new URL(request.url()).pathname))
  await page.route('**/api/account/key-wraps', (route) => route.fulfill({ json: { keyWraps: [] } }))
  await page.route('**/api/account/self-record', (route) => route.fulfill({ json: { record: null } }))
  await page.route('**/api/auth/session/current', async (route) => {
    const response = await route.fetch()
    const { session } = await response.json()
    await route.fulfill({ response, json: { session: { ...session, recoveryCode: { confirmedAt: null } } } })
  })
  await page.goto(`${stage.service.authUrl}/register`)
  await bob.press('unlock')
  await page.getByText(words.recovery.keysGone).waitFor()
  assert.equal(await page.locator('output[name="recoveryCode"]').count(), 0)
  assert.ok(!sent.some((path) => path.includes('/account/')), sent.join())
  await bob.leave()
})

test('who changes the identity and cancels is back at the consent, and the app gets no answer', async () => {
  const { shop } = stage
  const carol = await stage.enroll({ handle: 'carol', displayName: 'Carol' })
  const { page } = carol
  await page.goto(`${shop.origin}/sign-in`)
  await carol.control('approve').waitFor()
  const answers = shop.answers.length
  await page.getByRole('button', { name: words.signin.change }).click()
  await carol.press('cancel')
  await carol.control('approve').waitFor()
  assert.equal(shop.answers.length, answers)

  // An identity is added on the way, and comes first the next time, because it was used last.
  await page.getByRole('button', { name: words.signin.change }).click()
  await carol.press('add-identity')
  await carol.write('handle', 'carols-shop')
  await carol.write('displayName', 'Carol’s Shop')
  await page.getByText(words.register.handleAvailable).waitFor()
  await carol.press('create-identity')
  await carol.press('approve')
  assert.equal(await page.locator('#name').innerText(), 'Carol’s Shop')
  await page.goto(`${shop.origin}/sign-in`)
  await carol.control('choose-identity').first().waitFor()
  const [first = ''] = await carol.control('choose-identity').allInnerTexts()
  assert.match(first, /Carol’s Shop/)
  await carol.leave()
})

test('a browser offers to continue as its user, until they are forgotten there', async () => {
  const { shop, service } = stage
  const dora = await stage.enroll({ handle: 'dora', displayName: 'Dora' })
  const { page } = dora
  // A page of the account would notice the end of the session, and lead to the sign-in itself.
  await page.goto('about:blank')
  await dora.context.clearCookies()
  dora.offerPasskeys(false)
  await page.goto(`${shop.origin}/sign-in`)
  const finishing = page.waitForRequest('**/api/auth/login/finish')
  await page.getByText(words.login.continueAs('Dora')).click()
  const { credential, userId } = (await finishing).postDataJSON()
  const owner = Buffer.from(userId.replaceAll('-', ''), 'hex')
  assert.deepEqual(Buffer.from(credential.response.userHandle, 'base64url'), owner)
  await dora.press('approve')
  assert.equal(await page.locator('#name').innerText(), 'Dora')

  await dora.context.clearCookies()
  await page.goto(`${service.authUrl}/login`)
  await dora.press('forget-user')
  await page.getByText(words.login.forgotten('Dora')).waitFor()
  await page.reload()
  await dora.control('sign-in').waitFor()
  assert.equal(await dora.control('continue-as').count(), 0)
  await dora.leave()
})

test('a browser without passkeys says so at once', async () => {
  const eve = await stage.invite()
  await eve.context.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
  for (const page of ['login', 'register', 'recover']) {
    await eve.page.goto(`${stage.service.authUrl}/${page}`)
    await eve.page.getByText(words.login.unsupported).waitFor()
  }
  await eve.leave()
})

test('pages before a sign-in cause no error in the console, and lead back to the app', async () => {
  const { shop, service } = stage
  const finn = await stage.invite()
  const faults: string[] = []
  finn.page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  finn.offerPasskeys(false)
  // A browser that was never signed in learns nothing from the service on the start page.
  await finn.page.goto(service.authUrl)
  await finn.control('login').waitFor()
  const requested = (await finn.sent()).map(({ url }) => new URL(url).pathname)
  assert.ok(!requested.includes('/api/auth/session/current'))
  for (const path of ['/login', '/register']) {
    const answered = finn.page.waitForResponse((response) => response.url().endsWith('/api/auth/session/current'))
    await finn.page.goto(service.authUrl + path)
    await answered
  }
  await finn.page.goto(`${shop.origin}/sign-in`)
  await finn.control('sign-in').waitFor()
  await finn.page.getByRole('link', { name: words.login.recover }).click()
  await finn.page.getByText(words.login.continueTo('Paper Shop')).waitFor()
  await finn.page.getByRole('link', { name: words.register.login, exact: true }).click()
  await finn.page.getByText(words.login.continueTo('Paper Shop')).waitFor()
  assert.deepEqual(faults, [])
  await finn.leave()
})
