import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { openFederatedApp, watchDialogs, type FederatedApp } from './federated-app.ts'
import { plugInAuthenticator } from './authenticator.ts'
import type { Person } from './person.ts'
import { openFederatedStage, type Stage } from './stage.ts'

let stage: Stage
let app: FederatedApp
before(async () => {
  stage = await openFederatedStage()
  app = await openFederatedApp(stage.service)
})
after(() => Promise.all([stage.close(), app.close()]))

/** Somebody who is signed in here and looks at an app in another tab. */
async function visit(person: Person, at = app): Promise<Page> {
  const page = await person.context.newPage()
  await page.goto(at.origin)
  return page
}

/** The window that the browser opens over an app, once `begin` has led to it. */
async function windowOf(person: Person, begin: () => Promise<unknown>): Promise<Page> {
  const [opened] = await Promise.all([person.context.waitForEvent('page'), begin()])
  return opened
}

/** Agrees in the window, which the browser then closes. */
async function approve(opened: Page): Promise<void> {
  await Promise.all([
    opened.waitForEvent('close'),
    opened.locator('[data-action="approve"]').click().catch(ignoreClosing),
  ])
}

/** The browser closes its window before the press is reported done. */
function ignoreClosing(error: unknown): void {
  if (!(error instanceof Error && /closed/.test(error.message))) throw error
}

test('who signs in without leaving the app is asked once in a window, then not at all, then for more', async () => {
  const ada = await stage.enroll({ handle: 'ada-f', displayName: 'Ada Lovelace' })
  const page = await visit(ada)
  const dialogs = await watchDialogs(page)
  const verifier = await app.ask(page, { scope: 'openid profile', nonce: 'first' })
  const first = await dialogs.next()
  assert.equal(first.dialogType, 'AccountChooser')
  assert.deepEqual(
    first.accounts.map(({ name, loginState }) => [name, loginState]),
    [['Ada Lovelace', 'SignUp']],
  )
  const opened = await windowOf(ada, () => dialogs.choose(first))
  await opened.locator('h1').filter({ hasText: 'Gazette' }).waitFor()
  await approve(opened)
  const outcome = await app.outcome(page)
  assert.ok('token' in outcome, JSON.stringify(outcome))
  assert.equal(decodeJwt(outcome.token)['nonce'], 'first')
  assert.equal((await app.exchange(page, outcome.token, 'x'.repeat(43))).error, 'invalid_grant', 'without the verifier')
  const tokens = await app.exchange(page, outcome.token, verifier)
  assert.equal(tokens.user?.handle, 'ada-f')
  assert.equal((await app.exchange(page, outcome.token, verifier)).error, 'invalid_grant', 'twice')

  const again = await app.ask(page, { scope: 'openid profile', nonce: 'second' })
  const second = await dialogs.next()
  assert.equal(second.accounts[0]?.loginState, 'SignIn')
  await dialogs.choose(second)
  const direct = await app.outcome(page)
  assert.ok('token' in direct, JSON.stringify(direct))
  assert.equal((await app.exchange(page, direct.token, again)).user?.handle, 'ada-f')

  await app.ask(page, { scope: 'openid profile user_id' })
  const wider = await dialogs.next()
  await approve(await windowOf(ada, () => dialogs.choose(wider)))
  const more = await app.outcome(page)
  assert.ok('token' in more && String(decodeJwt(more.token)['scope']).includes('user_id'), JSON.stringify(more))
})

test('who says no in the window gives the app nothing, and is not asked again unasked', async () => {
  const bob = await stage.enroll({ handle: 'bob-f', displayName: 'Bob' })
  const page = await visit(bob)
  const dialogs = await watchDialogs(page)
  await app.ask(page, { scope: 'openid' })
  const chooser = await dialogs.next()
  const opened = await windowOf(bob, () => dialogs.choose(chooser))
  await opened.locator('[data-action="deny"]').waitFor()
  await Promise.all([opened.waitForEvent('close'), opened.locator('[data-action="deny"]').click().catch(ignoreClosing)])
  assert.deepEqual(await app.outcome(page), { error: 'NetworkError', code: undefined })
})

test('a page elsewhere that has learnt the client id of an app is given nothing', async (t) => {
  const thief = await openFederatedApp(stage.service, { name: 'Thief' })
  t.after(() => thief.close())
  const carol = await stage.enroll({ handle: 'carol-f', displayName: 'Carol' })
  const page = await visit(carol, thief)
  const dialogs = await watchDialogs(page)
  await thief.ask(page, { scope: 'openid' }, { clientId: app.clientId })
  await dialogs.choose(await dialogs.next())
  const error = await dialogs.next()
  assert.equal(error.dialogType, 'Error')
  await dialogs.press(error, 'ErrorGotIt')
  const outcome = await app.outcome(page)
  assert.equal('error' in outcome && outcome.error, 'IdentityCredentialError', JSON.stringify(outcome))
})

test('nobody is offered who has signed out, and who signs in again from the dialog goes on to the app', async () => {
  const dora = await stage.enroll({ handle: 'dora-f', displayName: 'Dora' })
  const page = await visit(dora)
  const dialogs = await watchDialogs(page)
  await app.ask(page, { scope: 'openid' })
  assert.deepEqual(
    (await dialogs.next()).accounts.map(({ name }) => name),
    ['Dora'],
  )
  await page.reload()

  await dora.page.goto(`${stage.service.authUrl}/account/sessions`)
  await dora.press('sign-out')
  await dora.page.waitForURL(/\/(login)?$/)
  await page.bringToFront()
  const again = await windowOf(dora, () => app.ask(page, { scope: 'openid' }))
  await again.waitForURL(/\/login\?/)
  const authenticator = await plugInAuthenticator(again, { prf: false })
  await authenticator.take(await dora.authenticator.credentials())
  await again.locator('[data-action="sign-in"]').click().catch(ignoreClosing)
  const chooser = await dialogs.next()
  assert.deepEqual(
    chooser.accounts.map(({ name }) => name),
    ['Dora'],
  )
  await approve(await windowOf(dora, () => dialogs.choose(chooser)))
  assert.ok('token' in (await app.outcome(page)))
})
