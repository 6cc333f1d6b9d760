/** The page that signs acts: what it shows and signs, and what a service that lies in its data gets out of it. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { actMessages as words } from '../../../web/locales/en/pages/acts.ts'
import { businessMessages as business } from '../../../web/locales/en/pages/business.ts'
import { keyNoticesMessages as notices } from '../../../web/locales/en/pages/key-notices.ts'
import { openOwner } from '../../apps/acting-owner.ts'
import { declineAct, readAct, returned, signAct, signForValues } from '../../apps/signed-actions.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { alter, type Json, restate } from '../../fixtures/lying-service.ts'
import { watchFromStart } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
})
after(() => stage.close())

const actUrl = /\/acts\/[0-9a-f-]+(?:\?|$)/
const windows = { shown: { width: 320, colorScheme: 'light' }, also: { width: 1280, colorScheme: 'dark' } } as const

const open = (handle: string) => openOwner(stage, handle)

/** Copies of virtual passkeys do not evaluate the PRF, so the code unlocks the key. */
async function signWithCode(page: Page, code: string): Promise<void> {
  await signAct(page)
  await page.locator('input[name="recoveryCode"]').fill(code)
  await page.locator('[data-action="unlock"]').click()
}

const stopped = (page: Page, why: string) => page.locator(`[data-stopped="${why}"]`)

const other = '6f1c1f0e-58a3-4a37-9d21-1d7a52a34b60'
const digest = 'fdZbH5gjgfqABRN0i+c5H3LE60UPPlhYhNyC4NkHp3I='
const lies: [string, (body: Json & { statement: string }) => Json][] = [
  ['another action', restate({ action: 'organization.deleted' })],
  ['other details', restate({ details: digest })],
  ['another organization', restate({ organizationId: other })],
  ['another identity', restate({ identityId: other })],
  ['another service', restate({ issuer: 'https://id.example.org' })],
  ['an approval', restate({ role: 'approve' })],
  ['a proposal', restate({ proposal: digest })],
  ['a longer time', restate({ expiresAt: '2099-01-01T00:00:00.000Z' })],
  ['a nonce of another form', restate({ nonce: '' })],
  ['another action in what is shown', (body) => ({ ...body, action: 'organization.deleted' })],
  [
    'other details in what is shown',
    (body) => ({ ...body, details: { ...Object(body['details']), name: 'Harmless' } }),
  ],
  ['other details with a salt to match', (body) => ({ ...body, salt: 'AAAAAAAAAAAAAAAAAAAAAA==' })],
]

test('ACT-70 if the service states anything else than the page shows, nothing is confirmed or signed', async () => {
  const { person, page, seen, rename, readName } = await open('ada-honest')
  const { faults, look } = await watchFromStart(person, { language: 'en', ...windows })
  for (const [what, lie] of lies) {
    await page.unrouteAll()
    await alter(page, actUrl, lie, 'GET')
    await rename('Other engines')
    const signing = page.locator('[data-action="sign"]')
    await signing.or(stopped(page, 'statement')).first().waitFor()
    if (await signing.isVisible()) await signAct(page)
    await stopped(page, 'statement').waitFor()
    assert.deepEqual([await seen.touches(), seen.signatures], [0, []], what)
  }
  await look('act-stopped')
  await page.unrouteAll()
  await person.press('start-over')
  await returned(page, 'ended')
  await look('organizations-act-ended')
  assert.equal(await readName(), 'Engines')
  await rename('Other engines')
  await readAct(page)
  await page.getByRole('heading', { name: 'Rename Engines to Other engines' }).waitFor()
  const [fact = ''] = await page.locator('.fact').allInnerTexts()
  assert.equal(fact.replaceAll(/\s+/g, ' '), 'Name Engines becomes Other engines')
  await look('act-rename')
  await signAct(page)
  await returned(page, 'done')
  assert.deepEqual([await readName(), seen.signatures.length], ['Other engines', 1])
  await look('organizations-act-done')
  assert.deepEqual(faults, [])
  await person.leave()
})

