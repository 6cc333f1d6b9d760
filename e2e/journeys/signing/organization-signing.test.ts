import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { limits } from '@countersign/protocol/formats/limits'
import { words } from '../../pages/words.ts'
import { documentMessages } from '../../../web/locales/en/pages/documents.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import { foundCouncil } from '../../apps/council.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { holdFirst } from '../../fixtures/held-request.ts'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: SigningApp
let acme: Awaited<ReturnType<typeof foundAcme>>
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openSigningApp(stage.service)
  acme = await foundAcme()
})
after(async () => {
  await Promise.all([acme.ada.leave(), acme.bob.leave()])
  await app.close()
  await stage.close()
})

const payload = 'Pay €24,000.00 to Paper Shop\nPayment: 2026-0114'
const heading = ({ page }: Person, name: string) => page.getByRole('heading', { name })
const awake = ({ page }: Person, action: string) => page.locator(`[data-action="${action}"][aria-disabled="false"]`)

/** Calls the business host as the user of a page. */
async function ask({ context }: Person, path: string, data: object) {
  const { authUrl, businessUrl } = stage.service
  const answer = await context.request.fetch(`${businessUrl}/api${path}`, {
    method: 'POST',
    headers: { origin: authUrl },
    data,
  })
  assert.ok(answer.ok(), await answer.text())
  return answer
}

/** An organization of two members: one signs and the other approves. */
async function foundAcme() {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob Babbage' })
  const id = await foundOrganization(ada, stage.service, 'Analytical Engines')
  const invited = await ask(ada, `/organizations/${id}/invitations`, { handle: 'bob', role: 'signer' })
  const { token }: ResponseOf<'POST /api/organizations/:organizationId/invitations'> = await invited.json()
  const { identities } = await bob.call(stage.service.baseUrl, 'GET /api/auth/session')
  await ask(bob, `/invitations/${token}/accept`, { identityId: identities[0]?.identityId })
  await foundCouncil(ada, [bob], stage.service, { organizationId: id, approvalsNeeded: 1 })
  return { id, ada, bob }
}

const shown = { width: 1280, colorScheme: 'light' } as const
const also = { width: 320, colorScheme: 'dark' } as const

test('one member signs for an organization, another approves, and the app has both signatures', async () => {
  const { id, ada, bob } = acme
  const [overAda, overBob] = [
    await watch(ada, { language: 'en', shown, also }),
    await watch(bob, { language: 'en', shown, also }),
  ]
  const { requestId } = await app.ask({ organizationId: id, payload })
  const signPage = `${stage.service.authUrl}/sign?requestId=${requestId}`
  await ada.page.goto(signPage)
  await ada.page.getByText(words.sign.ofOrganization.asks('Analytical Engines')).waitFor()
  await awake(ada, 'sign').waitFor()
  await overAda.look('sign-organization')
  await awake(ada, 'sign').click()
  await heading(ada, words.sign.ofOrganization.done.sign).waitFor()
  await overAda.look('sign-organization-waits')
  const { status, signatures, organization } = await app.read(requestId)
  assert.deepEqual([status, signatures, organization?.isSigned], ['pending', undefined, true])

  const documents = `${stage.service.businessUrl}/organizations/${id}/documents`
  await bob.page.goto(documents)
  await bob.page.locator(`[data-request-id="${requestId}"] [data-action="read-document"]`).waitFor()
  await bob.page.goto(`${stage.service.authUrl}/account/signing`)
  await bob.page.getByText(words.signing.asMember('Analytical Engines', 'bob')).waitFor()
  await overBob.look('account-signing-organization')
  await bob.page.goto(signPage)
  await bob.page.getByText(words.sign.ofOrganization.did.sign('@ada')).waitFor()
  await awake(bob, 'approve').waitFor()
  await overBob.look('sign-organization-approve')
  await awake(bob, 'approve').click()
  await heading(bob, words.sign.ends.signed).waitFor()
  const signed = await app.read(requestId)
  assert.equal(signed.status, 'signed')
  assert.deepEqual(
    signed.signatures?.map(({ role }) => role),
    ['sign', 'approve'],
  )
  for (const each of signed.signatures ?? []) assert.ok(app.accepts(each, payload))

  await bob.page.goto(documents)
  await bob.page.getByRole('button', { name: documentMessages.states.signed }).click()
  await bob.page.locator('[data-action="open-receipt"]').click()
  await bob.page.locator(`[data-verified="${requestId}"]`).waitFor()
  await overBob.look('receipt-of-organization')
  await bob.page.goto(`${stage.service.authUrl}/account/signing`)
  await bob.page
    .locator('.history [data-request-id]')
    .getByText(words.signing.asMember('Analytical Engines', 'bob'))
    .waitFor()
  await overBob.look('account-signing-organization-history')

  // A waiting user sees the result when they return.
  await ada.page.reload()
  await heading(ada, words.sign.ends.signed).waitFor()
  assert.deepEqual([...overAda.faults, ...overBob.faults], [])
})

