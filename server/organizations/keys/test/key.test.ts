import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import type { KeyGrant } from '@countersign/protocol/organizations/keys'
import { sql } from 'kysely'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { createKeyHolder, fingerprintOf, newSharedKey, setMode, type KeyHolder } from '#testing/key-holder.ts'
import { askBusiness, join, makeOrganization, reauthenticate } from '#testing/organization.ts'
import { newSigningPair } from '#testing/signer.ts'
import { createWorld, type World } from '#testing/world.ts'
import { resealOrganizationKeys } from '#organizations/keys/custody.ts'

const secretKey = 'the-secret-key-of-this-test-of-32-characters'
let world: World
before(async () => {
  world = await createWorld({ secretKey })
})
after(() => world.close())

type Asker = Pick<KeyHolder, 'headers'>
const post = (asker: Asker, id: string, body: object = {}) =>
  askBusiness(world, asker, `POST /organizations/${id}/keys`, body)
const list = async (asker: Asker, id: string) =>
  (await askBusiness(world, asker, `GET /organizations/${id}/keys`)).json().keys
const read = (asker: Asker, id: string, keyId: string) =>
  askBusiness(world, asker, `GET /organizations/${id}/keys/${keyId}/wraps`)
const put = (asker: Asker, id: string, keyId: string, wraps: object[]) =>
  askBusiness(world, asker, `PUT /organizations/${id}/keys/${keyId}/wraps`, { wraps })
const told = (answer: Awaited<ReturnType<typeof post>>) => [answer.statusCode, answer.json().error]

/** What somebody was granted of a key, opened. */
async function openOwn(holder: KeyHolder, id: string, keyId: string) {
  const { wraps } = (await read(holder, id, keyId)).json<{ wraps: KeyGrant[] }>()
  const own = wraps.find(({ identityId }) => identityId === holder.identityId)
  assert.ok(own?.ciphertext, `${holder.handle} was granted nothing`)
  return holder.open(own.ciphertext)
}

/** An organization with an owner and members who have encryption keys. */
async function acme(mode: 'standard' | 'e2ee', count = 1) {
  const owner = await createKeyHolder(world)
  const { id, memberId } = await makeOrganization(world, owner)
  if (mode === 'e2ee') await setMode(world, owner, id, mode)
  const members = await Promise.all(Array.from({ length: count }, (_, nth) => newMember(id, owner, nth)))
  return { owner: { ...owner, memberId }, id, members }
}

async function newMember(id: string, owner: KeyHolder, nth = 0) {
  const holder = await createKeyHolder(world, nth % 2 === 0 ? 'X25519' : 'P-256')
  const { memberId } = await join(world, { id, owner, role: 'member' }, holder)
  return { ...holder, memberId }
}

/** The same in mode e2ee, whose owner has made a key. */
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

test('in mode standard the service makes the key, and wraps it to each member who asks', async () => {
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
  const { entries } = (await askBusiness(world, owner, `GET /organizations/${id}/audit`)).json()
  const actions = entries.map(({ action }: { action: string }) => action)
  assert.equal(actions.filter((action: string) => action === 'organization.key.delivered').length, 3)
  assert.equal(actions.filter((action: string) => action === 'organization.key.created').length, 1)
})

test('who has no encryption key gets no key, and is counted', async () => {
  const { owner, id } = await acme('standard')
  const without = await world.person()
  await join(world, { id, owner, role: 'viewer' }, without)
  const { keyId, membersWithout } = (await post(owner, id)).json().key
  assert.equal(membersWithout, 1)
  const [own] = (await read(without, id, keyId)).json().wraps
  assert.deepEqual([own.publicKey, own.granted, own.ciphertext], [null, false, undefined])
  assert.equal((await list(without, id))[0].held, false)
})

