import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn } from '../../../server/testing/mailbox.ts'
import { accountMessages } from '../../../web/locales/en/account.ts'
import { en as words } from '../../../web/locales/en/messages.ts'
import { businessMessages as business } from '../../../web/locales/en/pages/business.ts'
import { signChange } from '../../apps/signed-actions.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
let app: SigningApp
before(async () => {
  stage = await openStage()
  app = await openSigningApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

type Diagnose = { diagnostic: (message: string) => void }

/** Counts the clicks of a user on all pages, also those that open menus. Returns the function that counts a task. */
async function watchClicks(person: Person, t: Diagnose) {
  let clicks = 0
  await person.context.exposeFunction('countClick', () => (clicks += 1))
  const listen = () => {
    const count: unknown = Reflect.get(globalThis, 'countClick')
    // The click of a label is passed on to its input, without a place.
    const isOwn = ({ isTrusted, detail }: MouseEvent) => isTrusted && detail > 0
    addEventListener('click', (event) => isOwn(event) && typeof count === 'function' && count(), true)
  }
  await person.context.addInitScript(listen)
  await person.page.evaluate(listen)
  return async (task: () => Promise<unknown>): Promise<number> => {
    clicks = 0
    const startedAt = performance.now()
    await task()
    t.diagnostic(`${clicks} clicks, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    return clicks
  }
}

test('a new user is signed in to an app after five clicks and two fields', async (t) => {
  const ada = await stage.invite()
  await ada.page.goto(`${stage.service.authUrl}/playground`)
  const countClicks = await watchClicks(ada, t)
  const clicks = await countClicks(async () => {
    await ada.press('start')
    await ada.page.getByRole('link', { name: words.login.register }).click()
    await ada.createAccount({ handle: 'ada-first', displayName: 'Ada Lovelace' })
    await ada.press('confirm-recovery-saved')
    await ada.press('approve')
    await ada.page.locator('[data-check]').first().waitFor()
  })
  assert.ok(clicks <= 5, `${clicks} clicks`)
  await ada.leave()
})

test('a user who returns uses their passkey after one click', async (t) => {
  const ada = await stage.enroll({ handle: 'ada-returns', displayName: 'Ada Lovelace' })
  await ada.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile`)
  await ada.press('approve')
  await ada.page.locator('#name').waitFor()
  await ada.page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  ada.offerPasskeys(false)
  await ada.page.goto(`${stage.shop.origin}/sign-out`)
  await ada.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile`)
  const countClicks = await watchClicks(ada, t)
  const clicks = await countClicks(async () => {
    await ada.press('sign-in')
    await ada.page.locator('#name').waitFor()
  })
  assert.equal(clicks, 1)
  await ada.leave()
})

test('a user adds an e-mail address from their home page with four clicks', async (t) => {
  const ada = await stage.enroll({ handle: 'ada-mails', displayName: 'Ada Lovelace' })
  const countClicks = await watchClicks(ada, t)
  const clicks = await countClicks(async () => {
    await ada.page
      .getByRole('navigation')
      .getByRole('link', { name: accountMessages.account.identities })
      .first()
      .click()
    await ada.press('email-of-identity')
    await ada.write('email', 'ada@example.com')
    await ada.press('send-code')
    await ada.write('code', codeIn(await stage.mailbox.take()))
    await ada.press('verify-email')
    await ada.page.getByText('ada@example.com').first().waitFor()
  })
  assert.ok(clicks <= 4, `${clicks} clicks`)
  await ada.leave()
})

test('a user signs a waiting request from their home page with two clicks', async (t) => {
  const ada = await stage.enroll({ handle: 'ada-signs', displayName: 'Ada Lovelace' })
  const { identities } = await ada.call(stage.service.baseUrl, 'GET /api/auth/session')
  await app.ask({ identityId: identities[0]?.identityId ?? '', payload: 'I agree.' })
  await ada.page.goto(`${stage.service.authUrl}/account`)
  const countClicks = await watchClicks(ada, t)
  const clicks = await countClicks(async () => {
    await ada.press('read-request')
    await ada.page.locator('[data-action="sign"][aria-disabled="false"]').click()
    await ada.page.locator('.certificate').waitFor()
  })
  assert.equal(clicks, 2)
  await ada.leave()
})

test('an owner invites a member with four clicks, and finds who changed a role with one', async (t) => {
  const ada = await stage.enroll({ handle: 'ada-owns', displayName: 'Ada Lovelace' })
  const charles = await stage.enroll({ handle: 'charles-joins', displayName: 'Charles Babbage' })
  await ada.page.goto(`${stage.service.businessUrl}/organizations/new`)
  await ada.write('name', 'Orreries')
  await ada.press('create-organization')
  await ada.control('invite').waitFor()
  const countClicks = await watchClicks(ada, t)
  const inviting = await countClicks(async () => {
    await ada.press('invite')
    await ada.write('invitees', '@charles-joins')
    await ada.press('send-invitation')
    await ada.page.locator('[data-action="sign"][aria-disabled="false"]').click()
    await ada.press('result-saved')
    await ada.page.locator('.returned-act[data-outcome="done"]').waitFor()
  })
  assert.ok(inviting <= 4, `${inviting} clicks`)

  await charles.page.goto(`${stage.service.businessUrl}/organizations`)
  await charles.page.locator('[data-action^="join-"]').click()
  await charles.page.waitForURL(/\/organizations\/[^/]+\/overview$/)
  await charles.leave()
  await ada.page.getByRole('link', { name: business.sections.members, exact: true }).first().click()
  await ada.page.locator('[data-action="member-menu"]').last().click()
  await ada.page.locator('[data-action="change-of-member"]').last().click()
  await ada.page.getByRole('radio', { name: business.roles.admin }).check()
  await signChange(ada, 'save-member')

  const finding = await countClicks(async () => {
    await ada.page.getByRole('link', { name: business.sections.activity, exact: true }).first().click()
    await ada.page.locator('.timeline').getByText('from Member to Admin').waitFor()
  })
  assert.equal(finding, 1)
  await ada.leave()
})
