import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DecryptionError } from '@countersign/keys/envelope'
import { unwrapMasterKey } from '@countersign/keys/master-key'
import { deriveKeyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { en as words } from '../../../web/locales/en/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new recovery code unlocks the keys that the old one unlocked, and the old one no longer does', async () => {
  const { service } = stage
  const ada = await stage.invite()
  await ada.page.goto(`${service.authUrl}/register`)
  const old = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  const open = await keysOf(ada)
  await open(old)

  const wasSeen = await makeNewCode(ada)
  await ada.press('cancel')
  await ada.control('unlock').waitFor()
  await open(old)
  await assert.rejects(open(wasSeen), DecryptionError)

  const current = await makeNewCode(ada)
  await ada.press('confirm-recovery-saved')
  await ada.page.getByText(words.passkeys.renewed).waitFor()
  await open(current)
  await assert.rejects(open(old), DecryptionError)
  await assert.rejects(open(wasSeen), DecryptionError)
  await ada.leave()
})

async function makeNewCode(person: Person): Promise<string> {
  await person.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await person.press('unlock')
  return person.page.locator('output[name="recoveryCode"]').innerText()
}

/** Returns a function that unwraps this user's master key with a code and the current wrap on the server. */
async function keysOf(person: Person) {
  const { baseUrl } = stage.service
  const { user } = await person.call(baseUrl, 'GET /api/auth/session')
  return async (code: string) => {
    const { keyWraps } = await person.call(baseUrl, 'GET /api/account/key-wraps')
    const wraps = keyWraps.filter(({ kind }) => kind === 'recovery_code')
    assert.equal(wraps.length, 1)
    return unwrapMasterKey(wraps[0]?.ciphertext ?? '', await deriveKeyFromRecoveryCode(code), user.userId)
  }
}
