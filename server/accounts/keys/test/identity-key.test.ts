import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const newKey = () => {
  const { publicKey } = generateKeyPairSync('x25519')
  const publicKeyText = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  return { publicKey: publicKeyText, encryptedPrivateKey: 'sealed' }
}
type Owner = Pick<Person, 'headers' | 'identityId'>
const urlOf = ({ identityId }: Owner) => `/api/encryption/keys/${identityId}`
const read = (owner: Owner, { headers } = owner) => world.api.inject({ url: urlOf(owner), headers })
const create = (owner: Owner, payload: object, { headers } = owner) =>
  world.api.inject({ method: 'POST', url: urlOf(owner), headers, payload })

test('an identity gets its encryption key once, also from concurrent browsers', async () => {
  const person = await world.person()
  assert.deepEqual((await read(person)).json(), { identityId: person.identityId, hasKey: false })
  const keys = Array.from({ length: 8 }, newKey)
  const answers = await Promise.all(keys.map((key) => create(person, key)))
  const made = answers.filter(({ statusCode }) => statusCode === 201)
  assert.equal(made.length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201))
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'key_exists'])
  assert.deepEqual((await read(person)).json(), made[0]?.json())
})

test('another user can neither read nor create the key of an identity', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  assert.equal((await create(ada, newKey())).statusCode, 201)
  for (const answer of [await read(ada, eve), await create(ada, newKey(), eve)])
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'identity_not_found'])
})

test('creating an encryption key requires recent authentication and a valid key', async () => {
  const person = await world.person()
  for (const publicKey of ['AAAA', generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '']) {
    const answer = await create(person, { ...newKey(), publicKey })
    assert.equal(answer.statusCode, 400)
  }
  world.pass(301)
  const late = await create(person, newKey())
  assert.deepEqual([late.statusCode, late.json().error], [403, 'reauthentication_required'])
})

test('the public key of an identity is available by its handle in any letter case, without other data', async () => {
  const lookUp = (handle: string) => world.api.inject({ url: `/api/encryption/identity-key/${handle}` })
  const ada = await world.person('Ada-Encrypts')
  const keyless = await lookUp('Ada-Encrypts')
  assert.deepEqual([keyless.statusCode, keyless.json().error], [404, 'no_encryption_key'])
  const key = newKey()
  assert.equal((await create(ada, key)).statusCode, 201)
  for (const handle of ['Ada-Encrypts', 'ada-encrypts']) {
    const answer = await lookUp(handle)
    const createdAt = world.now().toISOString()
    assert.deepEqual(answer.json(), { handle: 'Ada-Encrypts', publicKey: key.publicKey, createdAt, recoveredAt: null })
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  }
  const nobody = await lookUp('nobody-has-this')
  assert.deepEqual([nobody.statusCode, nobody.json().error], [404, 'identity_not_found'])
})
