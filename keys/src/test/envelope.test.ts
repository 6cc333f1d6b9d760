import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import vectors from '../../vectors.json' with { type: 'json' }
import { DecryptionError, importEnvelopeKey, open, seal } from '../envelope.ts'

const context = 'signing-key:somebody'

for (const { what, key, context: place, plaintext, ciphertext } of vectors.envelopes) {
  test(`an envelope from another implementation is decrypted: ${what}`, async () => {
    const opened = await open(await importEnvelopeKey(Buffer.from(key, 'hex')), place, ciphertext)
    assert.equal(Buffer.from(opened).toString('hex'), plaintext)
    assert.equal(openByHand(Buffer.from(key, 'hex'), ciphertext).plaintext.toString('hex'), plaintext)
  })
}

for (const { what, key, context: place, ciphertext } of vectors.refusedEnvelopes) {
  test(`an invalid envelope is rejected without revealing the reason: ${what}`, async () => {
    const opening = open(await importEnvelopeKey(Buffer.from(key, 'hex')), place, ciphertext)
    await assert.rejects(opening, (error) => {
      assert.ok(error instanceof DecryptionError)
      assert.equal(error.code, 'decryption_failed')
      assert.equal(error.message, new DecryptionError().message)
      assert.equal(error.cause, undefined)
      return true
    })
  })
}

test('an envelope is a compact JWE that any implementation of AES-GCM decrypts', async () => {
  const key = randomBytes(32)
  const ciphertext = await seal(await importEnvelopeKey(key), context, Buffer.from('content ✓'))
  const { header, plaintext } = openByHand(key, ciphertext)
  assert.deepEqual(header, { alg: 'dir', enc: 'A256GCM', ctx: context })
  assert.equal(plaintext.toString(), 'content ✓')
})

test('an envelope of any implementation of AES-GCM is decrypted', async () => {
  const key = randomBytes(32)
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', ctx: context })).toString('base64url')
  const vector = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, vector).setAAD(Buffer.from(header))
  const content = Buffer.concat([cipher.update('content ✓'), cipher.final()])
  const parts = [vector, content, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  const opened = await open(await importEnvelopeKey(key), context, [header, '', ...parts].join('.'))
  assert.equal(Buffer.from(opened).toString(), 'content ✓')
})

test('two ciphertexts of the same content have nothing in common', async () => {
  const key = await importEnvelopeKey(randomBytes(32))
  const [first = '', second = ''] = await Promise.all([1, 2].map(() => seal(key, context, Buffer.from('content'))))
  for (const part of [2, 3, 4]) assert.notEqual(first.split('.')[part], second.split('.')[part])
})

test('an envelope with any character altered, removed or repeated is rejected', async () => {
  const key = await importEnvelopeKey(randomBytes(32))
  for (const content of ['', 'c', 'co', 'con', 'content']) {
    const ciphertext = await seal(key, context, Buffer.from(content))
    for (const altered of [...ciphertext].flatMap((_, place) => alterationsAt(ciphertext, place)))
      await assert.rejects(open(key, context, altered), DecryptionError, `${content}: ${altered}`)
    assert.equal(Buffer.from(await open(key, context, ciphertext)).toString(), content)
  }
})

test('an envelope is decrypted in its own context only', async () => {
  const key = await importEnvelopeKey(randomBytes(32))
  const ciphertext = await seal(key, context, Buffer.from('content'))
  for (const other of [
    '',
    'signing-key:',
    `${context} `,
    context.toUpperCase(),
    'encryption-key:somebody',
    '__proto__',
  ])
    await assert.rejects(open(key, other, ciphertext), DecryptionError)
})

test('content of many megabytes is encrypted and decrypted completely', async () => {
  const key = await importEnvelopeKey(randomBytes(32))
  const content = randomBytes(20_000_000)
  assert.deepEqual(Buffer.from(await open(key, context, await seal(key, context, content))), content)
})

test('the key of an envelope can be neither exported nor printed', async () => {
  const bytes = randomBytes(32)
  const key = await importEnvelopeKey(bytes)
  await assert.rejects(crypto.subtle.exportKey('raw', key), { name: 'InvalidAccessError' })
  assert.ok(!inspect(key, { showHidden: true, depth: null }).includes(bytes.toString('hex')))
})

test('a key of another kind throws a TypeError, not a DecryptionError', async () => {
  const ciphertext = await seal(await importEnvelopeKey(randomBytes(32)), context, Buffer.from('content'))
  const short = await importEnvelopeKey(randomBytes(16))
  await assert.rejects(open(short, context, ciphertext), TypeError)
  await assert.rejects(seal(short, context, Buffer.from('content')), TypeError)
})

/** Replaces a character by the next one of the alphabet, which flips a few bits; removes it; and repeats it. */
function alterationsAt(text: string, place: number): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const character = text.charAt(place)
  const next = alphabet.charAt((alphabet.indexOf(character) + 1) % alphabet.length)
  return [next, '', character + character].map((other) => text.slice(0, place) + other + text.slice(place + 1))
}

/** RFC 7516 §5.2 for `dir` and `A256GCM`, with only a base64 decoder and AES-GCM. */
function openByHand(key: Buffer, ciphertext: string) {
  const [header = '', , ...parts] = ciphertext.split('.')
  const [vector, content, tag] = parts.map((part) => Buffer.from(part, 'base64url'))
  assert.ok(vector && content && tag)
  const decipher = createDecipheriv('aes-256-gcm', key, vector).setAAD(Buffer.from(header)).setAuthTag(tag)
  const plaintext = Buffer.concat([decipher.update(content), decipher.final()])
  const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
  return { header: parsed, plaintext }
}
