import assert from 'node:assert/strict'
import {
  createCipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { importJWK } from 'jose/key/import'
import { formatAppKeyFragment, type AppKeyDelivery } from '@countersign/protocol/formats/encryption/app-key-fragment'
import vectors from '../../keys/vectors.json' with { type: 'json' }
import { decrypt, decryptText, encrypt } from '../src/encryption/content.ts'
import { CountersignError } from '../src/shared/error.ts'
import { open } from '../src/encryption/jwe.ts'
import { generateServerKey, openAppKey } from '../src/encryption/server-key.ts'
import { decryptWithPrivateKey, encryptToUser, encryptToPublicKey } from '../src/encryption/wrapping.ts'

const context = 'note:1'
const curves = { X25519: { name: 'X25519' }, 'P-256': { name: 'ECDH', namedCurve: 'P-256' } }
type Curve = keyof typeof curves
const eachCurve: Curve[] = ['X25519', 'P-256']

const newKey = async () => {
  const bytes = randomBytes(32)
  return { bytes, key: await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']) }
}
const newPair = async (curve: Curve) => {
  const pair = await crypto.subtle.generateKey(curves[curve], false, ['deriveBits'])
  assert.ok('privateKey' in pair)
  const publicKey = Buffer.from(await crypto.subtle.exportKey('spki', pair.publicKey)).toString('base64')
  return { privateKey: pair.privateKey, publicKey }
}
const refused = (code: string) => (error: unknown) => error instanceof CountersignError && error.code === code
const cannotOpen = refused('decryption_failed')

test('text and bytes are decrypted as they were encrypted, and the ciphertext does not contain them', async () => {
  const { key } = await newKey()
  for (const text of ['', 'Milk, bread', '\u{feff}naïve ✓ 👩‍💻\r\n\0']) {
    const ciphertext = await encrypt(key, text, { context })
    assert.equal(await decryptText(key, ciphertext, { context }), text)
    assert.deepEqual(await decrypt(key, ciphertext, { context }), new TextEncoder().encode(text))
    assert.notEqual(ciphertext, await encrypt(key, text, { context }))
  }
  const bytes = new Uint8Array(randomBytes(1_000_000))
  assert.deepEqual(await decrypt(key, await encrypt(key, bytes, { context }), { context }), bytes)
})

test('decryption fails in another context and with another key', async () => {
  const [{ key }, other] = [await newKey(), await newKey()]
  const ciphertext = await encrypt(key, 'Milk', { context })
  for (const another of ['', 'note:2', 'note:1 ', 'Note:1', '__proto__'])
    await assert.rejects(decrypt(key, ciphertext, { context: another }), cannotOpen)
  await assert.rejects(decrypt(other.key, ciphertext, { context }), cannotOpen)
})

test('an unpaired surrogate is not encrypted as another character', async () => {
  const { key } = await newKey()
  await assert.rejects(encrypt(key, '\ud83d', { context }), TypeError)
})

test('a key of one kind is rejected by functions for the other', async () => {
  const [{ key }, { privateKey, publicKey }] = [await newKey(), await newPair('X25519')]
  const [encrypted, wrapped] = [
    await encrypt(key, 'Milk', { context }),
    await encryptToPublicKey(publicKey, 'Milk', { context }),
  ]
  await assert.rejects(encrypt(privateKey, 'Milk', { context }), TypeError)
  await assert.rejects(decrypt(privateKey, wrapped, { context }), TypeError)
  await assert.rejects(decryptWithPrivateKey(key, encrypted, { context }), TypeError)
  await assert.rejects(decrypt(key, wrapped, { context }), cannotOpen)
  await assert.rejects(decryptWithPrivateKey(privateKey, encrypted, { context }), cannotOpen)
})

test('a ciphertext with any character altered, removed or repeated is not decrypted', async () => {
  const { key } = await newKey()
  const { privateKey, publicKey } = await newPair('P-256')
  const encrypted = await encrypt(key, 'Milk', { context })
  for (const altered of alterationsOf(encrypted))
    await assert.rejects(decrypt(key, altered, { context }), cannotOpen, altered)
  const wrapped = await encryptToPublicKey(publicKey, 'Milk', { context })
  for (const altered of alterationsOf(wrapped))
    await assert.rejects(decryptWithPrivateKey(privateKey, altered, { context }), cannotOpen, altered)
})

for (const curve of eachCurve) {
  test(`content wrapped to a ${curve} key is decrypted only with its private key, in its context`, async () => {
    const [mine, other] = [await newPair(curve), await newPair(curve)]
    const wrapped = await encryptToPublicKey(mine.publicKey, 'Milk', { context })
    assert.equal(Buffer.from(await decryptWithPrivateKey(mine.privateKey, wrapped, { context })).toString(), 'Milk')
    await assert.rejects(decryptWithPrivateKey(other.privateKey, wrapped, { context }), cannotOpen)
    await assert.rejects(decryptWithPrivateKey(mine.privateKey, wrapped, { context: 'note:2' }), cannotOpen)
    const elsewhere = await newPair(curve === 'P-256' ? 'X25519' : 'P-256')
    await assert.rejects(decryptWithPrivateKey(elsewhere.privateKey, wrapped, { context }), cannotOpen)
  })

  test(`content that another implementation wraps to a ${curve} key is decrypted`, async () => {
    const { privateKey, publicKey } = await newPair(curve)
    const wrapped = wrapByHand(curve, publicKey)
    assert.equal(Buffer.from(await decryptWithPrivateKey(privateKey, wrapped, { context })).toString(), 'by hand')
  })
}

for (const { privateKey, plaintext, fragment } of vectors.sealedFragments) {
  test(`an app key that another implementation encrypted to the page is decrypted: ${privateKey.crv}`, async () => {
    const algorithm = privateKey.crv === 'P-256' ? curves['P-256'] : curves.X25519
    const key = await crypto.subtle.importKey('jwk', privateKey, algorithm, false, ['deriveBits'])
    const opened = await open(key, 'app-key-fragment', fragment.slice('app_key_jwe='.length))
    assert.equal(Buffer.from(opened).toString(), plaintext)
  })
}

/** Headers of a ciphertext that must not influence the decryption. */
const headers: Record<string, object> = {
  'no ctx': { ctx: undefined },
  'a list as ctx': { ctx: [context] },
  'alg dir': { alg: 'dir' },
  'alg ECDH-ES+A256KW': { alg: 'ECDH-ES+A256KW' },
  'alg RSA-OAEP': { alg: 'RSA-OAEP' },
  'no alg': { alg: undefined },
  'enc A128GCM': { enc: 'A128GCM' },
  'no enc': { enc: undefined },
  'crit that names ctx': { crit: ['ctx'] },
  'crit that contains an unknown name': { crit: ['exp'], exp: 1 },
  compression: { zip: 'DEF' },
  'no epk': { epk: undefined },
  'an epk with a private part': { d: 'AAAA' },
}
for (const [what, header] of Object.entries(headers))
  test(`a ciphertext to a public key is rejected with ${what}`, async () => {
    const { privateKey, publicKey } = await newPair('X25519')
    const { d, ...rest }: { d?: string } = header
    const wrapped = wrapByHand('X25519', publicKey, rest, d === undefined ? {} : { d })
    await assert.rejects(decryptWithPrivateKey(privateKey, wrapped, { context }), cannotOpen)
  })

const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]
for (const hex of smallOrder)
  test(`a ciphertext with a point of small order, whose secret is public, is not decrypted: ${hex}`, async () => {
    const { privateKey } = await newPair('X25519')
    const epk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(hex, 'hex').toString('base64url') }
    const wrapped = sealByHand({ alg: 'ECDH-ES', enc: 'A256GCM', ctx: context, epk }, Buffer.alloc(32))
    await assert.rejects(decryptWithPrivateKey(privateKey, wrapped, { context }), cannotOpen)
  })

