import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import { MasterKey, generateMasterKey } from '../master-key.ts'
import { generateOrganizationKey, OrganizationKey, unwrapOrganizationKey } from '../organization-key.ts'

const { identityId, encryptionKeys, organizationKey: given } = vectors.masterKey
const { organizationId, fingerprint } = given
const place = { organizationId, identityId, fingerprint }

/** Returns the private encryption key of the account of the vectors. */
async function privateKeyOf(curve: string): Promise<CryptoKey> {
  const sealed = encryptionKeys.find((each) => each.curve === curve)
  assert.ok(sealed)
  return new MasterKey(Buffer.from(vectors.masterKey.masterKey, 'hex')).openEncryptionKey(
    identityId,
    sealed.encryptedPrivateKey,
  )
}

/** Creates a member with an encryption key, as a new account has one. */
async function newMember(id: string) {
  const masterKey = generateMasterKey()
  const { publicKey, encryptedPrivateKey } = await masterKey.newEncryptionKey(id)
  return { identityId: id, publicKey, privateKey: await masterKey.openEncryptionKey(id, encryptedPrivateKey) }
}

for (const { curve, ciphertext } of given.grants) {
  test(`a wrap from another implementation is decrypted: ${curve}`, async () => {
    const opened = await unwrapOrganizationKey(ciphertext, await privateKeyOf(curve), place)
    assert.equal(await opened.fingerprint(), fingerprint)
  })
}

for (const { what, ciphertext } of given.refusedGrants) {
  test(`an invalid wrap is rejected without revealing the reason: ${what}`, async () => {
    const opening = unwrapOrganizationKey(ciphertext, await privateKeyOf('X25519'), place)
    await assert.rejects(opening, { code: 'decryption_failed', message: 'Decryption failed: wrong key or context' })
  })
}

test('the fingerprint of a key equals that of another implementation', async () => {
  assert.equal(await new OrganizationKey(Buffer.from(given.key, 'hex')).fingerprint(), fingerprint)
})

test('ORG-12 a key passes from member to member, and only the recipients decrypt it', async () => {
  const [ann, ben, eve] = await Promise.all(['ann', 'ben', 'eve'].map(newMember))
  assert.ok(ann && ben && eve)
  const key = generateOrganizationKey()
  const made = { organizationId, fingerprint: await key.fingerprint() }
  const toAnn = await key.grantTo(ann, organizationId)
  const asAnn = await unwrapOrganizationKey(toAnn, ann.privateKey, { ...made, identityId: 'ann' })
  const toBen = await asAnn.grantTo(ben, organizationId)
  const asBen = await unwrapOrganizationKey(toBen, ben.privateKey, { ...made, identityId: 'ben' })
  assert.equal(await asBen.fingerprint(), made.fingerprint)
  for (const identity of ['ben', 'eve'])
    await assert.rejects(unwrapOrganizationKey(toBen, eve.privateKey, { ...made, identityId: identity }), {
      code: 'decryption_failed',
    })
})

test('members encrypt with the same key, which can be neither exported nor printed', async () => {
  const [ann, ben] = await Promise.all(['ann', 'ben'].map(newMember))
  assert.ok(ann && ben)
  const key = generateOrganizationKey()
  const asBen = { organizationId, fingerprint: await key.fingerprint(), identityId: 'ben' }
  const opened = await unwrapOrganizationKey(await key.grantTo(ben, organizationId), ben.privateKey, asBen)
  const iv = new Uint8Array(12)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await key.forContent(), Buffer.from('content'))
  const content = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await opened.forContent(), sealed)
  assert.equal(Buffer.from(content).toString(), 'content')
  await assert.rejects(crypto.subtle.exportKey('raw', await opened.forContent()), { name: 'InvalidAccessError' })
  const shown = new OrganizationKey(Buffer.from(given.key, 'hex'))
  assert.ok(!`${inspect(shown, { showHidden: true })}${JSON.stringify(shown)}`.includes(given.key.slice(0, 16)))
})

test('a wrap with any character altered is rejected', async () => {
  const [granted] = given.grants
  assert.ok(granted)
  const privateKey = await privateKeyOf(granted.curve)
  for (const nth of granted.ciphertext.split('').keys()) {
    const letter = granted.ciphertext[nth] === 'A' ? 'B' : 'A'
    const altered = granted.ciphertext.slice(0, nth) + letter + granted.ciphertext.slice(nth + 1)
    await assert.rejects(unwrapOrganizationKey(altered, privateKey, place), { code: 'decryption_failed' }, altered)
  }
})

test('wrapping to an invalid encryption key fails', async () => {
  const key = generateOrganizationKey()
  const zeros = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32)]).toString('base64')
  for (const publicKey of ['', 'AAAA', zeros])
    await assert.rejects(key.grantTo({ identityId, publicKey }, organizationId), TypeError)
})
