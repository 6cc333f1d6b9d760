import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { compactDecrypt } from 'jose'
import { parseSealedFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let app: KeyedApp
before(async () => {
  stage = await openStage()
  app = await openKeyedApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

/** Opens the app through the sign-in page, with the required clicks. */
async function visit(person: Person, presses: string[], requested: Record<string, string> = {}) {
  await person.page.goto(app.signInUrl(requested))
  for (const action of presses) await person.press(action)
  return app.answerIn(person.page)
}
const symmetricKeyIn = (fragment: string): string => {
  const { appKey } = keyIn(fragment)
  assert.ok(appKey.mode === 'symmetric')
  return Buffer.from(appKey.key).toString('base64')
}
const signOut = async ({ page, context }: Person) => {
  await page.goto('about:blank')
  await context.clearCookies()
}

test('E2E-02 a first visit creates a key, and later ones bring the same; it is in the fragment only', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const first = await visit(ada, ['approve'])
  assert.deepEqual([...first.query.keys()].toSorted(), ['code', 'iss', 'state'])
  const key = symmetricKeyIn(first.fragment)
  const tokens = await app.redeem(first.query.get('code') ?? '')
  assert.equal(tokens.status, 200)

  // Still signed in, with consent: one passkey use unlocks the key.
  const second = await visit(ada, ['unlock'])
  assert.equal(symmetricKeyIn(second.fragment), key)

  // Signed out: the passkey use that signs in unlocks the key as well.
  await signOut(ada)
  const third = await visit(ada, [])
  assert.equal(symmetricKeyIn(third.fragment), key)
  for (const each of app.received) assert.doesNotMatch(each, /app_key/)
  await ada.leave()
})

test('two identities of one user have two keys, and the same identity has one in two browsers', async () => {
  const bob = await stage.invite()
  await bob.page.goto(`${stage.service.authUrl}/register`)
  const code = await bob.createAccount({ handle: 'bob', displayName: 'Bob' })
  await bob.press('confirm-recovery-saved')
  await bob.page.waitForURL(/\/account/)
  await bob.page.goto(`${stage.service.authUrl}/account/identities`)
  await bob.press('new-identity')
  await bob.write('handle', 'robert')
  await bob.write('displayName', 'Robert')
  await bob.press('add-identity')
  await bob.page.getByRole('heading', { name: 'Robert' }).waitFor()
  const as = (handle: string) => ({ login_hint: handle })
  const keys = [await visit(bob, ['approve'], as('bob')), await visit(bob, ['approve'], as('robert'))]
  const [one, other] = keys.map(({ fragment }) => symmetricKeyIn(fragment))
  assert.notEqual(one, other)

  // A copied passkey has another PRF, so the recovery code unlocks the keys there.
  const elsewhere = await stage.invite()
  await elsewhere.authenticator.take(await bob.authenticator.credentials())
  await elsewhere.page.goto(app.signInUrl(as('bob')))
  await elsewhere.press('use-code')
  await elsewhere.write('recoveryCode', code)
  await elsewhere.press('unlock')
  assert.equal(symmetricKeyIn((await app.answerIn(elsewhere.page)).fragment), one)
  await elsewhere.leave()
  await bob.leave()
})

test('a passkey without PRF signs in, and the recovery code unlocks the key', async () => {
  const eve = await stage.invite({ prf: false })
  await eve.page.goto(`${stage.service.authUrl}/register`)
  const code = await eve.createAccount({ handle: 'eve', displayName: 'Eve' })
  await eve.press('confirm-recovery-saved')
  await eve.page.waitForURL(/\/account/)
  await eve.page.goto(app.signInUrl())
  await eve.press('approve')
  await eve.write('recoveryCode', code)
  await eve.press('unlock')
  const first = symmetricKeyIn((await app.answerIn(eve.page)).fragment)

  // In another session with consent, the code is requested at once.
  await eve.page.goto(app.signInUrl())
  await eve.write('recoveryCode', code)
  await eve.press('unlock')
  assert.equal(symmetricKeyIn((await app.answerIn(eve.page)).fragment), first)
  await eve.leave()
})

test('the keys of a pair belong together, and others can look up the public key by the username', async () => {
  const fay = await stage.enroll({ handle: 'fay', displayName: 'Fay' })
  const { fragment } = await visit(fay, ['approve'], { scope: 'openid e2ee:asymmetric' })
  const { appKey } = keyIn(fragment)
  assert.ok(appKey.mode === 'asymmetric')
  const query = new URLSearchParams({ client_id: app.clientId, handle: 'FAY' })
  const found = await fetch(`${stage.service.baseUrl}/api/encryption/app-lookup?${query}`)
  const { publicKey } = JSON.parse(await found.text())
  assert.equal(publicKey, Buffer.from(appKey.publicKey).toString('base64'))

  const sender = generateKeyPairSync('x25519')
  const own = createPrivateKey({ key: Buffer.from(appKey.privateKey), format: 'der', type: 'pkcs8' })
  const theirs = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  assert.deepEqual(
    diffieHellman({ privateKey: own, publicKey: sender.publicKey }),
    diffieHellman({ privateKey: sender.privateKey, publicKey: theirs }),
  )
  await fay.leave()
})

test('a page that sends its own key gets a fragment that only it can decrypt', async () => {
  const gil = await stage.enroll({ handle: 'gil', displayName: 'Gil' })
  const clear = await visit(gil, ['approve'])
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const jwk = Buffer.from(JSON.stringify(publicKey.export({ format: 'jwk' }))).toString('base64url')
  const { fragment } = await visit(gil, ['unlock'], { app_key_jwk: jwk })
  const sealed = parseSealedFragment(fragment) ?? ''
  const { plaintext } = await compactDecrypt(sealed, privateKey)
  assert.equal(new TextDecoder().decode(plaintext), clear.fragment)
  await gil.leave()
})

test('a key reset is confirmed every time, and brings the old key too', async () => {
  const hal = await stage.enroll({ handle: 'hal', displayName: 'Hal' })
  const first = await visit(hal, ['approve'])
  await hal.page.goto(app.signInUrl({ scope: 'openid profile e2ee:reset' }))
  await hal.page.getByText(consent.signin.newKey).waitFor()
  await hal.press('approve')
  const { appKey, former } = keyIn((await app.answerIn(hal.page)).fragment)
  assert.ok(appKey.mode === 'symmetric' && former?.mode === 'symmetric')
  assert.equal(Buffer.from(former.key).toString('base64'), symmetricKeyIn(first.fragment))
  assert.notDeepEqual(appKey.key, former.key)

  const later = await visit(hal, ['unlock'])
  assert.equal(symmetricKeyIn(later.fragment), Buffer.from(appKey.key).toString('base64'))
  assert.equal(keyIn(later.fragment).former, undefined)
  await hal.leave()
})

test('E2E-10 disconnecting the app warns that the key is lost; later the user gets another one', async () => {
  const ida = await stage.enroll({ handle: 'ida', displayName: 'Ida' })
  const first = await visit(ida, ['approve'])
  await ida.page.goto(`${stage.service.authUrl}/account/apps`)
  await ida.press('revoke')
  await ida.page.getByText(words.apps.keyLost).waitFor()
  await ida.press('revoke')
  await ida.page.getByText(account.apps.none).waitFor()
  const again = await visit(ida, ['approve'])
  assert.notEqual(symmetricKeyIn(again.fragment), symmetricKeyIn(first.fragment))
  await ida.leave()
})

test('prompt=none fails if the app key must be unlocked', async () => {
  const joe = await stage.enroll({ handle: 'joe', displayName: 'Joe' })
  await visit(joe, ['approve'])
  const { query, fragment } = await visit(joe, [], { prompt: 'none' })
  assert.deepEqual([query.get('error'), fragment], ['interaction_required', ''])
  await joe.leave()
})

test('a user who cancels before unlocking the key gives the app nothing', async () => {
  const kit = await stage.enroll({ handle: 'kit', displayName: 'Kit' })
  await visit(kit, ['approve'])
  const { query, fragment } = await visit(kit, ['deny'])
  assert.deepEqual([query.get('error'), query.get('code'), fragment], ['access_denied', null, ''])
  await kit.leave()
})