test('a ciphertext with a point that is not on P-256 is not decrypted', async () => {
  const { privateKey } = await newPair('P-256')
  const [x, y] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const epk = { kty: 'EC', crv: 'P-256', x, y }
  const wrapped = sealByHand({ alg: 'ECDH-ES', enc: 'A256GCM', ctx: context, epk }, Buffer.alloc(32))
  await assert.rejects(decryptWithPrivateKey(privateKey, wrapped, { context }), cannotOpen)
})

test('compressed content is not decrypted, including with a symmetric key', async () => {
  const { bytes, key } = await newKey()
  const header = { alg: 'dir', enc: 'A256GCM', ctx: context, zip: 'DEF' }
  const bomb = await new CompactEncrypt(Buffer.alloc(100_000)).setProtectedHeader(header).encrypt(bytes)
  await assert.rejects(decrypt(key, bomb, { context }), cannotOpen)
})

test('wrapping to an invalid public key fails', async () => {
  const { publicKey } = await newPair('X25519')
  const prefix = Buffer.from(publicKey, 'base64').subarray(0, 12)
  const unsound = smallOrder.map((hex) => Buffer.concat([prefix, Buffer.from(hex, 'hex')]).toString('base64'))
  for (const text of [...unsound, '', 'key', `${publicKey}=`, publicKey.slice(0, -2)])
    await assert.rejects(encryptToPublicKey(text, 'Milk', { context }), TypeError)
})

