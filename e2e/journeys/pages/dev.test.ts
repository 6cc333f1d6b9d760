import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { prepareService, type Served } from '../../../server/testing/service.ts'
import { launchBrowser } from '../../fixtures/environment.ts'
import { findBarriers } from '../../fixtures/visual-checks.ts'
import { loadPicture } from '../../fixtures/windows.ts'

const root = join(import.meta.dirname, '../../..')
/** On an ordinary machine a reload takes a quarter of a second. */
const reloadsMax = 4
const edits = 3
const pauseMilliseconds = 300

/** A server that cannot start waits for an edit, so only this ends the test. */
const startMillisecondsMax = 120_000

let copy: string
let service: Served
let development: ChildProcessByStdio<null, Readable, Readable>
let browser: Browser
let page: Page
const complaints: string[] = []
/** Resolves when the page that is shown receives edits. */
let connection = Promise.withResolvers<void>()

before(
  async () => {
    copy = await copyRepository()
    service = await prepareService({ embedded: true })
    development = spawn('npm', ['run', 'dev'], {
      cwd: copy,
      env: { ...process.env, ...service.settings },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    await readUntil(development.stdout, 'is ready.')
    browser = await launchBrowser()
    page = await browser.newPage({ locale: 'en-GB' })
    page.setDefaultTimeout(30_000)
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('framenavigated', () => (connection = Promise.withResolvers()))
    page.on('console', (message) => message.text() === '[vite] connected.' && connection.resolve())
  },
  { timeout: startMillisecondsMax },
)

after(async () => {
  await browser.close()
  const closed = once(development, 'close')
  // Every process that npm has started.
  if (development.pid !== undefined) process.kill(-development.pid, 'SIGTERM')
  await closed
  await service.close()
  await rm(copy, { recursive: true })
})

/** Copies what `npm run dev` reads. The copy has the dependencies of this repository, and its own packages. */
async function copyRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-development-'))
  const isLeftOut = (path: string) => /(^|\/)(node_modules|test|testing)$|^web\/dist$/.test(relative(root, path))
  for (const name of ['server', 'web', 'docs', 'keys', 'saml', 'protocol', 'tools', 'package.json', 'tsconfig.json'])
    await cp(join(root, name), join(folder, name), { recursive: true, filter: (path) => !isLeftOut(path) })
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@countersign'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules')))
    if (!['@countersign', '.cache'].includes(name)) await symlink(join(root, 'node_modules', name), join(modules, name))
  for (const name of ['keys', 'saml', 'protocol']) await symlink(`../../${name}`, join(modules, '@countersign', name))
  return folder
}

/** Resolves when a stream has contained these words. */
async function readUntil(stream: Readable, words: string): Promise<void> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(words)) return void stream.resume()
  }
  throw new Error(`The process ended: ${text}`)
}

/** Edits a file of the copy, waits until the page shows it, and returns the milliseconds that took. */
async function edit(path: string, change: (text: string) => string, isDrawn: () => Promise<unknown>): Promise<number> {
  await connection.promise
  // A watcher takes two changes of a file within a few milliseconds for one.
  await setTimeout(pauseMilliseconds)
  const file = join(copy, path)
  const text = await readFile(file, 'utf8')
  const changed = change(text)
  assert.ok(changed !== text, `nothing to change in ${path}`)
  // As editors store it: a watcher never reads a file that is empty or incomplete.
  const draft = join(copy, 'draft')
  await writeFile(draft, changed)
  const startedAt = performance.now()
  await rename(draft, file)
  await isDrawn()
  return performance.now() - startedAt
}

/** Returns the milliseconds until the page is drawn again after the user reloads it. */
async function reload(): Promise<number> {
  const startedAt = performance.now()
  await page.reload({ waitUntil: 'commit' })
  await page.locator('h1').waitFor()
  return performance.now() - startedAt
}

/**
 * Edits several times, and reloads after each edit: a machine that is slow or busy for a while is so for both. Asserts
 * the ratio of the shortest times. `once` returns the milliseconds until an edit was drawn.
 */
async function assertQuick(
  t: { diagnostic: (message: string) => void },
  once: (round: number) => Promise<number>,
): Promise<void> {
  const drawn: number[] = []
  const reloaded: number[] = []
  for (let round = 1; round <= edits; round++) {
    drawn.push(await once(round))
    reloaded.push(await reload())
  }
  const [edit, whole] = [drawn, reloaded].map((milliseconds) => Math.min(...milliseconds)) as [number, number]
  t.diagnostic(`drawn after ${Math.round(edit)} ms, reloaded in ${Math.round(whole)} ms`)
  assert.ok(edit < whole * reloadsMax, `${edit} ms after an edit, ${whole} ms after a reload`)
}

