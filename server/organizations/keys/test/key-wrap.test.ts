import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationKeyWrap } from '@countersign/protocol/organizations/keys'
import { createKeyHolder, newSharedKey, setMode, type KeyHolder } from '#testing/key-holder.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { newSigningPair } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Creates an organization whose owner, admin and member have its key. */
async function sharing() {
  const owner = await createKeyHolder(world)
  const { id, memberId } = await createOrganization(world, owner)
  await setMode(world, owner, id, 'e2ee')
  const [admin, viewer] = [await createKeyHolder(world), await createKeyHolder(world)]
  const adminId = (await join(world, { id, owner, role: 'admin' }, admin)).memberId
  const viewerId = (await join(world, { id, owner, role: 'viewer' }, viewer)).memberId
  const shared = newSharedKey(id)
  const first = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  const made = await businessRequest(world, owner, `POST /organizations/${id}/keys`, first)
  assert.equal(made.statusCode, 201, made.body)
  const path = `/organizations/${id}/keys/${made.json().key.keyId}/wraps` as const
  const put = (requester: KeyHolder, wraps: object[]) => businessRequest(world, requester, `PUT ${path}`, { wraps })
  const giveUp = (requester: KeyHolder) => businessRequest(world, requester, `DELETE ${path}`)
  const wrapOf = async (holder: KeyHolder) => {
    const { wraps } = (await businessRequest(world, holder, `GET ${path}`)).json<{ wraps: OrganizationKeyWrap[] }>()
    return wraps.find(({ identityId }) => identityId === holder.identityId)?.ciphertext
  }
  const opens = async (holder: KeyHolder) => {
    const ciphertext = await wrapOf(holder)
    return ciphertext !== undefined && (await holder.open(ciphertext)).key.equals(shared.key)
  }
  const granted = await put(owner, [{ memberId: adminId, ciphertext: await shared.wrapTo(admin) }])
  assert.equal(granted.statusCode, 200, granted.body)
  return {
    id,
    owner: { ...owner, memberId },
    admin: { ...admin, memberId: adminId },
    viewer: { ...viewer, memberId: viewerId },
    nothingFor: (holder: KeyHolder) => shared.wrapTo(holder, {}, Buffer.alloc(32)),
    shared,
    path,
    put,
    giveUp,
    opens,
    wrapOf,
  }
}

test("ORG-21 overwriting another member's wrap fails, and the failed request shares nothing", async () => {
  const { owner, admin, viewer, shared, nothingFor, put, opens, wrapOf } = await sharing()
  const junk = { memberId: owner.memberId, ciphertext: await nothingFor(owner) }
  const sound = { memberId: viewer.memberId, ciphertext: await shared.wrapTo(viewer) }
  const answer = await put(admin, [sound, junk])
  const received = [answer.statusCode, answer.json().error, answer.json().memberId]
  assert.deepEqual(received, [409, 'key_granted_already', owner.memberId])
  assert.ok(await opens(owner))
  assert.equal(await wrapOf(viewer), undefined, 'no other wrap of the same request is stored')
  assert.equal((await put(admin, [sound])).statusCode, 200)
  const answers = await Promise.all([1, 2, 3, 4].map(() => put(admin, [sound])))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [409, 409, 409, 409],
  )
  assert.ok((await opens(viewer)) && (await opens(owner)))
})

test('ORG-21 a member replaces their own wrap or gives it up, and the audit log records it', async () => {
  const { id, owner, admin, viewer, shared, nothingFor, put, giveUp, opens, wrapOf } = await sharing()
  const before = await wrapOf(admin)
  const own = await put(admin, [{ memberId: admin.memberId, ciphertext: await shared.wrapTo(admin) }])
  assert.equal(own.statusCode, 200, own.body)
  assert.notEqual(await wrapOf(admin), before)
  assert.ok(await opens(admin))

  assert.deepEqual((await giveUp(viewer)).json().error, 'key_not_shared_with_you')
  await put(admin, [{ memberId: viewer.memberId, ciphertext: await nothingFor(viewer) }])
  assert.equal(await opens(viewer), false)
  assert.equal((await giveUp(viewer)).statusCode, 204)
  const again = await put(owner, [{ memberId: viewer.memberId, ciphertext: await shared.wrapTo(viewer) }])
  assert.equal(again.statusCode, 200, again.body)
  assert.ok(await opens(viewer))

  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  const said = entries
    .filter(({ action }: { action: string }) => /key\.(shared|given_up)/.test(action))
    .map(({ action, details }: { action: string; details: { replacedOwn?: boolean } }) => [action, details.replacedOwn])
  assert.deepEqual(said.toReversed(), [
    ['organization.key.shared', undefined],
    ['organization.key.shared', true],
    ['organization.key.shared', undefined],
    ['organization.key.given_up', undefined],
    ['organization.key.shared', undefined],
  ])
})

test('ORG-21 the audit log has the signature of a member who shares a key, and not the wraps', async () => {
  const { id, owner, viewer, shared, path, opens } = await sharing()
  const pair = newSigningPair()
  const created = await world.api.inject({
    method: 'POST',
    url: `/api/signing/keys/${owner.identityId}`,
    headers: owner.headers,
    payload: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
  })
  assert.equal(created.statusCode, 201, created.body)
  const ciphertext = await shared.wrapTo(viewer)
  const share = (signedAction: object) =>
    businessRequest(world, owner, `PUT ${path}`, { wraps: [{ memberId: viewer.memberId, ciphertext }], signedAction })
  const { message } = (await share({})).json()
  assert.ok(message.includes(ciphertext))
  const signature = pair.sign(message)
  assert.equal((await share({ signature })).statusCode, 200)
  assert.ok(await opens(viewer))
  const audit = await businessRequest(world, owner, `GET /organizations/${id}/audit`)
  const [{ action, details }] = audit.json().entries
  assert.deepEqual([action, details.memberIds], ['organization.key.shared', [viewer.memberId]])
  assert.deepEqual([details.signature, details.signed], [signature, undefined])
  assert.ok(!audit.body.includes(ciphertext))
})