test('a user is found by handle, and content wrapped to them is decrypted with their key', async (t) => {
  const { privateKey, publicKey } = await newPair('X25519')
  const { directory, requested: requests } = await openDirectory(t, { body: recordOf({ publicKey }) })
  const first = await encryptToUser(directory, 'ada', 'Milk', { context })
  assert.deepEqual(requests, ['/api/encryption/app-lookup?client_id=app_notes&handle=ada'])
  assert.deepEqual(first.recipient, { identityId, handle: 'Ada', displayName: 'Ada Lovelace', publicKey })
  assert.equal(Buffer.from(await decryptWithPrivateKey(privateKey, first.ciphertext, { context })).toString(), 'Milk')
  await encryptToUser(directory, 'ada', 'Milk', { context, publicKey: first.recipient.publicKey })
})

test('a changed public key is detected before anything is encrypted to it', async (t) => {
  const [known, another] = [await newPair('X25519'), await newPair('X25519')]
  const { directory } = await openDirectory(t, { body: recordOf({ publicKey: another.publicKey }) })
  const wrapping = encryptToUser(directory, 'ada', 'Milk', { context, publicKey: known.publicKey })
  await assert.rejects(wrapping, refused('public_key_changed'))
})

test('an unknown user gets the error of the service', async (t) => {
  const body = { error: 'app_public_key_not_found', error_description: 'Nobody of that name has connected this app.' }
  const { directory } = await openDirectory(t, { status: 404, body })
  await assert.rejects(encryptToUser(directory, 'ada', 'Milk', { context }), refused('app_public_key_not_found'))
})

const answers: Record<string, object> = {
  'somebody else': { handle: 'Eve' },
  'the key of another app': { clientId: 'app_other' },
  'a key of another mode': { encryptionMode: 'symmetric' },
  'an invalid key': { publicKey: Buffer.alloc(44).toString('base64') },
  'no key': { publicKey: null },
  'no name': { displayName: undefined },
}
for (const [what, fields] of Object.entries(answers))
  test(`nothing is encrypted if the service returns ${what}`, async (t) => {
    const { publicKey } = await newPair('X25519')
    const { directory } = await openDirectory(t, { body: { ...recordOf({ publicKey }), ...fields } })
    await assert.rejects(encryptToUser(directory, 'ada', 'Milk', { context }), refused('unexpected_response'))
  })

test('lookups require TLS', async () => {
  const directory = { baseUrl: 'http://api.id.example', clientId: 'app_notes' }
  await assert.rejects(encryptToUser(directory, 'ada', 'Milk', { context }), TypeError)
})

const identityId = '0198a3c2-7f10-7a11-8b22-0000000000b1'

function recordOf({ publicKey }: { publicKey: string }) {
  const encryptionMode = 'asymmetric'
  return { clientId: 'app_notes', identityId, handle: 'Ada', displayName: 'Ada Lovelace', publicKey, encryptionMode }
}

async function openDirectory(t: TestContext, { status = 200, body }: { status?: number; body: object }) {
  const requests: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    requests.push(url)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { directory: { baseUrl: `http://localhost:${address.port}`, clientId: 'app_notes' }, requested: requests }
}

function alterationsOf(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return [...text].flatMap((character, place) => {
    const next = alphabet.charAt((alphabet.indexOf(character) + 1) % alphabet.length)
    return [next, '', character.repeat(2)].map((other) => text.slice(0, place) + other + text.slice(place + 1))
  })
}

