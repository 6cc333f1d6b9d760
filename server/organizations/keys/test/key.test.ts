import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { secretCommitment } from '@countersign/protocol/formats/acts/act'
import type { OrganizationKeyWrap } from '@countersign/protocol/organizations/keys'
import { sql } from 'kysely'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret, sha256 } from '#platform/crypto/secret.ts'
import { actorOf } from '#testing/actor.ts'
import { createKeyHolder, fingerprintOf, newSharedKey, setMode, type KeyHolder } from '#testing/key-holder.ts'
import { businessRequest, join, createOrganization, reauthenticate } from '#testing/organization.ts'
import { newSigningPair } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { reencryptOrganizationKeys } from '#organizations/keys/custody.ts'

const secretKey = 'the-secret-key-of-this-test-of-32-characters'
let world: TestWorld
before(async () => {
  world = await createWorld({ secretKey })
})
after(() => world.close())

type Requester = Pick<KeyHolder, 'headers'>
const post = (requester: Requester, id: string, body: object = {}) =>
  businessRequest(world, requester, `POST /organizations/${id}/keys`, body)
const list = async (requester: Requester, id: string) =>
  (await businessRequest(world, requester, `GET /organizations/${id}/keys`)).json().keys
const read = (requester: Requester, id: string, keyId: string) =>
  businessRequest(world, requester, `GET /organizations/${id}/keys/${keyId}/wraps`)
const put = (requester: Requester, id: string, keyId: string, wraps: object[]) =>
  businessRequest(world, requester, `PUT /organizations/${id}/keys/${keyId}/wraps`, { wraps })
const outcomeOf = (answer: Awaited<ReturnType<typeof post>>) => [answer.statusCode, answer.json().error]

/** Opens a member's wrap of a key. */
async function openOwn(holder: KeyHolder, id: string, keyId: string) {
  const { wraps } = (await read(holder, id, keyId)).json<{ wraps: OrganizationKeyWrap[] }>()
  const own = wraps.find(({ identityId }) => identityId === holder.identityId)
  assert.ok(own?.ciphertext, `${holder.handle} has no wrap of the key`)
  return holder.open(own.ciphertext)
}

/** Creates an organization with an owner and members who have encryption keys. */
async function acme(mode: 'standard' | 'e2ee', count = 1) {
  const owner = await createKeyHolder(world)
  const { id, memberId } = await createOrganization(world, owner)
  if (mode === 'e2ee') await setMode(world, owner, id, mode)
  const members = await Promise.all(Array.from({ length: count }, (_, nth) => newMember(id, owner, nth)))
  return { owner: { ...owner, memberId }, id, members }
}

async function newMember(id: string, owner: KeyHolder, nth = 0) {
  const holder = await createKeyHolder(world, nth % 2 === 0 ? 'X25519' : 'P-256')
  const { memberId } = await join(world, { id, owner, role: 'member' }, holder)
  return { ...holder, memberId }
}

/** Creates the same organization in mode e2ee, with a key that its owner has generated. */
async function sharing(count = 1) {
  const { owner, id, members } = await acme('e2ee', count)
  const shared = newSharedKey(id)
  const made = await post(owner, id, { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) })
  assert.equal(made.statusCode, 201, made.body)
  const { keyId } = made.json().key
  const grantTo = async (...some: (KeyHolder & { memberId: string })[]) =>
    put(
      owner,
      id,
      keyId,
      await Promise.all(some.map(async (each) => ({ memberId: each.memberId, ciphertext: await shared.wrapTo(each) }))),
    )
  return { owner, id, members, shared, keyId, grantTo }
}

