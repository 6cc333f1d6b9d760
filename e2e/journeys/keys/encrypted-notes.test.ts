import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { openExample } from '../../fixtures/guide.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { PersonOptions, Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let directory: string
let app: Awaited<ReturnType<typeof openExample>>
before(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../sdk/build.ts')])
  directory = await mkdtemp(join(tmpdir(), 'countersign-notes-'))
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openExample(stage.service, 'encrypted-notes', { NOTES_FILE: join(directory, 'notes.json') })
})
after(async () => {
  await app?.close()
  await stage.close()
  await rm(directory, { recursive: true })
})

const readStore = () => readFile(join(directory, 'notes.json'), 'utf8')
const noteWith = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text })

/** Goes from the page of the app to the sign-in page and back, with the required clicks. */
async function signIn({ page, press }: Person, presses: string[]) {
  await page.goto(app.origin)
  await page.getByRole('button', { name: 'Sign in with Countersign' }).click()
  for (const action of presses) await press(action)
  await page.getByLabel('New note').waitFor()
  assert.equal(page.url(), `${app.origin}/`)
}

/** A user who has signed in to the app, and the code that unlocks their keys. */
async function enroll(handle: string, displayName: string, manner?: PersonOptions) {
  const person = await stage.invite(manner)
  await person.page.goto(`${stage.service.authUrl}/register`)
  const code = await person.createAccount({ handle, displayName })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  await signIn(person, ['approve'])
  return { ...person, code }
}

async function signOut({ page }: Person) {
  await page.goto(app.origin)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with Countersign' }).waitFor()
}

async function write({ page }: Person, text: string) {
  await page.getByLabel('New note').fill(text)
  await page.getByRole('button', { name: 'Save' }).click()
  await noteWith(page, text).waitFor()
}

async function share({ page }: Person, text: string, handle: string) {
  await noteWith(page, text).getByLabel('Username to share with').fill(handle)
  await noteWith(page, text).getByRole('button', { name: 'Share' }).click()
}

/** What the app's server received from this browser, and what it stores. */
async function seenByServer({ sent }: Person): Promise<string[]> {
  const requests = (await sent()).filter(({ url }) => url.startsWith(app.origin))
  return [...requests.map(({ url, headers, body }) => `${url}${JSON.stringify(headers)}${body}`), await readStore()]
}

test('a note is readable after another sign-in and in a second browser, and its server never sees it', async () => {
  const text = 'The safe behind the clock'
  const ada = await enroll('ada', 'Ada Lovelace')
  await write(ada, text)
  await ada.page.reload()
  await noteWith(ada.page, text).waitFor()

  await signOut(ada)
  await signIn(ada, ['unlock'])
  await noteWith(ada.page, text).waitFor()

  const elsewhere = await stage.invite()
  await elsewhere.authenticator.take(await ada.authenticator.credentials())
  await elsewhere.page.goto(app.origin)
  await elsewhere.page.getByRole('button', { name: 'Sign in with Countersign' }).click()
  await elsewhere.press('use-code')
  await elsewhere.write('recoveryCode', ada.code)
  await elsewhere.press('unlock')
  await noteWith(elsewhere.page, text).waitFor()

  const seen = [...(await seenByServer(ada)), ...(await seenByServer(elsewhere))]
  for (const spelling of [text, encodeURIComponent(text), ...base64Of(text)])
    for (const each of seen) assert.ok(!each.includes(spelling), `${spelling} is in ${each}`)
  for (const each of seen) assert.doesNotMatch(each, /app_key(?!_jwk)|app_public_key/)
  // What the server has instead, in a request body and in its file.
  assert.equal(seen.filter((each) => /"content": ?"[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+"/.test(each)).length, 3)
  await elsewhere.leave()
  await ada.leave()
})

