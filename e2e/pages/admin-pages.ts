import { askAdmin } from '../fixtures/admin-api.ts'
import type { TestEnvironment } from '../fixtures/environment.ts'
import type { Person } from '../fixtures/person.ts'

type Look = (name: string) => Promise<void>

/** Administers the service: the pages and dialogs of an operator, with users, groups and apps of the given names. */
export async function visitAdminPages(person: Person, stage: TestEnvironment, handle: string, look: Look) {
  const { page, control } = person
  const admin = (path: string, body: object) => askAdmin(stage.service, 'POST', path, body)
  const open = (path: string) => page.goto(`${stage.service.authUrl}/admin/${path}`)
  await admin('operators', { handle, role: 'owner' })
  const [stays, leaves] = [`${handle}-stays`, `${handle}-leaves`]
  await stage.enroll({ handle: stays, displayName: 'Wolfeschlegelsteinhausenbergerdorff' })
  const staff = `${handle}-staff`
  await admin('groups', { key: staff, displayName: 'Mitarbeiterinnen und Mitarbeiter der Analytical Engines' })
  await admin('invitations', { kind: 'mail', email: `ada@${handle}.analytical-engine.example`, groups: [staff] })
  await admin('invitations', { kind: 'link', maxUses: 20, message: 'Willkommen.' })

  await page.goto(`${stage.service.authUrl}/admin`)
  await control('open-people').waitFor()
  await look('admin-overview')
  await open('people')
  await control('open-identity').first().waitFor()
  await look('admin-people')
  await control('search-people').fill(stays)
  await page.waitForFunction(() => document.querySelectorAll('[data-action="open-identity"]').length === 1)
  await person.press('open-identity')
  await control('ask-suspend').waitFor()
  await look('admin-identity')
  for (const act of ['ask-suspend', 'ask-sign-out', 'ask-edit-identity', 'ask-delete']) {
    await person.press(act)
    await page.getByRole('dialog').waitFor()
    await look(`admin-${act}`)
    await person.press('cancel')
  }
  for (const tab of ['apps', 'activity']) {
    await person.press(`tab-${tab}`)
    await page.waitForFunction(() => document.querySelector('[aria-busy="true"], .skeletons') === null)
    await look(`admin-identity-${tab}`)
  }
  await visitDeletedIdentity(person, stage, leaves, look)

  await open('invitations')
  await control('new-invitation').waitFor()
  await look('admin-invitations')
  await person.press('new-invitation')
  await look('admin-new-invitation')
  await person.press('cancel')
  await visitImport(person, handle, look)
  await open('groups')
  await control('open-group').first().waitFor()
  await look('admin-groups')
  await control('open-group').first().click()
  await control('ask-add-member').waitFor()
  await look('admin-group')
  await open('apps')
  await control('edit-access').first().click()
  await page.getByRole('dialog').waitFor()
  await look('admin-app-access')
  await person.press('cancel')
  await person.press('new-app')
  await look('admin-new-app')
  await person.press('cancel')
  await look('admin-apps')
  await control('open-app').first().click()
  await control('ask-add-role').waitFor()
  await look('admin-app')
  await open('organizations')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector('.skeletons') === null)
  await look('admin-organizations')
  await open('keys')
  await page.locator('tbody tr').first().waitFor()
  await look('admin-keys')
  await open('backups')
  await control('download-backup').waitFor()
  await look('admin-backups')
  await open('audit')
  await page.locator('.audit-log > li').first().waitFor()
  await look('admin-audit')
  await person.press('tab-sinks')
  await person.press('ask-add-sink')
  await page.getByRole('dialog').waitFor()
  await look('admin-new-sink')
  await person.press('cancel')
  await person.press('tab-webhooks')
  await person.press('ask-add-webhook')
  await page.getByRole('dialog').waitFor()
  await look('admin-new-webhook')
  await person.press('cancel')
  await open('operators')
  await control('ask-add-operator').waitFor()
  await look('admin-operators')
  await person.press('tab-tokens')
  await person.press('ask-create-token')
  await page.getByRole('dialog').waitFor()
  await look('admin-new-token')
  await person.press('cancel')
  await person.press('tab-directories')
  await person.press('ask-create-scim-token')
  await page.getByRole('dialog').waitFor()
  await look('admin-new-directory')
  await person.press('cancel')
  await open('settings')
  const accent = page.locator('input[name="branding.accent"]')
  await accent.click()
  // Typed, unlike what `fill` does: the browser knows that the preview and the command grow because of the input.
  await accent.pressSequentially('#1a7f37')
  await look('admin-settings')
}

/** The preview of a file of which one row is wrong. */
async function visitImport({ page, press, control }: Person, handle: string, look: Look) {
  await press('ask-import')
  await look('admin-import')
  const file = `email,groups\nnoether@${handle}.analytical-engine.example,${handle}-staff\nada,unknown\n`
  await page.locator('input[type="file"]').setInputFiles({
    ...{ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) },
  })
  await page.locator('.import-faults li').first().waitFor()
  await look('admin-import-preview')
  await control('cancel').click()
}

/** An identity whose deletion is scheduled, and what restores it. */
async function visitDeletedIdentity(person: Person, stage: TestEnvironment, handle: string, look: Look) {
  const { service } = stage
  const { page, call } = await stage.enroll({ handle, displayName: 'Grace Hopper' })
  const { identities } = await call(service.baseUrl, 'GET /api/auth/session')
  const identityId = identities[0]?.identityId ?? ''
  const reason = 'Left the company on the last day of the month, as agreed.'
  await askAdmin(service, 'DELETE', `identities/${identityId}`, { confirm: handle, reason, retainDays: 7 })
  await page.close()
  await person.page.goto(`${service.authUrl}/admin/people/${identityId}`)
  await person.control('ask-restore').waitFor()
  await look('admin-identity-to-delete')
  await person.press('ask-restore')
  await person.page.getByRole('dialog').waitFor()
  await look('admin-ask-restore')
  await person.press('cancel')
}
