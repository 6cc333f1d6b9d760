import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

/** What the toast says before the name. */
const added = words.passkeys.added('').trim()

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a second passkey is added and named, unlocks the keys, and replaces the first', async () => {
  const ada = await comeToPasskeys('ada')
  await ada.press('add-passkey')
  await ada.control('make-passkey').waitFor()
  await ada.authenticator.exchange({ prf: true })
  await ada.press('make-passkey')
  await ada.page.getByText(added).waitFor()
  const [first, second] = await passkeysOf(ada)
  assert.deepEqual([first?.opensKeys, second?.opensKeys], [true, true])

  await choose(ada, 1, account.security.rename)
  await ada.write('passkeyName', 'The new phone')
  await ada.press('save')
  await ada.page.getByText('The new phone').first().waitFor()

  await choose(ada, 0, account.security.remove)
  await ada.page.getByRole('dialog').getByText(words.passkeys.removeWhat).waitFor()
  await ada.press('remove-passkey')
  // The session was opened with the removed passkey, and ended with it. The remaining one signs in again.
  await ada.page.waitForURL(/\/login\?return=%2Faccount%2Fsecurity/)
  await ada.page.waitForURL(`${stage.service.authUrl}/account/security`)
  await ada.page.getByText('The new phone').first().waitFor()
  assert.deepEqual(
    (await passkeysOf(ada)).map(({ name }) => name),
    ['The new phone'],
  )
  await ada.press('passkey-menu')
  await ada.page.getByRole('button', { name: account.security.rename, exact: true }).waitFor()
  const remove = ada.page.getByRole('button', { name: account.security.remove, exact: true })
  assert.equal(await remove.count(), 0, 'the last one cannot be removed')
  await ada.page.keyboard.press('Escape')

  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  await ada.page.goto(`${stage.service.authUrl}/login`)
  await ada.page.waitForURL(/\/account/)
  await ada.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await ada.press('unlock')
  await ada.control('confirm-recovery-saved').waitFor()
  await ada.leave()
})

test('the limits of a passkey are shown before it is added, and the losses before it is removed', async () => {
  const grace = await comeToPasskeys('grace')
  await startAdding(grace, { prf: false })
  await grace.page.getByRole('heading', { name: words.passkeys.signsInOnlyTitle }).waitFor()
  await grace.press('cancel')
  await grace.control('add-passkey').waitFor()
  assert.equal((await passkeysOf(grace)).length, 1)
  await grace.leave()

  const emmy = await comeToPasskeys('emmy')
  await startAdding(emmy, { prf: false })
  await emmy.press('go-without')
  await emmy.page.getByText(words.passkeys.signsInOnly).waitFor()
  await choose(emmy, 0, account.security.remove)
  await emmy.page.getByText(words.passkeys.losses['code only']).waitFor()
  await emmy.press('cancel')

  // The available passkey cannot unlock the keys now: the code can, which enables the next passkey.
  await emmy.press('add-passkey')
  await emmy.page.getByText(words.passkeys.codeForNew).waitFor()
  await emmy.press('go-without')
  await emmy.authenticator.exchange({ prf: true })
  await emmy.press('make-passkey')
  await emmy.control('add-passkey').waitFor()
  assert.deepEqual(
    (await passkeysOf(emmy)).map(({ opensKeys }) => opensKeys),
    [true, false, false],
  )
  await emmy.leave()
})