test('ACT-70 a device whose clock differs by more than ten minutes signs nothing', async () => {
  const { person, page, seen, rename } = await open('ada-clock')
  await page.clock.setFixedTime(Date.now() + 11 * 60_000)
  await rename('Other engines')
  await stopped(page, 'clock').waitFor()
  assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  await person.leave()
})

test('ACT-71 a key that the service names in place of the member’s own signs no act', async () => {
  const { person, page, seen, rename } = await open('ada-key')
  const publicKey = '8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw='
  await alter(page, /\/api\/signing\/keys\/[^/]+$/, (body) => ({ ...body, publicKey }))
  await rename('Other engines')
  await signAct(page)
  await stopped(page, 'statement').waitFor()
  assert.deepEqual(seen.signatures, [])
  await person.leave()
})

test('ACT-72 a trail that does not continue the one that this browser has followed raises an alarm', async () => {
  const { person, page, seen, rename, readName } = await open('ada-trail')
  const { faults, look } = await watchFromStart(person, { language: 'en', ...windows })
  await rename('First')
  await signAct(page)
  await returned(page, 'done')
  const trailUrl = /\/acts\/[0-9a-f-]+\/trail/
  type Entry = { entry: string; acts: object[] }
  const cut = (answer: Json) => ({ ...answer, entries: [] })
  const rewritten = (answer: Json) => ({
    entries: (answer['entries'] as Entry[]).map(({ entry, acts }) => ({
      entry: entry.replace('"actor":"user"', '"actor":"system"'),
      acts,
    })),
  })
  const unsigned = (answer: Json) => ({
    entries: (answer['entries'] as Entry[]).map((each) => ({ ...each, acts: [] })),
  })
  for (const [lie, code] of [
    [cut, 'trail_cut'],
    [rewritten, 'trail_rewritten'],
    [unsigned, 'other_acts'],
  ] as const) {
    await page.unrouteAll()
    await alter(page, trailUrl, lie, 'GET')
    await rename('Second')
    await page.locator(`[data-alarm="${code}"]`).waitFor()
    assert.deepEqual([await seen.touches(), seen.signatures.length, await readName()], [0, 1, 'First'], code)
  }
  await page.getByRole('heading', { name: notices.causes.trail.title }).waitFor()
  await look('act-trail-alarm')
  const saving = page.waitForEvent('download')
  await person.press('save-evidence')
  const evidence = JSON.parse(await readFile(await (await saving).path(), 'utf8'))
  assert.deepEqual([evidence.kind, evidence.code, evidence.remembered.sequence], ['trail', 'other_acts', 1])
  await page.unrouteAll()
  await rename('Second')
  await signAct(page)
  await returned(page, 'done')
  assert.equal(await readName(), 'Second')
  assert.deepEqual(faults, [])
  await person.leave()
})

test('ACT-74 an act that the service shows a second time is not signed again', async () => {
  const { person, page, seen, rename } = await open('ada-replay')
  let first: Json | undefined
  await alter(page, actUrl, (body) => (first ??= body), 'GET')
  await rename('Once')
  await signAct(page)
  await returned(page, 'done')
  await rename('Twice')
  await stopped(page, 'outdated').waitFor()
  assert.deepEqual([await seen.touches(), seen.signatures.length], [0, 1])
  await person.leave()
})

test('ACT-75 ACT-76 the way back leads to organizations, and no link makes them say that an act was done', async () => {
  const { person, page, organizationId, settings, rename } = await open('ada-back')
  await rename('Other engines')
  await readAct(page)
  for (const hostile of ['https://evil.example/organizations', '//evil.example', '/organizations/../sso']) {
    const address = new URL(page.url())
    address.searchParams.set('return_to', hostile)
    await page.goto(address.href)
    await readAct(page)
  }
  await person.press('decline')
  await page.waitForURL(`${stage.service.businessUrl}/organizations`)
  await returned(page, 'declined')
  for (const hash of [`#act=${other}&done`, '#act=x&done', `#act=${other}&done&more`]) {
    await page.goto('about:blank')
    await page.goto(`${settings}${hash}`)
    await person.control('save-organization').waitFor()
    assert.equal(await page.locator('.returned-act').count(), 0)
    assert.equal(page.url(), `${stage.service.businessUrl}/organizations/${organizationId}/settings`)
  }
  await person.leave()
})

