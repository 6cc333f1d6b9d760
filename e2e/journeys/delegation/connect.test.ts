import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ConnectorUnavailableReason } from '@countersign/protocol/pages'
import type { ResourceChange } from '@countersign/protocol/clients/resources'
import { isolate } from '../../../web/lib/text/isolate.ts'
import { words } from '../../pages/words.ts'
import { calendar, calendarWords, openActingApp, type ActingApp } from '../../apps/acting-app.ts'
import { noRequest } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { tabTo } from '../../fixtures/windows.ts'
import { noAccessMessages } from '../../../web/locales/en/pages/sign-in/no-access.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let assistant: ActingApp
let ada: Person
before(async () => {
  stage = await openStage()
  assistant = await openActingApp(stage.service)
  await assistant.offer(calendar)
  ada = await stage.invite()
})
after(async () => {
  await assistant.close()
  await stage.close()
})

const { connect } = consent
const { 'calendar.read': read, 'calendar.write': write } = calendarWords
const dialog = () => ada.page.getByRole('dialog')

/** Opens the page to which the assistant sends users. */
const visit = (requested: Record<string, string> = {}) => ada.page.goto(assistant.connectUrl(requested))

/** The text of the page under a heading. */
const under = (heading: string) =>
  ada.page.getByRole('heading', { name: heading, exact: true }).locator('xpath=following-sibling::ul[1]').innerText()

/** The assistant's own token that the response leads to. */
async function ownToken(): Promise<string> {
  const { code = '' } = await assistant.answerIn(ada.page)
  const { body } = await assistant.redeem(code)
  return body['access_token_jwt'] ?? ''
}

async function openAccount(section: string) {
  await ada.page.goto(`${stage.service.authUrl}/account/${section}`)
  await ada.page.locator('.list li, .timeline li, .card.identity').first().waitFor()
}

const delegations = async () => (await ada.call(stage.service.baseUrl, 'GET /api/oauth/delegations')).delegations

test('a new user creates an account on the way, and lets one app act at another while they use it', async () => {
  await visit()
  await ada.page.getByRole('heading', { name: connect.headline(isolate('Assistant'), isolate('Calendar')) }).waitFor()
  await ada.page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.control('approve').waitFor()
  assert.match(await under(connect.may), new RegExp(`^${read}`))
  for (const text of ['Your events', connect.modes.user_present, '@ada'])
    await ada.page.getByText(text, { exact: text !== '@ada' }).waitFor()
  await ada.press('approve')
  const { state, iss } = await assistant.answerIn(ada.page)
  assert.deepEqual([state, iss], ['from-assistant', stage.service.authUrl])
  const { body } = await assistant.exchange(await ownToken())
  assert.deepEqual([body['scope'], body['communication_mode']], ['calendar.read', 'user_present'])
})

test('earlier consent is not requested again, and needs no page at all', async () => {
  const clicks = ada.clicks()
  await visit()
  assert.ok((await assistant.answerIn(ada.page))['code'])
  await visit({ prompt: 'none' })
  assert.ok((await assistant.answerIn(ada.page))['code'])
  assert.equal(ada.clicks(), clicks)
  await visit({ prompt: 'none', mode: 'background' })
  assert.equal((await assistant.answerIn(ada.page))['error'], 'consent_required')
})

test('AUZ-16 a denial is returned to the app, with state and issuer, and grants nothing', async () => {
  await visit({ scope: 'calendar.delete' })
  await ada.press('deny')
  const { error, state, iss } = await assistant.answerIn(ada.page)
  assert.deepEqual(
    { error, state, iss },
    { error: 'access_denied', state: 'from-assistant', iss: stage.service.authUrl },
  )
  await openAccount('apps')
  const granted = await delegations()
  assert.deepEqual(
    granted.map(({ scope }) => scope),
    ['calendar.read'],
  )
})

