import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { type Order, openSlowly } from '../../fixtures/slow-answers.ts'
import { takeNotes } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** A narrow window, in which the most stands below what loads, so high that all of it is inside. */
const viewport = { width: 320, height: 4000 }

for (const order of ['first', 'last'] satisfies Order[])
  test(`no part of a page moves when answers come one by one, the ${order} one first`, async () => {
    const person = await stage.invite({ locale: 'de-DE', viewport })
    const shifts: Record<string, string[]> = {}
    const paths = await administer(person, `slow-${order}`)
    await person.context.addInitScript(takeNotes)
    for (const path of paths) shifts[path] = await openSlowly(person.page, stage.service.authUrl + path, order)
    assert.deepEqual(
      Object.entries(shifts).filter(([, found]) => found.length > 0),
      [],
    )
    await person.leave()
  })

/** Makes the person an operator, with something on every page. Returns the paths of these pages. */
async function administer({ page, createAccount, press }: Person, handle: string): Promise<string[]> {
  await page.goto(`${stage.service.authUrl}/register`)
  await createAccount({ handle, displayName: 'Ada Lovelace' })
  await press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  const create = (path: string, body: object) => askAdmin(stage.service, 'POST', path, body)
  const { identityId } = await create('operators', { handle, role: 'owner' })
  const group = await create('groups', { key: handle, displayName: 'Mitarbeiterinnen und Mitarbeiter' })
  await create('invitations', { kind: 'link', maxUses: 20, message: 'Willkommen.' })
  const app = await create('apps', { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] })
  await page.goto(`${stage.service.authUrl}/admin`)
  const links = page.locator('.rail-list a')
  await links.first().waitFor({ state: 'attached' })
  const sections = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''))
  assert.ok(sections.includes('/admin/settings'))
  const parts = [
    ...['', '/apps', '/activity'].map((tab) => `people/${identityId}${tab}`),
    ...[`groups/${group.groupId}`, `apps/${app.clientId}`],
    ...['audit/sinks', 'audit/webhooks', 'operators/tokens', 'operators/directories'],
  ]
  return ['/account', ...sections, ...parts.map((part) => `/admin/${part}`)]
}
