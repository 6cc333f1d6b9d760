import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, before, test } from 'node:test'
import { compactVerify, createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Receipt } from '@countersign/protocol/signing/receipts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'
import { transaction } from '#platform/database/database.ts'
import { appendKeyEvent, getKeyChain } from '#signing/transparency/event.ts'
import { signStatement } from '#signing/transparency/log.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

/** Creates a user who has signed the text, and the URLs of the receipt. */
async function signed() {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId, { payload })).json()
  const answer = await ada.sign(requestId, ada.pair.sign(payload))
  assert.equal(answer.statusCode, 200, answer.body)
  return { ...ada, requestId, byPerson: () => byPerson(ada, requestId), byApp: () => byApp(requestId) }
}
const byPerson = ({ headers }: { headers: Record<string, string> }, requestId: string) =>
  world.api.inject({ url: `/api/signing/requests/${requestId}/receipt`, headers })
const byApp = (requestId: string, clientId = app.clientId) =>
  world.api.inject({ url: `/api/signing/request/${requestId}/receipt?clientId=${clientId}` })

const keySet = async () => (await world.api.inject({ url: '/api/transparency/jwks' })).json()
const check = async (jws: string, text = payload) => verifyReceipt(jws, { payload: text, keySet: await keySet() })

/** Signs a receipt as a dishonest service would. */
async function forge(receipt: object, type = 'countersign-receipt+jwt'): Promise<string> {
  const log = await world.db.selectFrom('transparency_log').selectAll().executeTakeFirstOrThrow()
  const key = { publicKey: log.public_key, sealedPrivateKey: log.sealed_private_key }
  return signStatement(world.kernel.keyring, key, type, receipt)
}

async function receiptOf(jws: string): Promise<Receipt> {
  const reading = await check(jws)
  return 'receipt' in reading ? reading.receipt : assert.fail(reading.flaw)
}

test('a receipt states signer, text and time, and can be verified offline', async () => {
  const ada = await signed()
  const answer = await ada.byPerson()
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-type'], 'application/countersign-receipt+jwt')
  const { history, checkpoint, ...receipt } = await receiptOf(answer.body)
  const at = world.now().toISOString()
  assert.deepEqual(receipt, {
    version: 1,
    requestId: ada.requestId,
    clientId: app.clientId,
    identityId: ada.identityId,
    handle: ada.handle,
    payloadSha256: '/PYV39+/H7a/juAUOgx1OAZH3zCgbK63UxQ85BtRMzY=',
    signature: ada.pair.sign(payload),
    publicKey: ada.pair.publicKey,
    keyVersion: 1,
    createdAt: at,
    resolvedAt: at,
    issuedAt: at,
  })
  assert.match(checkpoint, /^localhost:4400\/transparency\n\d+\n/)
  assert.equal(history.length, 1)
  assert.ok(history[0]?.leaf.includes(receipt.publicKey))

  // With third-party libraries.
  await compactVerify(answer.body, createLocalJWKSet(await keySet()))
  const x = Buffer.from(receipt.publicKey, 'base64').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(payload), publicKey, Buffer.from(receipt.signature, 'base64')))
})

test('a receipt stays valid after key replacement and log growth, with a stored key set', async () => {
  const ada = await signed()
  const kept = await keySet()
  const before = (await ada.byPerson()).body
  assert.equal((await ada.rotate(rotationOf(ada.identityId, ada.pair, newSigningPair()))).statusCode, 200)
  await signed()
  for (const jws of [before, (await ada.byPerson()).body])
    assert.ok('receipt' in verifyReceipt(jws, { payload, keySet: kept }))
})

test('TLG-09 an altered receipt is invalid', async () => {
  const jws = (await (await signed()).byPerson()).body
  const [header = '', body = '', signature = ''] = jws.split('.')
  const receipt = decodeJwt(jws)
  for (const field of Object.keys(receipt)) {
    const altered = Buffer.from(JSON.stringify({ ...receipt, [field]: 'altered' })).toString('base64url')
    assert.deepEqual(await check(`${header}.${altered}.${signature}`), { flaw: 'invalid_service_signature' }, field)
  }
  assert.deepEqual(await check(`${jws}.`), { flaw: 'malformed_receipt' })
  assert.deepEqual(await check(`${header}.${body}.`), { flaw: 'invalid_service_signature' })
  assert.deepEqual(await check(`${header}.${body}`), { flaw: 'invalid_service_signature' })
  for (const nonsense of ['', '...', 'nothing', `${body}.${body}.${signature}`])
    assert.deepEqual(await check(nonsense), { flaw: 'malformed_receipt' }, nonsense)
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'countersign-receipt+jwt' })).toString('base64url')
  assert.deepEqual(await check(`${none}.${body}.`), { flaw: 'malformed_receipt' })
})

