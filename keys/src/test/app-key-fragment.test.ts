import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  parseAppKeyFragment,
  parseSealedFragment,
  type AppKeyDelivery,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import vectors from '../../vectors.json' with { type: 'json' }
import { buildAppKeyFragment } from '../app-key-fragment.ts'

const { appKeys } = vectors.masterKey
const newKey = () => ({ mode: 'symmetric' as const, key: Uint8Array.from(randomBytes(32)) })

test('without a key of the page, the fragment equals that of other implementations', async () => {
  const [symmetric] = appKeys.keys
  const { former, fragment } = appKeys.reset
  const delivery: AppKeyDelivery = {
    appKey: { mode: 'symmetric', key: Uint8Array.from(Buffer.from(symmetric?.key ?? '', 'hex')) },
    former: { mode: 'symmetric', key: Uint8Array.from(Buffer.from(former.key, 'hex')) },
  }
  assert.equal(await buildAppKeyFragment(delivery), fragment)
  assert.deepEqual(parseAppKeyFragment(fragment), delivery)
})

for (const { appKeyJwk, privateKey, plaintext, fragment } of vectors.sealedFragments) {
  test(`a fragment encrypted elsewhere is decrypted with the key of the page: ${privateKey.crv}`, async () => {
    assert.equal((await openSealed(fragment, privateKey)).text, plaintext)
    assert.notEqual(parseAppKeyFragment(plaintext), undefined)
  })

  test(`an encrypted fragment can be decrypted by the page alone: ${privateKey.crv}`, async () => {
    const recipient = parseRecipientKey(appKeyJwk)
    assert.ok(recipient)
    const delivery = { appKey: newKey(), former: newKey() }
    const sealed = await buildAppKeyFragment(delivery, recipient)
    const { header, text } = await openSealed(sealed, privateKey)
    assert.deepEqual(parseAppKeyFragment(text), delivery)
    assert.deepEqual(
      { ...header, epk: undefined },
      { alg: 'ECDH-ES', enc: 'A256GCM', ctx: 'app-key-fragment', epk: undefined },
    )
    assert.equal(sealed.includes(encodeURIComponent(Buffer.from(delivery.appKey.key).toString('base64'))), false)
    const other = vectors.sealedFragments.find((one) => one.privateKey.crv !== privateKey.crv)
    await assert.rejects(openSealed(sealed, other?.privateKey ?? {}))
  })
}

test('two ciphertexts of the same key have nothing in common', async () => {
  const recipient = parseRecipientKey(vectors.sealedFragments[0]?.appKeyJwk ?? '')
  assert.ok(recipient)
  const delivery = { appKey: newKey() }
  const [first = [], second = []] = await Promise.all(
    [1, 2].map(async () => (parseSealedFragment(await buildAppKeyFragment(delivery, recipient)) ?? '').split('.')),
  )
  for (const part of [0, 2, 3, 4]) assert.notEqual(first[part], second[part])
})

async function openSealed(fragment: string, privateKey: JsonWebKey) {
  const algorithm = privateKey.crv === 'P-256' ? { name: 'ECDH', namedCurve: 'P-256' } : { name: 'X25519' }
  const key = await crypto.subtle.importKey('jwk', privateKey, algorithm, false, ['deriveBits'])
  const { plaintext, protectedHeader } = await compactDecrypt(parseSealedFragment(fragment) ?? '', key)
  return { text: new TextDecoder().decode(plaintext), header: protectedHeader }
}
