import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { actMessages as acts } from '../../web/locales/en/pages/acts.ts'
import { businessMessages as business } from '../../web/locales/en/pages/business.ts'
import { invitationMessages as invitations } from '../../web/locales/en/pages/organizations/invitation.ts'
import { receiptMessages as receipts } from '../../web/locales/en/pages/receipts.ts'
import { consentMessages as consent } from '../../web/locales/en/pages/sign-in/consent.ts'
import { openSigningApp, type SigningApp } from '../apps/signing-app.ts'
import { openStageWithoutBrowser } from '../fixtures/environment.ts'
import { words } from '../pages/words.ts'
import { launchFirefox, type Firefox } from './firefox.ts'

let stage: Awaited<ReturnType<typeof openStageWithoutBrowser>>
let approvals: SigningApp
let firefox: Firefox
before(async () => {
  ;[stage, firefox] = await Promise.all([openStageWithoutBrowser(), launchFirefox()])
  approvals = await openSigningApp(stage.service)
})
afterEach(async () => {
  assert.deepEqual(await firefox.takeErrors(), [])
})
after(async () => {
  await firefox.close()
  await approvals.close()
  await stage.close()
})

/** Completes the registration on the current page. */
async function register(handle: string, displayName: string): Promise<void> {
  await firefox.sees(words.register.title)
  await firefox.write('handle', handle)
  await firefox.write('displayName', displayName)
  await firefox.press('create-account')
  await firefox.sees(words.recovery.title)
  assert.match(await firefox.read('output[name="recoveryCode"]'), /^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/)
  await firefox.press('confirm-recovery-saved')
}

/** Returns the id of an identity of the signed-in user. */
async function identityOf(handle: string): Promise<string> {
  const { identities } = await firefox.evaluate(
    async (url): Promise<ResponseOf<'GET /api/auth/session'>> => (await fetch(url, { credentials: 'include' })).json(),
    `${stage.service.baseUrl}/api/auth/session`,
  )
  return identities.find((identity) => identity.handle === handle)?.identityId ?? ''
}

test('a new user comes from an app, creates a passkey and a recovery code, and returns by name', async () => {
  const { shop } = stage
  await firefox.open(`${shop.origin}/sign-in?scope=openid+profile`)
  await firefox.click('a[href^="/register"]')
  await register('ada', 'Ada Lovelace')
  await firefox.sees(consent.signin.sees)
  await firefox.sees('Paper Shop')
  await firefox.press('approve')
  assert.equal(await firefox.read('#name'), 'Ada Lovelace')
  assert.equal(shop.customers.size, 1)
})

test('a user returns to the app without a question, and after signing out with a passkey', async () => {
  const { service, shop } = stage
  await firefox.open(`${shop.origin}/sign-out`)
  await firefox.open(`${shop.origin}/sign-in?scope=openid+profile`)
  assert.equal(await firefox.read('#name'), 'Ada Lovelace')

  await firefox.open(`${service.authUrl}/account`)
  await firefox.press('sign-out')
  await firefox.arrives(`${service.authUrl}/`)
  await firefox.open(`${shop.origin}/sign-out`)
  await firefox.open(`${shop.origin}/sign-in?scope=openid+profile`)
  await firefox.press('sign-in')
  assert.equal(await firefox.read('#name'), 'Ada Lovelace')
  assert.deepEqual(
    [...shop.customers.values()].map(({ signIns }) => signIns),
    [3],
  )
})

test('a user creates a signing key, signs a request that waits, and their browser verifies the receipt', async () => {
  const { authUrl } = stage.service
  await firefox.open(`${authUrl}/account/identities`)
  await firefox.press('new-identity')
  await firefox.write('handle', 'countess')
  await firefox.write('displayName', 'The Countess')
  await firefox.press('add-identity')
  await firefox.sees('@countess')
  await firefox.open(`${authUrl}/account/signing`)
  await firefox.press('make-key')
  await firefox.sees(words.signing.makeTitle('countess'))
  await firefox.pressWithKeys('unlock')
  await firefox.sees(words.signing.inForce('countess'))

  const payload = 'Pay 100.00 € to Paper Shop\nfor invoice 2026/118 ✓'
  const { requestId } = await approvals.ask({ identityId: await identityOf('countess'), payload })
  await firefox.sees(words.signing.waiting(1))
  await firefox.click(`a[href="/sign?requestId=${requestId}"]`)
  await firefox.sees(words.sign.asks)
  await firefox.sees('Pay 100.00 € to Paper Shop')
  await firefox.pressWithKeys('sign')
  await firefox.sees(words.sign.ends.signed)
  assert.ok(approvals.accepts(await approvals.read(requestId), payload))

  await firefox.press('show-receipt')
  await firefox.finds(`[data-verified="${requestId}"]`)
  await firefox.sees(receipts.verified)
  await firefox.sees('Pay 100.00 € to Paper Shop')
})

test('an owner invites a colleague with a signed change, and they register and join', async () => {
  const { service, mailbox } = stage
  const organization = 'Analytical Engines'
  await firefox.open(`${service.businessUrl}/organizations/new`)
  await firefox.write('name', organization)
  await firefox.press('create-organization')
  await firefox.press('invite')
  await firefox.write('invitees', 'mina@example.com')
  await firefox.press('send-invitation')
  await firefox.sees(acts.acts['organization.invitation.created']({ organization, what: 'mina@example.com' }))
  await firefox.pressWithKeys('sign')
  await firefox.press('result-saved')
  await firefox.finds('.returned-act[data-outcome="done"]')
  const link = /http\S+\/invitations\/\S+/.exec((await mailbox.take()).text)?.[0] ?? ''

  await firefox.changeUser()
  await firefox.open(link)
  await firefox.sees(invitations.title(organization))
  await firefox.sees(invitations.invites('Ada Lovelace', business.roles.member))
  await firefox.press('register-and-join')
  await register('mina', 'Mina Okafor')
  await firefox.arrives(`${service.businessUrl}/organizations/`, '/overview')
  await firefox.sees(organization)
})

test('an error of a page and a violation of its policy would have been noticed', async () => {
  await firefox.open(`${stage.service.authUrl}/help`)
  await firefox.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'document.title = "run"'
    document.body.append(script)
    setTimeout(() => {
      throw new Error('planted')
    })
    void Promise.reject(new Error('forgotten'))
    // The page is not left before the error.
    return new Promise((resolve) => setTimeout(resolve))
  })
  await firefox.open(`${stage.service.authUrl}/help`)
  const errors = (await firefox.takeErrors()).join('\n')
  for (const expected of [/Content-Security-Policy.*inline script/, /planted/, /forgotten/])
    assert.match(errors, expected)
})