test('ACC-07 a user who may not use the other app sees its contact for access, and allows nothing', async () => {
  await assistant.setAccess({ mode: 'none', contact: 'it@example.com' })
  const clicks = ada.clicks()
  await visit({ prompt: 'none' })
  assert.equal((await assistant.answerIn(ada.page))['error'], 'access_denied')
  assert.equal(ada.clicks(), clicks)
  await visit()
  await ada.page.getByRole('heading', { name: noAccessMessages.noAccess('ada', 'Calendar') }).waitFor()
  await ada.page.getByText('it@example.com').waitFor()
  assert.equal(await ada.control('approve').count(), 0)
  await ada.press('deny')
  assert.equal((await assistant.answerIn(ada.page))['error'], 'access_denied')
  await assistant.setAccess({ mode: 'everyone', contact: null })
})

test('DEL-19 new scopes are shown separately, and exactly the shown ones are granted', async () => {
  await visit({ scope: 'calendar.write calendar.delete', mode: 'background' })
  const [fresh, known] = [await under(connect.mayAlso), await under(connect.alreadyMay)]
  for (const text of [write, 'calendar.delete', connect.whileAway]) assert.ok(fresh.includes(text), text)
  assert.equal(fresh.includes('calendar.read'), false)
  assert.ok(known.startsWith(read))
  await ada.page.getByText(connect.modes.background).waitFor()
  await ada.press('approve')
  const token = await ownToken()
  const consents = (await ada.sent()).filter(({ url }) => url.endsWith('/api/oauth/authorize'))
  const { connector, requestedResource, requestedScope, communicationMode } = JSON.parse(
    consents.at(-1)?.body.toString() ?? '{}',
  )
  assert.deepEqual(
    [connector, requestedResource, requestedScope, communicationMode],
    [true, 'calendar', 'calendar.write calendar.delete', 'background'],
  )
  const { body } = await assistant.exchange(token)
  assert.deepEqual(
    [body['scope'], body['communication_mode']],
    ['calendar.delete calendar.read calendar.write', 'background'],
  )
})

test('the app learns of an unknown resource', async () => {
  for (const [requested, error] of [
    [{ resource: 'diary' }, 'invalid_target'],
    [{ scope: 'calendar.read calendar.burn' }, 'invalid_scope'],
  ] as const) {
    await visit(requested)
    const answer = await assistant.answerIn(ada.page)
    assert.deepEqual([answer['error'], answer['state']], [error, 'from-assistant'])
  }
})

const restore = () =>
  assistant.change('calendar', { scopes: calendar.scopes, scopeDescriptions: calendarWords, status: 'active' })

const withdrawals: [ResourceChange, ConnectorUnavailableReason][] = [
  [{ status: 'disabled' }, 'invalid_target'],
  [{ scopes: ['calendar.read'], scopeDescriptions: { 'calendar.read': read } }, 'invalid_scope'],
]
for (const [change, why] of withdrawals)
  test(`what is withdrawn while the user reads is not granted, and the app learns why: ${why}`, async () => {
    await visit({ scope: 'calendar.write', prompt: 'consent' })
    await ada.control('approve').waitFor()
    await assistant.change('calendar', change)
    await ada.press('approve')
    await ada.page.getByRole('heading', { name: connect.withdrawn[why]('Calendar') }).waitFor()
    await ada.press('back')
    assert.equal((await assistant.answerIn(ada.page))['error'], why)
    await restore()

    // The same without a page: withdrawn between the page and its request to the server.
    await ada.page.route('**/api/oauth/authoriz*/**', async (route) => {
      await assistant.change('calendar', change)
      await route.continue()
    })
    await visit({ scope: 'calendar.write', prompt: 'none' })
    assert.equal((await assistant.answerIn(ada.page))['error'], why)
    await ada.page.unroute('**/api/oauth/authoriz*/**')
    await restore()
  })

