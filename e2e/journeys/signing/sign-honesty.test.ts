/**
 * The signing page against a service that lies in its data: the pages are those of the product, and each answer of the
 * service is changed on its way, as its operator could.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../pages/words.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { alter, type Json, restate, watchSignatures } from '../../fixtures/lying-service.ts'

let stage: TestEnvironment
let app: SigningApp
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openSigningApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

const payload = 'Pay 100 €'
const awake = (page: Page) => page.locator('[data-action="sign"][aria-disabled="false"]')

async function open(handle: string, fields: object = {}) {
  const person = await stage.enroll({ handle, displayName: 'Ada Lovelace' })
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  const identityId = identities[0]?.identityId ?? ''
  const { requestId } = await app.ask({ identityId, payload, ...fields })
  return { person, requestId, identityId, seen: await watchSignatures(person.page, /^\/api\/.*\/(?:sign|approve)$/) }
}

const approvalUrl = /\/api\/signing\/requests\/[^/]+\/approval$/
const other = '6f1c1f0e-58a3-4a37-9d21-1d7a52a34b60'
const lies: [string, Json][] = [
  ['another text', { payloadSha256: 'A'.repeat(43) + '=' }],
  ['another app', { app: { clientId: 'app_other', name: 'Approvals', origins: [] } }],
  ['another request', { requestId: other }],
  ['another issuer', { issuer: 'https://id.example.org' }],
  ['another identity', { identityId: other }],
  ['another role', { role: 'approve' }],
  ['a longer time', { expiresAt: '2099-01-01T00:00:00.000Z' }],
]

test('SGN-29 if the service states anything else than the page shows, nothing is confirmed or signed', async () => {
  const { person, requestId, seen } = await open('ada')
  const { page } = person
  for (const [what, lie] of lies) {
    await page.unrouteAll()
    await alter(page, approvalUrl, restate(lie))
    await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
    await awake(page).click()
    await page.getByText(words.sign.stoppedWhy.statement).waitFor()
    assert.deepEqual([await seen.touches(), seen.signatures], [0, []], what)
  }
  await page.unrouteAll()
  await page.locator('[data-action="reload"]').click()
  await awake(page).click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.equal((await app.read(requestId)).status, 'signed')
  await person.leave()
})

test('SGN-29 a passkey confirms the statement of the page, never a challenge that the service chose', async () => {
  const { person, requestId, seen } = await open('bea')
  const { page } = person
  const chosen = 'Q'.repeat(43)
  await alter(page, approvalUrl, (body) => ({ ...restate({ challenge: chosen })(body), challenge: chosen }))
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  const answered = page.waitForResponse((response) => /^\/api\/.*\/sign$/.test(new URL(response.url()).pathname))
  await awake(page).click()
  // The page confirms what it shows, with this value inside: the service, which started another, refuses it.
  assert.equal((await answered).status(), 401)
  await page.getByText(words.problem.refused.invalid_credential).waitFor()
  const [sent = ''] = seen.signatures
  const { approval } = JSON.parse(sent) as { approval: { credential: { response: { clientDataJSON: string } } } }
  const clientData = JSON.parse(Buffer.from(approval.credential.response.clientDataJSON, 'base64url').toString())
  assert.notEqual(clientData.challenge, chosen)
  assert.equal((await app.read(requestId)).status, 'pending')
  await person.leave()
})

test('SGN-29 the page of another request does not sign what the service shows in its place', async () => {
  const { person, identityId, requestId, seen } = await open('cora')
  const { page } = person
  const { requestId: second } = await app.ask({ identityId, payload: 'Pay 9999 €' })
  // The address names the first request; the service answers with the second one, in both places.
  await page.route(`**/api/signing/requests/${requestId}`, (route) =>
    route.continue({ url: route.request().url().replace(requestId, second) }),
  )
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await page.getByText('Pay 9999 €').waitFor()
  await awake(page).click()
  await page.getByText(words.sign.stoppedWhy.statement).waitFor()
  assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  await person.leave()
})

test('SGN-29 a key that the service names in place of the user’s own signs nothing', async () => {
  const { person, requestId, seen } = await open('dora')
  const { page } = person
  const publicKey = '8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw='
  await alter(page, /\/api\/signing\/(?:keys|requests)\/[^/]+$/, (body) => ({ ...body, publicKey }))
  await alter(page, approvalUrl, restate({ publicKey }))
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).click()
  await page.getByText(words.sign.stoppedWhy.statement).waitFor()
  assert.deepEqual(seen.signatures, [])
  await person.leave()
})

test('SGN-30 a device whose clock differs by more than ten minutes signs nothing', async () => {
  const { person, requestId, seen } = await open('erin', { expiresInSeconds: 3600 })
  const { page } = person
  for (const minutes of [-11, 11]) {
    await page.clock.setFixedTime(Date.now() + minutes * 60_000)
    await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
    await awake(page).click()
    await page.getByText(words.sign.stoppedWhy.clock).waitFor()
  }
  assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  await page.clock.setFixedTime(Date.now() + 9 * 60_000)
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  await person.leave()
})

test('SGN-23 if the app was renamed while the user read, the page says so and signs nothing', async () => {
  const { person, requestId, seen } = await open('fay')
  const { page } = person
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).waitFor()
  const rename = async (name: string) => {
    const headers = { ...stage.service.admin, 'content-type': 'application/json' }
    const url = `${stage.service.baseUrl}/api/admin/apps/${app.app.clientId}`
    const renamed = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ name }) })
    assert.equal(renamed.status, 200)
  }
  await rename('Payments')
  await awake(page).click()
  await page.getByText(words.sign.stoppedWhy.statement).waitFor()
  assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  await page.locator('[data-action="reload"]').click()
  await page.getByRole('heading', { name: 'Payments' }).waitFor()
  // Between the start and the answer, the service itself notices.
  await page.route(/\/api\/signing\/requests\/[^/]+\/sign$/, async (route) => {
    await rename('Approvals')
    await route.continue()
  })
  await awake(page).click()
  await page.getByText(words.sign.stoppedWhy.changed).waitFor()
  assert.equal((await app.read(requestId)).status, 'pending')
  await person.leave()
})