test('ORG-12 of a key that members share each reads their own wrap, and its keeper who has one', async () => {
  const { owner, id, members, keyId, grantTo, shared } = await sharing(2)
  const [ann, ben] = members
  assert.ok(ann && ben)
  const granted = await grantTo(ann)
  assert.equal(granted.statusCode, 200, granted.body)
  assert.deepEqual((await openOwn(ann, id, keyId)).key, shared.key)

  const seen = (await read(owner, id, keyId)).json<{ wraps: KeyGrant[] }>().wraps
  const asSeen = seen.map(({ handle, granted: has, ciphertext }) => [handle, [has, ciphertext !== undefined]])
  assert.deepEqual(Object.fromEntries(asSeen), {
    [owner.handle]: [true, true],
    [ann.handle]: [true, false],
    [ben.handle]: [false, false],
  })
  assert.equal(seen.find(({ handle }) => handle === ben.handle)?.publicKey, ben.publicKey)

  const own = (await read(ben, id, keyId)).json<{ wraps: KeyGrant[] }>().wraps
  assert.deepEqual(
    own.map(({ handle, granted: has, ciphertext }) => [handle, has, ciphertext]),
    [[ben.handle, false, undefined]],
  )
  const asAnn = `GET /organizations/${id}/keys/${keyId}/wraps?identity_id=${ann.identityId}` as const
  assert.deepEqual(told(await askBusiness(world, ben, asAnn)), [404, 'organization_not_found'])
  assert.deepEqual(
    (await list(ben, id)).map((key: { held: boolean; membersWithout: number }) => [key.held, key.membersWithout]),
    [[false, 1]],
  )
})

test('ORG-12 a member who was removed reads no key, also not when they come back', async () => {
  const { owner, id, members, keyId, grantTo } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  await grantTo(ann)
  const removed = await askBusiness(world, owner, `DELETE /organizations/${id}/members/${ann.memberId}`)
  assert.equal(removed.statusCode, 204)
  assert.deepEqual(told(await read(ann, id, keyId)), [404, 'organization_not_found'])
  assert.equal((await askBusiness(world, ann, `GET /organizations/${id}/keys`)).statusCode, 404)
  await join(world, { id, owner, role: 'admin' }, ann)
  const { wraps } = (await read(ann, id, keyId)).json<{ wraps: KeyGrant[] }>()
  assert.ok(wraps.every(({ ciphertext }) => ciphertext === undefined))
})

test('ORG-12 E2E-01 a key that members share is nowhere in the database but wrapped', async () => {
  const { members, grantTo, shared } = await sharing(2)
  await grantTo(...members)
  const forms = (['hex', 'base64', 'base64url'] as const).map((form) => shared.key.toString(form))
  const canary = shared.fingerprint
  let found = 0
  for (const { name } of await world.db.introspection.getTables()) {
    const { rows } = await sql.raw<{ text: string }>(`select whole::text as text from ${name} whole`).execute(world.db)
    for (const { text } of rows) {
      for (const form of forms) assert.ok(!text.includes(form), `${name} has the key`)
      if (text.includes(canary)) found += 1
    }
  }
  assert.ok(found > 0, 'the search finds what is there')
})

