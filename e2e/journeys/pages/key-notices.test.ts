import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readMemory, writeMemory } from '../../fixtures/device-memory.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { createDemonstration } from '../../fixtures/signing-keys.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import { forEachViewport, windowOfAll } from '../../fixtures/windows.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const record = '**/api/account/self-record'

const windows = [
  windowOfAll,
  ...forEachViewport({ colorScheme: 'light', width: 360, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'dark', width: 1280, locale: 'en-GB' }),
]
for (const { colorScheme, width, locale, also } of windows) {
  const language = locale.slice(0, 2)
  test(`SLF-30 alarms and notices are accessible: ${colorScheme}, ${width} pixels, ${language}`, async () => {
    const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
    const { look, faults } = await watch(person, { language, shown: { colorScheme, width }, ...(also && { also }) })
    const handle = `looker-${colorScheme}-${width}`
    await person.page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle, displayName: 'Ada' })
    await person.press('confirm-recovery-saved')
    await person.page.waitForURL(/\/account/)
    const sign = async () => {
      const requestId = await createDemonstration(stage.service, handle)
      await person.page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
      await person.press('sign')
    }
    await person.page.route('**/api/transparency/**', (route) => route.abort())
    await sign()
    await person.page.locator('.key-note').waitFor()
    await person.page.locator('[data-action="sign"]').waitFor({ state: 'detached' })
    await look('key-note')
    await person.page.unroute('**/api/transparency/**')
    await sign()
    await person.page.locator('[data-action="sign"]').waitFor({ state: 'detached' })
    const memory = await readMemory(person)
    await person.page.goto(`${stage.service.authUrl}/account/signing`)
    await person.press('replace-key')
    await person.press('unlock')
    await person.control('unlock').waitFor({ state: 'detached' })
    await writeMemory(person, memory)
    await sign()
    await person.control('known-change').waitFor()
    await look('key-changes')
    await person.press('unknown-change')
    await person.page.locator('[data-alarm="unknown_change"]').waitFor()
    await look('key-alarm-change')
    await person.page.route(record, (route) => route.fulfill({ json: { record: null } }))
    await sign()
    await person.page.locator('[data-alarm="record_missing"]').waitFor()
    await look('key-alarm-record')
    // Aborted requests of this test are reported to the console.
    assert.deepEqual(
      faults.filter((fault) => !fault.includes('ERR_FAILED')),
      [],
    )
    await person.leave()
  })
}
