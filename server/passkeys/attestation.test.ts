import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { cbor, createAuthenticator, type Bent } from '#testing/authenticator.ts'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const post = (url: string, payload: object) => world.api.inject({ method: 'POST', url, payload })
const start = async (handle = `someone-${randomBytes(6).toString('hex')}`) =>
  (await post('/api/auth/register/start', { handle, displayName: 'Someone' })).json()

async function register(bent: Bent, kind: 'ES256' | 'EdDSA' = 'ES256') {
  const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' }, kind)
  const { flowId, options } = await start()
  const credential = authenticator.register(options, bent)
  return { answer: await post('/api/auth/register/finish', { flowId, credential }), authenticator }
}

async function signIn({ authenticator }: Awaited<ReturnType<typeof register>>) {
  const { flowId, options } = (await post('/api/auth/login/start', {})).json()
  return post('/api/auth/login/finish', { flowId, credential: authenticator.authenticate(options) })
}

const okp = (x: Buffer, curve = 6) =>
  cbor(
    new Map<number, unknown>([
      [1, 1],
      [3, -8],
      [-1, curve],
      [-2, x],
    ]),
  )
const ec = (x: Buffer, y: Buffer, curve = 1) =>
  cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, curve],
      [-2, x],
      [-3, y],
    ]),
  )
const rsa = (modulusLength: number, exponent?: Buffer) => {
  const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
  return cbor(
    new Map<number, unknown>([
      [1, 3],
      [3, -257],
      [-1, Buffer.from(n, 'base64url')],
      [-2, exponent ?? Buffer.from(e, 'base64url')],
    ]),
  )
}

const unsound: Record<string, Bent> = {
  'PKY-12 an attested id other than the one it is sent under': { attestedId: randomBytes(32) },
  'PKY-12 an attested id of 8,000 bytes': { attestedId: randomBytes(8000) },
  'PKY-12 an empty attested id': { attestedId: Buffer.alloc(0) },
  'PKY-13 an RSA key of 1,024 bits': { publicKey: rsa(1024) },
  'PKY-13 an RSA key under which anybody can sign': { publicKey: rsa(2048, Buffer.from([1])) },
  'PKY-13 a point beside P-256': { publicKey: ec(Buffer.alloc(32, 1), Buffer.alloc(32, 1)) },
  'PKY-13 a point of P-256 of 31 bytes': { publicKey: ec(Buffer.alloc(31, 1), Buffer.alloc(31, 1)) },
  'PKY-13 a curve that goes with another algorithm': { publicKey: ec(Buffer.alloc(48, 1), Buffer.alloc(48, 1), 2) },
  'PKY-13 a point beside Ed25519': { publicKey: okp(Buffer.from('02'.padEnd(64, '0'), 'hex')) },
  'PKY-13 an Ed25519 key under which anybody can sign': { publicKey: okp(Buffer.alloc(32)) },
  'PKY-13 a key type that does not fit its algorithm': {
    publicKey: cbor(
      new Map<number, unknown>([
        [1, 1],
        [3, -7],
        [-1, 6],
        [-2, Buffer.alloc(32, 7)],
      ]),
    ),
  },
  'PKY-16 a map of no end': { attestationObject: (bytes) => Buffer.concat([Buffer.from([0xbf]), bytes.subarray(1)]) },
  'PKY-16 lists 10,000 deep': { attestationObject: () => Buffer.alloc(10_000, 0x81) },
  'PKY-16 an attestation with a byte behind it': {
    attestationObject: (bytes) => Buffer.concat([bytes, Buffer.from([0])]),
  },
  'PKY-16 an attestation with another behind it': { attestationObject: (bytes) => Buffer.concat([bytes, bytes]) },
  'PKY-16 authenticator data with a byte behind it': {
    publicKey: Buffer.concat([okp(Buffer.alloc(32, 9)), Buffer.from([0])]),
  },
  'PKY-16 a text of no end': { attestationObject: (bytes) => replace(bytes, '\x64none', '\x7f\x64none\xff') },
  'PKY-16 a list for an attestation': { attestationObject: () => Buffer.from([0x80]) },
  'PKY-16 nothing for an attestation': { attestationObject: () => Buffer.from([0xf6]) },
  'PKY-16 a map of more than there is': {
    attestationObject: (bytes) => Buffer.concat([Buffer.from([0xba, 0xff, 0xff, 0xff, 0xff]), bytes.subarray(1)]),
  },
  'PKY-16 a text for an attestation': { attestationObject: () => cbor('none') },
  'PKY-16 half an attestation': { attestationObject: (bytes) => bytes.subarray(0, bytes.length / 2) },
  'PKY-16 a key of lists 10,000 deep': { publicKey: Buffer.alloc(10_000, 0x81) },
  'PKY-18 a format of another case': { attestationObject: (bytes) => replace(bytes, 'none', 'None') },
  'PKY-18 a format that nobody knows': { attestationObject: (bytes) => replace(bytes, 'none', 'nine') },
  'PKY-18 a statement of its own that is not true': { selfAttested: true, signature: () => Buffer.alloc(70) },
  'PKY-18 a statement of its own under the name of a product': { selfAttested: true, aaguid: randomBytes(16) },
  'PKY-15 client data that is no UTF-8': {
    clientDataExtras: { extra: 'abcd' },
    clientData: (bytes) => replace(bytes, 'abcd', '\xff\xfe\xfd\xfc'),
  },
  'PKY-15 client data with the same member twice': {
    clientData: (bytes) => replace(bytes, '{', '{"type":"webauthn.create",'),
  },
  'PKY-15 client data with another origin first': {
    clientData: (bytes) => replace(bytes, '{', '{"origin":"https://evil.example",'),
  },
  'PKY-15 client data with a member twice, once spelled otherwise': {
    clientData: (bytes) => replace(bytes, '{', '{"or\\u0069gin" : "https://evil.example",'),
  },
  'PKY-15 client data that is no JSON': { clientData: (bytes) => bytes.subarray(1) },
  'PKY-15 client data that is a list': { clientData: () => Buffer.from('[]') },
  'PKY-04 no origin': { clientData: (bytes) => replace(bytes, '"origin"', '"orijin"') },
}
for (const [what, bent] of Object.entries(unsound))
  test(`a registration with ${what} is refused`, async () => {
    const { answer } = await register(bent)
    assert.equal(answer.statusCode, 400, answer.body)
    assert.equal(answer.json().error, 'invalid_credential')
  })