test('ACT-77 an act that is declined, expired, superseded or outdated does nothing, and the page says so', async () => {
  const { person, page, organizationId, settings, rename, readName } = await open('ada-ends')
  const { authUrl, businessUrl } = stage.service
  await rename('Declined')
  await declineAct(page)
  assert.equal(await page.locator('.returned-act').innerText(), business.signedActs.outcomes.declined())
  assert.equal(await readName(), 'Engines')

  await rename('Expired')
  await readAct(page)
  const actId = new URL(page.url()).searchParams.get('act_id')
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  const ended = await person.context.request.delete(
    `${businessUrl}/api/organizations/${organizationId}/acts/${actId}?identity_id=${identities[0]?.identityId}`,
    { headers: { origin: authUrl } },
  )
  assert.equal(ended.status(), 204)
  await signAct(page)
  await page.getByText(words.stoppedWhy.expired).waitFor()
  await page.reload()
  await page.getByText(words.nothingWhy).waitFor()
  await person.press('back')
  await returned(page, 'ended')
  assert.equal(page.url(), settings)

  await rename('Outdated')
  await readAct(page)
  const headers = { origin: authUrl }
  const data = { name: 'Meanwhile' }
  const changed = await person.context.request.patch(`${businessUrl}/api/organizations/${organizationId}`, {
    headers,
    data,
  })
  assert.ok(changed.ok(), await changed.text())
  await signAct(page)
  await page.getByText(words.stoppedWhy.changed).waitFor()
  await person.press('start-over')
  await returned(page, 'ended')
  assert.equal(await readName(), 'Meanwhile')

  await rename('Superseded')
  await readAct(page)
  const second = await person.context.newPage()
  const authenticator = await addVirtualAuthenticator(second, { prf: true })
  await authenticator.take(await person.authenticator.credentials())
  await second.goto(settings)
  await second.locator('[data-action="require-signed"]').click()
  await signWithCode(second, person.code)
  await returned(second, 'done')
  await person.authenticator.catchUp(await authenticator.credentials())
  await signWithCode(page, person.code)
  await page.getByText(words.stoppedWhy.superseded).waitFor()
  assert.equal(await readName(), 'Meanwhile')
  await person.leave()
})

test('ACT-85 a member who has followed the trail, and may only read now, leaves by a signature', async () => {
  const { person, page, organizationId, settings, rename } = await open('ada-leaves')
  await rename('Followed')
  await signAct(page)
  await returned(page, 'done')
  const bob = await stage.enroll({ handle: 'bob-stays', displayName: 'Bob' })
  const { businessUrl, authUrl, baseUrl } = stage.service
  const headers = { origin: authUrl }
  const place = `${businessUrl}/api/organizations/${organizationId}`
  const invitation = { handle: 'bob-stays', role: 'owner' }
  const { token } = await (
    await person.context.request.post(`${place}/invitations`, { headers, data: invitation })
  ).json()
  const { identities } = await bob.call(baseUrl, 'GET /api/auth/session')
  const joining = { headers, data: { identityId: identities[0]?.identityId } }
  await bob.context.request.post(`${businessUrl}/api/invitations/${token}/accept`, joining)
  const { members } = await (await bob.context.request.get(`${place}/members`, { headers })).json()
  const { memberId } = members.find(({ handle }: { handle: string }) => handle === 'ada-leaves')
  const demotion = { role: 'viewer', scopes: ['read'], signingAuthority: false }
  const demoted = await bob.context.request.patch(`${place}/members/${memberId}`, { headers, data: demotion })
  assert.ok(demoted.ok(), await demoted.text())

  await page.goto(settings.replace('settings', 'members'))
  await person.press('leave-of-member')
  await page.getByRole('button', { name: words.signAndLeave }).waitFor()
  await signAct(page)
  await returned(page, 'done')
  assert.equal(page.url(), `${businessUrl}/organizations`)
  await bob.leave()
  await person.leave()
})

