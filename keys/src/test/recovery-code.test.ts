import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import vectors from '../../vectors.json' with { type: 'json' }
import { CannotOpen, importEnvelopeKey, open, seal } from '../envelope.ts'
import { keyFromRecoveryCode, newRecoveryCode, readRecoveryCode, recoveryAuthOf } from '../recovery-code.ts'

for (const { bytes, code, wrappingKey, recoveryAuth } of vectors.recoveryCodes) {
  test(`the code ${code} opens what its derived key sealed, and proves itself to the server`, async () => {
    const derived = hkdfSync('sha256', Buffer.from(bytes, 'hex'), '', 'countersign/recovery-wrap/v1', 32)
    assert.equal(Buffer.from(derived).toString('hex'), wrappingKey)

    const ciphertext = await seal(await importEnvelopeKey(derived), 'here', Buffer.from('content'))
    const opened = await (await keyFromRecoveryCode(code)).open('here', ciphertext)
    assert.equal(Buffer.from(opened).toString(), 'content')

    const proof = hkdfSync('sha256', Buffer.from(bytes, 'hex'), '', 'countersign/recovery-auth/v1', 32)
    assert.equal(await recoveryAuthOf(code), recoveryAuth)
    assert.equal(Buffer.from(proof).toString('base64url'), recoveryAuth)
  })
}

test('what the server knows of a code does not open what the code opens', async () => {
  const code = newRecoveryCode()
  const ciphertext = await (await keyFromRecoveryCode(code)).seal('here', Buffer.from('content'))
  const known = await importEnvelopeKey(Buffer.from(await recoveryAuthOf(code), 'base64url'))
  await assert.rejects(open(known, 'here', ciphertext), CannotOpen)
})

test('new codes differ, are read back as they are shown, and use the whole alphabet in every place', () => {
  const codes = Array.from({ length: 1000 }, () => newRecoveryCode())
  assert.equal(new Set(codes).size, codes.length)
  for (const code of codes) {
    assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$/)
    assert.equal(readRecoveryCode(code), code)
  }
  const places = codes[0]?.replaceAll('-', '').length ?? 0
  for (let place = 0; place < places; place += 1)
    assert.equal(new Set(codes.map((code) => code.replaceAll('-', '').charAt(place))).size, 32)
})

for (const { what, text, code } of vectors.typedRecoveryCodes) {
  test(`a code is read: ${what}`, async () => {
    assert.equal(readRecoveryCode(text), code)
    assert.equal(await recoveryAuthOf(text), await recoveryAuthOf(code))
  })
}

for (const { what, text } of vectors.notRecoveryCodes) {
  test(`a text is refused: ${what}`, async () => {
    assert.equal(readRecoveryCode(text), undefined)
    await assert.rejects(keyFromRecoveryCode(text), TypeError)
    await assert.rejects(recoveryAuthOf(text), TypeError)
  })
}

test('the refusal of a mistyped code does not repeat it', async () => {
  const mistyped = `${newRecoveryCode()}X`
  await assert.rejects(keyFromRecoveryCode(mistyped), (error) => !inspect(error).includes(mistyped.slice(0, 9)))
})