test('in mode standard the service generates the key, and wraps it to each member on request', async () => {
  const { owner, id, members } = await acme('standard', 2)
  const made = await post(owner, id)
  assert.equal(made.statusCode, 201, made.body)
  const { key } = made.json()
  assert.deepEqual([key.version, key.keyCustody, key.held, key.membersWithout], [1, 'svc_standard', true, 0])
  const opened = await Promise.all([owner, ...members].map((each) => openOwn(each, id, key.keyId)))
  for (const [nth, { key: bytes, header }] of opened.entries()) {
    assert.equal(bytes.length, 32)
    assert.equal(fingerprintOf(bytes), key.fingerprint)
    const { identityId } = [owner, ...members][nth] ?? owner
    assert.equal(header['ctx'], `organization-key:${id}:${key.fingerprint}:${identityId}`)
    assert.deepEqual([header.alg, header.enc], ['ECDH-ES+A256KW', 'A256GCM'])
  }
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  const actions = entries.map(({ action }: { action: string }) => action)
  assert.equal(actions.filter((action: string) => action === 'organization.key.retrieved').length, 3)
  assert.equal(actions.filter((action: string) => action === 'organization.key.created').length, 1)
})

test('a member without an encryption key gets no key, and is counted', async () => {
  const { owner, id } = await acme('standard')
  const without = await world.person()
  await join(world, { id, owner, role: 'viewer' }, without)
  const { keyId, membersWithout } = (await post(owner, id)).json().key
  assert.equal(membersWithout, 1)
  const [own] = (await read(without, id, keyId)).json().wraps
  assert.deepEqual([own.publicKey, own.granted, own.ciphertext], [null, false, undefined])
  assert.equal((await list(without, id))[0].held, false)
})

test('ORG-12 members read their own wrap of a shared key, and key managers see which members have one', async () => {
  const { owner, id, members, keyId, grantTo, shared } = await sharing(2)
  const [ann, ben] = members
  assert.ok(ann && ben)
  const granted = await grantTo(ann)
  assert.equal(granted.statusCode, 200, granted.body)
  assert.deepEqual((await openOwn(ann, id, keyId)).key, shared.key)

  const seen = (await read(owner, id, keyId)).json<{ wraps: OrganizationKeyWrap[] }>().wraps
  const asSeen = seen.map(({ handle, granted: has, ciphertext }) => [handle, [has, ciphertext !== undefined]])
  assert.deepEqual(Object.fromEntries(asSeen), {
    [owner.handle]: [true, true],
    [ann.handle]: [true, false],
    [ben.handle]: [false, false],
  })
  assert.equal(seen.find(({ handle }) => handle === ben.handle)?.publicKey, ben.publicKey)

  const own = (await read(ben, id, keyId)).json<{ wraps: OrganizationKeyWrap[] }>().wraps
  assert.deepEqual(
    own.map(({ handle, granted: has, ciphertext }) => [handle, has, ciphertext]),
    [[ben.handle, false, undefined]],
  )
  const asAnn = `GET /organizations/${id}/keys/${keyId}/wraps?identity_id=${ann.identityId}` as const
  assert.deepEqual(outcomeOf(await businessRequest(world, ben, asAnn)), [404, 'organization_not_found'])
  assert.deepEqual(
    (await list(ben, id)).map((key: { held: boolean; membersWithout: number }) => [key.held, key.membersWithout]),
    [[false, 1]],
  )
})

test('ORG-12 a removed member cannot read a key, even after they join again', async () => {
  const { owner, id, members, keyId, grantTo } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  await grantTo(ann)
  const removed = await businessRequest(world, owner, `DELETE /organizations/${id}/members/${ann.memberId}`)
  assert.equal(removed.statusCode, 204)
  assert.deepEqual(outcomeOf(await read(ann, id, keyId)), [404, 'organization_not_found'])
  assert.equal((await businessRequest(world, ann, `GET /organizations/${id}/keys`)).statusCode, 404)
  await join(world, { id, owner, role: 'admin' }, ann)
  const { wraps } = (await read(ann, id, keyId)).json<{ wraps: OrganizationKeyWrap[] }>()
  assert.ok(wraps.every(({ ciphertext }) => ciphertext === undefined))
})

test('ORG-12 E2E-01 the database contains a shared key only in wrapped form', async () => {
  const { members, grantTo, shared } = await sharing(2)
  await grantTo(...members)
  const forms = (['hex', 'base64', 'base64url'] as const).map((form) => shared.key.toString(form))
  const canary = shared.fingerprint
  let found = 0
  for (const { name } of await world.db.introspection.getTables()) {
    const { rows } = await sql.raw<{ text: string }>(`select whole::text as text from ${name} whole`).execute(world.db)
    for (const { text } of rows) {
      for (const form of forms) assert.ok(!text.includes(form), `${name} contains the key`)
      if (text.includes(canary)) found += 1
    }
  }
  assert.ok(found > 0, 'the search finds the stored wrap')
})

