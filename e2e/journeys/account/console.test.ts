import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accountPageMessages as words } from '../../../web/locales/en/pages/account.ts'
import { en as english } from '../../../web/locales/en/messages.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

/** Another browser than that of the tests. */
const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('ACC-63 a recovery code that was not saved is offered again on every page of the account', async () => {
  const ada = await stage.invite()
  const { page } = ada
  page.on('dialog', (dialog) => void dialog.accept())
  await page.goto(`${stage.service.authUrl}/register`)
  const lost = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  for (const section of ['', '/apps', '/security']) {
    await page.goto(`${stage.service.authUrl}/account${section}`)
    await ada.control('unlock').waitFor()
  }
  await ada.press('unlock')
  const code = await page.locator('output[name="recoveryCode"]').innerText()
  assert.notEqual(code, lost)
  await ada.press('confirm-recovery-saved')
  await page.getByText(words.security.codeSaved, { exact: true }).waitFor()
  await page.goto(`${stage.service.authUrl}/account/apps`)
  await page.getByText(words.apps.none).waitFor()
  assert.equal(await ada.control('unlock').count(), 0)
  await ada.leave()
})

test('ACC-60 ACC-61 activity shows an app by its name at that time, and returns to it as sign-ins', async () => {
  const ben = await stage.enroll({ handle: 'ben', displayName: 'Ben' })
  const { page } = ben
  const { app, origin } = stage.shop
  const visit = async () => {
    await page.goto(`${origin}/sign-in`)
    await page.locator('#sub').or(ben.control('approve')).first().waitFor()
    if (await ben.control('approve').isVisible()) await ben.press('approve')
    await page.locator('#sub').waitFor()
  }
  for (let count = 0; count < 4; count += 1) await visit()
  const renamed = await fetch(`${stage.service.baseUrl}/api/admin/apps/${app.clientId}`, {
    method: 'PATCH',
    headers: { ...stage.service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Your Bank' }),
  })
  assert.equal(renamed.status, 200)
  await visit()

  await page.goto(`${stage.service.authUrl}/account/activity`)
  const events = page.locator('.timeline > li')
  await events.first().waitFor()
  const said = (await events.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  assert.match(said[0] ?? '', /Signed in to Your Bank/)
  assert.match(said[1] ?? '', new RegExp(`Signed in to ${app.name} .*3 times`))
  assert.match(said[2] ?? '', new RegExp(`Connected ${app.name}`))

  await page.locator('[data-action="search-activity"]').fill('bank')
  await events.nth(1).waitFor({ state: 'detached' })
  await events.first().waitFor()
  assert.equal(await events.count(), 1)
  await page.locator('[data-action="search-activity"]').fill('')
  await page.getByLabel(words.activity.kind).selectOption({ label: words.activity.kinds.security })
  await page.getByText('Account created').waitFor()
  await ben.leave()
})

test('every page of the account returns to itself after a sign-in', async () => {
  const cleo = await stage.enroll({ handle: 'cleo', displayName: 'Cleo' })
  const { page } = cleo
  await cleo.press('sign-out')
  await page.waitForURL(`${stage.service.authUrl}/`)
  cleo.offerPasskeys(false)
  for (const section of ['/account/activity', '/account/passkeys']) {
    await page.goto(stage.service.authUrl + section)
    await page.waitForURL(`${stage.service.authUrl}/login?return=${encodeURIComponent(section)}`)
    await cleo.press('sign-in')
    await page.waitForURL(stage.service.authUrl + section)
    await page.locator('h1').waitFor()
    await cleo.press('sign-out')
    await page.waitForURL(`${stage.service.authUrl}/`)
  }
  await cleo.leave()
})

test('a user who does not know a sign-in ends all other sessions and is led to their passkeys', async () => {
  const dora = await stage.enroll({ handle: 'dora', displayName: 'Dora' })
  const thief = await stage.invite({ userAgent })
  await thief.authenticator.take(await dora.authenticator.credentials())
  await thief.page.goto(`${stage.service.authUrl}/login`)
  await thief.page.waitForURL(/\/account/)

  await dora.page.goto(`${stage.service.authUrl}/account/activity`)
  await dora.press('not-me')
  await dora.press('end-foreign-sessions')
  await dora.page.getByText(words.activity.notMeThen).waitFor()
  await dora.control('add-passkey').waitFor()
  assert.equal(await dora.page.locator('[data-session-id]').count(), 1)
  thief.offerPasskeys(false)
  await thief.page.reload()
  await thief.page.waitForURL(/\/login/)
  await Promise.all([dora.leave(), thief.leave()])
})

test('a session that cannot be ended is listed again with an error, also right after another was ended', async () => {
  const eve = await stage.enroll({ handle: 'eve', displayName: 'Eve' })
  const others = [await stage.invite(), await stage.invite({ userAgent })]
  for (const [index, other] of others.entries()) {
    // A copy that has signed less often than the service knows is rejected.
    await other.authenticator.take(await (others[index - 1] ?? eve).authenticator.credentials())
    await other.page.goto(`${stage.service.authUrl}/login`)
    await other.page.waitForURL(/\/account/)
  }
  await eve.page.goto(`${stage.service.authUrl}/account/sessions`)
  const rows = eve.page.locator('[data-session-id]')
  const kept = rows.filter({ hasText: 'Chrome on Windows' })
  const sessionId = await kept.getAttribute('data-session-id')
  await eve.page.route(`**/api/auth/sessions/${sessionId}`, (route) => route.abort())
  for (const name of ['Chrome on Linux', 'Chrome on Windows'])
    await eve.page.getByRole('button', { name: words.security.endOne(name) }).click()
  await kept.waitFor({ state: 'detached' })
  await kept.waitFor()
  await eve.page.getByRole('alert').getByText(english.problem.unreachable).waitFor()
  assert.equal(await rows.count(), 2)
  await Promise.all([eve, ...others].map((person) => person.leave()))
})
