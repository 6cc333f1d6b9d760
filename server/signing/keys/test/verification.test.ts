import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ed25519 } from '@noble/curves/ed25519.js'
import { verifies } from '#platform/crypto/ed25519.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

type Vectors = { keys: { publicKey: string; tests: [number, string, string, boolean, string][] }[] }

let world: TestWorld
let vectors: Vectors
let directory: string
before(async () => {
  world = await createWorld()
  vectors = JSON.parse(await readFile(new URL('../../../testing/wycheproof-ed25519.json', import.meta.url), 'utf8'))
  directory = await mkdtemp(join(tmpdir(), 'countersign-openssl-'))
})
after(async () => {
  await rm(directory, { recursive: true })
  await world.close()
})

async function ask(payload: object) {
  const answer = await world.api.inject({ method: 'POST', url: '/api/signing/verify', payload })
  return { status: answer.statusCode, body: answer.json() }
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const fromHex = (text: string) => Buffer.from(text, 'hex')

test('SIG-14 every Wycheproof vector gives the expected result', () => {
  let count = 0
  for (const { publicKey, tests } of vectors.keys)
    for (const [id, message, signature, valid, flags] of tests) {
      count += 1
      const found = verifies(fromHex(message), fromHex(signature), fromHex(publicKey))
      assert.equal(found, valid, `${id}: ${flags}`)
    }
  assert.equal(count, 151)
})

test('SIG-14 every Wycheproof vector that is a text gives the expected result over the API', async () => {
  let count = 0
  for (const { publicKey, tests } of vectors.keys)
    for (const [id, message, signature, valid] of tests) {
      const text = fromHex(message).toString('utf8')
      if (!Buffer.from(text).equals(fromHex(message)) || text.includes('\0')) continue
      count += 1
      const { status, body } = await ask({
        message: text,
        signature: base64(fromHex(signature)),
        publicKey: base64(fromHex(publicKey)),
      })
      assert.equal(status, 200)
      assert.equal(body.valid, valid, String(id))
      assert.equal(valid, body.error === undefined)
    }
  assert.ok(count > 60)
})

/** Encodings of small order, canonical or not: under each, one signature fits many unsigned texts. */
const treacherous = [
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  `01${'00'.repeat(31)}`,
  `01${'00'.repeat(30)}80`,
  ...['ec', 'ed', 'ee'].flatMap((first) => ['7f', 'ff'].map((last) => first + 'ff'.repeat(30) + last)),
  ...['05', '85'].map((last) => `26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc${last}`),
  ...['7a', 'fa'].map((last) => `c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03${last}`),
]

test('SIG-12 a key of small order, under which one signature fits many texts, verifies none', async () => {
  assert.equal(treacherous.length, 14)
  const zero = Buffer.alloc(32)
  const messages = ['Pay 10 €', 'Pay 10,000 €', 'Pay nothing'].map((text) => Buffer.from(text))
  const forged = treacherous.flatMap((hex) =>
    messages.map((message) => ({ message, signature: Buffer.concat([fromHex(hex), zero]) })),
  )
  for (const key of treacherous.map(fromHex)) {
    const fits = forged.filter(({ message, signature }) => ed25519.verify(signature, message, key, { zip215: true }))
    assert.ok(fits.length > 0, `whoever is lenient takes ${key.toString('hex')}`)
    assert.ok(forged.every(({ message, signature }) => !verifies(message, signature, key)))
  }
  const requested = { message: 'anything', signature: base64(Buffer.concat([fromHex(treacherous[2] ?? ''), zero])) }
  for (const hex of treacherous) {
    const { status, body } = await ask({ ...requested, publicKey: base64(fromHex(hex)) })
    assert.deepEqual({ status, body }, { status: 200, body: { valid: false, error: 'malformed_public_key' } })
  }
})

/** Order of the group. Added to the scalar of a signature, the same equation holds with other bytes. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n

test('SIG-13 a signature in a second encoding is invalid', async () => {
  const secret = ed25519.utils.randomSecretKey()
  const publicKey = ed25519.getPublicKey(secret)
  const signature = ed25519.sign(Buffer.from('Pay 10 €'), secret)
  const scalar = BigInt(`0x${Buffer.from(signature.slice(32).toReversed()).toString('hex')}`) + groupOrder
  const other = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').toReversed()
  const second = Buffer.concat([signature.slice(0, 32), other])
  const requested = { message: 'Pay 10 €', publicKey: base64(publicKey) }
  assert.deepEqual((await ask({ ...requested, signature: base64(signature) })).body, { valid: true })
  const { body } = await ask({ ...requested, signature: base64(second) })
  assert.deepEqual(body, { valid: false, error: 'malformed_signature' })
})

test('SIG-14 any other input gets an answer or an error, which names the invalid part', async () => {
  const secret = ed25519.utils.randomSecretKey()
  const publicKey = base64(ed25519.getPublicKey(secret))
  const signature = base64(ed25519.sign(Buffer.from('text'), secret))
  const offCurve = base64(Buffer.from('02'.padEnd(64, '0'), 'hex'))
  const flaws: [object, string][] = [
    [{ message: 'other' }, 'invalid_signature'],
    [{ message: 'text ' }, 'invalid_signature'],
    [{ signature: base64(Buffer.alloc(63, 1)) }, 'malformed_signature'],
    [{ signature: base64(Buffer.alloc(65, 1)) }, 'malformed_signature'],
    [{ signature: signature.replaceAll('=', '') }, 'malformed_signature'],
    [{ signature: ` ${signature}` }, 'malformed_signature'],
    [{ signature: Buffer.from(signature, 'base64').toString('hex') }, 'malformed_signature'],
    [{ signature: '' }, 'malformed_signature'],
    [{ publicKey: publicKey.slice(4) }, 'malformed_public_key'],
    [{ publicKey: `${publicKey}\n` }, 'malformed_public_key'],
    [{ publicKey: offCurve }, 'malformed_public_key'],
  ]
  for (const [change, error] of flaws) {
    const { status, body } = await ask({ message: 'text', signature, publicKey, ...change })
    assert.deepEqual({ status, body }, { status: 200, body: { valid: false, error } }, JSON.stringify(change))
  }
  for (const field of ['message', 'signature', 'publicKey']) {
    const { status, body } = await ask({ message: 'text', signature, publicKey, [field]: undefined })
    assert.deepEqual([status, body.error], [400, 'invalid_request'], field)
    assert.equal((await ask({ message: 'text', signature, publicKey, [field]: 7 })).status, 400)
  }
})

/** True if the OpenSSL command is available, as in the tests on PostgreSQL; `npm test` requires nothing but npm. */
const hasOpenSsl = process.env['TEST_DATABASE_URL'] !== undefined

const texts = {
  'an emoji of several code points': 'Überweise 10 € an 👩🏽‍🚀👨‍👩‍👧‍👦',
  'combining marks': 'Z̶̢a͒l̷g̸o̶ e\u0301 \u00e9 \u1e9b\u0323',
  'line ends of both kinds': 'first\r\nsecond\nthird\r',
  'ten thousand characters': '𝒜'.repeat(10_000),
}
for (const [what, text] of Object.entries(texts))
  test(`SIG-21 a browser's signature over ${what} verifies here and in other implementations`, async () => {
    const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
    assert.ok('publicKey' in pair)
    const raw = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))
    const spki = new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey))
    const message = new TextEncoder().encode(text)
    const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', pair.privateKey, message))

    const requested = { signature: base64(signature), publicKey: base64(raw) }
    assert.deepEqual((await ask({ message: text, ...requested })).body, { valid: true })
    assert.ok(ed25519.verify(signature, message, raw, { zip215: false }))
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
    assert.ok(verify(null, message, key, signature))
    if (hasOpenSsl) await verifyByOpenSsl({ message, signature, spki })

    const normalized = text.normalize('NFD') === text ? text.normalize('NFC') : text.normalize('NFD')
    if (normalized !== text) assert.equal((await ask({ message: normalized, ...requested })).body.valid, false)
    assert.equal((await ask({ message: `${text} `, ...requested })).body.valid, false)
  })

type Signed = Record<'message' | 'signature' | 'spki', Uint8Array>

/** Throws if the OpenSSL command does not verify the signature. */
async function verifyByOpenSsl(signed: Signed): Promise<void> {
  for (const [name, bytes] of Object.entries(signed)) await writeFile(join(directory, name), bytes)
  const received = execFileSync(
    'openssl',
    [
      ...['pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', 'spki'],
      ...['-rawin', '-in', 'message', '-sigfile', 'signature'],
    ],
    { cwd: directory, encoding: 'utf8' },
  )
  assert.match(received, /Signature Verified Successfully/)
}