test('only the recipient can decrypt a shared note', async () => {
  const [bob, cleo, eve] = [await enroll('bob', 'Bob'), await enroll('cleo', 'Cleo'), await enroll('eve', 'Eve')]
  await write(bob, 'Tea at five')
  await write(bob, 'Only mine')
  await share(bob, 'Tea at five', 'CLEO')
  await noteWith(bob.page, 'Tea at five').getByText('Shared with cleo').waitFor()
  await noteWith(bob.page, 'Only mine').getByText('Only you').waitFor()

  await cleo.page.reload()
  await noteWith(cleo.page, 'Tea at five').getByText('From Bob (bob)').waitFor()
  assert.equal(await cleo.page.getByRole('listitem').count(), 1)
  assert.equal(await cleo.page.getByRole('button', { name: 'Share' }).count(), 0)

  await eve.page.reload()
  await eve.page.getByText('Signed in as Eve').waitFor()
  assert.equal(await eve.page.getByRole('listitem').count(), 0)
  const stolen = await openWithOwnKey(eve.page, await readStore())
  assert.deepEqual(stolen, { opened: 0, tried: 3, reasons: ['decryption_failed'] })

  await share(bob, 'Only mine', 'nobody-of-that-name')
  await bob.page.getByText('Nobody with this username uses this app.').waitFor()
  await share(bob, 'Only mine', 'bob')
  await bob.page.getByText('This is your own note.').waitFor()
  for (const person of [bob, cleo, eve]) await person.leave()
})

test('a user who disconnects the app loses the key; others must confirm the new one before sharing', async () => {
  const [fay, gil] = [await enroll('fay', 'Fay'), await enroll('gil', 'Gil')]
  await write(gil, 'Gone with the key')
  await write(fay, 'First')
  await share(fay, 'First', 'gil')
  await noteWith(fay.page, 'First').getByText('Shared with gil').waitFor()

  await renewKey(gil)
  await gil.page.getByText('This note does not open').first().waitFor()
  assert.equal(await gil.page.getByText('This note does not open').count(), 2)
  const fingerprint = await gil.page.locator('#fingerprint').innerText()

  await write(fay, 'Second')
  await share(fay, 'Second', 'gil')
  const question = fay.page.getByRole('dialog', { name: 'gil has another key than before' })
  assert.equal(await question.locator('code').innerText(), fingerprint)
  await question.press('Escape')
  await fay.page.getByText('Not shared.').waitFor()
  await noteWith(fay.page, 'Second').getByText('Only you').waitFor()

  await share(fay, 'Second', 'gil')
  await question.getByRole('button', { name: 'It is: share' }).click()
  await noteWith(fay.page, 'Second').getByText('Shared with gil').waitFor()
  await gil.page.reload()
  await noteWith(gil.page, 'Second').waitFor()

  // The confirmed key is the known one from now on.
  await share(fay, 'First', 'gil')
  await fay.page.getByText('Shared with gil.').waitFor()
  await gil.page.reload()
  await noteWith(gil.page, 'First').waitFor()
  for (const person of [fay, gil]) await person.leave()
})

test('signing out leaves no key in the browser, and no script can read the bytes of a stored key', async () => {
  const hal = await enroll('hal', 'Hal')
  assert.deepEqual(await keptKeys(hal.page), ['rejected'])
  await hal.page.goBack()
  await hal.page.goForward()
  await hal.page.getByLabel('New note').waitFor()
  assert.equal(hal.page.url(), `${app.origin}/`)
  await signOut(hal)
  assert.deepEqual(await keptKeys(hal.page), [])
  await hal.leave()
})

test('the app rejects a key from a crafted link', async () => {
  const ida = await enroll('ida', 'Ida')
  await write(ida, 'Before')
  const key = `#app_key=${encodeURIComponent(Buffer.alloc(32, 1).toString('base64'))}`
  const answer = new URLSearchParams({ code: 'made-up', state: 'made-up', iss: stage.service.authUrl })
  await ida.page.goto('about:blank')
  await ida.page.goto(`${app.origin}/callback?${answer}${key}`)
  await ida.page.getByText('The sign-in response does not match a request from this tab.').waitFor()
  assert.equal(ida.page.url(), `${app.origin}/callback`)
  await ida.page.goto(`${app.origin}/${key}`)
  await noteWith(ida.page, 'Before').waitFor()
  await ida.page.reload()
  await noteWith(ida.page, 'Before').waitFor()
  await ida.leave()
})

test('a key for one user is not stored after another user has signed in', async () => {
  const [may, ben] = [await enroll('may', 'May'), await enroll('ben', 'Ben')]
  await signOut(may)
  const session = await (await ben.page.request.get(`${app.origin}/session`)).json()
  await may.page.getByRole('button', { name: 'Sign in with Countersign' }).click()
  await may.page.route(`${app.origin}/session`, (route) => route.fulfill({ json: session }))
  await may.press('unlock')
  await may.page.getByText('The key that came is not yours. Sign in again.').waitFor()
  assert.deepEqual(await keptKeys(may.page), [])
  for (const person of [may, ben]) await person.leave()
})

