import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import { MasterKey, newMasterKey } from '../master-key.ts'
import { newOrganizationKey, OrganizationKey, openKeyGrant } from '../organization-key.ts'

const { identityId, encryptionKeys, organizationKey: given } = vectors.masterKey
const { organizationId, fingerprint } = given
const place = { organizationId, identityId, fingerprint }

/** The private half of an encryption key of the account of the vectors. */
async function privateKeyOf(curve: string): Promise<CryptoKey> {
  const sealed = encryptionKeys.find((each) => each.curve === curve)
  assert.ok(sealed)
  return new MasterKey(Buffer.from(vectors.masterKey.masterKey, 'hex')).openEncryptionKey(
    identityId,
    sealed.encryptedPrivateKey,
  )
}

/** Somebody with an encryption key, as a new account has one. */
async function newMember(id: string) {
  const masterKey = newMasterKey()
  const { publicKey, encryptedPrivateKey } = await masterKey.newEncryptionKey(id)
  return { identityId: id, publicKey, privateKey: await masterKey.openEncryptionKey(id, encryptedPrivateKey) }
}

for (const { curve, ciphertext } of given.grants) {
  test(`a grant made elsewhere opens: ${curve}`, async () => {
    const opened = await openKeyGrant(ciphertext, await privateKeyOf(curve), place)
    assert.equal(await opened.fingerprint(), fingerprint)
  })
}

for (const { what, ciphertext } of given.refusedGrants) {
  test(`a grant is refused, and nobody learns why: ${what}`, async () => {
    const opening = openKeyGrant(ciphertext, await privateKeyOf('X25519'), place)
    await assert.rejects(opening, { code: 'cannot_open', message: 'This ciphertext does not open here' })
  })
}

test('the fingerprint of a key is what another implementation computes', async () => {
  assert.equal(await new OrganizationKey(Buffer.from(given.key, 'hex')).fingerprint(), fingerprint)
})

test('ORG-12 a key goes from member to member, and opens for none but whom it was granted to', async () => {
  const [ann, ben, eve] = await Promise.all(['ann', 'ben', 'eve'].map(newMember))
  assert.ok(ann && ben && eve)
  const key = newOrganizationKey()
  const made = { organizationId, fingerprint: await key.fingerprint() }
  const toAnn = await key.grantTo(ann, organizationId)
  const asAnn = await openKeyGrant(toAnn, ann.privateKey, { ...made, identityId: 'ann' })
  const toBen = await asAnn.grantTo(ben, organizationId)
  const asBen = await openKeyGrant(toBen, ben.privateKey, { ...made, identityId: 'ben' })
  assert.equal(await asBen.fingerprint(), made.fingerprint)
  for (const identity of ['ben', 'eve'])
    await assert.rejects(openKeyGrant(toBen, eve.privateKey, { ...made, identityId: identity }), {
      code: 'cannot_open',
    })
})

test('members encrypt with the same key, which cannot be exported or printed', async () => {
  const [ann, ben] = await Promise.all(['ann', 'ben'].map(newMember))
  assert.ok(ann && ben)
  const key = newOrganizationKey()
  const asBen = { organizationId, fingerprint: await key.fingerprint(), identityId: 'ben' }
  const opened = await openKeyGrant(await key.grantTo(ben, organizationId), ben.privateKey, asBen)
  const iv = new Uint8Array(12)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await key.forContent(), Buffer.from('content'))
  const content = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await opened.forContent(), sealed)
  assert.equal(Buffer.from(content).toString(), 'content')
  await assert.rejects(crypto.subtle.exportKey('raw', await opened.forContent()), { name: 'InvalidAccessError' })
  const shown = new OrganizationKey(Buffer.from(given.key, 'hex'))
  assert.ok(!`${inspect(shown, { showHidden: true })}${JSON.stringify(shown)}`.includes(given.key.slice(0, 16)))
})

test('a grant with any one character altered is refused', async () => {
  const [granted] = given.grants
  assert.ok(granted)
  const privateKey = await privateKeyOf(granted.curve)
  for (const nth of granted.ciphertext.split('').keys()) {
    const letter = granted.ciphertext[nth] === 'A' ? 'B' : 'A'
    const altered = granted.ciphertext.slice(0, nth) + letter + granted.ciphertext.slice(nth + 1)
    await assert.rejects(openKeyGrant(altered, privateKey, place), { code: 'cannot_open' }, altered)
  }
})

test('what is no encryption key is granted nothing', async () => {
  const key = newOrganizationKey()
  const zeros = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32)]).toString('base64')
  for (const publicKey of ['', 'AAAA', zeros])
    await assert.rejects(key.grantTo({ identityId, publicKey }, organizationId), TypeError)
})