test('TLG-09 a receipt forged by the service without signature, or with an unlogged key, is invalid', async () => {
  const [ada, bob] = [await signed(), await signed()]
  const [receipt, other] = [await receiptOf((await ada.byPerson()).body), await receiptOf((await bob.byPerson()).body)]
  const stranger = newSigningPair()
  const entry = receipt.history[0] ?? assert.fail()
  const lies: [flaw: string, lie: Partial<Record<keyof Receipt, unknown>>][] = [
    ['payload_mismatch', { payloadSha256: other.signature }],
    ['invalid_signature', { signature: bob.pair.sign('another text') }],
    ['invalid_signature', { publicKey: other.publicKey }],
    ['invalid_signature', { signature: `${receipt.signature}\n` }],
    ['key_not_in_log', { publicKey: stranger.publicKey, signature: stranger.sign(payload) }],
    ['key_not_in_log', { identityId: other.identityId }],
    ['key_not_in_log', { keyVersion: 2 }],
    ['key_not_in_log', { history: other.history }],
    ['key_not_in_log', { history: [{ ...entry, index: entry.index + 1 }] }],
    ['key_not_in_log', { history: [{ ...entry, hashes: entry.hashes.slice(1) }] }],
    ['key_not_in_log', { history: [{ ...entry, leaf: entry.leaf.replace('created', 'rotated') }] }],
    ['key_not_in_log', { checkpoint: receipt.checkpoint.replace('\n', '\n1') }],
    ['malformed_receipt', { version: 2 }],
    ['malformed_receipt', { resolvedAt: 'yesterday' }],
    ['malformed_receipt', { history: undefined }],
    ['malformed_receipt', { history: [] }],
    ['invalid_key_history', { history: [entry, entry] }],
  ]
  for (const [flaw, lie] of lies)
    assert.deepEqual(await check(await forge({ ...receipt, ...lie })), { flaw }, JSON.stringify(lie))
  const words = 'Überweise 1000 €'
  assert.deepEqual(await check((await ada.byPerson()).body, words), { flaw: 'payload_mismatch' })
  assert.ok('receipt' in (await check(await forge(receipt))), 'the unaltered receipt is valid')
})

/** Appends a leaf like a service that signs its log with the real key. */
async function forgeLeaf(identityId: IdentityId, event: Parameters<typeof appendKeyEvent>[2]): Promise<void> {
  await transaction(world.db, async (tx) => {
    await appendKeyEvent(tx, await getKeyChain(tx, identityId), event, world.now())
  })
}

test('TLG-12 a receipt reports keys that were replaced or logged without the signatures of their holders', async () => {
  const ada = await signed()
  const unprovedOf = async (jws: string) => {
    const reading = await check(jws)
    return 'receipt' in reading ? reading.unproved : assert.fail(reading.flaw)
  }
  const jws = (await ada.byPerson()).body
  assert.deepEqual(await unprovedOf(jws), ['no_approval', 'no_possession'])
  // The service replaces the key by one of its own, and signs with it in the name of the user.
  const stolen = newSigningPair()
  const event = { event: 'rotated' as const, keyVersion: 2, publicKey: Buffer.from(stolen.publicKey, 'base64') }
  await forgeLeaf(ada.identityId, { ...event, link: null, possession: null })
  const honest = await receiptOf((await ada.byPerson()).body)
  const lie = { publicKey: stolen.publicKey, keyVersion: 2, signature: stolen.sign(payload) }
  assert.deepEqual(await unprovedOf(await forge({ ...honest, ...lie })), [
    'no_approval',
    'unlinked_key',
    'no_possession',
  ])
  assert.deepEqual(await unprovedOf(await forge(honest)), ['no_approval', 'no_possession'])
  // Without the entry of the replacement, the key is not in the history.
  const history = honest.history.slice(0, 1)
  assert.deepEqual(await check(await forge({ ...honest, ...lie, history })), { flaw: 'key_not_in_log' })
})

test('TLG-12 a receipt with a forged proof in its history is invalid', async () => {
  const ada = await signed()
  const stolen = newSigningPair()
  const event = { event: 'rotated' as const, keyVersion: 2, publicKey: Buffer.from(stolen.publicKey, 'base64') }
  const link = stolen.sign('the former key has not signed this')
  await forgeLeaf(ada.identityId, { ...event, link, possession: null })
  assert.deepEqual(await check((await ada.byPerson()).body), { flaw: 'invalid_key_history' })
})