test('with the recovery code, a new passkey unlocks the keys that the available one cannot', async () => {
  const ada = await stage.invite({ prf: false })
  await ada.page.goto(`${stage.service.authUrl}/register`)
  const code = await ada.createAccount({ handle: 'ada-2', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  await ada.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await ada.press('add-passkey')
  await ada.write('recoveryCode', code)
  await ada.press('unlock')
  await ada.control('make-passkey').waitFor()
  await ada.authenticator.exchange({ prf: true })
  await ada.press('make-passkey')
  await ada.page.getByText(added).waitFor()
  assert.deepEqual(
    (await passkeysOf(ada)).map(({ opensKeys }) => opensKeys),
    [false, true],
  )
  await ada.leave()
})

test('a passkey that could not unlock the keys can after its user has unlocked them with the code', async () => {
  const ada = await stage.invite()
  await ada.page.goto(`${stage.service.authUrl}/register`)
  const code = await ada.createAccount({ handle: 'ada-6', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  await ada.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await ada.page.evaluate(async (url) => {
    const { keyWraps } = await (await fetch(url, { credentials: 'include' })).json()
    const kept = keyWraps.filter(({ kind }: { kind: string }) => kind === 'recovery_code')
    const body = JSON.stringify({
      keyWraps: kept.map(({ kind, ciphertext }: Record<string, string>) => ({ kind, ciphertext })),
    })
    await fetch(url, { method: 'PUT', credentials: 'include', headers: { 'content-type': 'application/json' }, body })
  }, `${stage.service.baseUrl}/api/account/key-wraps`)
  await ada.press('unlock')
  await ada.write('recoveryCode', code)
  await ada.press('unlock')
  await ada.press('confirm-recovery-saved')
  await ada.page.getByText(words.passkeys.renewed).waitFor()
  await ada.press('unlock')
  await ada.control('confirm-recovery-saved').waitFor()
  await ada.leave()
})

test('a passkey that was removed elsewhere is not offered again after it failed', async () => {
  const ada = await comeToPasskeys('ada-3')
  await startAdding(ada, { prf: true })
  await ada.page.getByText(added).waitFor()
  const [, second] = await passkeysOf(ada)
  const removed = await ada.page.evaluate(
    async (url) => (await fetch(url, { method: 'DELETE', credentials: 'include' })).status,
    `${stage.service.baseUrl}/api/auth/passkeys/${second?.credentialId}`,
  )
  assert.equal(removed, 204)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  assert.equal((await ada.authenticator.credentials()).length, 1)
  ada.offerPasskeys(false)
  await ada.page.goto(`${stage.service.authUrl}/login`)
  await ada.press('sign-in')
  await ada.page.getByText(words.problem.refused.invalid_credential).waitFor()
  assert.deepEqual(await ada.authenticator.credentials(), [])
  await ada.leave()
})

test('a passkey that is removed here is deleted from the password manager too', async () => {
  const ada = await comeToPasskeys('ada-5')
  await startAdding(ada, { prf: true })
  await ada.page.getByText(added).waitFor()
  const [, second] = await passkeysOf(ada)
  const forgotten = ada.authenticator.forgets()
  await choose(ada, 1, account.security.remove)
  await ada.press('remove-passkey')
  assert.equal(await forgotten, second?.credentialId)
  await ada.leave()
})

test('a passkey that was added elsewhere stays in the password manager when another is renamed here', async () => {
  const ada = await comeToPasskeys('betty')
  const phone = await stage.invite()
  await phone.authenticator.take(await ada.authenticator.credentials())
  await phone.page.goto(`${stage.service.authUrl}/login?return=/account/passkeys`)
  await phone.press('add-passkey')
  await phone.press('go-without')
  await phone.authenticator.exchange({ prf: false })
  await phone.press('make-passkey')
  await phone.page.getByText(added).waitFor()

  // What is missing in such a list, the password manager removes.
  const lists = ada.page.evaluate(
    () =>
      new Promise<string[][]>((resolve) => {
        const lists: string[][] = []
        const keep = ({ allAcceptedCredentialIds: ids }: { allAcceptedCredentialIds: string[] }) => lists.push(ids)
        Reflect.set(PublicKeyCredential, 'signalAllAcceptedCredentials', async (list: never) => void keep(list))
        document.addEventListener('visited', () => resolve(lists))
      }),
  )
  await choose(ada, 0, account.security.rename)
  await ada.write('passkeyName', 'This laptop')
  await ada.press('save')
  await ada.page.getByText(account.security.renamed).waitFor()
  await ada.page.evaluate(() => document.dispatchEvent(new Event('visited')))
  const ids = (await passkeysOf(ada)).map(({ credentialId }) => credentialId)
  assert.equal(ids.length, 2)
  for (const list of await lists) assert.deepEqual(list.toSorted(), ids.toSorted())
  await Promise.all([ada.leave(), phone.leave()])
})

test('a user sees their sessions, and ends one', async () => {
  const ada = await comeToPasskeys('ada-4')
  const laptop = await stage.invite()
  await laptop.authenticator.take(await ada.authenticator.credentials())
  await laptop.page.goto(`${stage.service.authUrl}/login`)
  await laptop.page.waitForURL(/\/account/)

  await ada.page.goto(`${stage.service.authUrl}/account/sessions`)
  const rows = ada.page.locator('[data-session-id]')
  await rows.filter({ hasText: account.security.thisDevice }).waitFor()
  assert.equal(await rows.count(), 2)
  await rows.filter({ hasText: 'Chrome on Linux' }).first().waitFor()

  // What was ended by mistake is back, and the other browser has noticed nothing.
  await ada.page.getByRole('button', { name: account.security.endOne('Chrome on Linux') }).click()
  await rows.nth(1).waitFor({ state: 'detached' })
  await ada.press('undo')
  await rows.nth(1).waitFor()
  await laptop.page.reload()
  await laptop.page.locator('h1').waitFor()

  await ada.page.getByRole('button', { name: account.security.endOne('Chrome on Linux') }).click()
  await ada.page.getByText(account.security.ended('Chrome on Linux')).waitFor({ state: 'detached' })
  assert.equal(await rows.count(), 1)
  laptop.offerPasskeys(false)
  await laptop.page.reload()
  await laptop.page.waitForURL(/\/login/)
  await ada.page.reload()
  await rows.filter({ hasText: account.security.thisDevice }).waitFor()
  await Promise.all([ada.leave(), laptop.leave()])
})

/** A user with an account, on the page of their passkeys. */
async function comeToPasskeys(handle: string): Promise<Person> {
  const person = await stage.invite()
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName: 'Ada Lovelace' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  await person.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await person.control('add-passkey').waitFor()
  return person
}

/** Chooses from the menu of a passkey. */
async function choose({ page, control }: Person, index: number, label: string): Promise<void> {
  await control('passkey-menu').nth(index).click()
  await page.getByRole('button', { name: label, exact: true }).click()
}

/** Adds a passkey of another device. */
async function startAdding(person: Person, manner: { prf: boolean }): Promise<void> {
  await person.press('add-passkey')
  await person.control('make-passkey').waitFor()
  await person.authenticator.exchange(manner)
  await person.press('make-passkey')
}

async function passkeysOf(person: Person) {
  return (await person.call(stage.service.baseUrl, 'GET /api/auth/passkeys')).passkeys
}
