import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Decrypter } from 'age-encryption'
import { adminBackupsMessages as backups } from '../../../web/locales/en/pages/admin/service/backups.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const
const passphrase = 'a passphrase of some length'

test('CON-18 an owner downloads a backup that only the passphrase decrypts', async () => {
  const person = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page, press, write } = person
  await page.setViewportSize({ width: 1280, height: 900 })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'ada', role: 'owner' })
  const { look, faults } = await watch(person, { language: 'en', ...views })
  await page.goto(`${stage.service.authUrl}/admin/backups`)
  await page.getByText(backups.none).waitFor()
  await look('admin-backups')
  await write('passphrase', 'short')
  await press('download-backup')
  await page.getByText(backups.tooShort('16')).waitFor()
  await look('admin-backups-problem')
  await write('passphrase', passphrase)
  const download = page.waitForEvent('download')
  await press('download-backup')
  const saved = await download
  assert.match(saved.suggestedFilename(), /^countersign-\d{4}-\d\d-\d\d\.age$/)
  const file = await readFile(await saved.path())
  await page.getByText(backups.none).waitFor({ state: 'detached' })
  await look('admin-backups-done')

  const right = new Decrypter()
  right.addPassphrase(passphrase)
  const [head = ''] = gunzipSync(await right.decrypt(file))
    .toString('utf8')
    .split('\n')
  assert.equal(typeof JSON.parse(head), 'object')
  const wrong = new Decrypter()
  wrong.addPassphrase('another passphrase')
  await assert.rejects(wrong.decrypt(file))
  assert.deepEqual(faults, [])
})