const returns = ({ page }: Person) => page.evaluate(() => globalThis.dispatchEvent(new Event('focus')))

test('OSG-11 a member whose page another overtakes sees who has signed, before and after pressing Sign', async () => {
  const { id, ada, bob } = acme
  for (const isReturning of [true, false]) {
    const { requestId } = await app.ask({ organizationId: id, payload: `${payload}, ${isReturning}` })
    const signPage = `${stage.service.authUrl}/sign?requestId=${requestId}`
    await bob.page.goto(signPage)
    await awake(bob, 'sign').waitFor()
    await ada.page.goto(signPage)
    await awake(ada, 'sign').click()
    await heading(ada, words.sign.ofOrganization.done.sign).waitFor()
    await (isReturning ? returns(bob) : awake(bob, 'sign').click())
    await bob.page.getByText(words.sign.news.signatures).waitFor()
    await bob.page.getByText(words.sign.ofOrganization.did.sign('@ada')).waitFor()
    assert.equal((await app.read(requestId)).organization?.approvals, 0)
    if (isReturning) await (await watch(bob, { language: 'en', shown, also })).look('sign-organization-overtaken')
    await awake(bob, 'approve').click()
    await heading(bob, words.sign.ends.signed).waitFor()
    assert.equal((await app.read(requestId)).status, 'signed')
  }
})

/** Holds the requests of a page for which `path` matches, until they are released. */
async function hold({ page }: Person, path: RegExp) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(path, async (route) => {
    reached.resolve()
    await released.promise
    await route.continue()
  })
  return { reached: reached.promise, release: () => released.resolve() }
}

test('OSG-14 nothing is sent that the page no longer shows when the passkey has confirmed it', async () => {
  const { id, ada, bob } = acme
  const sent: string[] = []
  bob.page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? '')
  })
  for (const change of ['signature', 'text'] as const) {
    const { requestId } = await app.ask({ organizationId: id, payload: `${payload}, other ${change}` })
    const signPage = `${stage.service.authUrl}/sign?requestId=${requestId}`
    await bob.page.goto(signPage)
    await awake(bob, 'sign').waitFor()
    const approval = await hold(bob, /\/api\/signing\/requests\/[^/]+\/approval$/)
    sent.length = 0
    await awake(bob, 'sign').click()
    await approval.reached
    if (change === 'signature') {
      await ada.page.goto(signPage)
      await awake(ada, 'sign').click()
      await heading(ada, words.sign.ofOrganization.done.sign).waitFor()
    } else await describeDifferently(bob)
    await returns(bob)
    if (change === 'signature') await bob.page.getByText(words.sign.news.signatures).waitFor()
    else await heading(bob, words.sign.stopped).waitFor()
    approval.release()
    // Its buttons are awake again when the page has done all that the passkey's confirmation leads to.
    await awake(bob, change === 'signature' ? 'approve' : 'reload').waitFor()
    assert.deepEqual(sent, ['approval'], change)
    const { organization } = await app.read(requestId)
    assert.deepEqual([organization?.isSigned, organization?.approvals], [change === 'signature', 0])
    await bob.page.unrouteAll()
    await ada.page.goto(signPage)
    await ada.press('deny')
    await heading(ada, words.sign.ends.denied).waitFor()
  }
})

/** From now on, a page reads another text than the service has. */
async function describeDifferently({ page }: Person) {
  await page.route(/\/api\/signing\/requests\/[^/]+$/, async (route) => {
    const response = await route.fetch()
    const request: ResponseOf<'GET /api/signing/requests/:requestId'> = await response.json()
    await route.fulfill({ response, json: { ...request, payload: 'Pay €240,000.00' } })
  })
}

test('OSG-10 if two members sign at the same time, one of them approves instead, and the app has both', async () => {
  const { id, ada, bob } = acme
  const text = `${payload}, at once`
  const { requestId } = await app.ask({ organizationId: id, payload: text })
  const signPage = `${stage.service.authUrl}/sign?requestId=${requestId}`
  await Promise.all([ada.page.goto(signPage), bob.page.goto(signPage)])
  const answer = await hold(bob, /\/api\/signing\/requests\/[^/]+\/sign$/)
  await awake(bob, 'sign').click()
  await answer.reached
  await awake(ada, 'sign').click()
  await heading(ada, words.sign.ofOrganization.done.sign).waitFor()
  answer.release()
  await heading(bob, words.sign.ofOrganization.done.sign).waitFor()
  const over = await watch(bob, { language: 'en', shown, also })
  await over.look('sign-organization-approve-instead')
  await returns(ada)
  await ada.control('approve-instead').waitFor()
  await bob.press('approve-instead')
  await awake(bob, 'approve').waitFor()
  await returns(bob)
  await awake(bob, 'approve').click()
  await heading(bob, words.sign.ends.signed).waitFor()
  const { status, signatures = [] } = await app.read(requestId)
  assert.deepEqual([status, signatures.map(({ role }) => role).toSorted()], ['signed', ['approve', 'sign']])
  for (const each of signatures) assert.ok(app.accepts(each, text))
  assert.deepEqual(over.faults, [])
})

