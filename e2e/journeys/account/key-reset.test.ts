import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listMissingKeyProofs, readKeyHistory } from '@countersign/protocol/formats/signing/key-history'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { accountPageMessages } from '../../../web/locales/en/pages/account.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import type { Person } from '../../fixtures/person.ts'
import { openRecoveryStage, type RecoveryStage } from '../../fixtures/recovery-stage.ts'
import { createDemonstration } from '../../fixtures/signing-keys.ts'
import { watchFromStart } from '../../fixtures/visual-checks.ts'

let stage: RecoveryStage
let app: KeyedApp
before(async () => {
  stage = await openRecoveryStage()
  app = await openKeyedApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

const { keyReset: words } = accountPageMessages

/** Opens the app through the sign-in page, and returns the key that it gets. */
async function appKeyOf(person: Person, presses: string[]): Promise<string> {
  await person.page.goto(app.signInUrl({}))
  for (const action of presses) await person.press(action)
  const { appKey } = keyIn((await app.answerIn(person.page)).fragment)
  assert.ok(appKey.mode === 'symmetric')
  return Buffer.from(appKey.key).toString('base64')
}

async function admin(path: string) {
  const answer = await fetch(stage.service.baseUrl + path, { headers: stage.service.admin })
  return JSON.parse(await answer.text())
}

/** Follows the audit log until it has an event of this action. */
async function recorded(action: string): Promise<void> {
  const { baseUrl, admin: headers } = stage.service
  const { body } = await fetch(`${baseUrl}/api/admin/audit/stream?after=0&action=${action}`, { headers })
  assert.ok(body)
  for await (const text of body.pipeThrough(new TextDecoderStream())) if (text.includes('data: ')) return
}

/** Recovers an account by a mailed link in a new browser, and waits until the hold is over. */
async function recover(lost: Person, identityId: string): Promise<Person> {
  const { link } = await stage.issue(identityId)
  const person = await stage.invite()
  person.offerPasskeys(false)
  await person.page.goto(link)
  await person.press('create-passkey')
  await person.control('create-passkey').waitFor({ state: 'detached' })
  await stage.passWeek(lost)
  assert.match((await stage.mailbox.take()).subject, /was recovered/)
  await person.page.goto(`${stage.service.authUrl}/login`)
  await person.press('sign-in')
  await person.control('lift-limit').waitFor()
  await stage.passWeek(person)
  await recorded('recovery_link.settled')
  await person.context.clearCookies()
  await person.page.goto(`${stage.service.authUrl}/login`)
  await person.press('sign-in')
  await person.page.getByText(accountPageMessages.home.check).waitFor()
  return person
}

test('KRS-01 a user who recovers without the code starts with new keys, signs, and gets a new app key', async () => {
  const { authUrl, baseUrl } = stage.service
  const { person: lost, identityId } = await stage.enrollWithAddress('ada', 'ada@example.org')
  const former = await appKeyOf(lost, ['approve'])
  await lost.page.goto(`${authUrl}/account`)
  const formerKey = (await lost.call(baseUrl, 'GET /api/signing/keys')).keys[0]?.publicKey
  const ada = await recover(lost, identityId)
  const views = { shown: { colorScheme: 'light', width: 360 }, also: { colorScheme: 'dark', width: 1280 } } as const
  const { look, faults } = await watchFromStart(ada, { language: 'en', ...views })
  await ada.page.goto(`${authUrl}/account`)
  await ada.page.getByText(accountPageMessages.home.keysLocked).waitFor()
  await look('account-keys-locked')
  await ada.press('next-task')
  await ada.control('ask-reset-keys').waitFor()
  await look('security-keys-locked')
  await ada.press('ask-reset-keys')
  await look('reset-keys')
  await ada.press('reset-keys')
  await ada.control('confirm-recovery-saved').waitFor()
  await look('reset-keys-code')
  await ada.press('confirm-recovery-saved')
  await ada.page.getByText(words.done).waitFor()
  await ada.control('ask-reset-keys').waitFor({ state: 'detached' })
  await look('security-keys-reset')
  assert.deepEqual(faults, [])

  const { keys } = await ada.call(baseUrl, 'GET /api/signing/keys')
  assert.notEqual(keys[0]?.publicKey, formerKey)
  await ada.page.goto(`${authUrl}/sign?requestId=${await createDemonstration(stage.service, 'ada')}`)
  await ada.page.locator('[data-action="sign"][aria-disabled="false"]').click()
  await ada.control('sign').waitFor({ state: 'detached' })
  const { origin: log } = await admin('/api/transparency/jwks')
  const { events } = await admin(`/api/transparency/identities/${identityId}`)
  const history = readKeyHistory(nodeSuite, { log, identityId, leaves: events })
  assert.ok('keys' in history, JSON.stringify(history))
  const missing = history.keys.map(({ keyVersion }) => listMissingKeyProofs(history, keyVersion))
  assert.deepEqual(missing, [[], ['unlinked_key']])
  assert.notEqual(await appKeyOf(ada, ['unlock']), former)

  await ada.page.goto(`${authUrl}/account`)
  const { keyWraps } = await ada.call(baseUrl, 'GET /api/account/key-wraps')
  assert.deepEqual(keyWraps.map(({ kind }) => kind).toSorted(), ['passkey_prf', 'recovery_code'])
  await Promise.all([lost.leave(), ada.leave()])
})
