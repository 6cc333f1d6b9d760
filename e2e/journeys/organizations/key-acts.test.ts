/** The page of organization keys signs its acts itself: what a service that lies in its data gets out of it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openOwner } from '../../apps/acting-owner.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { alter, type Json, restate } from '../../fixtures/lying-service.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
})
after(() => stage.close())

const open = (handle: string) => openOwner(stage, handle)
const stopped = (page: Page, why: string) => page.locator(`[data-stopped="${why}"]`)

const other = '6f1c1f0e-58a3-4a37-9d21-1d7a52a34b60'
const digest = 'fdZbH5gjgfqABRN0i+c5H3LE60UPPlhYhNyC4NkHp3I='

test('ACT-79 the page of organization keys signs only what it has composed itself', async () => {
  const { person, page, organizationId, seen, keys, keepByMembers } = await open('ada-keys')
  await keepByMembers()
  const before = seen.signatures.length
  const salt = 'AAAAAAAAAAAAAAAAAAAAAA=='
  const wrong: ((body: Json & { statement: string }) => Json)[] = [
    (body) => ({ ...body, details: { ...Object(body['details']), fingerprint: 'A'.repeat(43) } }),
    (body) => ({ ...body, details: { ...Object(body['details']), ciphertext: { commitment: digest } } }),
    (body) => ({ ...body, details: { ...Object(body['details']), replaces: other } }),
    (body) => ({ ...body, secretSalt: salt }),
    (body) => ({ ...body, salt }),
    restate({ action: 'organization.deleted' }),
    restate({ organizationId: other }),
  ]
  for (const lie of wrong) {
    await page.unrouteAll()
    await alter(page, /\/keys\?identity_id/, lie, 'POST')
    await page.goto(keys)
    await person.press('make-key')
    await person.press('unlock')
    await stopped(page, 'statement').waitFor()
    assert.equal(seen.signatures.length, before)
  }
  await page.unrouteAll()
  await person.press('start-over')
  await person.press('unlock')
  await page.waitForURL(`${stage.service.businessUrl}/organizations/${organizationId}/keys`)
  assert.equal(seen.signatures.length, before + 1)
  await person.leave()
})

test('ACT-90 an organization key is encrypted to no key that the service puts in place of one’s own', async () => {
  const { person, page, organizationId, keys, keepByMembers } = await open('ada-own')
  await keepByMembers()
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
  const publicKey = 'MCowBQYDK2VuAyEA8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw='
  await alter(page, /\/api\/encryption\/keys\/[^/]+$/, (body) => ({ ...body, publicKey }))
  await page.goto(keys)
  await person.press('make-key')
  await person.press('unlock')
  await stopped(page, 'statement').waitFor()
  assert.ok(!sent.includes(`/api/organizations/${organizationId}/keys`), String(sent))
  await person.leave()
})
