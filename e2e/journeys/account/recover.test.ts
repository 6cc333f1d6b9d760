import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { unwrapMasterKey } from '@countersign/keys/master-key'
import { deriveKeyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { en as words } from '../../../web/locales/en/messages.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { recoverMessages as recoverWords } from '../../../web/locales/en/pages/sign-in/recover.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

type Registration = {
  signingKey: { publicKey: string; encryptedPrivateKey: string }
  encryptionKey: { encryptedPrivateKey: string }
}

test('REC-04 with the recovery code alone, a new device signs in and unlocks the same keys', async () => {
  const { authUrl, baseUrl } = stage.service
  const lost = await stage.invite()
  await lost.page.goto(`${authUrl}/register`)
  const code = await lost.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await lost.press('confirm-recovery-saved')
  await lost.page.waitForURL(/\/account/)
  const { user, identities } = await lost.call(baseUrl, 'GET /api/auth/session')
  const registration = await registrationOf(lost)
  const identityId = identities[0]?.identityId ?? ''
  const keysBefore = await keysIn(lost, identityId)
  const { publicKey, encryptedPrivateKey } = registration.signingKey
  assert.partialDeepStrictEqual(keysBefore, [{ publicKey, encryptedPrivateKey }, registration.encryptionKey])

  const ada = await stage.invite()
  ada.offerPasskeys(false)
  await ada.page.goto(`${authUrl}/login`)
  await ada.page.getByRole('link', { name: words.login.recover }).click()
  await ada.page.waitForURL(`${authUrl}/recover`)
  await ada.write('handle', 'Ada')
  await ada.write('recoveryCode', code.toLowerCase().replaceAll('-', ' '))
  await ada.press('recover')
  const next = await ada.page.locator('output[name="recoveryCode"]').innerText()
  assert.notEqual(next, code)
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)

  assert.equal(await statusOf(lost, `${baseUrl}/api/auth/session`), 401, 'the lost device is signed out')
  const { sessions } = await ada.call(baseUrl, 'GET /api/auth/sessions')
  assert.equal(sessions.length, 1)

  const { keyWraps } = await ada.call(baseUrl, 'GET /api/account/key-wraps')
  assert.deepEqual(keyWraps.map(({ kind }) => kind).toSorted(), ['passkey_prf', 'passkey_prf', 'recovery_code'])
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')?.ciphertext ?? ''
  const masterKey = await unwrapMasterKey(wrap, await deriveKeyFromRecoveryCode(next), user.userId)
  assert.deepEqual(await keysIn(ada, identityId), keysBefore)
  const signingKey = await masterKey.openSigningKey(identityId, encryptedPrivateKey)
  const message = new TextEncoder().encode('a contract')
  const signature = await crypto.subtle.sign('Ed25519', signingKey, message)
  const verifying = await crypto.subtle.importKey('raw', Buffer.from(publicKey, 'base64'), 'Ed25519', false, ['verify'])
  assert.ok(await crypto.subtle.verify('Ed25519', verifying, signature, message))
  await masterKey.openEncryptionKey(identityId, registration.encryptionKey.encryptedPrivateKey)

  await signInAgainAndOpen(ada)
  await isRefused(code)
  await Promise.all([lost.leave(), ada.leave()])
})

test('a new passkey that cannot unlock keys signs its user in, and the new code unlocks them', async () => {
  const { authUrl, baseUrl } = stage.service
  const lost = await stage.invite()
  await lost.page.goto(`${authUrl}/register`)
  const code = await lost.createAccount({ handle: 'grace', displayName: 'Grace Hopper' })
  await lost.press('confirm-recovery-saved')
  await lost.page.waitForURL(/\/account/)
  await lost.leave()

  const grace = await stage.invite({ prf: false })
  await grace.page.goto(`${authUrl}/recover`)
  await grace.write('handle', 'grace')
  await grace.write('recoveryCode', code)
  await grace.press('recover')
  await grace.page.getByText(words.recovery.whyWithoutPrf).waitFor()
  const next = await grace.page.locator('output[name="recoveryCode"]').innerText()
  await grace.press('confirm-recovery-saved')
  await grace.page.waitForURL(/\/account/)
  const { user } = await grace.call(baseUrl, 'GET /api/auth/session')
  const { keyWraps } = await grace.call(baseUrl, 'GET /api/account/key-wraps')
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')?.ciphertext ?? ''
  await unwrapMasterKey(wrap, await deriveKeyFromRecoveryCode(next), user.userId)
  await grace.leave()
})

