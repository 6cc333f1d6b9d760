import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyNote } from '@countersign/protocol/formats/signing/checkpoint'
import { rotationMessage, signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import { nodeSuite, verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import { businessRequest } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, newSigningPair, signingRequesterOf } from '#testing/signer.ts'
import { type TestWorld, createWorld } from '#testing/world.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
})
after(() => world.close())

type Answer = { statusCode: number; body: string; json: () => { error?: string; message?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const demonstrate = (identityId: string, payload: string) =>
  world.api.inject({ method: 'POST', url: '/api/signing/demo/request', payload: { identityId, payload } })

/** Creates a user with an organization and a member, and the acts there that could be signed. */
async function createActor() {
  const { id, owner, members } = await createSignatories(world, 0, 'viewer')
  const [{ memberId }] = members
  const acts = [
    ['PATCH', '', { name: 'Mine' }],
    ['PATCH', `/members/${memberId}`, { role: 'admin' }],
    ['DELETE', `/members/${memberId}`, {}],
    ['POST', '/invitations', { handle: (await world.person()).handle, role: 'viewer' }],
    ['POST', '/domains', { domain: 'acme.example' }],
    ['POST', '/keys', {}],
    ['DELETE', '', {}],
  ] as const
  return { id, owner, memberId, acts }
}

test('SGN-05 an app cannot request signing a message that acts in an organization or rotates a key', async () => {
  const { id, owner, acts } = await createActor()
  const { identityId } = owner
  const messages = [
    rotationMessage({ identityId, publicKey: newSigningPair().publicKey, encryptedPrivateKey: 'a.b.c.d.e' }),
  ]
  for (const [method, path, fields] of acts) {
    const requested = { ...fields, signedAction: {} }
    const answer = await businessRequest(world, owner, `${method} /organizations/${id}${path}`, requested)
    assert.deepEqual(errorOf(answer), [403, 'signed_action_required'], answer.body)
    messages.push(answer.json().message)
  }
  for (const payload of [...messages, '{"version":', '{"version":2}'])
    for (const answer of [
      await shop.request(identityId, { payload }),
      await shop.requestOf(id, { payload }),
      await demonstrate(identityId, payload),
    ])
      assert.deepEqual(errorOf(answer), [400, 'reserved_payload'], payload)
  assert.deepEqual((await owner.listRequests()).json().requests, [])
})

/** Spellings that a lenient parser might accept as the same message. */
const spellings: ((message: string) => string)[] = [
  (message) => ` ${message}`,
  (message) => `\n${message}`,
  (message) => `\uFEFF${message}`,
  (message) => message.replace('{"version":', '{ "version":'),
  (message) => message.replace('{"version":', '{"version" :'),
  (message) => message.replace('"version"', '"\\u0076ersion"'),
  (message) => message.replace('{"version":1,', '{').replace(/\}$/, ',"version":1}'),
  (message) => `[${message}]`,
  (message) => JSON.stringify(message),
]

test('SGN-06 a message in any other spelling may be signed as a text, and then has no effect', async () => {
  const { id, owner, memberId } = await createActor()
  const { identityId, pair } = owner
  const details = { organizationId: id, memberId, role: 'admin' }
  const act = signedActionMessage('organization.member.updated', details)
  const next = newSigningPair()
  const encryptedPrivateKey = 'a.b.c.d.e'
  const rotation = rotationMessage({ identityId, publicKey: next.publicKey, encryptedPrivateKey })
  const promote = (signature: string) =>
    businessRequest(world, owner, `PATCH /organizations/${id}/members/${memberId}`, {
      role: 'admin',
      signedAction: { signature },
    })
  const rotate = (rotationSignature: string) =>
    owner.rotate({ publicKey: next.publicKey, encryptedPrivateKey, rotationSignature })
  for (const spell of spellings) {
    const { requestId } = (await shop.request(identityId, { payload: spell(act) })).json()
    assert.equal((await owner.sign(requestId, pair.sign(spell(act)))).statusCode, 200, spell(act))
    assert.deepEqual(errorOf(await promote(pair.sign(spell(act)))), [403, 'invalid_action_signature'], spell(act))
    assert.deepEqual(errorOf(await rotate(pair.sign(spell(rotation)))), [403, 'invalid_rotation_signature'])
  }
  assert.equal((await promote(pair.sign(act))).statusCode, 200)
  assert.equal((await rotate(pair.sign(rotation))).statusCode, 200)
})

test("SGN-06 a user's signature of a log statement as text is not accepted as the log's signature", async () => {
  const owner = await createSigner(world)
  const { origin, keys } = (await world.api.inject({ url: '/api/transparency/jwks' })).json()
  const logKey = { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
  const { body: note } = await world.api.inject({ url: '/api/transparency/checkpoint' })
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
  assert.equal(verifyNote(nodeSuite, note, logKey), text)

  const { requestId } = (await shop.request(owner.identityId, { payload: text })).json()
  const signature = owner.pair.sign(text)
  assert.equal((await owner.sign(requestId, signature)).statusCode, 200)
  const [line = ''] = note.slice(text.length + 1).split('\n')
  const keyId = Buffer.from(line.split(' ')[2] ?? '', 'base64').subarray(0, 4)
  const forged = `${text}\n— ${origin} ${Buffer.concat([keyId, Buffer.from(signature, 'base64')]).toString('base64')}\n`
  assert.equal(verifyNote(nodeSuite, forged, logKey), undefined)

  const receipt = await world.api.inject({
    url: `/api/signing/request/${requestId}/receipt?clientId=${shop.clientId}`,
  })
  assert.equal(receipt.statusCode, 200, receipt.body)
  const signed = receipt.body.slice(0, receipt.body.lastIndexOf('.'))
  const bytes = Buffer.from(owner.pair.sign(signed), 'base64').toString('base64url')
  const keySet = { origin, keys }
  assert.ok('receipt' in verifyReceipt(receipt.body, { payload: text, keySet }))
  assert.ok('flaw' in verifyReceipt(`${signed}.${bytes}`, { payload: text, keySet }))
})