test('the active key becomes due for rotation only when a member who had it leaves', async () => {
  const { owner, id, members, keyId, grantTo } = await sharing(2)
  const [ann, ben] = members
  assert.ok(ann && ben)
  await grantTo(ann)
  const due = async () => (await list(owner, id))[0].rotationDueSince
  assert.equal(
    (await businessRequest(world, owner, `DELETE /organizations/${id}/members/${ben.memberId}`)).statusCode,
    204,
  )
  assert.equal(await due(), null)
  assert.equal(
    (await businessRequest(world, ann, `DELETE /organizations/${id}/members/${ann.memberId}`)).statusCode,
    204,
  )
  assert.equal(await due(), world.now().toISOString())

  const next = newSharedKey(id)
  const ciphertext = await next.wrapTo(owner)
  const renewed = await post(owner, id, { replaces: keyId, fingerprint: next.fingerprint, ciphertext })
  assert.equal(renewed.statusCode, 201, renewed.body)
  const keys = await list(owner, id)
  assert.deepEqual(
    keys.map((key: { version: number; rotationDueSince: string; endedAt: string }) => [
      key.version,
      key.rotationDueSince,
      key.endedAt,
    ]),
    [
      [2, null, null],
      [1, null, world.now().toISOString()],
    ],
  )
  assert.equal((await openOwn(owner, id, keyId)).key.length, 32)
})

test('an owner with recent authentication deletes a retired key, and no member can read it afterwards', async () => {
  const { owner, id, members, keyId, grantTo, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  await grantTo(ann)
  const remove = (requester: Requester, which: string) =>
    businessRequest(world, requester, `DELETE /organizations/${id}/keys/${which}`)
  assert.deepEqual(outcomeOf(await remove(owner, keyId)), [409, 'key_active'])
  const next = newSharedKey(id)
  const body = { replaces: keyId, fingerprint: next.fingerprint, ciphertext: await next.wrapTo(owner) }
  const { keyId: second } = (await post(owner, id, body)).json().key
  assert.deepEqual(outcomeOf(await remove(ann, keyId)), [403, 'insufficient_scope'])
  assert.deepEqual(outcomeOf(await remove(owner, randomUUID())), [404, 'key_not_found'])
  world.pass(301)
  assert.deepEqual(outcomeOf(await remove(owner, keyId)), [403, 'reauthentication_required'])
  await reauthenticate(world, owner)

  const answers = await Promise.all([1, 2, 3].map(() => remove(owner, keyId)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 404, 404])
  for (const each of [owner, ann]) assert.deepEqual(outcomeOf(await read(each, id, keyId)), [404, 'key_not_found'])
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  const deletions = entries.filter(({ action }: { action: string }) => action === 'organization.key.deleted')
  assert.deepEqual(
    deletions.map(({ details }: { details: object }) => details),
    [{ keyId, version: 1, fingerprint: shared.fingerprint }],
  )
  const third = newSharedKey(id)
  const again = { replaces: second, fingerprint: third.fingerprint, ciphertext: await third.wrapTo(owner) }
  assert.equal((await post(owner, id, again)).json().key.version, 3)
})

test('a key stored by the service becomes due whenever a member leaves, including by account deletion', async () => {
  const { owner, id, members } = await acme('standard', 1)
  await post(owner, id)
  const [ann] = members
  assert.ok(ann)
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ann.headers })
  assert.equal(gone.statusCode, 204, gone.body)
  assert.equal((await list(owner, id))[0].rotationDueSince, world.now().toISOString())
})

test('of concurrent rotations of the same key, one succeeds', async () => {
  const { owner, id } = await acme('standard', 0)
  for (const replaces of [undefined, 'the first'] as const) {
    const [inForce] = await list(owner, id)
    const body = replaces === undefined ? {} : { replaces: inForce.keyId }
    const answers = await Promise.all(Array.from({ length: 16 }, () => post(owner, id, body)))
    const codes = answers.map((answer) => answer.json().error ?? answer.statusCode).toSorted()
    assert.deepEqual(codes, [201, ...Array<string>(15).fill('key_changed')])
  }
  const late = await post(owner, id)
  assert.deepEqual(outcomeOf(late), [409, 'key_changed'])
  assert.equal(late.json().keyId, (await list(owner, id))[0].keyId)
})