test('AUZ-24 the texts of the other app are shown as text, each in its own direction', async () => {
  const hostile = '<img src=x onerror="document.title=1"> קרא 100 אירועים'
  await assistant.offer({
    resourceKey: 'hostile',
    displayName: '<b>Everything</b>',
    description: 'יומן <script>document.title=1</script>',
    scopes: ['all'],
    scopeDescriptions: { all: hostile },
    audience: 'https://hostile.example',
  })
  await visit({ resource: 'hostile', scope: 'all' })
  const shown = ada.page.locator('.permits bdi')
  assert.equal(await shown.innerText(), hostile)
  assert.equal(await shown.evaluate((element) => getComputedStyle(element).unicodeBidi), 'isolate')
  await ada.page.getByText('<b>Everything</b>', { exact: true }).waitFor()
  assert.equal(await ada.page.locator('main img, main b, main script').count(), 0)
  assert.match(await ada.page.title(), /^Assistant at Calendar/)
})

test('the keyboard is enough to consent, to view the uses, and to end the delegation', async () => {
  const { keyboard } = ada.page
  await visit({ prompt: 'consent' })
  await tabTo(ada.page.getByRole('link', { name: connect.untilValue }))
  await tabTo(ada.control('approve'))
  await keyboard.press('Enter')
  const token = await ownToken()
  // Uses are counted by the minute, and these are in at most two.
  for (let times = 0; times < 3; times += 1) await assistant.exchange(token, { scope: 'calendar.read' })

  await openAccount('apps')
  const acting = ada.page.locator('.delegations')
  await tabTo(acting.locator('summary'))
  await keyboard.press('Enter')
  await acting.locator('.uses').getByText(read, { exact: true }).first().waitFor()
  await acting
    .locator('.uses')
    .getByText(/· \d times$/)
    .first()
    .waitFor()
  await tabTo(acting.locator('[data-action="revoke"]'))
  await keyboard.press('Enter')
  await dialog().getByText(words.delegations.revokeWhat('Assistant', 'ada')).waitFor()
  await tabTo(dialog().locator('[data-action="revoke"]'))
  await keyboard.press('Enter')
  await dialog().waitFor({ state: 'detached' })

  assert.equal(await ada.control('revoke').count(), 1, 'only the connection is left to end')
  const { status, body } = await assistant.exchange(token)
  assert.deepEqual([status, body['error']], [403, 'access_denied'])
  await acting.getByText(words.delegations.ended(1)).click()
  await acting.getByText('Assistant at Calendar').waitFor()
  await openAccount('activity')
  await ada.page.getByText('Stopped Assistant from acting for you at Calendar').waitFor()
})

test('each identity grants for itself only, and disconnecting the app shows what ends with it', async () => {
  await openAccount('identities')
  await ada.press('new-identity')
  await ada.write('handle', 'countess')
  await ada.write('displayName', 'The Countess')
  await ada.press('add-identity')
  await dialog().waitFor({ state: 'detached' })
  const { identities } = await ada.call(stage.service.baseUrl, 'GET /api/auth/session')
  const countess = identities.find(({ handle }) => handle === 'countess')?.identityId ?? ''

  await visit({ identity_id: noRequest })
  await ada.page.getByText(consent.signin.noSuchIdentity).waitFor()
  await visit({ identity_id: countess })
  await ada.page.getByText('@countess').waitFor()
  await ada.page.getByText(words.scopes.openidValue).waitFor()
  await ada.press('approve')
  const token = await ownToken()
  assert.equal((await assistant.exchange(token)).status, 200)

  await openAccount('apps')
  const active = (await delegations()).filter(({ status }) => status === 'active')
  assert.deepEqual(
    active.map(({ identityId }) => identityId),
    [countess],
  )
  await ada.page
    .locator('[data-client-id]', { hasText: words.apps.as('countess') })
    .first()
    .locator('[data-action="revoke"]')
    .click()
  await dialog()
    .getByText(words.apps.endsToo(['Assistant at Calendar']))
    .waitFor()
  await dialog().locator('[data-action="revoke"]').click()
  await dialog().waitFor({ state: 'detached' })
  assert.equal(await ada.page.locator('.delegations [data-action="revoke"]').count(), 0)
  assert.equal((await assistant.exchange(token)).body['error'], 'invalid_request')
})
