import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { en as words } from '../../../web/locales/en/messages.ts'
import { openFederatedApp, pressLast, watchDialogs, type FederatedApp } from '../../apps/fedcm-app.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { invite, type Person } from '../../fixtures/person.ts'
import { launchWithProfile, openFederatedStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: FederatedApp
before(async () => {
  stage = await openFederatedStage()
  app = await openFederatedApp(stage.service)
})
after(() => Promise.all([stage.close(), app.close()]))

/** A user who is signed in here and visits an app in another tab. */
async function visit(person: Person, at = app): Promise<Page> {
  const page = await person.context.newPage()
  await page.goto(at.origin)
  return page
}

/** Returns the window that the browser opens over an app, after `begin` has led to it. */
async function windowOf(person: Person, begin: () => Promise<unknown>): Promise<Page> {
  const [opened] = await Promise.all([person.context.waitForEvent('page'), begin()])
  return opened
}

test('a FedCM sign-in asks for consent in a window once, and again only for additional scopes', async () => {
  const ada = await stage.enroll({ handle: 'ada-f', displayName: 'Ada Lovelace' })
  const page = await visit(ada)
  const dialogs = await watchDialogs(page)
  const verifier = await app.requestSignIn(page, { scope: 'openid profile', nonce: 'first' })
  const first = await dialogs.next()
  assert.equal(first.dialogType, 'AccountChooser')
  assert.deepEqual(
    first.accounts.map(({ name, loginState }) => [name, loginState]),
    [['Ada Lovelace', 'SignUp']],
  )
  const opened = await windowOf(ada, () => dialogs.choose(first))
  await opened.locator('h1').filter({ hasText: 'Gazette' }).waitFor()
  await pressLast(opened, 'approve')
  const outcome = await app.outcome(page)
  assert.ok('token' in outcome, JSON.stringify(outcome))
  assert.equal(decodeJwt(outcome.token)['nonce'], 'first')
  assert.equal((await app.exchange(page, outcome.token, 'x'.repeat(43))).error, 'invalid_grant', 'without the verifier')
  const tokens = await app.exchange(page, outcome.token, verifier)
  assert.equal(tokens.user?.handle, 'ada-f')
  assert.equal((await app.exchange(page, outcome.token, verifier)).error, 'invalid_grant', 'twice')

  const again = await app.requestSignIn(page, { scope: 'openid profile', nonce: 'second' })
  const second = await dialogs.next()
  assert.equal(second.accounts[0]?.loginState, 'SignIn')
  await dialogs.choose(second)
  const direct = await app.outcome(page)
  assert.ok('token' in direct, JSON.stringify(direct))
  assert.equal((await app.exchange(page, direct.token, again)).user?.handle, 'ada-f')

  await app.requestSignIn(page, { scope: 'openid profile user_id' })
  const wider = await dialogs.next()
  await pressLast(await windowOf(ada, () => dialogs.choose(wider)), 'approve')
  const more = await app.outcome(page)
  assert.ok('token' in more && String(decodeJwt(more.token)['scope']).includes('user_id'), JSON.stringify(more))
})

test('denying in the window gives the app nothing, and there is no automatic prompt afterwards', async () => {
  const bob = await stage.enroll({ handle: 'bob-f', displayName: 'Bob' })
  const page = await visit(bob)
  const dialogs = await watchDialogs(page)
  await app.requestSignIn(page, { scope: 'openid' })
  const chooser = await dialogs.next()
  const opened = await windowOf(bob, () => dialogs.choose(chooser))
  await opened.locator('[data-action="deny"]').waitFor()
  await pressLast(opened, 'deny')
  assert.deepEqual(await app.outcome(page), { error: 'NetworkError', code: undefined })
})

test('consent that arrives too late shows a message, on a page of its own', async () => {
  const fay = await stage.enroll({ handle: 'fay-f', displayName: 'Fay' })
  const page = await visit(fay)
  const dialogs = await watchDialogs(page)
  await app.requestSignIn(page, { scope: 'openid' })
  const chooser = await dialogs.next()
  const opened = await windowOf(fay, () => dialogs.choose(chooser))
  await opened.getByRole('button', { name: words.signin.change }).click()
  await opened.locator('[data-action="choose-identity"]').waitFor()
  assert.equal(await opened.locator('[data-action="sign-out"]').count(), 0, 'another account is chosen in the dialog')
  await opened.locator('[data-action="choose-identity"]').click()
  await opened.route('**/api/oauth/fedcm/finalize', (route) => {
    const body: object = route.request().postDataJSON()
    return route.continue({ postData: JSON.stringify({ ...body, state: 'x'.repeat(43) }) })
  })
  await opened.locator('[data-action="approve"]').click()
  await opened.waitForURL(`${stage.service.baseUrl}/fedcm/error?code=expired`)
  await opened.locator('main .lead').waitFor()
  await pressLast(opened, 'close')
  assert.deepEqual(await app.outcome(page), { error: 'NetworkError', code: undefined })
})

test('a page elsewhere that knows the client id of an app receives nothing', async (t) => {
  const thief = await openFederatedApp(stage.service, { name: 'Thief' })
  t.after(() => thief.close())
  const carol = await stage.enroll({ handle: 'carol-f', displayName: 'Carol' })
  const page = await visit(carol, thief)
  const dialogs = await watchDialogs(page)
  await thief.requestSignIn(page, { scope: 'openid' }, { clientId: app.clientId })
  await dialogs.choose(await dialogs.next())
  const error = await dialogs.next()
  assert.equal(error.dialogType, 'Error')
  await dialogs.press(error, 'ErrorGotIt')
  const outcome = await app.outcome(page)
  assert.equal('error' in outcome && outcome.error, 'IdentityCredentialError', JSON.stringify(outcome))
})

test('a signed-out user is not offered, and one who signs in again from the dialog continues to the app', async () => {
  const dora = await stage.enroll({ handle: 'dora-f', displayName: 'Dora' })
  const page = await visit(dora)
  const dialogs = await watchDialogs(page)
  await app.requestSignIn(page, { scope: 'openid' })
  assert.deepEqual(
    (await dialogs.next()).accounts.map(({ name }) => name),
    ['Dora'],
  )
  await page.reload()

  await dora.page.goto(`${stage.service.authUrl}/account/sessions`)
  await dora.press('sign-out')
  await dora.page.waitForURL(/\/(login)?$/)
  await page.bringToFront()
  const again = await windowOf(dora, () => app.requestSignIn(page, { scope: 'openid' }))
  await again.waitForURL(/\/login\?/)
  const authenticator = await addVirtualAuthenticator(again, { prf: false })
  await authenticator.take(await dora.authenticator.credentials())
  // The dialog is inactive while a window covers it.
  await pressLast(again, 'sign-in')
  const chooser = await dialogs.next()
  assert.deepEqual(
    chooser.accounts.map(({ name }) => name),
    ['Dora'],
  )
  await pressLast(await windowOf(dora, () => dialogs.choose(chooser)), 'approve')
  assert.ok('token' in (await app.outcome(page)))
})

test('FED-18 an app with an app key can sign users in by the dialog, without a key', async (t) => {
  const notes = await openFederatedApp(stage.service, { name: 'Notes', supportsE2ee: true })
  t.after(() => notes.close())
  const eve = await stage.enroll({ handle: 'eve-f', displayName: 'Eve' })
  const sent: string[] = []
  eve.context.on('request', (request) => sent.push(`${request.url()}\n${request.postData() ?? ''}`))
  const page = await visit(eve, notes)
  const dialogs = await watchDialogs(page)
  const verifier = await notes.requestSignIn(page, { scope: 'openid' })
  const chooser = await dialogs.next()
  await pressLast(await windowOf(eve, () => dialogs.choose(chooser)), 'approve')
  const outcome = await notes.outcome(page)
  assert.ok('token' in outcome, JSON.stringify(outcome))
  const tokens = await notes.exchange(page, outcome.token, verifier)
  assert.equal(tokens.user?.id, decodeJwt(outcome.token).sub)
  assert.doesNotMatch(JSON.stringify([decodeJwt(outcome.token), tokens]), /app_?key/i)
  for (const path of ['/api/oauth/authorize', '/api/oauth/fedcm/finalize'])
    assert.ok(
      sent.some((each) => each.startsWith(stage.service.baseUrl + path)),
      path,
    )
  for (const each of sent) assert.doesNotMatch(each, /app_?key|encryptedAppKey/i)
})

test('the dialog shows every identity, and those named by the app; a disconnected app starts over', async () => {
  const faye = await stage.enroll({ handle: 'faye-f', displayName: 'Faye' })
  await addIdentity(faye, { handle: 'faye-work', displayName: 'Faye at work' })
  const page = await visit(faye)
  const dialogs = await watchDialogs(page)
  await app.requestSignIn(page, { scope: 'openid' })
  const both = await dialogs.next()
  assert.deepEqual(
    both.accounts.map(({ name }) => name),
    ['Faye', 'Faye at work'],
  )
  await pressLast(await windowOf(faye, () => dialogs.choose(both, 1)), 'approve')
  const outcome = await app.outcome(page)
  assert.ok('token' in outcome)
  const { sub = '' } = decodeJwt(outcome.token)
  assert.equal(sub, both.accounts[1]?.accountId)

  await page.reload()
  await app.requestSignIn(page, { scope: 'openid' }, { loginHint: 'faye-work' })
  const hinted = await dialogs.next()
  assert.deepEqual(
    hinted.accounts.map(({ name, loginState }) => [name, loginState]),
    [['Faye at work', 'SignIn']],
  )
  await page.reload()
  await app.disconnect(page, sub)
  await app.requestSignIn(page, { scope: 'openid' }, { loginHint: 'faye-work' })
  assert.deepEqual(
    (await dialogs.next()).accounts.map(({ loginState }) => loginState),
    ['SignUp'],
  )
})

async function addIdentity({ page }: Person, payload: { handle: string; displayName: string }): Promise<void> {
  const status = await page.evaluate(
    async ({ url, body }) => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(url, { method: 'POST', credentials: 'include', headers, body })).status
    },
    { url: `${stage.service.baseUrl}/api/identities`, body: JSON.stringify(payload) },
  )
  assert.equal(status, 201)
}

test('a user with earlier consent is signed in by the browser itself when they return to the page', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'countersign-profile-'))
  const context = await launchWithProfile(folder.path)
  const gwen = await invite({ newContext: async () => context })
  try {
    await gwen.page.goto(`${stage.service.authUrl}/register`)
    await gwen.createAccount({ handle: 'gwen-f', displayName: 'Gwen' })
    await gwen.press('confirm-recovery-saved')
    await gwen.page.waitForURL(/\/account/)
    const page = await visit(gwen)
    const dialogs = await watchDialogs(page)
    await app.requestSignIn(page, { scope: 'openid' })
    const first = await dialogs.next()
    await pressLast(await windowOf(gwen, () => dialogs.choose(first)), 'approve')
    assert.ok('token' in (await app.outcome(page)))
    await page.reload()
    await app.requestSignIn(page, { scope: 'openid' }, {}, 'passive')
    assert.equal((await dialogs.next()).dialogType, 'AutoReauthn')
    const again = await app.outcome(page)
    assert.ok('token' in again && again.automatic, JSON.stringify(again))
  } finally {
    await gwen.leave()
  }
})