test('an invalid wrap of a key for a member is rejected, and shares nothing', async () => {
  const { owner, id, members, keyId, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  const stranger = await createKeyHolder(world, 'P-256')
  const other = newSharedKey(id)
  const right = await shared.wrapTo(ann)
  const wrong = [
    'a.b.c.d.e',
    right.replace(/^[^.]*/, ''),
    `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}=`,
    await shared.wrapTo(owner),
    await other.wrapTo(ann),
    await newSharedKey(randomUUID(), shared.key).wrapTo(ann),
    await shared.wrapTo({ ...ann, publicKey: stranger.publicKey }),
    await shared.wrapTo(ann, { alg: 'ECDH-ES' }),
    await shared.wrapTo(ann, { enc: 'A128CBC-HS256' }),
    await shared.wrapTo(ann, { kid: 'mine' }),
    await shared.wrapTo(ann, {}, shared.key.subarray(1)),
  ]
  for (const ciphertext of wrong) {
    const answer = await put(owner, id, keyId, [{ memberId: ann.memberId, ciphertext }])
    assert.deepEqual(outcomeOf(answer), [400, 'invalid_key_wrap'], ciphertext)
    assert.equal(answer.json().memberId, ann.memberId)
  }
  const twice = [1, 2].map(() => ({ memberId: ann.memberId, ciphertext: right }))
  assert.deepEqual(outcomeOf(await put(owner, id, keyId, twice)), [400, 'invalid_request'])
  assert.equal((await put(owner, id, keyId, [])).statusCode, 400)
  assert.equal((await list(ann, id))[0].held, false)
})

test('a key can be shared only by members who have it, with members who have an encryption key', async () => {
  const { owner, id, keyId, shared } = await sharing(0)
  const stranger = await createKeyHolder(world)
  const ciphertext = await shared.wrapTo(stranger)
  const toNobody = await put(owner, id, keyId, [{ memberId: randomUUID(), ciphertext }])
  assert.deepEqual(outcomeOf(toNobody), [404, 'member_not_found'])
  const without = await world.person()
  const { memberId } = await join(world, { id, owner, role: 'admin' }, without)
  assert.deepEqual(outcomeOf(await put(owner, id, keyId, [{ memberId, ciphertext }])), [409, 'encryption_key_missing'])
  const blind = await put(without, id, keyId, [{ memberId: owner.memberId, ciphertext }])
  assert.deepEqual(outcomeOf(blind), [403, 'key_not_shared_with_you'])
  assert.deepEqual(outcomeOf(await put(owner, id, randomUUID(), [{ memberId, ciphertext }])), [404, 'key_not_found'])
  assert.deepEqual(outcomeOf(await read(owner, id, randomUUID())), [404, 'key_not_found'])
})

test('the encryption mode decides who generates the key: only members in e2ee', async () => {
  const { owner, id } = await acme('standard', 0)
  const shared = newSharedKey(id)
  const mine = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  assert.deepEqual(outcomeOf(await post(owner, id, mine)), [400, 'invalid_request'])
  const { keyId } = (await post(owner, id)).json().key
  const grant = await put(owner, id, keyId, [{ memberId: owner.memberId, ciphertext: mine.ciphertext }])
  assert.deepEqual(outcomeOf(grant), [409, 'key_managed_by_service'])

  await setMode(world, owner, id, 'e2ee')
  const [before] = await list(owner, id)
  assert.deepEqual([before.keyCustody, before.rotationDueSince], ['svc_standard', world.now().toISOString()])
  assert.deepEqual(outcomeOf(await post(owner, id, { replaces: keyId })), [400, 'invalid_request'])
  const made = await post(owner, id, { replaces: keyId, ...mine })
  assert.equal(made.json().key?.keyCustody, 'identity_grants', made.body)
  const again = await post(owner, id, { replaces: made.json().key.keyId, ...mine })
  assert.deepEqual(outcomeOf(again), [409, 'key_used_before'])
  const { organization } = (await businessRequest(world, owner, `GET /organizations/${id}`)).json()
  assert.deepEqual([organization.encryptionMode, organization.keyCustody], ['e2ee', 'identity_grants'])
  const kms = await businessRequest(world, owner, `PATCH /organizations/${id}`, {
    encryptionMode: 'enterprise_managed',
  })
  assert.deepEqual(outcomeOf(kms), [409, 'kms_required'])
})

test('KEY-10 creating and sharing keys and changing the mode require recent authentication', async () => {
  const { owner, id, members, keyId, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  world.pass(301)
  const wraps = [{ memberId: ann.memberId, ciphertext: await shared.wrapTo(ann) }]
  const stale = [
    await post(owner, id, { replaces: keyId }),
    await put(owner, id, keyId, wraps),
    await businessRequest(world, owner, `PATCH /organizations/${id}`, { encryptionMode: 'standard' }),
  ]
  for (const answer of stale) assert.equal(answer.json().error, 'reauthentication_required', answer.body)
  await reauthenticate(world, owner)
  assert.equal((await put(owner, id, keyId, wraps)).statusCode, 200)
  assert.equal((await openOwn(ann, id, keyId)).key.length, 32)
})

test('where signed actions are required, creating and sharing keys must be signed', async () => {
  const { owner, id, members, keyId, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  const pair = newSigningPair()
  const { headers, identityId } = owner
  const payload = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await world.api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}`, headers, payload })
  const actor = actorOf(world, { ...owner, pair })
  const turned = await actor.act(`PATCH /organizations/${id}`, { requireSignedActions: true })
  assert.equal(turned.statusCode, 200, turned.body)
  const wraps = [{ memberId: ann.memberId, ciphertext: await shared.wrapTo(ann) }]
  assert.deepEqual(outcomeOf(await put(owner, id, keyId, wraps)), [403, 'signed_action_required'])
  const started = await actor.start(`PUT /organizations/${id}/keys/${keyId}/wraps`, { wraps })
  const salt = Buffer.from(started.secretSalt ?? '', 'base64')
  const commitment = secretCommitment(sha256, wraps[0]?.ciphertext ?? '', salt)
  assert.deepEqual(started.details['wraps'], [{ memberId: ann.memberId, ciphertext: { commitment } }])
  const granted = await actor.do(started)
  assert.equal(granted.statusCode, 200, granted.body)
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  assert.deepEqual([entries[0].action, entries[0].details.memberIds], ['organization.key.shared', [ann.memberId]])
  assert.ok(!JSON.stringify(entries).includes(wraps[0]?.ciphertext ?? ''))
})

test('a new SECRET_KEY re-encrypts the keys that the service stores without changing them', async () => {
  const { owner, id } = await acme('standard', 0)
  const { keyId } = (await post(owner, id)).json().key
  const { key } = await openOwn(owner, id, keyId)
  const sealed = async () => {
    const rows = world.db.selectFrom('organization_key').select('sealed_key').where('key_id', '=', keyId)
    return (await rows.executeTakeFirstOrThrow()).sealed_key ?? ''
  }
  const before = await sealed()
  const next = new Secret('another-secret-key-of-this-test-32-characters')
  await reencryptOrganizationKeys({ db: world.db, keyring: createKeyring([next, new Secret(secretKey)]) })
  assert.notEqual(await sealed(), before)
  const opened = await createKeyring([next]).open(`organization-key:${id}:${keyId}`, await sealed())
  assert.deepEqual(Buffer.from(opened, 'base64'), key)
  await reencryptOrganizationKeys({ db: world.db, keyring: createKeyring([new Secret(secretKey), next]) })
  assert.deepEqual((await openOwn(owner, id, keyId)).key, key)
})

test('deleting an organization deletes its keys', async () => {
  const { owner, id, keyId, members, grantTo } = await sharing(1)
  await grantTo(...members)
  assert.equal((await businessRequest(world, owner, `DELETE /organizations/${id}`)).statusCode, 204)
  for (const table of ['organization_key', 'organization_key_wrap'] as const)
    assert.equal((await world.db.selectFrom(table).select('key_id').where('key_id', '=', keyId).execute()).length, 0)
})
