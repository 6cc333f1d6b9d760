import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openAuthJs } from '../../clients/auth-js.ts'
import { openPassport } from '../../clients/passport.ts'
import { openSinglePage, type Manager } from '../../clients/single-page.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
let ada: Person
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
})
after(() => stage.close())

test('oidc-client-ts in a browser signs a user in, refreshes and fetches userinfo', async (t) => {
  const app = await openSinglePage(stage.service)
  t.after(() => app.close())
  await ada.page.goto(app.origin)
  await ada.page.evaluate(() => {
    // Its promise never settles, because the page is unloaded.
    void (Reflect.get(globalThis, 'manager') as Manager).signinRedirect()
  })
  await ada.press('approve')
  await ada.page.locator('#name').waitFor()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  const [before, after] = await ada.page.evaluate(async () => {
    const manager = Reflect.get(globalThis, 'manager') as Manager
    const user = await manager.getUser()
    return [user, await manager.signinSilent()]
  })
  assert.notEqual(after?.refresh_token, before?.refresh_token)
  assert.notEqual(after?.access_token, before?.access_token)
  assert.equal(after?.profile.preferred_username, 'ada')
  assert.equal(after?.profile.sub, before?.profile.sub)
})

test('oidc-client-ts in a browser signs the user out here too, and returns to the app', async (t) => {
  const app = await openSinglePage(stage.service)
  t.after(() => app.close())
  const bob = await stage.invite()
  await bob.page.goto(`${stage.service.authUrl}/register`)
  await bob.createAccount({ handle: 'bob', displayName: 'Bob' })
  await bob.press('confirm-recovery-saved')
  await bob.page.waitForURL(/\/account/)
  await bob.page.goto(app.origin)
  await bob.page.evaluate(() => void (Reflect.get(globalThis, 'manager') as Manager).signinRedirect())
  await bob.press('approve')
  await bob.page.locator('#name').waitFor()
  const clicks = bob.clicks()
  await bob.page.evaluate(() => void (Reflect.get(globalThis, 'manager') as Manager).signoutRedirect())
  await bob.page.waitForURL(`${app.origin}/?left`)
  assert.equal(bob.clicks(), clicks)
  await bob.page.goto(`${stage.service.authUrl}/`)
  await bob.page.locator('a[href="/login"]').waitFor()
  await bob.leave()
})

test('Auth.js signs a user in and shows their name', async (t) => {
  const app = await openAuthJs(stage.service)
  t.after(() => app.close())
  await ada.page.goto(`${app.origin}/auth/signin`)
  await ada.page.getByRole('button', { name: /Countersign/ }).click()
  await ada.press('approve')
  await ada.page.locator('#name').waitFor()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
})

test('passport-openidconnect signs a user in and shows their name', async (t) => {
  const app = await openPassport(stage.service)
  t.after(() => app.close())
  await ada.page.goto(`${app.origin}/sign-in`)
  await ada.press('approve')
  await ada.page.locator('#name').waitFor()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
})
