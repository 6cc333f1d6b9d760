import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { words as en } from '../../pages/words.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { PersonOptions, Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { forEachViewport, windowOfAll, type Window } from '../../fixtures/windows.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: KeyedApp
let approvals: SigningApp
before(async () => {
  stage = await openStage()
  app = await openKeyedApp(stage.service)
  approvals = await openSigningApp(stage.service)
})
after(async () => {
  await approvals.close()
  await app.close()
  await stage.close()
})

/** Another browser of the same user, with a copy of their passkey that cannot unlock the keys. */
async function takeAlong(person: Person, manner: PersonOptions = {}): Promise<Person> {
  const elsewhere = await stage.invite(manner)
  await elsewhere.authenticator.take(await person.authenticator.credentials())
  return elsewhere
}

/** Performs a complete approval; returns the code that the user transferred. */
async function approve(person: Person, elsewhere: Person): Promise<string> {
  const [code, confirmation] = await send(person, elsewhere)
  await elsewhere.write('confirmation', confirmation)
  await elsewhere.press('unlock')
  return code
}

const symmetricKeyIn = (fragment: string): string => {
  const { appKey } = keyIn(fragment)
  assert.ok(appKey.mode === 'symmetric')
  return Buffer.from(appKey.key).toString('base64')
}
const accountOf = (person: Person) => person.page.goto(`${stage.service.authUrl}/account`)
const codeOn = async ({ page }: Person) =>
  (await page.locator('output[name="deviceCode"]').innerText()).replaceAll(/\s/g, '')

/**
 * A synced passkey does not count its uses; the virtual one does, and a lower count would look like a copy. So it is
 * used as often here.
 */
const catchUp = ({ page }: Person) =>
  page.evaluate(async () => {
    for (let uses = 0; uses < 8; uses += 1)
      await navigator.credentials.get({
        publicKey: { challenge: new Uint8Array(32), rpId: location.hostname, userVerification: 'required' },
      })
  })

/** Types the digits of one device on the other; returns them, and the digits for the opposite direction. */
async function send(person: Person, elsewhere: Person): Promise<[string, string]> {
  await accountOf(person)
  await catchUp(person)
  await person.press('look-at-devices')
  await person.press('approve-device')
  const code = await codeOn(elsewhere)
  await person.write('deviceCode', code)
  // Screen readers announce what appears in a region that was there before.
  const announced = await person.page.locator('section.step > [role="status"]').elementHandle()
  await person.press('unlock')
  await elsewhere.page.locator('input[name="confirmation"]').waitFor()
  await person.page.locator('section.step :is(h1, h2):focus').waitFor()
  assert.ok(await announced?.$('output[name="deviceCode"]'))
  return [code, await codeOn(person)]
}

test('a browser is unlocked from another: an app gets the same key there, and it can sign', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.page.goto(app.signInUrl())
  await ada.press('approve')
  const key = symmetricKeyIn((await app.answerIn(ada.page)).fragment)

  const elsewhere = await takeAlong(ada)
  await elsewhere.page.goto(app.signInUrl())
  await elsewhere.press('unlock')
  await elsewhere.press('ask-device')
  const code = await approve(ada, elsewhere)
  assert.equal(symmetricKeyIn((await app.answerIn(elsewhere.page)).fragment), key)

  // Unlocked for that one page: the next requires it again.
  const { identities } = await ada.call(stage.service.baseUrl, 'GET /api/auth/session')
  const payload = 'Pay 40 euros'
  const { requestId } = await approvals.ask({ identityId: identities[0]?.identityId ?? '', payload })
  await elsewhere.page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  // This passkey is used before the other copy, but sent after it. A synced one counts no uses.
  const copies = await ada.authenticator.credentials()
  await elsewhere.authenticator.catchUp(copies.map((copy) => ({ ...copy, signCount: copy.signCount + 100 })))
  await elsewhere.press('sign')
  await elsewhere.press('ask-device')
  await ada.authenticator.useOnce()
  const other = await approve(ada, elsewhere)
  await elsewhere.page.getByRole('heading', { name: en.sign.ends.signed }).waitFor()
  assert.equal(approvals.accepts(await approvals.read(requestId), payload), true)
  const sent = (await Promise.all([ada.sent(), elsewhere.sent()])).flat().map(({ url, body }) => `${url}\n${body}`)
  for (const each of sent) for (const digits of [code, other]) assert.equal(each.includes(digits), false)
  await elsewhere.leave()
  await ada.leave()
})