const sound: Record<string, Bent> = {
  'client data that begins with a byte order mark and has further members': {
    byteOrderMark: true,
    clientDataExtras: { other: { type: 'x', list: [{ type: 'y' }, { type: 'z' }] }, says: '"type": {', empty: '' },
  },
  'an id of 1,023 bytes': { credentialId: randomBytes(1023) },
  'an id of 1 byte': { credentialId: randomBytes(1) },
  'a statement of its own that is true': { selfAttested: true },
  'an RSA key of 2,048 bits': { publicKey: rsa(2048) },
}
for (const [what, bent] of Object.entries(sound))
  test(`PKY-18 a registration with ${what} is taken`, async () => {
    const { answer } = await register(bent)
    assert.equal(answer.statusCode, 201, answer.body)
  })

test('PKY-15 PKY-16 a ceremony of a megabyte or more is refused before anything reads it', async () => {
  const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
  for (const [field, bytes] of [
    ['clientDataJSON', 1_000_000],
    ['attestationObject', 5_000_000],
  ] as const) {
    const { flowId, options } = await start()
    const credential = authenticator.register(options)
    credential.response[field] = 'A'.repeat(bytes)
    const began = performance.now()
    const answer = await post('/api/auth/register/finish', { flowId, credential })
    assert.deepEqual([answer.statusCode, answer.json().error], [413, 'payload_too_large'])
    assert.ok(performance.now() - began < 500)
  }
})

test('PKY-16 the worst attestation that fits is refused in no time', async () => {
  const worst = [Buffer.alloc(45_000, 0x81), Buffer.alloc(45_000, 0xa1), Buffer.alloc(45_000, 0xc1)]
  for (const attestation of worst) {
    const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
    const { flowId, options } = await start()
    const credential = authenticator.register(options, { attestationObject: () => attestation })
    const began = performance.now()
    const answer = await post('/api/auth/register/finish', { flowId, credential })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_credential'])
    assert.ok(performance.now() - began < 500)
  }
})

test('PKY-18 a passkey that attests itself signs in', async () => {
  for (const kind of ['ES256', 'EdDSA'] as const)
    assert.equal((await signIn(await register({ selfAttested: true }, kind))).statusCode, 200, kind)
})

function replace(bytes: Buffer, text: string, by: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(text, by), 'latin1')
}
