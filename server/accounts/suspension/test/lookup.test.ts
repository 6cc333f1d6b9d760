import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sibling, suspend } from '#testing/operators.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { newSigningPair, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({ supportsE2ee: true })
})
after(() => world.close())

/** Gives an identity the keys that strangers can look up. */
async function withKeys({ headers, identityId, ...person }: Person): Promise<Person> {
  const encryptedPrivateKey = 'a.b.c.d.e'
  const newKey = () =>
    generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  for (const [url, publicKey] of [
    [`/api/signing/keys/${identityId}`, newSigningPair().publicKey],
    [`/api/encryption/keys/${identityId}`, newKey()],
  ] as const) {
    const payload = { publicKey, encryptedPrivateKey }
    const created = await world.api.inject({ method: 'POST', url, headers, payload })
    assert.equal(created.statusCode, 201, created.body)
  }
  const sent = { scope: 'openid e2ee:asymmetric', appPublicKey: newKey(), encryptedAppPrivateKey: 'sealed' }
  await app.code({ headers, identityId, ...person }, sent)
  return { headers, identityId, ...person }
}

test('SUS-03 strangers see by no look-up which identities are suspended together', async () => {
  const person = await withKeys(await world.person())
  const other = await withKeys(await sibling(world, person))
  const stranger = await world.person()
  const { id } = await createOrganization(world, stranger)
  const look = async ({ handle }: Person) => {
    const at = encodeURIComponent(world.now().toISOString())
    const answers = [
      await world.api.inject({ url: `/api/signing/public-key/${handle}` }),
      await world.api.inject({ url: `/api/signing/public-key/${handle}?at=${at}` }),
      await world.api.inject({ url: `/api/encryption/identity-key/${handle}` }),
      await world.api.inject({ url: '/api/encryption/app-lookup', query: { client_id: app.clientId, handle } }),
    ]
    return answers.map((answer) => [answer.statusCode, answer.body])
  }
  const invite = async ({ handle }: Person) => {
    const payload = { handle, role: 'member' }
    const answer = await businessRequest(world, stranger, `POST /organizations/${id}/invitations`, payload)
    return answer.statusCode
  }
  const before = [await look(person), await look(other)]
  for (const [status] of before.flat()) assert.equal(status, 200)
  await suspend(world, person)
  assert.deepEqual([await look(person), await look(other)], before)
  assert.deepEqual([await invite(person), await invite(other)], [201, 201])
  const refused = await signingRequesterOf(world, app).request(other.identityId)
  assert.deepEqual([refused.statusCode, refused.json().error], [404, 'identity_not_found'], 'it gets no requests')
})
