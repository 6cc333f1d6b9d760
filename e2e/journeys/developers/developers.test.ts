import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { NewApp } from '@countersign/protocol/clients/apps'
import { developerMessages } from '../../../web/locales/en/pages/developers.ts'
import { en } from '../../../web/locales/en/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openShop } from '../../apps/relying-party.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { errorMessages as faults } from '../../../web/locales/en/pages/sign-in/error.ts'

const words = { ...en, ...developerMessages }

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Registers an app on the pages, as its developer does; returns the displayed values. */
async function register({ page, press, write }: Person, { name, redirectUris }: Pick<NewApp, 'name' | 'redirectUris'>) {
  await press('new-app')
  await write('name', name)
  await page.locator('textarea[name="redirectUris"]').fill(redirectUris.join('\n'))
  await press('create-app')
  const clientSecret = await page.locator('output[name="clientSecret"]').innerText()
  const clientId = await page.locator('.credentials code').first().innerText()
  await press('confirm-secret-saved')
  return { name, clientId, clientSecret }
}

async function openPortal(person: Person) {
  await person.page.goto(`${stage.service.authUrl}/developers`)
  await person.control('new-app').waitFor()
}

test('a developer registers an app, signs in to it, replaces its secret and deletes it', async (t) => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  await openPortal(ada)
  const shop = await openShop(stage.service, (settings) => register(ada, settings))
  t.after(() => shop.close())
  const app = page.url()
  assert.equal(app, `${stage.service.authUrl}/developers/apps/${shop.app.clientId}`)
  await page.reload()
  await page.getByRole('heading', { name: 'Paper Shop', level: 1 }).waitFor()
  assert.ok(!(await page.content()).includes(shop.app.clientSecret ?? ''), 'the secret was shown once')

  const signIn = () => page.goto(`${shop.origin}/sign-in`)
  await signIn()
  await ada.press('approve')
  assert.equal(await page.locator('#name').innerText(), 'Ada Lovelace')

  await page.goto(app)
  await page.locator('[data-state="signed-in"]').waitFor()
  await ada.press('tab-danger')
  assert.equal(page.url(), `${app}/danger`)
  assert.equal(await page.title(), `${words.developers.tabs.danger} · Paper Shop · Countersign`)
  await ada.press('new-secret')
  await page.getByRole('radio', { name: words.developers.graces.none }).check()
  await ada.press('rotate-secret')
  const secret = await page.locator('output[name="clientSecret"]').innerText()
  assert.notEqual(secret, shop.app.clientSecret)
  await signIn()
  assert.equal(await page.locator('#error').innerText(), 'invalid_client')
  await shop.takeSecret(secret)
  await signIn()
  assert.equal(await page.locator('#name').innerText(), 'Ada Lovelace')

  await page.goto(`${app}/danger`)
  await ada.press('end-app')
  await ada.write('confirmation', 'paper shop')
  await ada.press('delete-app')
  await page.getByText(words.developers.mismatch).waitFor()
  await ada.write('confirmation', 'Paper Shop')
  await ada.press('delete-app')
  await page.getByText(words.developers.none).waitFor()
  assert.equal(page.url(), `${stage.service.authUrl}/developers`)
  await signIn()
  await page.getByRole('heading', { name: faults.titles.invalid_client }).waitFor()
  await ada.leave()
})

test('a developer on a phone sees the replaced secret, and leaves it only by saying that they saved it', async () => {
  const joan = await stage.enroll({ handle: 'joan', displayName: 'Joan Clarke' })
  const { page } = joan
  await page.setViewportSize({ width: 360, height: 640 })
  await openPortal(joan)
  const { clientSecret } = await register(joan, { name: 'Hut 8', redirectUris: ['https://hut.example/'] })
  await joan.press('tab-danger')
  await joan.press('new-secret')
  await joan.press('rotate-secret')
  const secret = page.locator('output[name="clientSecret"]')
  await secret.waitFor()
  assert.notEqual(await secret.innerText(), clientSecret)

  // It is in the viewport, and has the focus.
  await page.waitForFunction(() => {
    const output = document.querySelector('output[name="clientSecret"]')
    const { top = -1, bottom = 0 } = output?.getBoundingClientRect() ?? {}
    return output?.closest(':focus') && top >= 0 && bottom <= innerHeight
  })
  const isReachable = (action: string) =>
    joan.control(action).evaluate((control) => {
      control.scrollIntoView({ block: 'center' })
      const { x, y, width, height } = control.getBoundingClientRect()
      return control.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    })
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
  assert.equal(await isReachable('tab-settings'), false)
  assert.equal(await secret.isVisible(), true)
  await joan.press('confirm-secret-saved')
  await secret.waitFor({ state: 'detached' })
  assert.equal(await isReachable('tab-settings'), true)
  await joan.leave()
})

