import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminPeopleMessages as people } from '../../../web/locales/en/pages/admin/people.ts'
import { accountPageMessages } from '../../../web/locales/en/pages/account.ts'
import { recoverLinkMessages as words } from '../../../web/locales/en/pages/sign-in/recover-link.ts'
import { openRecoveryStage, type RecoveryStage } from '../../fixtures/recovery-stage.ts'
import { watchFromStart } from '../../fixtures/visual-checks.ts'

let stage: RecoveryStage
before(async () => {
  stage = await openRecoveryStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 360 }, also: { colorScheme: 'dark', width: 1280 } } as const

test('PEO-06 a user recovers by a mailed link; keys stay closed until they enter the recovery code', async () => {
  const { authUrl, baseUrl } = stage.service
  const { person: lost, identityId } = await stage.enrollWithAddress('ada', 'ada@example.org')
  const { link } = await stage.issue(identityId)
  const { look: lookAtLost, faults: faultsOfLost } = await watchFromStart(lost, { language: 'en', ...views })
  await lost.page.goto(`${authUrl}/account`)
  await lost.control('stop-recovery').waitFor()
  await lookAtLost('account-recovery-banner')
  assert.deepEqual(faultsOfLost, [])

  const ada = await stage.invite()
  ada.offerPasskeys(false)
  const { look, faults } = await watchFromStart(ada, { language: 'en', ...views })
  await ada.page.goto(link)
  await ada.control('create-passkey').waitFor()
  await look('recover-link')
  assert.equal(new URL(ada.page.url()).hash, '', 'the secret stays in the address')
  await ada.press('create-passkey')
  await ada.page.getByText(words.redeem.keysStayClosed).waitFor()
  await look('recover-link-done')

  await stage.passWeek(lost)
  assert.match((await stage.mailbox.take()).subject, /was recovered/)
  await ada.page.goto(`${authUrl}/login`)
  await ada.press('sign-in')
  await ada.control('lift-limit').waitFor()
  await look('account-recovered')
  // A request outside of the page, because the page itself asks for nothing that is refused.
  const refused = await ada.page.request.get(`${baseUrl}/api/account/key-wraps`, { headers: { origin: authUrl } })
  assert.equal(refused.status(), 409)
  await ada.page.goto(`${authUrl}/login?return=%2Fadmin`)
  await ada.control('lift-limit').waitFor()
  await ada.write('recoveryCode', lost.code)
  await ada.press('lift-limit')
  await ada.page.getByText(accountPageMessages.home.check).waitFor()
  const { authMethod } = await ada.call(baseUrl, 'GET /api/auth/session')
  assert.equal(authMethod, 'passkey')
  const { keyWraps } = await ada.call(baseUrl, 'GET /api/account/key-wraps')
  assert.deepEqual(keyWraps.map(({ kind }) => kind).toSorted(), ['passkey_prf', 'recovery_code'])
  assert.deepEqual(faults, [])
  await Promise.all([lost.leave(), ada.leave()])
})

test('PEO-03 a user stops a recovery by the link in the mail, and another one in their account', async () => {
  const { authUrl } = stage.service
  const { person: grace, identityId } = await stage.enrollWithAddress('grace', 'grace@example.org')
  const { stop, link } = await stage.issue(identityId)
  const reader = await stage.invite()
  const { look, faults } = await watchFromStart(reader, { language: 'en', ...views })
  await reader.page.goto(stop)
  await reader.control('stop-recovery').waitFor()
  await look('recover-stop')
  await reader.page.locator('.skip').press('Enter')
  await reader.press('stop-recovery')
  await reader.page.getByText(words.stop.done).waitFor()
  await look('recover-stop-done')
  await reader.page.goto(link)
  await reader.press('create-passkey')
  await reader.page.locator('h1:focus').getByText(words.problems.used).waitFor()
  await look('recover-link-used')

  await stage.issue(identityId)
  await grace.page.goto(`${authUrl}/account`)
  await grace.press('stop-recovery')
  await grace.page.getByText(accountPageMessages.recovery.stopped).waitFor()
  await grace.control('stop-recovery').waitFor({ state: 'detached' })
  assert.deepEqual(
    faults.filter((fault) => !fault.endsWith('status of 410 (Gone)')),
    [],
  )
  await Promise.all([grace.leave(), reader.leave()])
})

test('RCL-09 an operator mails a recovery link, sees that it was sent, and cancels it', async () => {
  const { authUrl, baseUrl, admin } = stage.service
  const { person: alan, identityId } = await stage.enrollWithAddress('alan', 'alan@example.org')
  const hedy = await stage.enroll({ handle: 'hedy', displayName: 'Hedy Lamarr' })
  const made = await fetch(`${baseUrl}/api/admin/operators`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ handle: 'hedy', role: 'people' }),
  })
  assert.equal(made.status, 201, await made.text())
  const { look, faults } = await watchFromStart(hedy, { language: 'en', ...views })
  await hedy.page.goto(`${authUrl}/admin/people/${identityId}`)
  await hedy.press('ask-send-recovery')
  await hedy.press('send-recovery-link')
  await hedy.page.getByText(people.suspend.reasonMissing).waitFor()
  await hedy.write('reason', 'Lost the phone, called from the known number')
  await look('admin-send-recovery-link')
  await hedy.press('send-recovery-link')
  await hedy.control('ask-cancel-recovery').waitFor()
  await look('admin-recovery-sent')
  assert.deepEqual((await stage.mailbox.take()).to, ['alan@example.org'])
  await hedy.press('ask-cancel-recovery')
  await look('admin-cancel-recovery')
  await hedy.press('cancel-recovery')
  await hedy.control('ask-send-recovery').waitFor()
  assert.deepEqual(faults, [])
  await Promise.all([alan.leave(), hedy.leave()])
})
