import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { invitationMessages as words } from '../../../web/locales/en/pages/organizations/invitation.ts'
import { overviewMessages as overview } from '../../../web/locales/en/pages/organizations/overview.ts'
import { consoleMessages as frame } from '../../../web/locales/en/pages/organizations/console.ts'
import { joiningMessages as joining } from '../../../web/locales/en/pages/sign-in/joining.ts'
import { registerMessages } from '../../../web/locales/en/register.ts'
import { businessMessages as business } from '../../../web/locales/en/pages/business.ts'
import { declineAct, readAct, signForValues } from '../../apps/signed-actions.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

const { register, login } = registerMessages

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new user opens a mailed invitation, and ends in the organization with a verified address', async () => {
  const { service, mailbox } = stage
  const ada = await stage.enroll({ handle: 'ada-invites', displayName: 'Ada Lovelace' })
  await ada.page.goto(`${service.businessUrl}/organizations/new`)
  await ada.write('name', 'Analytical Engines')
  await ada.press('create-organization')
  const before = ada.clicks()
  await ada.press('invite')
  await ada.write('invitees', 'mina@example.com')
  await signForValues(ada, 'send-invitation')
  assert.ok(ada.clicks() - before <= 4, 'at most four clicks')
  const link = /http\S+\/invitations\/\S+/.exec((await mailbox.take()).text)?.[0] ?? ''

  const mina = await stage.invite()
  await mina.page.goto(link)
  await mina.page.getByRole('heading', { name: words.title('Analytical Engines') }).waitFor()
  await mina.page.getByText(words.invites('Ada Lovelace', business.roles.member)).waitFor()
  await mina.press('register-and-join')
  const offer = mina.page.getByText(joining.join('Analytical Engines', business.roles.member))
  await offer.waitFor()
  await mina.page.getByRole('link', { name: register.login }).click()
  await mina.page.getByRole('heading', { name: login.title }).waitFor()
  await offer.waitFor()
  await mina.page.goBack()
  await mina.createAccount({ handle: 'mina-joins', displayName: 'Mina Okafor' })
  await mina.press('confirm-recovery-saved')
  await Promise.all([
    mina.page.getByRole('status').getByText(frame.joined('Analytical Engines')).waitFor(),
    mina.page.waitForURL(/\/organizations\/[^/]+\/overview$/),
  ])
  const { identities } = await mina.call(service.baseUrl, 'GET /api/auth/session')
  assert.deepEqual([identities[0]?.email, identities[0]?.emailVerified], ['mina@example.com', true])
  await mina.leave()
  await ada.leave()
})

test('an invitation to a username waits in the account of the user, which leads to where they join', async () => {
  const { service } = stage
  const ada = await stage.enroll({ handle: 'ada-names', displayName: 'Ada Lovelace' })
  await ada.page.goto(`${service.businessUrl}/organizations/new`)
  await ada.write('name', 'Difference Engines')
  await ada.press('create-organization')
  const charles = await stage.enroll({ handle: 'charles-waits', displayName: 'Charles Babbage' })
  await ada.press('invite')
  await ada.write('invitees', '@charles-waits')
  await signForValues(ada, 'send-invitation')
  await charles.page.goto(`${service.authUrl}/account`)
  const { as, from } = account.home.invitations
  await charles.page.getByText(as('Difference Engines', business.roles.member)).waitFor()
  await charles.page.getByText(from('Ada Lovelace (@ada-names)', '').replace(/,.*/, '')).waitFor()
  await charles.press('answer-invitation')
  await charles.page.locator('[data-action^="join-"]').click()
  await Promise.all([
    charles.page.getByRole('status').getByText(frame.joined('Difference Engines')).waitFor(),
    charles.page.waitForURL(/\/organizations\/[^/]+\/overview$/),
  ])
  await charles.leave()
  await ada.leave()
})

test('several invitations from the overview are signed one after the other, and none is lost', async () => {
  const { service } = stage
  const ada = await stage.enroll({ handle: 'ada-several', displayName: 'Ada Lovelace' })
  await ada.page.goto(`${service.businessUrl}/organizations/new`)
  await ada.write('name', 'Many Engines')
  await ada.press('create-organization')
  const invited = ada.page.locator('textarea[name="invitees"]')
  await ada.press('invite')
  await ada.write('invitees', 'bob@example.com, cora@example.com')
  await ada.press('send-invitation')
  await readAct(ada.page)
  await declineAct(ada.page)
  assert.equal(await invited.inputValue(), 'bob@example.com, cora@example.com')
  await signForValues(ada, 'send-invitation')
  assert.equal(await invited.inputValue(), 'cora@example.com')
  await signForValues(ada, 'send-invitation')
  await ada.page.getByText(overview.invitations(2)).waitFor()
  assert.equal(await invited.count(), 0)
  await ada.leave()
})