test('TLG-13 a signature counts only for the key that was in force at its time', async () => {
  const ada = await signed()
  const next = newSigningPair()
  assert.equal((await ada.rotate(rotationOf(ada.identityId, ada.pair, next))).statusCode, 200)
  const receipt = await receiptOf((await ada.byPerson()).body)
  const [earlier, later] = [-601_000, 601_000].map((by) => new Date(world.now().getTime() + by).toISOString())
  const former = { ...receipt, resolvedAt: later }
  assert.deepEqual(await check(await forge(former)), { flaw: 'key_not_in_force' })
  const early = { publicKey: next.publicKey, keyVersion: 2, signature: next.sign(payload) }
  assert.deepEqual(await check(await forge({ ...receipt, ...early, resolvedAt: earlier })), {
    flaw: 'key_not_in_force',
  })
  assert.ok('receipt' in (await check(await forge({ ...receipt, ...early, resolvedAt: later }))))
})

test('TLG-09 a receipt of another service is rejected', async () => {
  const elsewhere = await createWorld()
  const jws = (await (await signed()).byPerson()).body
  const strange = (await elsewhere.api.inject({ url: '/api/transparency/jwks' })).json()
  await elsewhere.close()
  assert.deepEqual(verifyReceipt(jws, { payload, keySet: strange }), { flaw: 'unknown_service_key' })
  assert.deepEqual(verifyReceipt(jws, { payload, keySet: { keys: [] } }), { flaw: 'unknown_service_key' })
  const renamed = { ...(await keySet()), origin: 'another/log' }
  assert.deepEqual(verifyReceipt(jws, { payload, keySet: renamed }), { flaw: 'key_not_in_log' })
})

test('TLG-10 a receipt is not accepted as token, nor a token as receipt', async () => {
  const ada = await signed()
  const jws = (await ada.byPerson()).body
  const headers = { authorization: `Bearer ${jws}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 401)
  const tokens = await app.tokens(ada)
  const published = (await world.auth.inject({ url: '/.well-known/jwks.json' })).json()
  await assert.rejects(jwtVerify(jws, createLocalJWKSet(published)))
  await assert.rejects(jwtVerify(jws, createLocalJWKSet(await keySet()), { typ: 'JWT' }))
  assert.deepEqual(await check(tokens.id_token ?? ''), { flaw: 'malformed_receipt' })
  const receipt = await receiptOf(jws)
  assert.deepEqual(await check(await forge(receipt, 'JWT')), { flaw: 'malformed_receipt' })
})

test('only signed requests have a receipt, and only for the signer and the app', async () => {
  const ada = await createSigner(world)
  const refused = async (answer: ReturnType<typeof byApp>) => {
    const { statusCode, ...sent } = await answer
    return [statusCode, sent.json().error]
  }
  const requestId = async () => (await shop.request(ada.identityId, { payload })).json().requestId
  const [pending, denied, expiring] = [await requestId(), await requestId(), await requestId()]
  await ada.deny(denied)
  const notSigned = [409, 'request_not_signed']
  for (const id of [pending, denied]) {
    assert.deepEqual(await refused(byPerson(ada, id)), notSigned)
    assert.deepEqual(await refused(byApp(id)), notSigned)
  }
  world.pass(301)
  assert.deepEqual(await refused(byApp(expiring)), notSigned)

  const bob = await signed()
  const notFound = [404, 'request_not_found']
  assert.deepEqual(await refused(byPerson(ada, bob.requestId)), notFound)
  assert.deepEqual(await refused(byPerson(ada, crypto.randomUUID())), notFound)
  assert.deepEqual(await refused(byApp(crypto.randomUUID())), notFound)
  const other = await world.app()
  assert.deepEqual(await refused(byApp(bob.requestId, other.clientId)), [403, 'access_denied'])
})

test('a receipt contains the handle shown at signing, and reveals no current handle to apps', async () => {
  const ada = await signed()
  await app.code(ada, { scope: 'openid' })
  const { identityId, headers } = ada
  const payload = { handle: `${ada.handle}-2` }
  const renamed = await world.api.inject({ method: 'PATCH', url: `/api/identities/${identityId}`, headers, payload })
  assert.equal(renamed.statusCode, 200, renamed.body)
  for (const { body } of [await ada.byApp(), await ada.byPerson()])
    assert.equal((await receiptOf(body)).handle, ada.handle)
})