test('DEV-13 three wrong codes unlock nothing, and the device can request approval again', async () => {
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  const elsewhere = await takeAlong(bob)
  await elsewhere.page.goto(app.signInUrl())
  await elsewhere.press('approve')
  await elsewhere.press('ask-device')
  await accountOf(bob)
  await bob.press('look-at-devices')
  await bob.press('approve-device')
  const code = await codeOn(elsewhere)
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  await bob.write('deviceCode', '12345')
  await bob.press('unlock')
  await bob.page.getByText(en.devices.malformed).waitFor()
  for (const left of [2, 1]) {
    await bob.write('deviceCode', wrong)
    await bob.press('unlock')
    await bob.page.getByText(en.devices.wrong(left)).waitFor()
  }
  await bob.write('deviceCode', wrong)
  await bob.press('unlock')
  await bob.page.getByText(en.devices.ends['wrong digits']).waitFor()
  await elsewhere.page.getByText(en.devices.askEnds.refused).waitFor()
  const given = (await bob.sent()).filter(({ url }) => url.endsWith('/wrap'))
  assert.deepEqual(given, [], 'no key has left the approving device')

  await elsewhere.press('ask-device')
  await approve(bob, elsewhere)
  assert.ok(symmetricKeyIn((await app.answerIn(elsewhere.page)).fragment))
  await elsewhere.leave()
  await bob.leave()
})

test('DEV-14 a key that is not confirmed by the digits of the user’s other device is rejected', async () => {
  const dan = await stage.enroll({ handle: 'dan', displayName: 'Dan' })
  const elsewhere = await takeAlong(dan)
  await elsewhere.page.goto(app.signInUrl())
  await elsewhere.press('approve')
  await elsewhere.press('ask-device')
  const [, confirmation] = await send(dan, elsewhere)
  const wrong = String((Number(confirmation) + 1) % 100).padStart(2, '0')
  for (const left of [2, 1]) {
    await elsewhere.write('confirmation', wrong)
    await elsewhere.press('unlock')
    await elsewhere.page.getByText(en.devices.wrong(left)).waitFor()
  }
  await elsewhere.write('confirmation', wrong)
  await elsewhere.press('unlock')
  await elsewhere.page.getByText(en.devices.askEnds.altered).waitFor()
  const taken = (await elsewhere.sent()).filter(({ url }) => url.endsWith('/take'))
  assert.deepEqual(taken, [])
  await elsewhere.leave()
  await dan.leave()
})

test('DEV-14 an attacker with a session who approves first plants no key: there are no digits to type', async () => {
  const fay = await stage.enroll({ handle: 'fay', displayName: 'Fay' })
  const elsewhere = await takeAlong(fay)
  await catchUp(fay)
  const thief = await takeAlong(fay)
  await elsewhere.page.goto(app.signInUrl())
  await elsewhere.press('approve')
  await thief.page.goto(app.signInUrl())
  await thief.control('approve').waitFor()
  const created = elsewhere.page.waitForResponse((response) => response.status() === 201)
  await elsewhere.press('ask-device')
  await created

  const url = `${stage.service.baseUrl}/api/account/device-approvals`
  const headers = { origin: stage.service.authUrl }
  const list = await thief.context.request.get(url, { headers })
  const { approvalId } = (await list.json()).devices[0]
  const { x } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
  const answered = await thief.context.request.post(`${url}/${approvalId}/answer`, { headers, data: { publicKey: x } })
  assert.equal(answered.status(), 204)
  await codeOn(elsewhere)
  const sent = await thief.context.request.post(`${url}/${approvalId}/wrap`, {
    headers,
    data: { ciphertext: 'theirs' },
  })
  assert.equal(sent.status(), 204)
  await elsewhere.page.locator('input[name="confirmation"]').waitFor()

  await fay.page.goto(`${stage.service.authUrl}/account/sessions`)
  await fay.page.getByRole('heading', { name: account.security.title }).waitFor()
  assert.equal(await fay.control('approve-device').count(), 0)
  assert.deepEqual(
    (await elsewhere.sent()).filter((each) => each.url.endsWith('/take')),
    [],
  )
  await thief.leave()
  await elsewhere.leave()
  await fay.leave()
})