const heading = (text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor()

test('npm run dev shows a page under the policy of the product, with a nonce for styles', async () => {
  const response = await page.goto(`${service.authUrl}/login`)
  await heading('Sign in')
  const policy = (await response?.allHeaders())?.['content-security-policy'] ?? ''
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]{24}';/)
  assert.notEqual(
    await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
    'rgba(0, 0, 0, 0)',
  )
})

test('npm run dev draws an edited component within the time of four reloads', async (t) => {
  await assertQuick(t, (round) =>
    edit(
      'web/pages/login/Login.tsx',
      (text) => text.replace(/<h1>\{words\.title\}.*?<\/h1>/, `<h1>{words.title} ${round}</h1>`),
      () => heading(`Sign in ${round}`),
    ),
  )
})

test('npm run dev draws an edited message within the time of four reloads', async (t) => {
  await assertQuick(t, (round) =>
    edit(
      'web/locales/en/register.ts',
      (text) => text.replace(/(login: \{\n\s+title: )'.*'/, `$1'Welcome ${round}'`),
      () => heading(`Welcome ${round} ${edits}`),
    ),
  )
})

/** Whether the style with this value applies in the page. */
const isEdited = (value: string) => getComputedStyle(document.documentElement).getPropertyValue('--edited') === value

test('npm run dev draws an edited style within the time of four reloads, without a reload', async (t) => {
  await assertQuick(t, async (round) => {
    await page.evaluate(() => Reflect.set(globalThis, 'isSameDocument', true))
    const drawn = await edit(
      'web/components/theme.css',
      (text) => `${text}\n:root {\n  --edited: ${round};\n}\n`,
      () => page.waitForFunction(isEdited, String(round)),
    )
    assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'isSameDocument')), true)
    return drawn
  })
})

test('npm run dev reloads a page after an edit of the server', async () => {
  await edit(
    'server/platform/http/page.ts',
    (text) => text.replace('<meta name="viewport"', '<meta name="edited">\n<meta name="viewport"'),
    () => page.waitForSelector('meta[name="edited"]', { state: 'attached', timeout: 30_000 }),
  )
})

const narrow = { width: 320, height: 740 }
const wide = { width: 1280, height: 800 }

test('npm run dev shows every component at /design: accessible, and within the narrowest window', async () => {
  await page.goto(`${service.authUrl}/design`)
  await page.locator('.rail-list a').first().waitFor()
  for (const part of await page.locator('.rail-list a').all()) {
    await page.setViewportSize(wide)
    await part.click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      assert.deepEqual(await findBarriers(page), [])
    }
    await page.setViewportSize(narrow)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0)
  }
  await page.setViewportSize(wide)
})

test('npm run dev shows the help pages in their styles, with pictures and search', async () => {
  await page.goto(`${service.authUrl}/help/benchmarks`)
  const picture = page.getByRole('img').first()
  await loadPicture(picture)
  const family = await page.evaluate(() => getComputedStyle(document.body).fontFamily)
  assert.match(family, /Geist/)
  await page.getByRole('combobox', { name: 'Search help' }).fill('passkey')
  await page.getByRole('option').first().waitFor()
})

test('a menu opens and closes by the keyboard, and returns the focus to its button', async () => {
  await page.goto(`${service.authUrl}/design`)
  const button = page.locator('[data-action="account-menu"]')
  const signOut = page.locator('[data-action="sign-out"]')
  await button.press('Enter')
  await signOut.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await signOut.waitFor({ state: 'hidden' })
  await page.locator('[data-action="account-menu"]:focus').waitFor()
})

test('npm run dev breaks no policy of the page', () => {
  assert.deepEqual(
    complaints.filter((text) => /Content Security Policy|Refused to/.test(text)),
    [],
  )
})

test('npm run dev serves no file outside the sources of the pages', async () => {
  for (const path of ['package.json', 'server/main.ts', 'data/admin-token']) {
    const { status } = await fetch(`${service.authUrl}/assets/@fs${join(copy, path)}?raw`)
    assert.ok([403, 404].includes(status), `${path}: ${status}`)
  }
})
