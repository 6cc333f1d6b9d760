import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { developerMessages as words } from '../../../web/locales/en/pages/developers.ts'
import { freePort, run } from '../../fixtures/guide.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Registers an app on the pages, and shows its quickstart for Node. */
async function register({ page, press, write }: Person, name: string, redirectUri: string) {
  await page.goto(`${stage.service.authUrl}/developers/new`)
  await write('name', name)
  await page.locator('textarea[name="redirectUris"]').fill(redirectUri)
  await press('create-app')
  await press('confirm-secret-saved')
  await page.getByRole('button', { name: words.quickstart.names.node, exact: true }).click()
}

/** Writes the file of the quickstart and runs it, exactly as the page shows both. */
async function runShown({ page }: Person) {
  const [, program = '', command = ''] = await page.locator('.recipe pre').allInnerTexts()
  const directory = await mkdtemp(join(tmpdir(), 'countersign-quickstart-'))
  await symlink(join(import.meta.dirname, '../../../node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'app.mjs'), program)
  const settings = [...command.matchAll(/^ *(\w+)=(\S+) \\$/gm)].map(([, name = '', value = '']) => [name, value])
  const app = await run(directory, 'app.mjs', Object.fromEntries(settings))
  return {
    async close() {
      await app.close()
      await rm(directory, { recursive: true })
    },
  }
}

test('the app of the quickstart signs in and out at another port, as it is shown', async (t) => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  const origin = `http://localhost:${await freePort()}`
  await register(ada, 'Paper Shop', `${origin}/callback`)
  assert.equal(await ada.control('add-redirect-uri').count(), 0)
  const app = await runShown(ada)
  t.after(() => app.close())
  await page.goto(`${origin}/sign-in`)
  await ada.press('approve')
  await page.waitForURL(`${origin}/`)
  await page.goto(`${origin}/sign-out`)
  await page.waitForURL(`${origin}/`)
  assert.match(await page.locator('body').innerText(), /You are not signed in/)
  await ada.leave()
})

test('the quickstart registers where its app returns after signing in and out', async () => {
  const grace = await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  await register(grace, 'Compiler', 'https://compiler.example/cb')
  await grace.page.getByText('http://localhost:3000/', { exact: true }).waitFor()
  await grace.press('add-redirect-uri')
  await grace.control('add-redirect-uri').waitFor({ state: 'detached' })
  const { apps } = await grace.call(stage.service.baseUrl, 'GET /api/developer/apps')
  assert.deepEqual(
    [apps[0]?.redirectUris, apps[0]?.postLogoutRedirectUris],
    [['https://compiler.example/cb', 'http://localhost:3000/callback'], ['http://localhost:3000/']],
  )
  await grace.leave()
})
