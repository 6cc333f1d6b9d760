import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBasicCredentials } from '#clients/registration/authentication/authentication.ts'

const basic = (pair: string | Uint8Array) => `Basic ${Buffer.from(pair).toString('base64')}`

function read(header: string): [clientId: string, secret: string | undefined] | undefined {
  const credentials = parseBasicCredentials(header)
  return credentials && [credentials.clientId, credentials.secret?.reveal()]
}

test('client ID and secret are parsed from the header in any letter case of the scheme', () => {
  assert.deepEqual(read(basic('app_1:cs_secret')), ['app_1', 'cs_secret'])
  assert.deepEqual(read(basic('app_1:cs_secret').replace('Basic', 'bASIC ')), ['app_1', 'cs_secret'])
})

test('TOK-12: a colon in the secret is accepted, escaped or not', () => {
  assert.deepEqual(read(basic('app_1:a:b:')), ['app_1', 'a:b:'])
  assert.deepEqual(read(basic('app_1:a%3Ab')), ['app_1', 'a:b'])
})

test('each half is form-encoded: a plus is a space, an escape is UTF-8', () => {
  assert.deepEqual(read(basic('an+app:%2B+%25+%C3%A9')), ['an app', '+ % é'])
})

test('TOK-12 HTP-03 an empty secret counts as none (RFC 6749 section 2.3.1)', () => {
  assert.deepEqual(read(basic('app_1:')), ['app_1', undefined])
})

const malformed: Record<string, string> = {
  'no header text': '',
  'the scheme alone': 'Basic',
  'the scheme and a space': 'Basic ',
  'another scheme': basic('app_1:secret').replace('Basic', 'Bearer'),
  'a letter outside base64': 'Basic YXBwXzE6c2VjcmV0!',
  'the letters of base64url': 'Basic YXBwXzE6_-__',
  'base64 without its padding': basic('app_1:secrets').replaceAll('=', ''),
  'base64 with bits to spare': 'Basic YTpiYz9=',
  'something after the base64': `${basic('app_1:secret')} more`,
  'no colon': basic('app_1'),
  'no client id': basic(':secret'),
  'U+0000 in the client id': basic('app\0:secret'),
  'U+0000 in the secret': basic('app_1:sec\0ret'),
  'an escaped U+0000': basic('app_1:secret%00'),
  'half an escape': basic('app_1:secret%4'),
  'an escape that is no number': basic('app_1:%zz'),
  'an escape that is not UTF-8': basic('app_1:%ff'),
  'bytes that are not UTF-8': basic(Uint8Array.of(0x61, 0x3a, 0xff)),
}
for (const [what, header] of Object.entries(malformed))
  test(`TOK-12: ${what} is not accepted as credentials`, () => assert.equal(parseBasicCredentials(header), undefined))

test('TOK-12: a header of 100 kB is parsed quickly', () => {
  assert.equal(parseBasicCredentials(`Basic ${'A'.repeat(100_000)}`), undefined)
  assert.equal(parseBasicCredentials(`Basic ${' '.repeat(100_000)}!`), undefined)
})
