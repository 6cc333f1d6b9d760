import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { keyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { ciphertextContext } from '@countersign/protocol/formats/ciphertext-context'
import { en as words } from '../web/messages/en.ts'
import type { Person, Sent } from './person.ts'
import { spellingsIn, type Secret } from './secret.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a newcomer comes from an app and goes back to it by name, and nothing secret leaves the browser', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const prfOutputs = await overhearPrf(ada)

  await ada.page.goto(shop.origin)
  await ada.page.locator('#sign-in').click()
  await ada.page.getByRole('link', { name: words.login.register }).click()
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  assert.match(code, /^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/)
  const masterKey = await openMasterKeyBytes(ada, code)
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  assert.equal(ada.page.url(), `${shop.origin}/`)

  const sub = await ada.page.locator('#sub').innerText()
  const customer = shop.customers.get(sub)
  assert.ok(customer?.refreshToken, 'the app asked for a refresh token')
  assert.equal((await shop.readUserinfo(customer)).preferred_username, 'ada')

  const sent = await ada.sent()
  const origins = new Set(sent.map(({ url }) => new URL(url).origin))
  assert.deepEqual(origins, new Set([shop.origin, service.authUrl, service.baseUrl]))

  assert.ok(sent.some(({ body }) => body.includes('recoveryAuth')))
  assert.equal(prfOutputs.length, 1)
  const secrets = [...prfOutputs, { name: 'master key', bytes: masterKey }, ...secretsOfCode(code)]
  assert.deepEqual(leaks(sent, secrets), [])
  await ada.leave()
})

test('each spelling of a secret would have been noticed', () => {
  const bytes = randomBytes(32)
  const secret = { name: 'planted', bytes }
  const within = Buffer.concat([randomBytes(4), bytes, randomBytes(5)])
  const texts = [
    `{"key":"${bytes.toString('base64')}"}`,
    `key=${bytes.toString('base64url')}`,
    within.toString('base64'),
    within.subarray(1).toString('base64url'),
    within.subarray(2).toString('base64'),
    bytes.toString('hex').toUpperCase(),
    JSON.stringify([...bytes]),
    JSON.stringify(new Uint8Array(bytes)),
    within.toString('latin1'),
  ]
  for (const text of texts) assert.notDeepEqual(spellingsIn(text, secret), [], text)
  assert.deepEqual(spellingsIn(randomBytes(4096).toString('base64'), secret), [])
})

/** Notes every PRF output that a page of this person sees. */
async function overhearPrf(person: Person): Promise<Secret[]> {
  const heard: Secret[] = []
  await person.context.exposeFunction('hearPrf', (bytes: number[]) => {
    heard.push({ name: 'PRF output', bytes: Uint8Array.from(bytes) })
  })
  await person.context.addInitScript(() => {
    const read = PublicKeyCredential.prototype.getClientExtensionResults
    PublicKeyCredential.prototype.getClientExtensionResults = function results(this: PublicKeyCredential) {
      const found = read.call(this)
      const output = found.prf?.results?.first
      const tell: unknown = Reflect.get(globalThis, 'hearPrf')
      if (output instanceof ArrayBuffer && typeof tell === 'function') tell([...new Uint8Array(output)])
      return found
    }
  })
  return heard
}

/** The master key itself, which only whoever holds the recovery code can open. */
async function openMasterKeyBytes(person: Person, code: string): Promise<Uint8Array> {
  const { baseUrl } = stage.service
  const { user } = await person.ask(baseUrl, 'GET /api/auth/session')
  const { keyWraps } = await person.ask(baseUrl, 'GET /api/account/key-wraps')
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')
  const key = await keyFromRecoveryCode(code)
  return key.open(ciphertextContext.masterKey(user.userId), wrap?.ciphertext ?? '')
}

function secretsOfCode(code: string): Secret[] {
  const spelled = [code, code.replaceAll('-', ''), code.replaceAll('-', ' ')]
  const texts = spelled.map((text) => ({ name: 'recovery code', bytes: Buffer.from(text) }))
  return [...texts, { name: 'bytes of the recovery code', bytes: bytesOfCode(code) }]
}

/** Crockford's base32, written down a second time: what finds a leak shares no code with what might leak. */
function bytesOfCode(code: string): Uint8Array {
  const digits = code.replaceAll('-', '')
  const value = [...digits].reduce(
    (sum, digit) => sum * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit)),
    0n,
  )
  return Buffer.from(value.toString(16).padStart(40, '0'), 'hex')
}

function leaks(sent: Sent[], secrets: Secret[]): string[] {
  return sent.flatMap(({ url, headers, body }) => {
    const text = [decodeURIComponent(url), url, JSON.stringify(headers), body.toString('latin1'), body.toString()]
    return secrets.flatMap((secret) =>
      spellingsIn(text.join('\n'), secret).map((spelling) => `${secret.name} as ${spelling} to ${url}`),
    )
  })
}
