import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fingerprintOf } from '../../../web/lib/text/fingerprint.ts'
import { words } from '../../pages/words.ts'
import type { Person } from '../../fixtures/person.ts'
import { sendLongRequests, createDemonstration } from '../../fixtures/signing-keys.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** The public information about the key of a handle. */
async function publicKeyOf(handle: string): Promise<{ publicKey: string; keyVersion: number }> {
  return JSON.parse(await (await fetch(`${stage.service.baseUrl}/api/signing/public-key/${handle}`)).text())
}

const ask = (handle: string) => createDemonstration(stage.service, handle)

async function statusOf(requestId: string): Promise<string> {
  const url = `${stage.service.baseUrl}/api/signing/request/${requestId}/status?clientId=app_playground`
  return JSON.parse(await (await fetch(url)).text()).status
}

async function openSigning({ page }: Person): Promise<void> {
  await page.goto(`${stage.service.authUrl}/account/signing`)
  await page.locator('.fingerprint:not(.blank)').first().waitFor()
}

/** The number that the rail shows, without the word that only screen readers read. */
function countInRail({ page }: Person): Promise<string | undefined> {
  return page.locator('nav.rail-list .count').evaluate(({ firstChild }) => firstChild?.nodeValue ?? undefined)
}

test('pending requests are counted while a user watches, and lead to the text', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  await openSigning(ada)
  await ada.page.getByText(words.signing.waiting(0)).waitFor()
  const requestId = await ask('ada')
  await ada.page.getByText(words.signing.waiting(1)).waitFor()
  assert.equal(await countInRail(ada), '1')
  const link = ada.page.getByRole('link', { name: words.signing.readOf('Playground') })
  assert.equal(await link.getAttribute('href'), `/sign?requestId=${requestId}`)
  await ada.leave()
})

test('SIG-56 all long requests of unconnected apps are counted and can be shown at low cost', async () => {
  const cleo = await stage.enroll({ handle: 'cleo', displayName: 'Cleo' })
  const { page } = cleo
  await sendLongRequests(stage.service, cleo, 8)
  await openSigning(cleo)
  await page.getByText(words.signing.waiting(24)).waitFor()
  assert.equal(await countInRail(cleo), '24')
  const links = page.getByRole('link', { name: words.signing.readOf('Stranger') })
  assert.equal(await links.count(), 20)
  await cleo.press('more-requests')
  await cleo.control('more-requests').waitFor({ state: 'detached' })
  assert.equal(await links.count(), 24)

  // Read twice: the first may have started before.
  for (let time = 0; time < 2; time += 1) {
    const answer = await page.waitForResponse((response) => response.url().includes('/api/signing/'))
    const { length } = await answer.body()
    assert.ok(length < 16 * 1024, `${answer.url()}: ${length} bytes`)
  }
  assert.equal(await links.count(), 24)

  await cleo.press('replace-key')
  await page.getByText(words.signing.expiring(24)).waitFor()
  await cleo.press('unlock')
  await page.getByText(words.signing.inForce('cleo')).waitFor()
  await page.getByText(words.signing.waiting(0)).waitFor()
  await cleo.leave()
})

test('a user replaces their key: pending requests expire, and the old key stays visible', async () => {
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  const before = await publicKeyOf('bob')
  const requestId = await ask('bob')
  await openSigning(bob)
  assert.equal(await bob.page.locator('.fingerprint').innerText(), await fingerprintOf(before.publicKey))
  await bob.page.getByText(words.signing.waiting(1)).waitFor()
  await bob.press('replace-key')
  await bob.page.getByText(words.signing.expiring(1)).waitFor()
  await bob.press('unlock')
  await bob.page.getByText(words.signing.inForce('bob')).waitFor()

  const after = await publicKeyOf('bob')
  assert.equal(after.keyVersion, 2)
  assert.notEqual(after.publicKey, before.publicKey)
  assert.equal(await statusOf(requestId), 'expired')
  await bob.page.getByText(words.signing.former(1)).click()
  const shown = await bob.page.locator('.fingerprint').allInnerTexts()
  assert.deepEqual(shown, [await fingerprintOf(after.publicKey), await fingerprintOf(before.publicKey)])

  // The new key is encrypted so that it can be replaced in turn.
  await bob.press('replace-key')
  await bob.press('unlock')
  await bob.page.getByText(words.signing.former(2)).waitFor()
  assert.equal((await publicKeyOf('bob')).keyVersion, 3)
  await bob.leave()
})

test('KEY-45 a key whose creation was not answered is in force, and the page says so', async () => {
  const fay = await stage.enroll({ handle: 'fay', displayName: 'Fay' })
  await fay.page.goto(`${stage.service.authUrl}/account/identities`)
  await fay.press('new-identity')
  await fay.write('handle', 'fay-2')
  await fay.write('displayName', 'The other Fay')
  await fay.press('add-identity')
  await fay.page.getByRole('dialog').waitFor({ state: 'detached' })
  await openSigning(fay)
  await fay.page.route('**/api/signing/keys/*', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })
  await fay.press('make-key')
  await fay.press('unlock')
  await fay.page.getByText(words.problem.unreachable).waitFor()
  const { publicKey } = await publicKeyOf('fay-2')
  await fay.press('unlock')
  // The browser has not seen that the key was created.
  await fay.press('known-change')
  await fay.page.getByText(words.signing.inForce('fay-2')).waitFor()
  assert.deepEqual(await publicKeyOf('fay-2').then((key) => [key.publicKey, key.keyVersion]), [publicKey, 1])
  await fay.leave()
})

test('a further identity gets its own key, and the recovery code replaces one that no passkey unlocks', async () => {
  const eve = await stage.invite()
  await eve.page.goto(`${stage.service.authUrl}/register`)
  const code = await eve.createAccount({ handle: 'eve', displayName: 'Eve' })
  await eve.press('confirm-recovery-saved')
  await eve.page.waitForURL(/\/account/)
  await eve.page.goto(`${stage.service.authUrl}/account/identities`)
  await eve.press('new-identity')
  await eve.write('handle', 'eve-2')
  await eve.write('displayName', 'The other Eve')
  await eve.press('add-identity')
  await eve.page.getByRole('dialog').waitFor({ state: 'detached' })
  await openSigning(eve)
  await eve.press('make-key')
  await eve.press('unlock')
  await eve.page.getByText(words.signing.inForce('eve-2')).waitFor()
  assert.equal((await publicKeyOf('eve-2')).keyVersion, 1)

  await eve.authenticator.replace()
  await eve.control('replace-key').first().click()
  await eve.press('unlock')
  await eve.write('recoveryCode', code)
  await eve.press('unlock')
  await eve.page.getByText(words.signing.inForce('eve')).waitFor()
  assert.equal((await publicKeyOf('eve')).keyVersion, 2)
  await eve.leave()
})
