import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  readAppKeyFragment,
  readSealedFragment,
  type AppKeyDelivery,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { readRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import vectors from '../../vectors.json' with { type: 'json' }
import { fragmentFor } from '../app-key-fragment.ts'

const { appKeys } = vectors.masterKey
const newKey = () => ({ mode: 'symmetric' as const, key: Uint8Array.from(randomBytes(32)) })

test('without a key of the page, the fragment is what other implementations write', async () => {
  const [symmetric] = appKeys.keys
  const { former, fragment } = appKeys.reset
  const delivery: AppKeyDelivery = {
    appKey: { mode: 'symmetric', key: Uint8Array.from(Buffer.from(symmetric?.key ?? '', 'hex')) },
    former: { mode: 'symmetric', key: Uint8Array.from(Buffer.from(former.key, 'hex')) },
  }
  assert.equal(await fragmentFor(delivery), fragment)
  assert.deepEqual(readAppKeyFragment(fragment), delivery)
})

for (const { appKeyJwk, privateKey, plaintext, fragment } of vectors.sealedFragments) {
  test(`a fragment sealed elsewhere opens with the key of the page: ${privateKey.crv}`, async () => {
    assert.equal((await openSealed(fragment, privateKey)).text, plaintext)
    assert.notEqual(readAppKeyFragment(plaintext), undefined)
  })

  test(`a fragment is sealed to the key of the page alone: ${privateKey.crv}`, async () => {
    const recipient = readRecipientKey(appKeyJwk)
    assert.ok(recipient)
    const delivery = { appKey: newKey(), former: newKey() }
    const sealed = await fragmentFor(delivery, recipient)
    const { header, text } = await openSealed(sealed, privateKey)
    assert.deepEqual(readAppKeyFragment(text), delivery)
    assert.deepEqual(
      { ...header, epk: undefined },
      { alg: 'ECDH-ES', enc: 'A256GCM', ctx: 'app-key-fragment', epk: undefined },
    )
    assert.equal(sealed.includes(encodeURIComponent(Buffer.from(delivery.appKey.key).toString('base64'))), false)
    const stranger = vectors.sealedFragments.find((one) => one.privateKey.crv !== privateKey.crv)
    await assert.rejects(openSealed(sealed, stranger?.privateKey ?? {}))
  })
}

test('sealing the same key twice shows nothing of it being the same', async () => {
  const recipient = readRecipientKey(vectors.sealedFragments[0]?.appKeyJwk ?? '')
  assert.ok(recipient)
  const delivery = { appKey: newKey() }
  const [first = [], second = []] = await Promise.all(
    [1, 2].map(async () => (readSealedFragment(await fragmentFor(delivery, recipient)) ?? '').split('.')),
  )
  for (const part of [0, 2, 3, 4]) assert.notEqual(first[part], second[part])
})

async function openSealed(fragment: string, privateKey: JsonWebKey) {
  const algorithm = privateKey.crv === 'P-256' ? { name: 'ECDH', namedCurve: 'P-256' } : { name: 'X25519' }
  const key = await crypto.subtle.importKey('jwk', privateKey, algorithm, false, ['deriveBits'])
  const { plaintext, protectedHeader } = await compactDecrypt(readSealedFragment(fragment) ?? '', key)
  return { text: new TextDecoder().decode(plaintext), header: protectedHeader }
}
