import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findBarriers } from '../../fixtures/visual-checks.ts'
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
