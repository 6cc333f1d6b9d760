import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import vectors from '../../vectors.json' with { type: 'json' }
import { DecryptionError, importEnvelopeKey, open, seal } from '../envelope.ts'
import {
  deriveKeyFromRecoveryCode,
  generateRecoveryCode,
  parseRecoveryCode,
  deriveRecoveryAuth,
} from '../recovery-code.ts'

for (const { bytes, code, wrappingKey, recoveryAuth } of vectors.recoveryCodes) {
  test(`the code ${code} decrypts content of its derived key, and authenticates to the server`, async () => {
    const derived = hkdfSync('sha256', Buffer.from(bytes, 'hex'), '', 'countersign/recovery-wrap/v1', 32)
    assert.equal(Buffer.from(derived).toString('hex'), wrappingKey)

    const ciphertext = await seal(await importEnvelopeKey(derived), 'here', Buffer.from('content'))
    const opened = await (await deriveKeyFromRecoveryCode(code)).open('here', ciphertext)
    assert.equal(Buffer.from(opened).toString(), 'content')

    const proof = hkdfSync('sha256', Buffer.from(bytes, 'hex'), '', 'countersign/recovery-auth/v1', 32)
    assert.equal(await deriveRecoveryAuth(code), recoveryAuth)
    assert.equal(Buffer.from(proof).toString('base64url'), recoveryAuth)
  })
}

test("the server's verifier of a code cannot decrypt what the code decrypts", async () => {
  const code = generateRecoveryCode()
  const ciphertext = await (await deriveKeyFromRecoveryCode(code)).seal('here', Buffer.from('content'))
  const known = await importEnvelopeKey(Buffer.from(await deriveRecoveryAuth(code), 'base64url'))
  await assert.rejects(open(known, 'here', ciphertext), DecryptionError)
})

test('new codes differ, are parsed as they are shown, and use the whole alphabet in every place', () => {
  const codes = Array.from({ length: 1000 }, () => generateRecoveryCode())
  assert.equal(new Set(codes).size, codes.length)
  for (const code of codes) {
    assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$/)
    assert.equal(parseRecoveryCode(code), code)
  }
  const places = codes[0]?.replaceAll('-', '').length ?? 0
  for (let place = 0; place < places; place += 1)
    assert.equal(new Set(codes.map((code) => code.replaceAll('-', '').charAt(place))).size, 32)
})

for (const { what, text, code } of vectors.typedRecoveryCodes) {
  test(`a code is parsed: ${what}`, async () => {
    assert.equal(parseRecoveryCode(text), code)
    assert.equal(await deriveRecoveryAuth(text), await deriveRecoveryAuth(code))
  })
}

for (const { what, text } of vectors.notRecoveryCodes) {
  test(`an invalid text is rejected: ${what}`, async () => {
    assert.equal(parseRecoveryCode(text), undefined)
    await assert.rejects(deriveKeyFromRecoveryCode(text), TypeError)
    await assert.rejects(deriveRecoveryAuth(text), TypeError)
  })
}

test('the error for a mistyped code does not contain it', async () => {
  const mistyped = `${generateRecoveryCode()}X`
  await assert.rejects(deriveKeyFromRecoveryCode(mistyped), (error) => !inspect(error).includes(mistyped.slice(0, 9)))
})
