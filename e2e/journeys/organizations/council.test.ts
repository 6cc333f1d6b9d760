import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { actMessages as acts } from '../../../web/locales/en/pages/acts.ts'
import { businessMessages as business } from '../../../web/locales/en/pages/business.ts'
import { councilMessages as words } from '../../../web/locales/en/pages/council.ts'
import { foundCouncil } from '../../apps/council.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { readAct, returned, signAct, signChange } from '../../apps/signed-actions.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { alter, type Json, restate, watchSignatures } from '../../fixtures/lying-service.ts'
import type { Person } from '../../fixtures/person.ts'
import { watchFromStart } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
})
after(() => stage.close())

const windows = { shown: { width: 320, colorScheme: 'light' }, also: { width: 1280, colorScheme: 'dark' } } as const

/** An organization with an owner and two signers, without a council. */
async function assemble(nth: string) {
  const { baseUrl, businessUrl, authUrl } = stage.service
  const headers = { origin: authUrl }
  const ada = await stage.enroll({ handle: `ada-${nth}`, displayName: 'Ada Lovelace' })
  const id = await foundOrganization(ada, stage.service, 'Engines')
  const place = `${businessUrl}/api/organizations/${id}`
  const join = async (handle: string, displayName: string) => {
    const person = await stage.enroll({ handle, displayName })
    const { identities } = await person.call(baseUrl, 'GET /api/auth/session')
    const data = { handle, role: 'signer' }
    const invited = await ada.context.request.post(`${place}/invitations`, { headers, data })
    const { token }: ResponseOf<'POST /api/organizations/:organizationId/invitations'> = await invited.json()
    const joining = { headers, data: { identityId: identities[0]?.identityId } }
    await person.context.request.post(`${businessUrl}/api/invitations/${token}/accept`, joining)
    return person
  }
  const [bob, cora] = [await join(`bob-${nth}`, 'Bob'), await join(`cora-${nth}`, 'Cora')]
  const council = `${businessUrl}/organizations/${id}/council`
  const visit = async (person: Person) => {
    await person.page.goto(council)
    await person.page.getByRole('heading', { name: words.proposals }).waitFor()
  }
  return { ada, bob, cora, organizationId: id, join, visit, council }
}

/** Proposes a change on the page of the council. */
async function propose(person: Person, action: string) {
  await person.press(action)
  await returned(person.page, 'proposed')
}

test('CNC-40 an owner proposes a council, each of its people accepts it, and the owner completes it', async () => {
  const { ada, bob, cora, join, visit } = await assemble('founds')
  const [overAda, overBob] = [
    await watchFromStart(ada, { language: 'en', ...windows }),
    await watchFromStart(bob, { language: 'en', ...windows }),
  ]
  await visit(ada)
  await overAda.look('council-none')
  await ada.write('approvalsNeeded', '1')
  await propose(ada, 'save-approvals')
  await ada.page.getByText(words.approvals(0, 2, '')).waitFor()
  await overAda.look('council-proposed')
  assert.equal(await ada.control('complete-proposal').count(), 0)
  assert.equal(await ada.control('approve-proposal').count(), 0, 'nobody approves their own proposal')

  for (const person of [bob, cora]) {
    await visit(person)
    await person.press('approve-proposal')
    await readAct(person.page)
    await person.page.getByText(acts.proposedBy('Ada Lovelace (@ada-founds)')).waitFor()
    await person.page.getByText('Cora (@cora-founds): signs and approves').waitFor()
    if (person === bob) await overBob.look('act-approve')
    await signAct(person.page)
    await returned(person.page, 'done')
    assert.equal(await person.control('approve-proposal').count(), 0)
  }
  await visit(ada)
  await signChange(ada, 'complete-proposal')
  await ada.page.getByText(words.what(1)).waitFor()
  await ada.control('suspend-bob-founds').waitFor()
  await ada.page.getByText(business.approvals.first(1)).waitFor()
  await overAda.look('council')

  const dora = await join('dora-founds', 'Dora')
  await visit(ada)
  await propose(ada, 'admit-dora-founds')
  await visit(dora)
  assert.equal(await dora.control('approve-proposal').count(), 0, 'who has no say approves nothing')
  await visit(bob)
  await signChange(bob, 'approve-proposal')
  await visit(ada)
  await signChange(ada, 'complete-proposal')
  await ada.control('suspend-dora-founds').waitFor()
  await signChange(ada, 'suspend-dora-founds')
  await ada.control('restore-dora-founds').waitFor()
  await overAda.look('council-suspended')
  assert.deepEqual([...overAda.faults, ...overBob.faults], [])
  for (const person of [ada, bob, cora, dora]) await person.leave()
})