test('the key in force is due to be replaced once a member has left who had it, and not before', async () => {
  const { owner, id, members, keyId, grantTo } = await sharing(2)
  const [ann, ben] = members
  assert.ok(ann && ben)
  await grantTo(ann)
  const due = async () => (await list(owner, id))[0].rotationDueSince
  assert.equal((await askBusiness(world, owner, `DELETE /organizations/${id}/members/${ben.memberId}`)).statusCode, 204)
  assert.equal(await due(), null)
  assert.equal((await askBusiness(world, ann, `DELETE /organizations/${id}/members/${ann.memberId}`)).statusCode, 204)
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

test('an owner deletes a key that has ended, with a fresh proof of presence; nobody reads it then', async () => {
  const { owner, id, members, keyId, grantTo, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  await grantTo(ann)
  const remove = (asker: Asker, which: string) => askBusiness(world, asker, `DELETE /organizations/${id}/keys/${which}`)
  assert.deepEqual(told(await remove(owner, keyId)), [409, 'key_in_force'])
  const next = newSharedKey(id)
  const body = { replaces: keyId, fingerprint: next.fingerprint, ciphertext: await next.wrapTo(owner) }
  const { keyId: second } = (await post(owner, id, body)).json().key
  assert.deepEqual(told(await remove(ann, keyId)), [403, 'insufficient_scope'])
  assert.deepEqual(told(await remove(owner, randomUUID())), [404, 'key_not_found'])
  world.pass(301)
  assert.deepEqual(told(await remove(owner, keyId)), [403, 'reauthentication_required'])
  await reauthenticate(world, owner)

  const answers = await Promise.all([1, 2, 3].map(() => remove(owner, keyId)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 404, 404])
  for (const each of [owner, ann]) assert.deepEqual(told(await read(each, id, keyId)), [404, 'key_not_found'])
  const { entries } = (await askBusiness(world, owner, `GET /organizations/${id}/audit`)).json()
  const deletions = entries.filter(({ action }: { action: string }) => action === 'organization.key.deleted')
  assert.deepEqual(
    deletions.map(({ details }: { details: object }) => details),
    [{ keyId, version: 1, fingerprint: shared.fingerprint }],
  )
  const third = newSharedKey(id)
  const again = { replaces: second, fingerprint: third.fingerprint, ciphertext: await third.wrapTo(owner) }
  assert.equal((await post(owner, id, again)).json().key.version, 3)
})

test('a key that the service keeps is due whoever leaves, also by deleting their account', async () => {
  const { owner, id, members } = await acme('standard', 1)
  await post(owner, id)
  const [ann] = members
  assert.ok(ann)
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ann.headers })
  assert.equal(gone.statusCode, 204, gone.body)
  assert.equal((await list(owner, id))[0].rotationDueSince, world.now().toISOString())
})

test('of keys that are made at once in place of the same one, one is', async () => {
  const { owner, id } = await acme('standard', 0)
  for (const replaces of [undefined, 'the first'] as const) {
    const [inForce] = await list(owner, id)
    const body = replaces === undefined ? {} : { replaces: inForce.keyId }
    const answers = await Promise.all(Array.from({ length: 16 }, () => post(owner, id, body)))
    const codes = answers.map((answer) => answer.json().error ?? answer.statusCode).toSorted()
    assert.deepEqual(codes, [201, ...Array<string>(15).fill('key_changed')])
  }
  const late = await post(owner, id)
  assert.deepEqual(told(late), [409, 'key_changed'])
  assert.equal(late.json().keyId, (await list(owner, id))[0].keyId)
})

test('what is no wrap of this key for that member is refused, and grants nothing', async () => {
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
    assert.deepEqual(told(answer), [400, 'invalid_key_wrap'], ciphertext)
    assert.equal(answer.json().memberId, ann.memberId)
  }
  const twice = [1, 2].map(() => ({ memberId: ann.memberId, ciphertext: right }))
  assert.deepEqual(told(await put(owner, id, keyId, twice)), [400, 'invalid_request'])
  assert.equal((await put(owner, id, keyId, [])).statusCode, 400)
  assert.equal((await list(ann, id))[0].held, false)
})

test('only members are granted a key, who have an encryption key, by who has the key themselves', async () => {
  const { owner, id, keyId, shared } = await sharing(0)
  const stranger = await createKeyHolder(world)
  const ciphertext = await shared.wrapTo(stranger)
  const toNobody = await put(owner, id, keyId, [{ memberId: randomUUID(), ciphertext }])
  assert.deepEqual(told(toNobody), [404, 'member_not_found'])
  const without = await world.person()
  const { memberId } = await join(world, { id, owner, role: 'admin' }, without)
  assert.deepEqual(told(await put(owner, id, keyId, [{ memberId, ciphertext }])), [409, 'encryption_key_missing'])
  const blind = await put(without, id, keyId, [{ memberId: owner.memberId, ciphertext }])
  assert.deepEqual(told(blind), [403, 'key_not_held'])
  assert.deepEqual(told(await put(owner, id, randomUUID(), [{ memberId, ciphertext }])), [404, 'key_not_found'])
  assert.deepEqual(told(await read(owner, id, randomUUID())), [404, 'key_not_found'])
})

test('who makes the key says the mode: members in e2ee, and nobody else', async () => {
  const { owner, id } = await acme('standard', 0)
  const shared = newSharedKey(id)
  const mine = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  assert.deepEqual(told(await post(owner, id, mine)), [400, 'invalid_request'])
  const { keyId } = (await post(owner, id)).json().key
  const grant = await put(owner, id, keyId, [{ memberId: owner.memberId, ciphertext: mine.ciphertext }])
  assert.deepEqual(told(grant), [409, 'not_granted_by_members'])

  await setMode(world, owner, id, 'e2ee')
  const [before] = await list(owner, id)
  assert.deepEqual([before.keyCustody, before.rotationDueSince], ['svc_standard', world.now().toISOString()])
  assert.deepEqual(told(await post(owner, id, { replaces: keyId })), [400, 'invalid_request'])
  const made = await post(owner, id, { replaces: keyId, ...mine })
  assert.equal(made.json().key?.keyCustody, 'identity_grants', made.body)
  const again = await post(owner, id, { replaces: made.json().key.keyId, ...mine })
  assert.deepEqual(told(again), [409, 'key_used_before'])
  const { organization } = (await askBusiness(world, owner, `GET /organizations/${id}`)).json()
  assert.deepEqual([organization.encryptionMode, organization.keyCustody], ['e2ee', 'identity_grants'])
  const kms = await askBusiness(world, owner, `PATCH /organizations/${id}`, { encryptionMode: 'enterprise_managed' })
  assert.deepEqual(told(kms), [409, 'kms_missing'])
})

