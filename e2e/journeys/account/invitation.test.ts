import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findBarriers, watch } from '../../fixtures/visual-checks.ts'
import { registerMessages } from '../../../web/locales/en/register.ts'
import { adminPeopleMessages as people } from '../../../web/locales/en/pages/admin/people.ts'
import { admissionMessages as words } from '../../../web/locales/en/pages/sign-in/admission.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Sends a request of the operator. */
async function operate(path: string, body?: object) {
  const { admin, baseUrl } = stage.service
  const json = body && { method: 'POST', headers: { ...admin, 'content-type': 'application/json' } }
  const answer = await fetch(`${baseUrl}/api/admin/${path}`, { headers: admin, ...json, body: JSON.stringify(body) })
  return answer.json()
}

/** Checks what a page shows for barriers, and takes a picture of it if asked to. */
async function look({ page }: Person, name: string): Promise<void> {
  assert.deepEqual(await findBarriers(page), [])
  if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/${name}.png` })
}

test('the first operator sets up the service, and a guest registers by an invitation into a group', async () => {
  const link = (await readFile(join(stage.service.settings.DATA_DIR, 'setup-link'), 'utf8')).trim()
  const ada = await stage.invite()
  await ada.page.goto(link)
  await ada.page.getByText(words.setup).waitFor()
  await look(ada, 'setup')
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/admin/)
  await ada.control('first-invite').waitFor()
  await look(ada, 'owner')
  const { operators } = await operate('operators')
  assert.deepEqual(
    operators.map(({ handle, role }: Record<string, string>) => [handle, role]),
    [['ada', 'owner']],
  )

  await ada.page.goto('about:blank')
  await ada.page.goto(link)
  await ada.page.getByRole('heading', { name: words.refused.setup_done.title }).waitFor()
  await ada.leave()

  const { groupId } = await operate('groups', { key: 'guests', displayName: 'Guests' })
  const message = 'Welcome to the team, Grace.'
  const { url } = await operate('invitations', {
    kind: 'link',
    groups: ['guests'],
    displayName: 'Grace Hopper',
    message,
  })
  const grace = await stage.invite()
  await grace.page.goto(url)
  await grace.page.getByText(words.invited).waitFor()
  await look(grace, 'invitation')
  assert.equal(await grace.page.locator('[name="displayName"]').inputValue(), 'Grace Hopper')
  await grace.page.locator('.skip').press('Enter')
  await grace.createAccount({ handle: 'grace', displayName: 'Grace Hopper' })
  await grace.press('confirm-recovery-saved')
  await grace.page.waitForURL(/\/account/)
  const { members } = await operate(`groups/${groupId}/members`)
  assert.deepEqual(
    members.map(({ handle }: { handle: string }) => handle),
    ['grace'],
  )

  const { url: furtherUrl } = await operate('invitations', { kind: 'link', groups: ['guests'], handle: 'hopper' })
  await grace.page.goto('about:blank')
  await grace.page.goto(furtherUrl)
  await grace.press('sign-out')
  await grace.control('create-account').waitFor()
  await grace.press('sign-in-here')
  await grace.page.getByRole('heading', { name: words.addIdentity }).waitFor()
  await look(grace, 'further')
  assert.equal(await grace.page.locator('[name="handle"]').inputValue(), 'hopper')
  await grace.write('displayName', 'Admiral Hopper')
  await grace.press('accept-invitation')
  await grace.page.waitForURL(/\/account/)
  const joined = await operate(`groups/${groupId}/members`)
  assert.deepEqual(
    new Set(joined.members.map(({ handle }: { handle: string }) => handle)),
    new Set(['grace', 'hopper']),
  )
  await grace.leave()

  const late = await stage.invite()
  await late.page.goto(url)
  await late.page.getByRole('heading', { name: words.refused.invitation_expired.title }).waitFor()
  await look(late, 'expired')
  await late.leave()
})

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

test('CON-14 an operator adds people, who register or accept with the names that they are given', async () => {
  const olga = await stage.enroll({ handle: 'olga', displayName: 'Olga Owner' })
  await operate('operators', { handle: 'olga', role: 'owner' })
  const { page, control, press, write } = olga
  await page.setViewportSize({ width: 1280, height: 900 })
  const operator = await watch(olga, { language: 'en', ...views })
  const issued = async () => {
    const link = await page.locator('code[data-name="invitation-link"]').innerText()
    await press('invitation-link-saved')
    return link
  }
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await press('new-person')
  await write('handle', 'olga')
  await page.getByText(registerMessages.register.handleTaken).waitFor()
  await write('handle', 'katherine')
  await write('displayName', 'Katherine Johnson')
  await write('email', 'katherine@')
  await press('create-person')
  await page.getByText(people.edit.emailInvalid).waitFor()
  await operator.look('admin-new-person')
  await write('email', '')
  await press('create-person')
  await operator.look('admin-new-person-link')
  const early = await issued()
  await control('open-identity').getByText('Katherine Johnson').click()
  await control('ask-invite-again').waitFor()
  await operator.look('admin-invited')
  await press('ask-invite-again')
  await operator.look('admin-invite-again')
  await press('invite-again')
  const link = await issued()

  const katherine = await stage.invite()
  await katherine.page.goto(early)
  await katherine.page.getByRole('heading', { name: words.refused.invitation_expired.title }).waitFor()
  await katherine.page.goto('about:blank')
  await katherine.page.goto(link)
  await katherine.page.locator('[data-name="fixed-names"]').getByText('@katherine').waitFor()
  await look(katherine, 'invited-names')
  assert.equal(await katherine.page.locator('[name="handle"]').count(), 0)
  await katherine.press('create-account')
  await katherine.press('confirm-recovery-saved')
  await katherine.page.waitForURL(/\/account/)

  const { identity, url } = await operate('identities', { handle: 'nasa-katherine', displayName: 'Katherine at work' })
  await katherine.page.goto('about:blank')
  await katherine.page.goto(url)
  await katherine.page.locator('[data-name="fixed-names"]').getByText('@nasa-katherine').waitFor()
  await look(katherine, 'invited-names-further')
  await katherine.press('accept-invitation')
  await katherine.page.waitForURL(/\/account/)
  const { identity: accepted } = await operate(`identities/${identity.identityId}`)
  assert.deepEqual([accepted.status, accepted.handle], ['active', 'nasa-katherine'])
  await katherine.leave()

  await operate('identities', { handle: 'mistaken', displayName: 'A mistake' })
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await control('open-identity').getByText('A mistake').click()
  await press('ask-delete')
  await write('reason', 'Added by mistake')
  await write('confirm', 'mistaken')
  await operator.look('admin-delete-invited')
  await press('delete-identity')
  await page.getByText(people.invited.done('').trim()).waitFor()
  await control('open-identity').getByText('A mistake').waitFor({ state: 'detached' })
  assert.deepEqual(operator.faults, [])
})