test('CNC-41 an owner asks to end a council, and a signatory vetoes it, also one who has left', async () => {
  const { ada, bob, cora, organizationId, visit, council } = await assemble('ends')
  const overBob = await watchFromStart(bob, { language: 'en', ...windows })
  await foundCouncil(ada, [bob, cora], stage.service, { organizationId, approvalsNeeded: 1 })
  await signChange(ada, 'request-reset')
  await visit(bob)
  await bob.control('veto-reset').waitFor()
  await overBob.look('council-reset')
  await bob.press('veto-reset')
  await bob.control('veto-reset').waitFor({ state: 'detached' })

  await visit(ada)
  await signChange(ada, 'request-reset')
  await ada.page.goto(council.replace('council', 'members'))
  const remove = ada.control('remove-of-member').first()
  const menu = await remove.evaluate((item) => item.closest('[popover]')?.id)
  await ada.page.locator(`[popovertarget="${menu}"]`).click()
  await remove.click()
  await signAct(ada.page)
  await returned(ada.page, 'done')
  const removed = (await ada.page.getByText('@bob-ends').count()) === 0 ? bob : cora
  await removed.page.goto(council)
  await removed.page.getByText(words.reset.formerWhat).waitFor()
  if (removed === bob) await overBob.look('council-former')
  await removed.press('veto-reset')
  await removed.page.getByText(words.reset.vetoed).waitFor()
  await visit(ada)
  await ada.control('request-reset').waitFor()
  assert.deepEqual(overBob.faults, [])
  for (const person of [ada, bob, cora]) await person.leave()
})

test('CNC-42 an approval signs the proposal that is shown, and nothing that the service names instead', async () => {
  const { ada, bob, cora, visit } = await assemble('lies')
  await visit(ada)
  await ada.write('approvalsNeeded', '1')
  await propose(ada, 'save-approvals')
  const seen = await watchSignatures(bob.page, /\/acts\/[0-9a-f-]+$/)
  const digest = 'fdZbH5gjgfqABRN0i+c5H3LE60UPPlhYhNyC4NkHp3I='
  const asOwn = (body: Json & { statement: string }) => restate({ role: 'sign' })({ ...body, role: 'sign' })
  const lies: ((body: Json & { statement: string }) => Json)[] = [
    restate({ proposal: digest }),
    restate({ details: digest }),
    restate({ action: 'organization.deleted' }),
    (body) => ({ ...body, details: { ...Object(body['details']), approvalsNeeded: 2 } }),
    (body) => ({ ...body, proposal: null }),
    asOwn,
  ]
  for (const lie of lies) {
    await bob.page.unrouteAll()
    await alter(bob.page, /\/acts\/[0-9a-f-]+(?:\?|$)/, lie, 'GET')
    await visit(bob)
    await bob.press('approve-proposal')
    await signAct(bob.page)
    await bob.page.locator('[data-stopped="statement"]').waitFor()
    assert.deepEqual([await seen.touches(), seen.signatures], [0, []])
  }
  for (const person of [ada, bob, cora]) await person.leave()
})