test('a cancelled device approval disappears; a denied one is reported', async () => {
  const cal = await stage.enroll({ handle: 'cal', displayName: 'Cal' })
  const elsewhere = await takeAlong(cal)
  await elsewhere.page.goto(app.signInUrl())
  await elsewhere.press('approve')
  await elsewhere.press('ask-device')
  await accountOf(cal)
  await cal.press('look-at-devices')
  await cal.press('refuse-device')
  await cal.control('refuse-device').waitFor({ state: 'detached' })
  await elsewhere.page.getByText(en.devices.askEnds.refused).waitFor()

  await elsewhere.press('ask-device')
  await accountOf(cal)
  await cal.press('look-at-devices')
  await cal.press('approve-device')
  await codeOn(elsewhere)
  await cal.page.locator('input[name="deviceCode"]').waitFor()
  await elsewhere.press('use-code')
  await elsewhere.page.locator('input[name="recoveryCode"]').waitFor()
  await cal.write('deviceCode', '123456')
  await elsewhere.leave()
  await cal.leave()
})

test('device approval is not offered without a passkey that unlocks keys', async () => {
  const eve = await stage.invite({ prf: false })
  await eve.page.goto(`${stage.service.authUrl}/register`)
  await eve.createAccount({ handle: 'eve', displayName: 'Eve' })
  await eve.press('confirm-recovery-saved')
  await eve.page.waitForURL(/\/account/)
  await eve.page.goto(app.signInUrl())
  await eve.press('approve')
  await eve.page.locator('input[name="recoveryCode"]').waitFor()
  assert.equal(await eve.control('ask-device').count(), 0)
  await eve.leave()
})

const windows: Window[] = [
  windowOfAll,
  ...forEachViewport({ colorScheme: 'dark', width: 1280, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'dark', width: 360, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'light', width: 1280, locale: 'en-GB' }),
]

for (const [index, { colorScheme, width, locale, also }] of windows.entries())
  test(`both devices are accessible and stable: ${colorScheme}, ${width} pixels, ${locale}`, async () => {
    const language = locale.slice(0, 2)
    const manner = { colorScheme, locale, viewport: { width, height: 740 } }
    const person = await stage.invite(manner)
    await person.page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle: `walker-${index}`, displayName: 'Ada Lovelace' })
    await person.press('confirm-recovery-saved')
    await person.page.waitForURL(/\/account/)
    const elsewhere = await takeAlong(person, manner)
    const watched = { language, shown: { colorScheme, width }, ...(also && { also }) }
    const here = await watch(person, watched)
    const there = await watch(elsewhere, watched)
    const look = ({ look: take }: typeof here, name: string) => take(`device-${name}`)

    await accountOf(person)
    await elsewhere.page.goto(app.signInUrl())
    await elsewhere.press('approve')
    await elsewhere.control('ask-device').waitFor()
    await look(there, 'enter-code')
    await elsewhere.press('ask-device')
    await elsewhere.page.locator('.hint').waitFor()
    await look(there, 'ask')
    await person.control('look-at-devices').waitFor()
    await look(here, 'knock')
    await person.press('look-at-devices')
    await look(here, 'waiting')
    await person.press('approve-device')
    await codeOn(elsewhere)
    await look(there, 'code')
    await person.page.locator('input[name="deviceCode"]').waitFor()
    await look(here, 'compare')
    await person.write('deviceCode', '1')
    await person.press('unlock')
    await person.page.locator('[aria-invalid="true"]').waitFor()
    await look(here, 'malformed')
    await person.press('cancel')
    await elsewhere.page.locator('.problem').waitFor()
    await look(there, 'refused')
    await elsewhere.press('ask-device')
    await catchUp(person)
    await person.press('approve-device')
    await person.write('deviceCode', await codeOn(elsewhere))
    await person.press('unlock')
    await person.control('done').waitFor()
    await look(here, 'sent')
    await elsewhere.page.locator('input[name="confirmation"]').waitFor()
    await look(there, 'confirm')
    await elsewhere.write('confirmation', await codeOn(person))
    await elsewhere.press('unlock')
    await app.answerIn(elsewhere.page)
    assert.deepEqual([here.faults, there.faults], [[], []])
    await elsewhere.leave()
    await person.leave()
  })
