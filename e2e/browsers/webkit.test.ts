import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStageWithoutBrowser } from '../fixtures/environment.ts'
import { words } from '../pages/words.ts'
import { createOwner, listPublicPages, type ExpectedPage, type Stage } from './every-page.ts'
import { callOf } from './in-page.ts'
import { launchWebKit, type WebKit } from './webkit.ts'

let stage: Stage
let webkit: WebKit
before(async () => {
  // Without a mail server, as on the computer of a developer, who reads mails on a page.
  ;[stage, webkit] = await Promise.all([openStageWithoutBrowser({ SMTP_URL: '', MAIL_FROM: '' }), launchWebKit()])
})
after(async () => {
  await webkit.close()
  await stage.close()
})

async function expectNoFaults(pages: ExpectedPage[]): Promise<void> {
  const found: Record<string, string[]> = {}
  for (const [url, heading] of pages) {
    const faults = await webkit.visit(url, heading)
    if (faults.length > 0) found[url] = faults
  }
  assert.deepEqual(found, {})
}

test('a visitor opens every page without an error', () => expectNoFaults(listPublicPages(stage)))

test('a user with an organization and an app opens every page without an error', async () => {
  const { token, pages } = await createOwner(stage)
  await webkit.open(`${stage.service.authUrl}/help`)
  await webkit.addCookie({ name: 'countersign', value: token, httpOnly: true })
  await expectNoFaults(pages)
})

test('an error of a page and a violation of its policy would have been noticed', async () => {
  assert.deepEqual(await webkit.visit(`${stage.service.authUrl}/help`, words.frame.help), [])
  await webkit.execute(callOf(plantFaults), [])
  const faults = (await webkit.until(findFourFaults)).join('\n')
  for (const expected of [
    /planted/,
    /rejected: Error: forgotten/,
    /policy: script-src-elem inline/,
    /not loaded: <script/,
  ])
    assert.match(faults, expected)
})

function plantFaults(): void {
  const [inline, missing] = [document.createElement('script'), document.createElement('script')]
  inline.textContent = 'document.title = "run"'
  missing.src = '/assets/missing.js'
  document.body.append(inline, missing)
  setTimeout(() => {
    throw new Error('planted')
  })
  void Promise.reject(new Error('forgotten'))
}

function findFourFaults(): string[] | undefined {
  const faults: string[] = Reflect.get(globalThis, 'faults')
  return faults.length === 4 ? faults : undefined
}