test('another site cannot write or delete anything, and a user nothing of another', async () => {
  const [joe, kit] = [await enroll('joe', 'Joe'), await enroll('kit', 'Kit')]
  await write(joe, 'Keep this')
  const id = await noteWith(joe.page, 'Keep this').getAttribute('data-note')
  const sealed = { version: 1, content: 'e30..YQ.YQ.YQ', keys: {} }
  const ask = async (person: Person, method: string, { origin = app.origin, draft = sealed } = {}) => {
    const cookie = (await person.context.cookies(app.origin)).map(({ name, value }) => `${name}=${value}`).join('; ')
    const body = method === 'PUT' ? JSON.stringify(draft) : null
    return (await fetch(`${app.origin}/notes/${id}`, { method, headers: { cookie, origin }, body })).status
  }
  assert.equal(await ask(joe, 'DELETE', { origin: 'https://mallory.example' }), 403)
  assert.equal(await ask(joe, 'PUT', { origin: 'https://mallory.example' }), 403)
  assert.equal(await ask(kit, 'DELETE'), 404)
  assert.equal(await ask(kit, 'PUT'), 409)

  // Neither is plaintext stored, nor more than the size limit, nor a write based on an outdated state.
  const refused = [
    { content: 'Milk' },
    { keys: { [id ?? '']: 'key' } },
    { content: `e30..YQ.${'Y'.repeat(200_000)}.YQ` },
  ]
  for (const part of refused) assert.equal(await ask(joe, 'PUT', { draft: { ...sealed, ...part } }), 400)
  assert.equal(await ask(joe, 'PUT', { draft: { ...sealed, version: 0 } }), 409)
  joe.page.on('dialog', (dialog) => void dialog.accept())
  await noteWith(joe.page, 'Keep this').getByRole('button', { name: 'Delete' }).click()
  await joe.page.getByText('Deleted.').waitFor()
  assert.equal(await joe.page.getByRole('listitem').count(), 0)
  for (const person of [joe, kit]) await person.leave()
})

test('a note crafted to break the list is shown as unreadable, and hides no other', async () => {
  const [ned, ola] = [await enroll('ned', 'Ned'), await enroll('ola', 'Ola')]
  await write(ola, 'Still here')
  const address = { baseUrl: stage.service.baseUrl, clientId: app.clientId }
  await ned.page.evaluate(async (directory) => {
    const { encrypt, encryptToUser } = await import(`${location.origin}/countersign.js`)
    const { saveNote } = await import(`${location.origin}/server.js`)
    const keyBytes = crypto.getRandomValues(new Uint8Array(32))
    const key = await crypto.subtle.importKey('raw', keyBytes, 'AES-GCM', false, ['encrypt'])
    for (const content of ['null', '{', '{}']) {
      const id = crypto.randomUUID()
      const context = `note-key:${id}`
      const { ciphertext, recipient } = await encryptToUser(directory, 'ola', keyBytes, { context })
      const sealed = await encrypt(key, content, { context: `note:${id}` })
      await saveNote({ id, version: 0, content: sealed, keys: { [recipient.identityId]: ciphertext } })
    }
  }, address)
  await ola.page.reload()
  await noteWith(ola.page, 'Still here').waitFor()
  assert.equal(await ola.page.getByText('This note does not open').count(), 3)
  for (const person of [ned, ola]) await person.leave()
})

test('the server still has its notes for their recipients after a restart', async () => {
  const { openNotes } = await import(new URL('../../../examples/encrypted-notes/notes.js', import.meta.url).href)
  const path = join(directory, 'kept.json')
  const [pam, quin] = [{ identityId: randomUUID() }, { identityId: randomUUID() }]
  const id = randomUUID()
  const draft = { version: 0, content: 'e30..YQ.YQ.YQ', keys: { [pam.identityId]: 'e30..YQ.YQ.YQ' } }
  assert.ok(openNotes(path).save(pam, id, draft))
  const again = openNotes(path)
  const [note, ...others] = again.listFor(pam)
  assert.deepEqual([note.id, note.version, note.key, others], [id, 1, 'e30..YQ.YQ.YQ', []])
  assert.deepEqual(again.listFor(quin), [])
  assert.deepEqual([again.save(quin, id, { ...draft, version: 1 }), again.remove(quin, id)], [false, false])
})

