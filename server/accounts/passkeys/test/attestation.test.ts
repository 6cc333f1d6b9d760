import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { after, before, test } from 'node:test'
import { attestationStatements } from '#testing/attestation-statements.ts'
import { cbor, createAuthenticator, type AuthenticatorOverrides } from '#testing/authenticator.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
const post = (url: string, payload: object) => world.api.inject({ method: 'POST', url, payload })
const start = async (handle = `someone-${randomBytes(6).toString('hex')}`) =>
  (await post('/api/auth/register/start', { handle, displayName: 'Someone' })).json()

async function register(bent: AuthenticatorOverrides, kind: 'ES256' | 'EdDSA' = 'ES256') {
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

const unsound: Record<string, AuthenticatorOverrides> = {
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
  test(`a registration with ${what} is rejected`, async () => {
    const { answer } = await register(bent)
    assert.equal(answer.statusCode, 400, answer.body)
    assert.equal(answer.json().error, 'invalid_credential')
  })

const sound: Record<string, AuthenticatorOverrides> = {
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
  test(`PKY-18 a registration with ${what} is accepted`, async () => {
    const { answer } = await register(bent)
    assert.equal(answer.statusCode, 201, answer.body)
  })

test('PKY-15 PKY-16 a ceremony of a megabyte or more is rejected before it is parsed', async () => {
  const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
  for (const [field, bytes] of [
    ['clientDataJSON', 1_000_000],
    ['attestationObject', 5_000_000],
  ] as const) {
    const { flowId, options } = await start()
    const credential = authenticator.register(options)
    credential.response[field] = 'A'.repeat(bytes)
    const before = process.cpuUsage()
    const answer = await post('/api/auth/register/finish', { flowId, credential })
    assert.deepEqual([answer.statusCode, answer.json().error], [413, 'payload_too_large'])
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 500_000, `${user + system} µs of processor time`)
  }
})

test('PKY-16 the most expensive attestation within the size limit is rejected quickly', async () => {
  const worst = [Buffer.alloc(45_000, 0x81), Buffer.alloc(45_000, 0xa1), Buffer.alloc(45_000, 0xc1)]
  for (const attestation of worst) {
    const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
    const { flowId, options } = await start()
    const credential = authenticator.register(options, { attestationObject: () => attestation })
    const before = process.cpuUsage()
    const answer = await post('/api/auth/register/finish', { flowId, credential })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_credential'])
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 500_000, `${user + system} µs of processor time`)
  }
})

test('PKY-18 a passkey with self attestation signs in', async () => {
  for (const kind of ['ES256', 'EdDSA'] as const)
    assert.equal((await signIn(await register({ selfAttested: true }, kind))).statusCode, 200, kind)
})

/** Starts a local server that counts connections and never answers. */
async function listenForCallers() {
  let callers = 0
  const server: Server = createServer((socket) => {
    callers += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/revoked.crl`,
    callers: () => callers,
    close: async () => void (await once(server.close(), 'close')),
  }
}

/** The three endpoints that accept a new passkey. Each returns the response to this attestation. */
const enrolments: Record<
  string,
  (bent: AuthenticatorOverrides) => Promise<{ statusCode: number; json: () => { error?: string } }>
> = {
  register: async (bent) => (await register(bent)).answer,
  async 'passkeys, as one more'(bent) {
    const { headers } = await world.person()
    const started = await world.api.inject({ method: 'POST', url: '/api/auth/passkeys/start', headers, payload: {} })
    const { flowId, options } = started.json()
    const credential = createAuthenticator(place).register(options, bent)
    const payload = { flowId, credential }
    return world.api.inject({ method: 'POST', url: '/api/auth/passkeys/finish', headers, payload })
  },
  async recover(bent) {
    const recoveryAuth = randomBytes(32).toString('base64url')
    const handle = `someone-${randomBytes(6).toString('hex')}`
    const begun = await start(handle)
    const made = createAuthenticator(place).register(begun.options)
    const wrap = { kind: 'recovery_code', ciphertext: 'by.recovery.code' }
    const registered = { flowId: begun.flowId, credential: made, keyWraps: [wrap], recoveryAuth }
    assert.equal((await post('/api/auth/register/finish', registered)).statusCode, 201)
    const { flowId, options } = (await post('/api/auth/recover/start', { handle, recoveryAuth })).json()
    const credential = createAuthenticator(place).register(options, bent)
    return post('/api/auth/recover/finish', { flowId, credential })
  },
}

for (const [where, enrol] of Object.entries(enrolments))
  test(`PKY-18 OUT-01 attestation by a manufacturer is rejected at ${where} without outbound requests`, async (t) => {
    const listener = await listenForCallers()
    t.after(() => listener.close())
    for (const [what, attestation] of Object.entries(attestationStatements(listener.url))) {
      const answer = await enrol({ attestation })
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_credential'], what)
      assert.equal(listener.callers(), 0, what)
    }
    assert.equal((await enrol({})).statusCode < 300, true)
  })

const misshapen: Record<string, AuthenticatorOverrides> = {
  'a statement that is a list': { attestationObject: (bytes) => replace(bytes, 'attStmt\xa0', 'attStmt\x80') },
  'a format that is bytes': { attestationObject: (bytes) => replace(bytes, '\x64none', '\x44none') },
  'a fourth member': {
    attestationObject: (bytes) =>
      Buffer.concat([Buffer.from([0xa4]), bytes.subarray(1), cbor('ep'), Buffer.from([0xf5])]),
  },
  'its format twice': {
    attestationObject: (bytes) => Buffer.concat([Buffer.from([0xa4]), bytes.subarray(1), cbor('fmt'), cbor('none')]),
  },
  'a length that is written too long': {
    attestationObject: (bytes) => replace(bytes, '\x64none', '\x78\x04none'),
  },
  'a signature of its own that is text': {
    attestation: () => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', -7],
        ['sig', 'signed'],
      ]),
    }),
  },
  'an algorithm of its own that is text': {
    attestation: (made) => ({
      fmt: 'packed',
      attStmt: new Map<string, unknown>([
        ['alg', 'ES256'],
        ['sig', made.sign(Buffer.concat([made.authData, made.clientDataHash]))],
      ]),
    }),
  },
  'more than eight kilobytes': { publicKey: rsa(2048, Buffer.alloc(8192, 0xff)) },
}
for (const [what, bent] of Object.entries(misshapen))
  test(`PKY-16 an attestation with ${what} is rejected`, async () => {
    const { answer } = await register(bent)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_credential'], answer.body)
  })

function replace(bytes: Buffer, text: string, by: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(text, by), 'latin1')
}
