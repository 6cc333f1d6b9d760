import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RequestOf, ResponseOf } from '@countersign/protocol/api'
import { organizationKeyMessages } from '../../../web/locales/en/pages/organization-keys.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const words = organizationKeyMessages

/** Sends a request as the user of a page. */
async function send<Sent>(
  { context }: Person,
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  data?: object,
): Promise<Sent> {
  const { authUrl } = stage.service
  const answer = await context.request.fetch(url, { method, headers: { origin: authUrl }, ...(data && { data }) })
  assert.ok(answer.ok(), await answer.text())
  return answer.json()
}

/** An organization without a key, whose other member has a second identity, without an encryption key. */
async function found(nth: number) {
  const { baseUrl, businessUrl, authUrl } = stage.service
  const lise = await stage.enroll({ handle: `lise-${nth}`, displayName: 'Lise Meitner' })
  const otto = await stage.enroll({ handle: `otto-${nth}`, displayName: 'Otto Hahn' })
  const name = { handle: `chemist-${nth}`, displayName: 'The Chemist' }
  const { identityId } = await send<ResponseOf<'POST /api/identities'>>(otto, 'POST', `${baseUrl}/api/identities`, name)
  const id = await foundOrganization(lise, stage.service, 'Fission')
  const place = `${businessUrl}/api/organizations/${id}`
  await send(lise, 'PATCH', place, { encryptionMode: 'e2ee' })
  const invitation = { handle: name.handle, role: 'member' }
  const { token } = await send<{ token: string }>(lise, 'POST', `${place}/invitations`, invitation)
  await send(otto, 'POST', `${businessUrl}/api/invitations/${token}/accept`, { identityId })
  const { identities } = await lise.call(baseUrl, 'GET /api/auth/session')
  const query = new URLSearchParams({ organization: id, identity: identities[0]?.identityId ?? '' })
  return { lise, otto, place, address: `${authUrl}/organization-keys?${query}` }
}

const heading = ({ page }: Person, text: string) => page.getByRole('heading', { name: text })

/** Completes the task on the current page, and returns. */
async function unlock({ page, press }: Person): Promise<void> {
  await press('unlock')
  await page.waitForURL(/\/account/)
}

test('an identity without a key is listed, creates one at the given link, and then gets the key', async () => {
  const { lise, otto, address } = await found(1)
  const windows = { shown: { width: 320, colorScheme: 'light' }, also: { width: 1280, colorScheme: 'dark' } } as const
  const [overLise, overOtto] = [
    await watch(lise, { language: 'en', ...windows }),
    await watch(otto, { language: 'en', ...windows }),
  ]
  await lise.page.goto(address)
  await heading(lise, words.titles.make('Fission')).waitFor()
  await heading(lise, 'The Chemist').waitFor()
  await overLise.look('organization-keys-make')
  await unlock(lise)
  await lise.page.goto(address)
  await lise.page.getByText(words.unprepared).waitFor()
  assert.equal(await lise.control('unlock').count(), 0, 'there is no recipient yet')
  await overLise.look('organization-keys-unprepared')

  await otto.page.goto(await lise.page.locator('.copies code').innerText())
  await heading(otto, words.titles.prepare('Fission')).waitFor()
  await overOtto.look('organization-keys-prepare')
  await unlock(otto)

  await lise.page.goto(address)
  await heading(lise, 'The Chemist').waitFor()
  await unlock(lise)
  await lise.page.goto(address)
  await heading(lise, words.nothing).waitFor()
  assert.deepEqual([...overLise.faults, ...overOtto.faults], [])
  await otto.leave()
  await lise.leave()
})

test('ORG-34 a new key goes to the members whose names were shown, and to none that the service adds', async () => {
  const { lise, otto, place, address } = await found(2)
  const { page } = lise
  const { identities } = await otto.call(stage.service.baseUrl, 'GET /api/auth/session')
  const first = identities.find(({ handle }) => handle === 'otto-2')
  const { token } = await send<{ token: string }>(lise, 'POST', `${place}/invitations`, {
    handle: 'otto-2',
    role: 'member',
  })
  await send(otto, 'POST', `${stage.service.businessUrl}/api/invitations/${token}/accept`, {
    identityId: first?.identityId,
  })
  const invented = { memberId: '0198c0e0-0000-7000-8000-000000000001', handle: 'mallory', displayName: 'Mallory' }
  const recipients: string[] = []
  await page.route('**/wraps?*', async (route) => {
    if (route.request().method() === 'PUT') {
      const sent: RequestOf<'PUT /api/organizations/:organizationId/keys/:keyId/wraps'>['body'] = route
        .request()
        .postDataJSON()
      recipients.push(...sent.wraps.map(({ memberId }) => memberId))
      return route.continue()
    }
    const response = await route.fetch()
    const answer: ResponseOf<'GET /api/organizations/:organizationId/keys/:keyId/wraps'> = await response.json()
    const known = answer.wraps.find(({ publicKey, granted }) => publicKey !== null && !granted)
    const wraps = known ? [...answer.wraps, { ...known, ...invented }] : answer.wraps
    await route.fulfill({ response, json: { wraps } })
  })
  await page.goto(address)
  await heading(lise, 'Otto Hahn').waitFor()
  assert.equal(await heading(lise, invented.displayName).count(), 0)
  await unlock(lise)
  const { members } = await send<ResponseOf<'GET /api/organizations/:organizationId/members'>>(
    lise,
    'GET',
    `${place}/members`,
  )
  const ottoMember = members.find(({ handle }) => handle === 'otto-2')
  assert.deepEqual(recipients, [ottoMember?.memberId])
  await otto.leave()
  await lise.leave()
})