test('the quickstart for the terminal works exactly as it is printed', async (t) => {
  const grace = await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  const { page } = grace
  await openPortal(grace)
  const redirectUri = `${stage.shop.origin}/callback`
  const { clientSecret } = await register(grace, { name: 'Compiler', redirectUris: [redirectUri] })
  await page.getByRole('button', { name: words.quickstart.names.terminal, exact: true }).click()
  await page.locator('[data-state="waiting"]').waitFor()
  const [, program = '', command = ''] = await page.locator('.recipe pre').allInnerTexts()
  assert.equal(command.trim(), `CLIENT_SECRET=${clientSecret} node first-sign-in.mjs`)

  const directory = await mkdtemp(join(tmpdir(), 'countersign-first-'))
  t.after(() => rm(directory, { recursive: true }))
  await symlink(join(import.meta.dirname, '../../../node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'first-sign-in.mjs'), program)
  const terminal = spawn(process.execPath, ['first-sign-in.mjs'], {
    cwd: directory,
    env: { CLIENT_SECRET: clientSecret },
  })
  t.after(() => terminal.kill())
  let written = ''
  for (const stream of [terminal.stdout, terminal.stderr])
    stream.on('data', (text: Buffer) => (written += text.toString()))
  while (!/^Open (\S+)\n/.test(written))
    await Promise.race([once(terminal.stdout, 'data'), failing(terminal, () => written)])

  await page.goto(/^Open (\S+)\n/.exec(written)?.[1] ?? '')
  await grace.press('approve')
  await page.waitForURL(`${redirectUri}?**`)
  terminal.stdin.write(`${page.url()}\n`)
  await once(terminal, 'close')
  assert.match(written, /name: 'Grace Hopper'/)
  await page.goto(`${stage.service.authUrl}/developers`)
  await page.getByRole('link', { name: 'Compiler' }).click()
  await page.getByText(words.quickstart.worked).waitFor()
  await page.getByRole('link', { name: words.developers.tabs.usage }).click()
  await page.getByRole('img', { name: words.usage.summary('1', '0') }).waitFor()
  await grace.leave()
})

/** Never resolves; rejects with the output of a program when it ends. */
async function failing(program: ReturnType<typeof spawn>, said: () => string): Promise<never> {
  await once(program, 'exit')
  throw new Error(`It ended early:\n${said()}`)
}

test('a developer who was signed out returns to the same page', async () => {
  const alan = await stage.enroll({ handle: 'alan', displayName: 'Alan Turing' })
  const { page } = alan
  await alan.press('sign-out')
  await page.waitForURL(`${stage.service.authUrl}/`)
  alan.offerPasskeys(false)
  await page.goto(`${stage.service.authUrl}/developers/new`)
  await alan.press('sign-in')
  await alan.control('create-app').waitFor()
  assert.equal(page.url(), `${stage.service.authUrl}/developers/new`)
  await page.getByRole('radio', { name: words.developers.kinds.public.label }).check()
  await alan.write('name', 'Machine')
  await page.locator('textarea').fill('http://machine.example/')
  await alan.press('create-app')
  await page.locator('main .problem').waitFor()
  await page.locator('textarea').fill('com.example.machine:/callback')
  await alan.press('create-app')
  await page.getByText(words.developers.noSecret).waitFor()
  assert.equal(await page.locator('output[name="clientSecret"]').count(), 0)
  await page.goBack()
  assert.notEqual(page.url(), `${stage.service.authUrl}/developers/new`, 'going back registers no second app')
  await alan.leave()
})

test('a developer sees that the operator has disabled their app, and cannot enable it', async () => {
  const mary = await stage.enroll({ handle: 'mary', displayName: 'Mary Somerville' })
  await openPortal(mary)
  const { clientId } = await register(mary, { name: 'Orrery', redirectUris: ['https://orrery.example/'] })
  const disabled = await fetch(`${stage.service.baseUrl}/api/admin/apps/${clientId}`, {
    method: 'PATCH',
    headers: { ...stage.service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'disabled' }),
  })
  assert.equal(disabled.status, 200)
  await mary.page.reload()
  await mary.press('enable-app')
  await mary.page.getByText(words.refused.disabled_by_operator).waitFor()
  await mary.leave()
})

test('if the operator disables the developer pages, none exists and no link leads to them', async (t) => {
  const quiet = await openStage({ DEVELOPER_PORTAL: 'off' })
  t.after(() => quiet.close())
  const ada = await quiet.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.control('account-menu').waitFor()
  assert.equal(await ada.page.getByRole('link', { name: words.frame.developers }).count(), 0)
  for (const path of ['/developers', '/developers/new', '/developers/apps/app_1']) {
    const answer = await ada.page.goto(`${quiet.service.authUrl}${path}`)
    assert.equal(answer?.status(), 404, path)
  }
  await ada.leave()
})