test('the pages are accessible, light and dark, on a narrow screen and by keyboard', async () => {
  const [name, friend] = ['lea-by-keyboard', 'mia-by-keyboard']
  const shown = { colorScheme: 'light', width: 320 } as const
  const mia = await enroll(friend, 'Mia')
  const lea = await stage.invite({ colorScheme: shown.colorScheme, viewport: { width: shown.width, height: 640 } })
  await lea.page.goto(`${stage.service.authUrl}/register`)
  await lea.createAccount({ handle: name, displayName: 'Lea' })
  await lea.press('confirm-recovery-saved')
  await lea.page.waitForURL(/\/account/)
  const { look, faults } = await watch(lea, { language: 'en', shown, also: { ...shown, colorScheme: 'dark' } })
  await lea.page.goto(app.origin)
  await lea.page.getByRole('button', { name: 'Sign in with Countersign' }).waitFor()
  await look('notes-welcome')
  await signIn(lea, ['approve'])
  const { keyboard } = lea.page
  for (const key of ['Tab', 'Tab']) await keyboard.press(key)
  await keyboard.type('Milk, bread, and averyveryverylongwordthatnobodyhaseverthoughtofbutmightpaste')
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await noteWith(lea.page, 'Milk').waitFor()
  for (const key of ['Tab', 'Tab']) await keyboard.press(key)
  await keyboard.type(friend)
  await keyboard.press('Enter')
  await noteWith(lea.page, 'Milk').getByText(`Shared with ${friend}`).waitFor()
  await look('notes-notebook')

  await renewKey(mia)
  await share(lea, 'Milk', friend)
  await lea.page.getByRole('dialog').waitFor()
  await look('notes-changed')
  assert.deepEqual(faults, [])
  for (const person of [mia, lea]) await person.leave()
})

/** Disconnects the app and signs in again, which gives the user another key. */
async function renewKey(person: Person) {
  await person.page.goto(`${stage.service.authUrl}/account/apps`)
  await person.press('revoke')
  await person.page.getByText(words.apps.keyLost).waitFor()
  await person.press('revoke')
  await person.page.getByText(account.apps.none).waitFor()
  await signOut(person)
  await signIn(person, ['approve'])
}

/** Tries this browser's key on everything that the server stores, as if the user had stolen it. */
async function openWithOwnKey(page: Page, store: string) {
  return page.evaluate(async (stored) => {
    const [{ openNote }, { readKey }, { readSession }] = await Promise.all([
      import(`${location.origin}/note.js`),
      import(`${location.origin}/key-store.js`),
      import(`${location.origin}/server.js`),
    ])
    const { privateKey } = await readKey((await readSession()).person.identityId)
    const notes: { owner: { handle: string }; keys: Record<string, string> }[] = JSON.parse(stored)
    const theirs = notes.filter(({ owner }) => owner.handle === 'bob')
    const tries = theirs.flatMap((note) =>
      Object.values(note.keys).map((key) => openNote({ ...note, key }, privateKey)),
    )
    const results = await Promise.allSettled(tries)
    const failed = results.filter((result) => result.status === 'rejected')
    const reasons = [...new Set(failed.map(({ reason }) => reason.code))]
    return { opened: results.length - failed.length, tried: results.length, reasons }
  }, store)
}

/** For each key that the app has stored in this browser, the result of exporting it. */
async function keptKeys(page: Page) {
  return page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('notes')
      request.addEventListener('success', () => resolve(request.result))
    })
    const request: IDBRequest<{ privateKey: CryptoKey }[]> = database.transaction('keys').objectStore('keys').getAll()
    await new Promise((resolve) => request.addEventListener('success', resolve))
    database.close()
    const reading = request.result.flatMap(({ privateKey }) =>
      (['jwk', 'pkcs8'] as const).map((format) => crypto.subtle.exportKey(format, privateKey)),
    )
    return [...new Set((await Promise.allSettled(reading)).map(({ status }) => status))]
  })
}

/** The part of a text's base64 that is the same at every position within a group. */
function base64Of(text: string): string[] {
  return [0, 1, 2].map((before) =>
    Buffer.from(' '.repeat(before) + text)
      .toString('base64')
      .slice(4, -4),
  )
}