test('ACT-78 one passkey use confirms an act also where the recovery code unlocks the key', async () => {
  const { person, page, seen, rename, readName } = await open('ada-code')
  const { faults, look } = await watchFromStart(person, { language: 'en', ...windows })
  await person.authenticator.replace()
  await rename('By code')
  await signAct(page)
  await page.locator('input[name="recoveryCode"]').waitFor()
  await look('act-code')
  await page.locator('input[name="recoveryCode"]').fill(person.code)
  await person.press('unlock')
  await returned(page, 'done')
  assert.equal(await readName(), 'By code')
  assert.equal(seen.signatures.length, 1)
  assert.deepEqual(faults, [])
  await person.leave()
})

test('ACT-91 nothing is confirmed for, or by the key of, another identity than the one that acts', async () => {
  const { person, page, seen, rename, keys, keepByMembers } = await open('ada-identity')
  await alter(page, /\/api\/signing\/keys\/[^/]+$/, (body) => ({ ...body, identityId: other }))
  await rename('Other engines')
  await signAct(page)
  await stopped(page, 'statement').waitFor()
  assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  await page.unrouteAll()
  await keepByMembers()
  const restated = restate({ identityId: other })
  await alter(page, /\/keys\?identity_id/, (body) => ({ ...restated(body), identityId: other }), 'POST')
  await page.goto(keys)
  await person.press('make-key')
  await person.press('unlock')
  await stopped(page, 'statement').waitFor()
  assert.equal(seen.signatures.length, 1)
  await person.leave()
})

test('ACT-88 what the service answers once is shown on the signing page, and is in no address', async () => {
  const { person, page, settings } = await open('ada-once')
  const { faults, look } = await watchFromStart(person, { language: 'en', ...windows })
  const addresses: string[] = []
  page.on('framenavigated', (frame) => addresses.push(frame.url()))
  page.on('request', (request) => addresses.push(request.url()))
  await page.goto(settings.replace('settings', 'members'))
  await person.press('invite')
  await person.write('invitees', 'bob@engines.example')
  await person.press('send-invitation')
  await readAct(page)
  await page.getByRole('heading', { name: 'Invite bob@engines.example to Engines' }).waitFor()
  await look('act-invite')
  await signAct(page)
  await person.control('result-saved').waitFor()
  await look('act-result')
  await page.goto(settings.replace('settings', 'members'))
  await person.press('invite')
  await person.write('invitees', 'cora@engines.example')
  const [link = ''] = await signForValues(person, 'send-invitation')
  const token = new URL(link).pathname.split('/').at(-1) ?? ''
  assert.ok(token.length > 20)
  assert.deepEqual(
    addresses.filter((address) => address.includes(token)),
    [],
  )
  assert.deepEqual(faults, [])
  await person.leave()
})

test('ACT-89 an act that words cannot describe can be signed only after its exact data was read', async () => {
  const { person, page, rename } = await open('ada-words')
  const { faults, look } = await watchFromStart(person, { language: 'en', ...windows })
  await rename('Eng\u0456nes')
  await page.getByText(words.incomplete).waitFor()
  await page.locator('mark.odd').first().waitFor()
  assert.equal(await person.control('sign').getAttribute('aria-disabled'), 'true')
  await look('act-incomplete')
  const region = page.locator('.exact-text').first()
  await region.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await readAct(page)
  assert.deepEqual(faults, [])
  await declineAct(page)
  await person.leave()
})