test('a user who leaves before saving the new code is warned, and the old one still unlocks the keys', async () => {
  const { authUrl } = stage.service
  const lost = await stage.invite()
  await lost.page.goto(`${authUrl}/register`)
  const code = await lost.createAccount({ handle: 'emmy', displayName: 'Emmy Noether' })
  await lost.press('confirm-recovery-saved')
  await lost.page.waitForURL(/\/account/)
  await lost.leave()

  const emmy = await stage.invite({ prf: false })
  await emmy.page.goto(`${authUrl}/recover`)
  await emmy.write('handle', 'emmy')
  await emmy.write('recoveryCode', code)
  await emmy.press('recover')
  await emmy.control('confirm-recovery-saved').waitFor()
  emmy.page.on('dialog', (dialog) => void dialog.accept())
  await emmy.page.goto(`${authUrl}/account/passkeys`)
  await emmy.page.getByText(words.passkeys.recoveryNone).waitFor()
  await emmy.press('unlock')
  await emmy.write('recoveryCode', code)
  await emmy.press('unlock')
  await emmy.press('confirm-recovery-saved')
  await emmy.page.getByText(account.security.codeInEffect).waitFor()
  await emmy.page.getByText(account.security.codeSaved, { exact: true }).waitFor()
  await emmy.leave()
})

test('after a recovery the security check names the passkeys from before, until they are removed or kept', async () => {
  const { authUrl } = stage.service
  for (const [handle, answer] of [
    ['hedy', 'remove'],
    ['lise', 'keep'],
  ] as const) {
    const lost = await stage.invite()
    await lost.page.goto(`${authUrl}/register`)
    const code = await lost.createAccount({ handle, displayName: 'Hedy Lamarr' })
    await lost.press('confirm-recovery-saved')
    await lost.page.waitForURL(/\/account/)
    await lost.page.getByText(account.home.codeSaved).waitFor()
    assert.equal(await lost.page.getByText(account.home.former).count(), 0)
    await lost.leave()

    const hedy = await stage.invite()
    hedy.offerPasskeys(false)
    await hedy.page.goto(`${authUrl}/recover`)
    await hedy.write('handle', handle)
    await hedy.write('recoveryCode', code)
    await hedy.press('recover')
    await hedy.press('confirm-recovery-saved')
    await hedy.page.waitForURL(/\/account/)
    const review = hedy.page.getByText(account.home.former)
    await review.waitFor()
    if (process.env['SCREENSHOTS']) await hedy.page.screenshot({ path: `${process.env['SCREENSHOTS']}/recovered.png` })
    if (answer === 'keep') {
      await hedy.press('keep-passkeys')
      await review.waitFor({ state: 'detached' })
    } else {
      await hedy.press('next-task')
      await hedy.page.locator('[data-action="passkey-menu"]').first().click()
      await hedy.page.getByRole('button', { name: account.security.remove, exact: true }).click()
      await hedy.press('remove-passkey')
      await hedy.page.getByText(account.security.removed).waitFor()
    }
    await hedy.page.goto(`${authUrl}/account`)
    await hedy.page.getByText(account.home.codeSaved).waitFor()
    assert.equal(await review.count(), 0)
    await hedy.leave()
  }
})

/** The requests of this user's browser that created the account. */
async function registrationOf(person: Person): Promise<Registration> {
  const sent = (await person.sent()).find(({ url }) => url.endsWith('/register/finish'))
  const registration: Registration = JSON.parse(sent?.body.toString() ?? '')
  return registration
}

/** Fetches the keys of an identity from the service, with encrypted private keys. */
function keysIn({ page }: Person, identityId: string): Promise<unknown[]> {
  const urls = ['signing', 'encryption'].map((what) => `${stage.service.baseUrl}/api/${what}/keys/${identityId}`)
  return page.evaluate(
    (addresses) =>
      Promise.all(
        addresses.map(async (address) => {
          const answer = await fetch(address, { credentials: 'include' })
          return answer.json()
        }),
      ),
    urls,
  )
}

function statusOf(person: Person, url: string): Promise<number> {
  return person.page.evaluate(async (address) => (await fetch(address, { credentials: 'include' })).status, url)
}

/** The new passkey signs in and unlocks the keys without the code. */
async function signInAgainAndOpen(person: Person): Promise<void> {
  const { authUrl } = stage.service
  await person.press('sign-out')
  await person.page.waitForURL(`${authUrl}/`)
  await person.page.goto(`${authUrl}/login`)
  await person.press('sign-in')
  await person.page.waitForURL(/\/account/)
  await person.page.goto(`${authUrl}/account/passkeys`)
  await person.press('unlock')
  await person.control('confirm-recovery-saved').waitFor()
  await person.press('cancel')
}

/** A used code does not sign an attacker in. */
async function isRefused(code: string): Promise<void> {
  const attacker = await stage.invite()
  await attacker.page.goto(`${stage.service.authUrl}/recover`)
  await attacker.press('recover')
  await attacker.page.getByText(recoverWords.handleMissing).waitFor()
  await attacker.page.getByText(words.passkeys.codeMalformed).waitFor()
  await attacker.write('handle', 'ada')
  await attacker.write('recoveryCode', code)
  await attacker.press('recover')
  await attacker.page.getByText(recoverWords.noMatch).waitFor()
  assert.deepEqual(await attacker.authenticator.credentials(), [])
  await attacker.leave()
}
