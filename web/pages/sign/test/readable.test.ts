import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { isUnreadablePayload } from '../readable.ts'

test('a text that people can read is readable, also with a code in it', () => {
  const readable = [
    'Pay 100 € to Paper Shop.',
    'Yes',
    'OK',
    '42',
    '同意支付100元',
    'Я согласен',
    '👍',
    'Donaudampfschifffahrtsgesellschaftskapitän',
    'Approve the transfer of 5 ETH to 0x52908400098527886E0F7030069857D2E4169EE7.',
    `I release the build with the hash ${createHash('sha256').digest('hex')} to everybody.`,
    '{"action":"transfer","amount":100,"currency":"EUR","to":"Paper Shop"}',
    'https://example.com/terms/2026-11/version-3',
    'Call +41 44 123 45 67 or +49 30 1234567 about it',
    'a\u200Bb is marked, but can be read all the same',
  ]
  for (const text of readable) assert.equal(isUnreadablePayload(text), false, text)
})

test('a hash, a key or bytes in any clothes are not', () => {
  let drawn = 0
  // The bytes are the same in every run, because a few in a thousand random texts look like a word.
  const bytes = () =>
    createHash('sha256')
      .update(String((drawn += 1)))
      .digest()
  const longer = () => Buffer.concat([bytes(), bytes()])
  const codes = Array.from({ length: 50 }, () => [
    bytes().toString('hex'),
    bytes().toString('hex').toUpperCase(),
    `0x${bytes().toString('hex')}`,
    `sha256:${bytes().toString('hex')}`,
    `SHA-256 hash: ${bytes().toString('hex')}`,
    bytes().toString('base64'),
    bytes().toString('base64url'),
    `sha512-${longer().toString('base64')}`,
    `${bytes().toString('base64')}\n${bytes().toString('base64')}`,
    bytes().toString('hex').replaceAll(/../g, '$& '),
    bytes()
      .toString('hex')
      .replaceAll(/..(?=.)/g, '$&:'),
    randomUUID(),
    [...bytes().subarray(0, 16)].map((byte) => byte.toString(2).padStart(8, '0')).join(' '),
    longer().toString('latin1'),
    longer().toString('utf8'),
    `{"hash":"${bytes().toString('hex')}"}`,
  ]).flat()
  for (const text of codes) assert.equal(isUnreadablePayload(text), true, text)
})
