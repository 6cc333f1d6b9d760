import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { fakeLog, leafAt, noteOf, type FakeLog } from '../../../protocol/src/formats/self-record/test/fake-service.ts'
import { testKey, type TestKey } from '../../../protocol/src/formats/signing/test/key-chain.ts'
import { keyNoticesMessages as words } from '../../../web/locales/en/pages/key-notices.ts'
import { words as en } from '../../pages/words.ts'
import { openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { altered, serveLog } from '../../fixtures/lying-log.ts'
import type { Person } from '../../fixtures/person.ts'
import { createDemonstration } from '../../fixtures/signing-keys.ts'
import { readMemory, writeMemory } from '../../fixtures/device-memory.ts'
import { tabTo } from '../../fixtures/windows.ts'

let stage: TestEnvironment
let app: KeyedApp
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openKeyedApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

const thief = testKey('thief')
const record = '**/api/account/self-record'
const keys = '**/api/signing/keys'
const histories = '**/api/transparency/identities/*'
let count = 0

async function enroll() {
  count += 1
  return stage.enroll({ handle: `ada-${count}`, displayName: 'Ada' })
}

/** Requests that were not signed: a user has few pending ones of an app that they have not connected. */
const pending = new Map<string, string>()

/** Opens a demonstration request and presses the button that unlocks the keys and signs. */
async function sign(person: Person, handle = `ada-${count}`): Promise<void> {
  const requestId = pending.get(handle) ?? (await createDemonstration(stage.service, handle))
  pending.set(handle, requestId)
  await person.page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await person.press('sign')
}

async function signWell(person: Person, handle = `ada-${count}`): Promise<void> {
  await sign(person, handle)
  await person.page.getByRole('heading', { name: en.sign.ends.signed }).waitFor()
  pending.delete(handle)
}

/** Connects an app that gets a key. */
async function connect(person: Person): Promise<void> {
  await person.page.goto(app.signInUrl())
  await person.press('approve')
  await app.answerIn(person.page)
}

/** Unlocks the keys for an app. Unlike the signing page, this depends on no clock. */
async function unlock(person: Person): Promise<void> {
  await person.page.goto(app.signInUrl())
  await person.press('unlock')
}

/** Waits for the alarm, and checks that no signature has left the browser since. */
async function expectAlarm(person: Person, code: string, signatures = 0): Promise<void> {
  await person.page.locator(`[data-alarm="${code}"]`).waitFor()
  await person.page.waitForFunction(() => document.title.startsWith(document.querySelector('h1')?.innerText ?? '-'))
  assert.equal(await signaturesOf(person), signatures)
}

async function signaturesOf(person: Person): Promise<number> {
  const sent = await person.sent()
  return sent.filter(({ url, body }) => /\/requests\/[^/]+\/(sign|approve)$/.test(url) && body.length > 0).length
}

async function identityOf(person: Person): Promise<{ identityId: string; publicKey: string }> {
  const { keys: listed } = await person.call(stage.service.baseUrl, 'GET /api/signing/keys')
  assert.ok(listed[0])
  return listed[0]
}

async function rotate(person: Person, handle = `ada-${count}`): Promise<void> {
  pending.delete(handle)
  await person.page.goto(`${stage.service.authUrl}/account/signing`)
  await person.press('replace-key')
  await person.press('unlock')
  await person.page.getByText(en.signing.inForce(handle)).waitFor()
}

async function recordOf(person: Person): Promise<{ sequence: number; ciphertext: string } | null> {
  return (await person.call(stage.service.baseUrl, 'GET /api/account/self-record')).record
}

/** The service names a key of its own as the current key of each identity. */
const nameKeyOfThief = altered((answer) => {
  const listed = Array.isArray(answer['keys']) ? answer['keys'] : []
  const foreign = { publicKey: thief.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  return { keys: listed.map((key: object) => ({ ...key, ...foreign })) }
})

/** A browser without memory of the user. */
async function forget({ page }: Person): Promise<void> {
  await page.goto(`${stage.service.authUrl}/account`)
  await page.evaluate(
    () => new Promise((resolve) => (indexedDB.deleteDatabase('countersign-keys').onsuccess = resolve)),
  )
}

test('SLF-30 a signing key that the service invents stops the page before it signs, with evidence', async () => {
  const ada = await enroll()
  await ada.page.route(keys, nameKeyOfThief)
  await sign(ada)
  await expectAlarm(ada, 'foreign_key')
  await ada.page.getByRole('alert').getByText(words.nothingDone).waitFor()
  await tabTo(ada.control('save-evidence'))
  const [download] = await Promise.all([ada.page.waitForEvent('download'), ada.page.keyboard.press('Enter')])
  const evidence = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.equal(evidence.code, 'foreign_key')
  assert.equal(evidence.publicKey, thief.publicKey)
  const kept = await ada.page.evaluate(() => {
    const { promise, resolve } = Promise.withResolvers<unknown[]>()
    const opening = indexedDB.open('countersign-keys')
    opening.onsuccess = () => {
      const all = opening.result.transaction('evidence').objectStore('evidence').getAll()
      all.onsuccess = () => resolve(all.result)
    }
    return promise
  })
  assert.deepEqual(
    kept.map((each) => JSON.parse(String(each))),
    [evidence],
  )
  await ada.leave()
})

test('SLF-31 a lying log stops the page: foreign rotation, missing leaf, second chain, fork, other key', async () => {
  const ada = await enroll()
  const { identityId, publicKey } = await identityOf(ada)
  const own: TestKey = { ...thief, publicKey }
  const leaf = leafAt(1, own, { of: identityId })
  const honest = fakeLog(leaf)
  let served: { log: FakeLog; earlier: FakeLog[] } = { log: honest, earlier: [] }
  await serveLog(ada.page, () => served)
  await signWell(ada)

  const rotated = leafAt(2, thief, { of: identityId, before: leaf, proofs: { possession: thief } })
  const second = leafAt(1, thief, { of: identityId, proofs: { possession: thief } })
  const forked = { ...honest, leaves: ['another leaf', leaf] }
  const lies: Record<string, [FakeLog, FakeLog[]]> = {
    foreign_key: [fakeLog(leaf, rotated), [honest]],
    version_twice: [fakeLog(leaf, second), [honest]],
    log_forked: [forked, []],
    other_log_key: [{ ...honest, signer: thief }, []],
  }
  for (const [code, [log, earlier]] of Object.entries(lies)) {
    served = { log, earlier }
    await sign(ada)
    await expectAlarm(ada, code, 1)
  }
  served = { log: fakeLog(leaf, 'an unrelated leaf'), earlier: [honest] }
  await ada.page.route(histories, async (route) => {
    await route.fulfill({ json: { checkpoint: noteOf(served.log), events: [], nextStart: null } })
  })
  await sign(ada)
  await expectAlarm(ada, 'leaf_missing', 1)
  await ada.page.unroute(histories)
  await signWell(ada)
  await ada.leave()
})

test('SLF-31 a key that the log does not contain after a day stops the page', async () => {
  const ada = await enroll()
  await serveLog(ada.page, () => ({ log: fakeLog(), earlier: [] }))
  await connect(ada)
  await signWell(ada)
  await ada.page.clock.setFixedTime(Date.now() + 25 * 3600 * 1000)
  await unlock(ada)
  await expectAlarm(ada, 'promise_overdue', 1)
  await ada.leave()
})

test('SLF-32 a self-record that is withheld, replayed or damaged stops the page', async () => {
  const ada = await enroll()
  await signWell(ada)
  const old = await recordOf(ada)
  await rotate(ada)
  const answers: Record<string, object> = {
    record_missing: { record: null },
    record_replayed: { record: old },
    record_damaged: { record: { sequence: 9, ciphertext: 'a.b.c.d.e' } },
  }
  for (const [code, answer] of Object.entries(answers)) {
    await ada.page.route(record, (route) => route.fulfill({ json: answer }))
    await sign(ada)
    await expectAlarm(ada, code, 1)
    await ada.page.unroute(record)
  }
  await forget(ada)
  await ada.page.route(record, (route) => route.fulfill({ json: answers['record_missing'] }))
  await sign(ada)
  await expectAlarm(ada, 'record_missing', 1)
  await ada.leave()
})

test('SLF-33 no app gets a key after an alarm, at sign-in and at consent', async () => {
  const ada = await enroll()
  await connect(ada)
  await ada.page.route(record, (route) => route.fulfill({ json: { record: null } }))
  await unlock(ada)
  await ada.page.locator('[data-alarm="record_missing"]').waitFor()
  await ada.context.clearCookies()
  await ada.page.goto(app.signInUrl())
  await ada.page.locator('[data-alarm="record_missing"]').waitFor()
  assert.ok(ada.page.url().startsWith(stage.service.authUrl))
  const sent = await ada.sent()
  assert.equal(sent.filter(({ url }) => url.endsWith('/api/oauth/authorize')).length, 1)
  await ada.leave()
})

test('SLF-34 a browser whose record was overtaken checks again, and loses nothing', async () => {
  const ada = await enroll()
  await signWell(ada)
  let refused = 0
  await ada.page.route(record, async (route) => {
    if (route.request().method() !== 'PUT' || refused > 0) return route.continue()
    refused += 1
    await route.fulfill({ status: 409, json: { error: 'self_record_changed', error_description: '' } })
  })
  const before = await recordOf(ada)
  await rotate(ada)
  assert.equal(refused, 1)
  assert.ok(((await recordOf(ada))?.sequence ?? 0) > (before?.sequence ?? 0))
  await signWell(ada)
  await ada.leave()
})

test('SLF-40 a key that another browser makes during a check raises no alarm, and is shown', async () => {
  const ada = await enroll()
  await signWell(ada)
  const other = await stage.invite()
  await other.context.addCookies(await ada.context.cookies())
  await other.page.goto(`${stage.service.authUrl}/account/signing`)
  // Before the check, which waits for 15 seconds only.
  await other.authenticator.take(await ada.authenticator.credentials())
  await other.press('replace-key')
  await other.press('unlock')
  await other.write('recoveryCode', ada.code)
  await ada.authenticator.useOnce()
  await connect(ada)
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await ada.page.route(histories, async (route) => {
    reached.resolve()
    await released.promise
    await route.continue()
  })
  await unlock(ada)
  await reached.promise
  await other.press('unlock')
  await other.page.getByText(en.signing.inForce(`ada-${count}`)).waitFor()
  released.resolve()
  await ada.page.getByText(words.changes.replaced(`ada-${count}`)).waitFor()
  await ada.press('known-change')
  await app.answerIn(ada.page)
  await Promise.all([ada.leave(), other.leave()])
})

test('SLF-41 a service that shows a foreign key once, and then not again or nothing, stops the page', async () => {
  const ada = await enroll()
  const { identityId, publicKey } = await identityOf(ada)
  const leaf = leafAt(1, { ...thief, publicKey }, { of: identityId })
  const honest = fakeLog(leaf)
  const lie = fakeLog(leaf, leafAt(2, thief, { of: identityId, before: leaf, proofs: { possession: thief } }))
  let [looks, isAnswered] = [0, true]
  const lyingLook = 1
  await serveLog(ada.page, () => ({ log: looks === lyingLook ? lie : honest, earlier: [honest] }))
  await signWell(ada)
  await ada.page.route(histories, async (route) => {
    looks += 1
    if (isAnswered || looks === lyingLook) return route.fallback()
    await route.fulfill({ status: 401, json: { error: 'authentication_required', error_description: '' } })
  })
  for (isAnswered of [true, false]) {
    looks = 0
    await sign(ada)
    await expectAlarm(ada, 'foreign_key', 1)
    assert.equal(looks, 2)
  }
  await ada.leave()
})

test('SLF-35 a rotation whose record was not stored is recognized, also by a browser without memory', async () => {
  const ada = await enroll()
  await signWell(ada)
  for (const isForgotten of [false, true]) {
    await ada.page.route(record, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
    await rotate(ada)
    await ada.page.unroute(record)
    if (isForgotten) await forget(ada)
    const before = await recordOf(ada)
    await signWell(ada)
    assert.equal((await recordOf(ada))?.sequence, (before?.sequence ?? 0) + 1)
  }
  await ada.leave()
})

test('SLF-36 a log that does not answer is noted for a day, and then stops the page', async () => {
  const ada = await enroll()
  await connect(ada)
  await ada.page.route('**/api/transparency/**', (route) => route.abort())
  await signWell(ada)
  await ada.page.getByRole('status').getByText(words.unchecked).waitFor()
  await ada.page.route(keys, nameKeyOfThief)
  await sign(ada)
  await expectAlarm(ada, 'foreign_key', 1)
  await ada.page.unroute(keys)
  await ada.page.clock.setFixedTime(Date.now() + 23 * 3600 * 1000)
  await unlock(ada)
  await app.answerIn(ada.page)
  await ada.page.clock.setFixedTime(Date.now() + 25 * 3600 * 1000)
  await unlock(ada)
  await expectAlarm(ada, 'log_unreachable', 1)
  await ada.page.unroute('**/api/transparency/**')
  await unlock(ada)
  await app.answerIn(ada.page)
  assert.equal(await ada.page.getByText(words.unchecked).count(), 0)
  await ada.leave()
})

/** Creates an account as a client of the interface does that stores no record and proves no key. */
async function enrollByClient(handle: string): Promise<Person> {
  const ada = await stage.invite()
  await ada.page.route('**/api/auth/register/finish', async (route) => {
    const { selfRecord: _record, signingKey, ...body } = route.request().postDataJSON()
    const { possession: _possession, ...key } = signingKey
    await route.continue({ postData: { ...body, signingKey: key } })
  })
  await ada.page.goto(`${stage.service.authUrl}/register`)
  await ada.createAccount({ handle, displayName: 'Cleo' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  assert.equal(await recordOf(ada), null)
  return ada
}

test('SLF-37 a user of another client, without proofs and record, gets a record at the first unlock', async () => {
  const ada = await enrollByClient('client-user')
  await signWell(ada, 'client-user')
  assert.equal((await recordOf(ada))?.sequence, 1)
  await signWell(ada, 'client-user')
  await ada.leave()
})

test('SLF-37 with an old session a user signs without a record, and proves the key once there is one', async () => {
  const ada = await enrollByClient('old-session')
  const sent = async (path: string) => (await ada.sent()).filter(({ url }) => url.endsWith(path)).length
  let isOld = true
  await ada.page.route(record, (route) => {
    if (route.request().method() !== 'PUT' || !isOld) return route.continue()
    const json = { error: 'reauthentication_required', error_description: 'Authenticate again.' }
    return route.fulfill({ status: 403, json })
  })
  await signWell(ada, 'old-session')
  assert.equal(await recordOf(ada), null)
  assert.equal(await sent('/adoption'), 0)
  await forget(ada)
  await signWell(ada, 'old-session')
  isOld = false
  await signWell(ada, 'old-session')
  assert.equal((await recordOf(ada))?.sequence, 1)
  assert.equal(await sent('/adoption'), 1)
  await forget(ada)
  await signWell(ada, 'old-session')
  await ada.leave()
})

test('SLF-38 a device tells of a key that it has not made, and stops if the user has not either', async () => {
  const ada = await enroll()
  await signWell(ada)
  // What the device remembers is from before the rotation, as if another device had made the key.
  const memory = await readMemory(ada)
  await rotate(ada)
  await writeMemory(ada, memory)
  await sign(ada)
  const dialog = ada.page.getByRole('dialog', { name: words.changes.title })
  await dialog.getByText(words.changes.replaced(`ada-${count}`)).waitFor()
  await ada.page.keyboard.press('Escape')
  assert.equal(await dialog.isVisible(), true)
  await ada.press('unknown-change')
  await expectAlarm(ada, 'unknown_change', 1)
  await sign(ada)
  await ada.press('known-change')
  await ada.page.getByRole('heading', { name: en.sign.ends.signed }).waitFor()
  pending.clear()
  await signWell(ada)
  await ada.leave()
})
