import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CannotOpen } from '@countersign/keys/envelope'
import { openMasterKey } from '@countersign/keys/master-key'
import { keyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { en as words } from '../../../web/locales/en.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type Stage } from '../../fixtures/stage.ts'

let stage: Stage
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new recovery code opens the keys that the old one opened, and the old one no longer does', async () => {
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
  await assert.rejects(open(wasSeen), CannotOpen)

  const current = await makeNewCode(ada)
  await ada.press('confirm-recovery-saved')
  await ada.page.getByText(words.passkeys.renewed).waitFor()
  await open(current)
  await assert.rejects(open(old), CannotOpen)
  await assert.rejects(open(wasSeen), CannotOpen)
  await ada.leave()
})

async function makeNewCode(person: Person): Promise<string> {
  await person.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await person.press('unlock')
  return person.page.locator('output[name="recoveryCode"]').innerText()
}

/** A function that opens this person's master key with a code, by the wrap that the server then holds. */
async function keysOf(person: Person) {
  const { baseUrl } = stage.service
  const { user } = await person.ask(baseUrl, 'GET /api/auth/session')
  return async (code: string) => {
    const { keyWraps } = await person.ask(baseUrl, 'GET /api/account/key-wraps')
    const wraps = keyWraps.filter(({ kind }) => kind === 'recovery_code')
    assert.equal(wraps.length, 1)
    return openMasterKey(wraps[0]?.ciphertext ?? '', await keyFromRecoveryCode(code), user.userId)
  }
}
