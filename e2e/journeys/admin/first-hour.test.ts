import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import { firstHour } from '../../../server/testing/first-hour.ts'
import { serveHere } from '../../../server/testing/service-here.ts'
import type { Served } from '../../../server/testing/service.ts'
import { adminAppsMessages as apps } from '../../../web/locales/en/pages/admin/apps.ts'
import { adminSettingsMessages as settings } from '../../../web/locales/en/pages/admin/service/settings.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
let byFile: Served
before(async () => {
  stage = await openStage()
  byFile = await serveHere()
})
after(async () => {
  await byFile.close()
  await stage.close()
})

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

/**
 * Exports the configuration, apart from the shop that every journey has. Apps that were made by hand have their client
 * ID as key, so their names stand for it.
 */
async function exported(service: Served): Promise<ConfigurationDocument> {
  const document: ConfigurationDocument = await askAdmin(service, 'GET', 'export')
  const apps = (document.apps ?? []).filter(({ key }) => key !== stage.shop.app.clientId)
  const named = apps.map((app) => ({ ...app, key: app.name ?? '' }))
  return { ...document, apps: named.toSorted((one, other) => one.key.localeCompare(other.key)) }
}

test('CON-10 the first hour of an operator in the console, from the setup on, gives what a file gives', async () => {
  const person = await stage.invite()
  await person.page.setViewportSize({ width: 1280, height: 900 })
  await person.page.goto((await readFile(join(stage.service.settings.DATA_DIR, 'setup-link'), 'utf8')).trim())
  await person.createAccount({ handle: 'maria', displayName: 'Maria Mitchell' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/admin/)
  const { look, faults } = await watch(person, { language: 'en', ...views })
  const open = (section: string) => person.page.goto(`${stage.service.authUrl}/admin/${section}`)

  await open('settings')
  await person.write('branding.name', firstHour.settings['branding.name'])
  await person.press('save-brand')
  await person.page.getByText(settings.revision('1')).waitFor()
  await person.page.getByLabel(settings.modes.invited.label).check()
  await person.press('save-registration')
  await person.page.getByText(settings.revision('2')).waitFor()
  for (const { key, displayName } of firstHour.groups) {
    await open('groups')
    await person.press('new-group')
    await person.write('key', key)
    await person.write('name', displayName)
    await person.press('create-group')
    await person.page.getByRole('heading', { name: displayName }).waitFor()
  }
  await open('apps')
  await person.control('new-app').waitFor()
  for (const app of firstHour.apps) await register(person, app, look)
  await restrict(person, firstHour.apps[1])
  await open('invitations')
  await inviteAll(person)

  await askAdmin(byFile, 'POST', 'apply', { document: firstHour, dryRun: false })
  const document = await exported(stage.service)
  assert.equal(document.invitations?.length, firstHour.invitations.length)
  assert.deepEqual(document, await exported(byFile))
  assert.deepEqual(faults, [])
})

async function register(person: Person, app: (typeof firstHour.apps)[number], look: (name: string) => Promise<void>) {
  const { page, press, write } = person
  await press('new-app')
  await press('create-app')
  await page.getByText(apps.nameMissing).waitFor()
  await write('name', app.name)
  await write('redirectUris', app.redirectUris[0])
  if ('allowedScopes' in app)
    for (const scope of ['email', 'offline_access', 'groups'])
      await page.locator(`input[name="scopes"][value="${scope}"]`).click()
  await look(`admin-new-app-${app.key}`)
  await press('create-app')
  await page.getByText(apps.secretOnce).waitFor()
  await look(`admin-created-app-${app.key}`)
  const secret = page.locator('code[data-name="client-secret"]')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.match(await secret.innerText(), /^\S{20,}$/)
  await press('client-secret-saved')
}

async function restrict({ page, press, write }: Person, { name, access }: (typeof firstHour.apps)[1]) {
  await page.getByRole('row', { name }).locator('[data-action="edit-access"]').click()
  await page.getByLabel(apps.modes.restricted).check()
  await write('groups', access.groups[0])
  await write('contact', access.contact)
  await press('save-access')
  await page.getByRole('cell', { name: access.contact }).waitFor()
}

async function inviteAll({ page, press, control }: Person) {
  const rows = firstHour.invitations.map(({ email, groups: [group], language }) => `${email},${group},${language}`)
  await press('ask-import')
  await page.locator('input[type="file"]').setInputFiles({
    ...{ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(['email,groups,language', ...rows].join('\n')) },
  })
  await page.getByRole('dialog').getByText(String(rows.length)).waitFor()
  await press('send-import')
  await control('send-import').waitFor({ state: 'detached' })
}