test('KEY-10 keys are made and granted, and the mode is changed, with a fresh proof of presence alone', async () => {
  const { owner, id, members, keyId, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  world.pass(301)
  const wraps = [{ memberId: ann.memberId, ciphertext: await shared.wrapTo(ann) }]
  const stale = [
    await post(owner, id, { replaces: keyId }),
    await put(owner, id, keyId, wraps),
    await askBusiness(world, owner, `PATCH /organizations/${id}`, { encryptionMode: 'standard' }),
  ]
  for (const answer of stale) assert.equal(answer.json().error, 'reauthentication_required', answer.body)
  await reauthenticate(world, owner)
  assert.equal((await put(owner, id, keyId, wraps)).statusCode, 200)
  assert.equal((await openOwn(ann, id, keyId)).key.length, 32)
})

test('where signed acts are required, keys are made and granted by signed ones', async () => {
  const { owner, id, members, keyId, shared } = await sharing(1)
  const [ann] = members
  assert.ok(ann)
  const pair = newSigningPair()
  const { headers, identityId } = owner
  const payload = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await world.api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}`, headers, payload })
  const sign = (action: string, details: object) => ({
    signedAction: { signature: pair.sign(signedActionMessage(action, { ...details })) },
  })
  const on = { requireSignedActions: true }
  const turned = await askBusiness(world, owner, `PATCH /organizations/${id}`, {
    ...on,
    ...sign('organization.changed', { organizationId: id, ...on }),
  })
  assert.equal(turned.statusCode, 200, turned.body)
  const wraps = [{ memberId: ann.memberId, ciphertext: await shared.wrapTo(ann) }]
  assert.deepEqual(told(await put(owner, id, keyId, wraps)), [403, 'signed_action_required'])
  const signed = sign('organization.key.granted', { organizationId: id, keyId, wraps })
  const granted = await askBusiness(world, owner, `PUT /organizations/${id}/keys/${keyId}/wraps`, { wraps, ...signed })
  assert.equal(granted.statusCode, 200, granted.body)
  const { entries } = (await askBusiness(world, owner, `GET /organizations/${id}/audit`)).json()
  assert.deepEqual([entries[0].action, entries[0].details.memberIds], ['organization.key.granted', [ann.memberId]])
  assert.ok(!JSON.stringify(entries).includes(wraps[0]?.ciphertext ?? ''))
})

test('keys that the service keeps are sealed anew by a new SECRET_KEY, and stay the same keys', async () => {
  const { owner, id } = await acme('standard', 0)
  const { keyId } = (await post(owner, id)).json().key
  const { key } = await openOwn(owner, id, keyId)
  const sealed = async () => {
    const rows = world.db.selectFrom('organization_key').select('sealed_key').where('key_id', '=', keyId)
    return (await rows.executeTakeFirstOrThrow()).sealed_key ?? ''
  }
  const before = await sealed()
  const next = new Secret('another-secret-key-of-this-test-32-characters')
  await resealOrganizationKeys({ db: world.db, keyring: createKeyring([next, new Secret(secretKey)]) })
  assert.notEqual(await sealed(), before)
  const opened = await createKeyring([next]).open(`organization-key:${id}:${keyId}`, await sealed())
  assert.deepEqual(Buffer.from(opened, 'base64'), key)
  await resealOrganizationKeys({ db: world.db, keyring: createKeyring([new Secret(secretKey), next]) })
  assert.deepEqual((await openOwn(owner, id, keyId)).key, key)
})

test('an organization that is deleted takes its keys along', async () => {
  const { owner, id, keyId, members, grantTo } = await sharing(1)
  await grantTo(...members)
  assert.equal((await askBusiness(world, owner, `DELETE /organizations/${id}`)).statusCode, 204)
  for (const table of ['organization_key', 'organization_key_grant'] as const)
    assert.equal((await world.db.selectFrom(table).select('key_id').where('key_id', '=', keyId).execute()).length, 0)
})