/** RFC 7518 §4.6 for `A256GCM`, with node:crypto only. */
function wrapByHand(curve: Curve, publicKey: string, header: object = {}, inEpk: object = {}): string {
  const spki = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  const ephemeral =
    curve === 'X25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const epk = { ...ephemeral.publicKey.export({ format: 'jwk' }), ...inEpk }
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: spki })
  return sealByHand({ alg: 'ECDH-ES', enc: 'A256GCM', ctx: context, epk, ...header }, secret)
}

function sealByHand(header: object, secret: Buffer): string {
  const [encoded, vector] = [Buffer.from(JSON.stringify(header)).toString('base64url'), randomBytes(12)]
  const sized = (part: string) => Buffer.concat([number(part.length), Buffer.from(part)])
  const info = Buffer.concat([sized('A256GCM'), sized(''), sized(''), number(256)])
  const key = createHash('sha256')
    .update(Buffer.concat([number(1), secret, info]))
    .digest()
  const cipher = createCipheriv('aes-256-gcm', key, vector).setAAD(Buffer.from(encoded))
  const content = Buffer.concat([cipher.update('by hand'), cipher.final()])
  const parts = [vector, content, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return [encoded, '', ...parts].join('.')
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

async function sealTo(publicJwk: string, plaintext: string): Promise<string> {
  const key = await importJWK(JSON.parse(Buffer.from(publicJwk, 'base64url').toString()), 'ECDH-ES')
  const header = { alg: 'ECDH-ES', enc: 'A256GCM', ctx: 'app-key-fragment' }
  return new CompactEncrypt(Buffer.from(plaintext)).setProtectedHeader(header).encrypt(key)
}

test('APK-11 a server opens what was encrypted to its key, and refuses another key than the user has', async () => {
  const server = await generateServerKey()
  const fragment = formatAppKeyFragment({ appKey: { mode: 'symmetric', key: new Uint8Array(32).fill(7) } })
  const sealed = await sealTo(server.publicJwk, fragment)
  const { mode, fingerprint } = await openAppKey(server.privateJwk, sealed)
  assert.equal(mode, 'symmetric')
  assert.equal((await openAppKey(server.privateJwk, sealed, { fingerprint })).fingerprint, fingerprint)
  assert.ok(!server.publicJwk.includes(JSON.parse(server.privateJwk).d))

  const planted = formatAppKeyFragment({ appKey: { mode: 'symmetric', key: new Uint8Array(32).fill(8) } })
  const other = await sealTo(server.publicJwk, planted)
  await assert.rejects(openAppKey(server.privateJwk, other, { fingerprint }), { code: 'app_key_changed' })
  const another = await generateServerKey()
  for (const [key, text] of [
    [another.privateJwk, sealed],
    [server.privateJwk, `${sealed}x`],
    [server.privateJwk, await sealTo(server.publicJwk, 'app_key=x')],
    [server.privateJwk, fragment],
  ] as const)
    await assert.rejects(openAppKey(key, text), { code: 'decryption_failed' })
  await assert.rejects(openAppKey('{}', sealed), TypeError)
})

test('APK-13 a reset proves itself to the server by the key that it replaces, and nothing else does', async () => {
  const server = await generateServerKey()
  const keyOf = (byte: number) => ({ mode: 'symmetric', key: new Uint8Array(32).fill(byte) }) as const
  const receive = async (delivery: AppKeyDelivery, fingerprint?: string) =>
    openAppKey(server.privateJwk, await sealTo(server.publicJwk, formatAppKeyFragment(delivery)), { fingerprint })
  const { fingerprint } = await receive({ appKey: keyOf(7) })
  const renewed = await receive({ appKey: keyOf(8), former: keyOf(7) }, fingerprint)
  assert.equal(renewed.old?.mode, 'symmetric')
  assert.notEqual(renewed.fingerprint, fingerprint)
  assert.equal((await receive({ appKey: keyOf(8) }, renewed.fingerprint)).fingerprint, renewed.fingerprint)
  for (const forged of [{ appKey: keyOf(9) }, { appKey: keyOf(9), former: keyOf(6) }])
    await assert.rejects(receive(forged, fingerprint), { code: 'app_key_changed' })
  await assert.rejects(
    receive({ appKey: keyOf(7) }, renewed.fingerprint),
    { code: 'app_key_changed' },
    'the former key',
  )
})
