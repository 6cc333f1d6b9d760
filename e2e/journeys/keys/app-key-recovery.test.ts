import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let notes: KeyedApp
let approvals: SigningApp
before(async () => {
  stage = await openStage()
  notes = await openKeyedApp(stage.service)
  approvals = await openSigningApp(stage.service)
})
after(async () => {
  await Promise.all([notes.close(), approvals.close()])
  await stage.close()
})

/** The key pair that the app receives, as text. */
async function keyOf(person: Person, action: string): Promise<string> {
  await person.page.goto(notes.signInUrl({ scope: 'openid e2ee:asymmetric' }))
  await person.press(action)
  const { appKey } = keyIn((await notes.answerIn(person.page)).fragment)
  assert.ok(appKey.mode === 'asymmetric')
  return Buffer.from(appKey.privateKey).toString('base64')
}

/** Checks that the user can still sign with the signing key that others know. */
async function signs(person: Person): Promise<boolean> {
  const { authUrl, baseUrl } = stage.service
  const payload = 'A contract'
  await person.page.goto(`${authUrl}/account`)
  const { identities } = await person.call(baseUrl, 'GET /api/auth/session')
  const { requestId } = await approvals.ask({ identityId: identities[0]?.identityId ?? '', payload })
  await person.page.goto(`${authUrl}/sign?requestId=${requestId}`)
  await person.press('sign')
  await person.page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  return approvals.accepts(await approvals.read(requestId), payload)
}

test('a second passkey, and later the recovery code in a new browser, unlock every key as before', async () => {
  const { authUrl } = stage.service
  const ada = await stage.invite()
  await ada.page.goto(`${authUrl}/register`)
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  const first = await keyOf(ada, 'approve')
  assert.ok(await signs(ada))

  await ada.page.goto(`${authUrl}/account/passkeys`)
  await ada.press('add-passkey')
  await ada.control('make-passkey').waitFor()
  await ada.authenticator.exchange({ prf: true })
  await ada.press('make-passkey')
  await ada.page.getByText(words.passkeys.added('').trim()).waitFor()
  await ada.control('passkey-menu').first().click()
  await ada.page.getByRole('button', { name: account.security.remove, exact: true }).click()
  await ada.press('remove-passkey')
  // The session was opened with the removed passkey, and ended with it. The new passkey signs in.
  await ada.page.waitForURL(/\/login\?return=/)
  await ada.page.waitForURL(/\/account/)
  assert.equal(await keyOf(ada, 'unlock'), first)
  assert.ok(await signs(ada))
  await ada.leave()

  const fresh = await stage.invite()
  await fresh.page.goto(`${authUrl}/recover`)
  await fresh.write('handle', 'ada')
  await fresh.write('recoveryCode', code)
  await fresh.press('recover')
  await fresh.press('confirm-recovery-saved')
  await fresh.page.waitForURL(/\/account/)
  assert.equal(await keyOf(fresh, 'unlock'), first)
  assert.ok(await signs(fresh))
  await fresh.leave()
})