test('OSG-12 a member who replaced the key elsewhere learns that, and signs with the new key', async () => {
  const { id, ada } = acme
  const { requestId } = await app.ask({ organizationId: id, payload: `${payload}, new key` })
  const page = await ada.context.newPage()
  const second: Person = { ...ada, page }
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(second, 'sign').waitFor()
  await ada.page.goto(`${stage.service.authUrl}/account/signing`)
  await ada.press('replace-key')
  await ada.press('unlock')
  await ada.page.getByText(words.signing.inForce('ada')).waitFor()
  await (await addVirtualAuthenticator(page, { prf: true })).take(await ada.authenticator.credentials())
  await awake(second, 'sign').click()
  await page.getByText(words.sign.news.key).waitFor()
  await awake(second, 'sign').click()
  // A copied passkey has no PRF.
  await page.locator('[name="recoveryCode"]').fill(ada.code)
  await page.locator('[data-action="unlock"]').click()
  await heading(second, words.sign.ofOrganization.done.sign).waitFor()
  assert.equal((await app.read(requestId)).organization?.isSigned, true)
})

const misleading = 'Pay \u202E00,1\u202C euro to Bob for paper, pens and ink\u200B'

test('OSG-13 the documents of an organization mark what misleads in a text, also in labels', async () => {
  const { id, bob } = acme
  const { requestId } = await app.ask({ organizationId: id, payload: misleading })
  const over = await watch(bob, { language: 'en', shown, also })
  await bob.page.goto(`${stage.service.businessUrl}/organizations/${id}/documents`)
  const link = bob.page.locator(`[data-request-id="${requestId}"] [data-action="read-document"]`)
  await link.waitFor()
  const spelled = /^[^\u202A-\u202E\u200B]*U\+202E[^\u202A-\u202E\u200B]*$/
  assert.match(await bob.page.locator(`[data-request-id="${requestId}"] h2`).innerText(), spelled)
  assert.match((await link.getAttribute('aria-label')) ?? '', spelled)
  await over.look('documents-marked')
  await bob.page.getByRole('button', { name: documentMessages.states.all }).click()
  const row = bob.page.locator('tr').filter({ hasText: 'U+202E' })
  await row.waitFor()
  assert.match(await row.innerText(), spelled)
  assert.match((await row.locator('a').getAttribute('aria-label')) ?? '', spelled)
  await over.look('documents-marked-all')
  assert.deepEqual(over.faults, [])
})

test('the documents of an organization are read again when one expires, and when a member returns', async () => {
  const { id, ada, bob } = acme
  const { page } = bob
  await page.clock.install()
  const text = `${payload}, late`
  const { requestId } = await app.ask({ organizationId: id, payload: text, expiresInSeconds: 600 })
  const document = page.locator(`[data-request-id="${requestId}"]`)
  await page.goto(`${stage.service.businessUrl}/organizations/${id}/documents`)
  await document.waitFor()
  const again = page.waitForResponse(/\/signing-requests/)
  await page.clock.runFor('10:02')
  assert.equal((await again).status(), 200)
  await ada.page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await ada.press('deny')
  await heading(ada, words.sign.ends.denied).waitFor()
  await document.waitFor()
  await returns(bob)
  await document.waitFor({ state: 'detached' })
})

test('documents that a member loads stay, also if the page was reading the list again', async () => {
  const { id, ada } = acme
  const { page } = ada
  const count = limits.organizationDocumentsPage + 1
  await using shops = new AsyncDisposableStack()
  for (const nth of Array(count).keys()) {
    const shop = await openSigningApp(stage.service)
    shops.defer(() => shop.close())
    await shop.ask({ organizationId: id, payload: `${payload}, ${nth}` })
  }
  const documents = page.locator('[data-request-id]')
  await page.goto(`${stage.service.businessUrl}/organizations/${id}/documents`)
  await ada.control('more').waitFor()
  const list = await holdFirst(page, /\/signing-requests\?(?!.*cursor=)/)
  await returns(ada)
  await list.sent
  await ada.press('more')
  await documents.nth(count - 1).waitFor()
  const readsRest = () => page.waitForResponse(/\/signing-requests\?.*cursor=/)
  const rest = readsRest()
  await list.release()
  await (await rest).finished()
  assert.ok((await documents.count()) >= count)
  // Also after another filter whose list has not arrived.
  const show = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const signed = await holdFirst(page, /\/signing-requests\?.*state=signed/)
  await show(documentMessages.states.signed)
  await signed.sent
  const restAgain = readsRest()
  await show(documentMessages.states.waiting)
  await (await restAgain).finished()
  await signed.release()
  assert.ok((await documents.count()) >= count)
})
