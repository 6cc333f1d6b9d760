import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { findPromiseError } from '@countersign/protocol/formats/signing/inclusion-promise'
import { hashKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { listMissingKeyProofs, readKeyHistory } from '@countersign/protocol/formats/signing/key-history'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { ChainedSigningKey, LoggedSigningKey } from '@countersign/protocol/signing/keys'
import type { LoggedKeyEvent, PromisedKeyEvent } from '@countersign/protocol/signing/transparency'
import { createAuthenticator } from '#testing/authenticator.ts'
import { createSigner, keyProofsOf, newSigningPair, rotationOf, testLog, type SigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; body: string; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const sealed = { encryptedPrivateKey: 'a.b.c.d.e' }
const createKey = ({ identityId, headers }: Person, payload: object) =>
  world.api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}`, headers, payload })
const first = (identityId: string, to: SigningPair) => ({
  ...{ event: 'created' as const, identityId, keyVersion: 1, previous: null, to },
})

/** Creates a user whose first key is proved or not, and reads the chain as pages do. */
async function createOwner() {
  const signer = await createSigner(world)
  const chain = async () => (await signer.readKey()).json<ChainedSigningKey>().chain
  return { ...signer, chain }
}
type Owner = Awaited<ReturnType<typeof createOwner>>

/** Builds the body that rotates with all proofs. */
async function provedRotation(
  owner: Owner,
  { from, to, keyVersion = 2 }: { from: SigningPair; to: SigningPair; keyVersion?: number },
) {
  const { identityId } = owner
  const { previous } = await owner.chain()
  const proofs = keyProofsOf({ event: 'rotated', identityId, keyVersion, previous, to }, { from })
  return { ...rotationOf(identityId, from, to), previous, ...proofs }
}

async function historyOf(identityId: IdentityId) {
  const url = `/api/transparency/identities/${identityId}`
  const { events } = (await world.api.inject({ url })).json<{ events: LoggedKeyEvent[] }>()
  const history = readKeyHistory(nodeSuite, { log: testLog, identityId, leaves: events })
  return 'keys' in history ? history : assert.fail(JSON.stringify(history))
}
const missingOf = async ({ identityId }: { identityId: IdentityId }, keyVersion: number) =>
  listMissingKeyProofs(await historyOf(identityId), keyVersion)

async function logKey(): Promise<NoteKey> {
  const { origin, keys } = (await world.api.inject({ url: '/api/transparency/jwks' })).json()
  return { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
}
async function assertPromised({ leaf, promise }: PromisedKeyEvent, identityId: string) {
  assert.equal(findPromiseError(nodeSuite, promise, { leaf, logKey: await logKey() }), undefined)
  const { events } = (await world.api.inject({ url: `/api/transparency/identities/${identityId}` })).json<{
    events: LoggedKeyEvent[]
  }>()
  assert.ok(events.some((event) => event.leaf === leaf))
}

test('KEY-23 a first key and its replacement are proved in the log if the client proves them', async () => {
  const ada = await world.person()
  const { identityId } = ada
  const [one, two] = [newSigningPair(), newSigningPair()]
  const proofs = keyProofsOf(first(identityId, one))
  const created = await createKey(ada, { publicKey: one.publicKey, ...sealed, ...proofs })
  assert.equal(created.statusCode, 201, created.body)
  const made = created.json<LoggedSigningKey>()
  await assertPromised(made.logEntry, identityId)
  assert.deepEqual(made.chain, { log: testLog, previous: hashKeyEvent(nodeSuite.sha256, made.logEntry.leaf) })
  assert.deepEqual(await missingOf(ada, 1), [])

  const { previous } = made.chain
  const event = { event: 'rotated' as const, identityId, keyVersion: 2, previous, to: two }
  const payload = { ...rotationOf(identityId, one, two), previous, ...keyProofsOf(event, { from: one }) }
  const url = `/api/signing/keys/${identityId}`
  const rotated = await world.api.inject({ method: 'PUT', url, headers: ada.headers, payload })
  assert.equal(rotated.statusCode, 200, rotated.body)
  await assertPromised(rotated.json<LoggedSigningKey>().logEntry, identityId)
  assert.equal(rotated.json<LoggedSigningKey>().chain.adoption, undefined)
  assert.deepEqual(await missingOf(ada, 2), [])
})

test('KEY-23 a registration proves its first key, with the name of the log from its start', async () => {
  const register = async (possessionOf: (identityId: string, key: SigningPair, log: string) => object) => {
    const payload = { handle: `proved-${crypto.randomUUID().slice(0, 8)}`, displayName: 'Ada' }
    const started = await world.api.inject({ method: 'POST', url: '/api/auth/register/start', payload })
    const { flowId, options, identityId, log } = started.json()
    const pair = newSigningPair()
    const signingKey = { publicKey: pair.publicKey, ...sealed, ...possessionOf(identityId, pair, log) }
    const { authUrl, relyingPartyId: rpId } = world.kernel.config
    const credential = createAuthenticator({ origin: authUrl.origin, rpId }).register(options)
    const url = '/api/auth/register/finish'
    const finish = { flowId, credential, signingKey }
    return { identityId, answer: await world.api.inject({ method: 'POST', url, payload: finish }) }
  }
  const proved = await register((identityId, to, log) => keyProofsOf(first(identityId, to), { log }))
  assert.equal(proved.answer.statusCode, 201, proved.answer.body)
  await assertPromised(proved.answer.json().logEntry, proved.identityId)
  assert.deepEqual(await missingOf(proved, 1), [])
  const unproved = await register(() => ({}))
  assert.equal(unproved.answer.statusCode, 201, unproved.answer.body)
  assert.deepEqual(await missingOf(unproved, 1), ['no_possession'])
  const wrong = await register((_identityId, to, log) => keyProofsOf(first(crypto.randomUUID(), to), { log }))
  assert.deepEqual(errorOf(wrong.answer), [403, 'invalid_possession'])
})

test('KEY-24 the log takes no wrong proof: by another key, for another identity, log, version or message', async () => {
  const ada = await world.person()
  const { identityId } = ada
  const [one, evil] = [newSigningPair(), newSigningPair()]
  const event = first(identityId, one)
  for (const proofs of [
    keyProofsOf(event, { holder: evil }),
    keyProofsOf({ ...event, identityId: crypto.randomUUID() }),
    keyProofsOf({ ...event, keyVersion: 2 }),
    keyProofsOf({ ...event, event: 'adopted' }),
    keyProofsOf(event, { log: 'another/log' }),
    { possession: keyProofsOf(event, { from: one }).link },
    { possession: 'AAAA' },
  ]) {
    const answer = await createKey(ada, { publicKey: one.publicKey, ...sealed, ...proofs })
    assert.ok([400, 403].includes(answer.statusCode), answer.body)
    assert.ok(['invalid_possession', 'invalid_request'].includes(answer.json().error ?? ''))
  }
  const owner = await createOwner()
  const two = newSigningPair()
  const good = await provedRotation(owner, { from: owner.pair, to: two })
  const stolen = await provedRotation(owner, { from: evil, to: two })
  assert.deepEqual(errorOf(await owner.rotate({ ...good, link: stolen.link })), [403, 'invalid_link'])
  assert.deepEqual(errorOf(await owner.rotate({ ...good, link: good.possession })), [403, 'invalid_link'])
  assert.deepEqual(errorOf(await owner.rotate({ ...good, possession: good.link })), [403, 'invalid_possession'])
  const { link: _link, ...withoutLink } = good
  assert.deepEqual(errorOf(await owner.rotate(withoutLink)), [400, 'incomplete_key_proofs'])
  const { previous: _previous, ...withoutPrevious } = good
  assert.deepEqual(errorOf(await owner.rotate(withoutPrevious)), [400, 'incomplete_key_proofs'])
  assert.equal((await historyOf(owner.identityId)).keys.length, 1)
  assert.equal((await owner.rotate(good)).statusCode, 200)
})

test('KEY-25 proofs over an earlier entry are rejected, and of concurrent changes one wins', async () => {
  const owner = await createOwner()
  const stale = await provedRotation(owner, { from: owner.pair, to: newSigningPair() })
  const { previous } = await owner.chain()
  const adoption = { event: 'adopted' as const, identityId: owner.identityId, keyVersion: 1, previous, to: owner.pair }
  assert.equal((await owner.adopt({ previous, ...keyProofsOf(adoption) })).statusCode, 200)
  assert.deepEqual(errorOf(await owner.rotate(stale)), [409, 'key_history_changed'])

  const racing = await createOwner()
  const at = (await racing.chain()).previous
  const own = { event: 'adopted' as const, identityId: racing.identityId, keyVersion: 1, previous: at, to: racing.pair }
  const rotations = await Promise.all(
    Array.from({ length: 4 }, () => provedRotation(racing, { from: racing.pair, to: newSigningPair() })),
  )
  const answers = await Promise.all([
    ...rotations.map((rotation) => racing.rotate(rotation)),
    ...Array.from({ length: 4 }, () => racing.adopt({ previous: at, ...keyProofsOf(own) })),
  ])
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  for (const answer of answers) if (answer.statusCode !== 200) assert.equal(answer.statusCode, 409, answer.body)
  await historyOf(racing.identityId)
})

test('KEY-26 keys of clients that prove nothing still work, and the log says what they lack', async () => {
  const owner = await createOwner()
  assert.deepEqual(await missingOf(owner, 1), ['no_possession'])
  const two = newSigningPair()
  assert.equal((await owner.rotate(rotationOf(owner.identityId, owner.pair, two))).statusCode, 200)
  assert.deepEqual(await missingOf(owner, 2), ['unlinked_key', 'no_possession'])
})

test('KEY-27 an adoption proves such a key and closes the break before it, once', async () => {
  const owner = await createOwner()
  const { identityId, pair } = owner
  const two = newSigningPair()
  await owner.rotate(rotationOf(identityId, pair, two))
  const { previous, adoption } = await owner.chain()
  assert.deepEqual(adoption, { former: { publicKey: pair.publicKey, ...sealed } })
  const event = { event: 'adopted' as const, identityId, keyVersion: 2, previous, to: two }
  const evil = newSigningPair()
  const refused = async (body: object) => errorOf(await owner.adopt({ previous, ...body }))
  assert.deepEqual(await refused(keyProofsOf(event, { from: evil })), [403, 'invalid_link'])
  assert.deepEqual(await refused(keyProofsOf(event, { from: pair, holder: evil })), [403, 'invalid_possession'])
  assert.deepEqual(await refused(keyProofsOf({ ...event, event: 'rotated' }, { from: pair })), [403, 'invalid_link'])
  assert.deepEqual(await refused({ previous: null }), [400, 'invalid_request'])
  assert.deepEqual(errorOf(await owner.adopt({ previous: 'AAAA', ...keyProofsOf(event) })), [
    ...[409, 'key_history_changed'],
  ])

  const adopted = await owner.adopt({ previous, ...keyProofsOf(event, { from: pair }) })
  assert.equal(adopted.statusCode, 200, adopted.body)
  await assertPromised(adopted.json<LoggedSigningKey>().logEntry, identityId)
  assert.deepEqual(await missingOf(owner, 2), [])
  const again = { ...event, previous: (await owner.chain()).previous }
  assert.deepEqual(errorOf(await owner.adopt({ previous: again.previous, ...keyProofsOf(again) })), [
    ...[409, 'key_already_proved'],
  ])
  assert.equal((await owner.chain()).adoption, undefined)
  // The next rotation continues the chain.
  const three = newSigningPair()
  const next = await provedRotation(owner, { from: two, to: three, keyVersion: 3 })
  assert.equal((await owner.rotate(next)).statusCode, 200)
  assert.deepEqual(await missingOf(owner, 3), [])
})

test('KEY-27 an adoption without a link is final, and a first key has no link', async () => {
  const owner = await createOwner()
  const { identityId, pair } = owner
  const { previous } = await owner.chain()
  const event = { event: 'adopted' as const, identityId, keyVersion: 1, previous, to: pair }
  const linked = await owner.adopt({ previous, ...keyProofsOf(event, { from: pair }) })
  assert.deepEqual(errorOf(linked), [403, 'invalid_link'])
  const two = newSigningPair()
  await owner.rotate(rotationOf(identityId, pair, two))
  const second = { ...event, keyVersion: 2, previous: (await owner.chain()).previous, to: two }
  const open = await owner.adopt({ previous: second.previous, ...keyProofsOf(second) })
  assert.equal(open.statusCode, 200, open.body)
  assert.deepEqual(await missingOf(owner, 2), ['unlinked_key'])
  assert.equal((await owner.chain()).adoption, undefined)
})

test("KEY-28 nobody adopts or reads the chain of another's key", async () => {
  const [owner, eve] = [await createOwner(), await createOwner()]
  const { previous } = await owner.chain()
  const event = { event: 'adopted' as const, identityId: owner.identityId, keyVersion: 1, previous, to: owner.pair }
  const url = `/api/signing/keys/${owner.identityId}/adoption`
  const payload = { previous, ...keyProofsOf(event) }
  const answer = await world.api.inject({ method: 'POST', url, headers: eve.headers, payload })
  assert.deepEqual(errorOf(answer), [404, 'identity_not_found'])
})

test('KEY-29 the owner exports the signature of each rotation', async () => {
  const owner = await createOwner()
  const two = newSigningPair()
  const rotation = rotationOf(owner.identityId, owner.pair, two)
  await owner.rotate(rotation)
  const exported = (await world.api.inject({ url: '/api/account/export', headers: owner.headers })).json()
  const [identity] = exported.identities
  assert.deepEqual(
    identity.signingKeys.map((key: { rotationSignature: string | null }) => key.rotationSignature),
    [null, rotation.rotationSignature],
  )
})

test('KEY-30 an identity has two hundred signing keys at most', async () => {
  const owner = await createOwner()
  const { identityId } = owner
  // As many rotations take twenty days; the rows stand for them.
  await world.db
    .updateTable('signing_key')
    .set({ key_version: limits.signingKeysMax })
    .where('identity_id', '=', identityId)
    .execute()
  const answer = await owner.rotate(rotationOf(identityId, owner.pair, newSigningPair()))
  assert.deepEqual(errorOf(answer), [409, 'too_many_keys'])
  await world.db.updateTable('signing_key').set({ key_version: 1 }).where('identity_id', '=', identityId).execute()
})
