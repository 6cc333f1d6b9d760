import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../limits.ts'
import {
  parseAppKeyEnvelope,
  redirectTargetOf,
  withRedirect,
  writeAppKeyEnvelope,
  type AppKeyPlaces,
} from '../app-key-envelope.ts'

const target = 'https://notes.example/callback'
const places: AppKeyPlaces = { consentedAt: '2030-01-01T12:00:00.000Z', recipient: null, redirects: [target] }
const key = { mode: 'symmetric', key: new Uint8Array(32).fill(7) } as const
const fields = {
  consentedAt: places.consentedAt,
  key: Buffer.from(key.key).toString('base64'),
  kind: 'symmetric',
  recipient: null,
  redirects: [target],
  version: 2,
}
const parse = (content: object) => parseAppKeyEnvelope(Buffer.from(JSON.stringify(content)))

test('an envelope holds a key and its places, in one spelling', () => {
  const plaintext = writeAppKeyEnvelope({ key, places })
  assert.equal(new TextDecoder().decode(plaintext), JSON.stringify(fields))
  assert.deepEqual(parseAppKeyEnvelope(plaintext), { key, places })
})

const thumbprint = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'
const refused: Record<string, object> = {
  'another version': { ...fields, version: 1 },
  'a version as text': { ...fields, version: '2' },
  'no places': { ...fields, redirects: [] },
  'places that are no list': { ...fields, redirects: target },
  'a place twice': { ...fields, redirects: [target, target] },
  'a place with a query': { ...fields, redirects: [`${target}?a=1`] },
  'a place in another spelling': { ...fields, redirects: ['https://NOTES.example/callback'] },
  'a place with a default port': { ...fields, redirects: ['https://notes.example:443/callback'] },
  'a place that is no target': { ...fields, redirects: ['javascript:alert(1)'] },
  'a place that is no text': { ...fields, redirects: [1] },
  'too many places': {
    ...fields,
    redirects: Array.from({ length: limits.appKeyRedirectsMax + 1 }, (_, index) => `${target}${index}`),
  },
  'places that are too long': {
    ...fields,
    redirects: Array.from({ length: 6 }, (_, index) => `${target}${'a'.repeat(1900)}${index}`),
  },
  'another kind': { ...fields, kind: 'asymmetric' },
  'a key of another length': { ...fields, key: fields.key.slice(4) },
  'a key in another spelling': { ...fields, key: fields.key.replace('=', '') },
  'a recipient that is no thumbprint': { ...fields, recipient: thumbprint.slice(1) },
  'a recipient of another length': { ...fields, recipient: 'AAAA' },
  'a recipient in another spelling': { ...fields, recipient: `${thumbprint.slice(0, -1)}l` },
  'a time in another spelling': { ...fields, consentedAt: '2030-01-01T12:00:00Z' },
  'no such time': { ...fields, consentedAt: '2030-13-01T12:00:00.000Z' },
  'one more member': { ...fields, zone: 1 },
  'a list': [fields],
}
for (const [what, content] of Object.entries(refused))
  test(`APK-04 an envelope with ${what} is rejected`, () => assert.equal(parse(content), undefined))

test('APK-04 an envelope in another spelling is rejected', () => {
  const text = JSON.stringify(fields)
  const { version, ...rest } = fields
  for (const other of [
    ` ${text}`,
    `${text}\n`,
    `\u{feff}${text}`,
    JSON.stringify({ version, ...rest }),
    text.slice(1),
    '',
  ])
    assert.equal(parseAppKeyEnvelope(Buffer.from(other)), undefined, other)
  assert.equal(parseAppKeyEnvelope(Buffer.from([...Buffer.from(text), 0xff])), undefined)
  assert.ok(parse({ ...fields, recipient: thumbprint }))
})

test('APK-05 a redirect target has scheme, host, port and path, and no query', () => {
  const targets = {
    [target]: target,
    [`${target}?tenant=1`]: target,
    'https://NOTES.example:443/callback': target,
    'https://notes.example': 'https://notes.example/',
    'https://notes.example:8443/a/../b': 'https://notes.example:8443/b',
    'http://notes.localhost:4711/cb': 'http://notes.localhost:4711/cb',
    'http://localhost:4711/cb': 'http://localhost:4711/cb',
    'http://127.0.0.1:4711/cb?x=1': 'http://127.0.0.1/cb',
    'http://[::1]:4711/cb': 'http://[::1]/cb',
    'https://127.0.0.1:4711/cb': 'https://127.0.0.1:4711/cb',
    'com.example.notes:/callback?tenant=1': 'com.example.notes:/callback?tenant=1',
    'com.example.notes:callback': 'com.example.notes:callback',
  }
  for (const [uri, expected] of Object.entries(targets)) assert.equal(redirectTargetOf(uri), expected, uri)
})

test('APK-05 no key is delivered to an address that hides its host, or runs a script', () => {
  for (const uri of [
    'https://notes.example@evil.example/callback',
    'https://user:secret@notes.example/callback',
    `${target}#app_key=x`,
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://notes.example/1',
    'file:///callback',
    'about:blank',
    'notes:/callback',
    '//notes.example/callback',
    '/callback',
    `${target}/${'a'.repeat(limits.appKeyRedirectCharactersMax)}`,
    '',
  ])
    assert.equal(redirectTargetOf(uri), undefined, uri)
})

test('APK-05 the targets that look alike are different ones', () => {
  const alike = [
    target,
    'https://notes.example/callback/',
    'https://notes.example/Callback',
    'https://notes.example./callback',
    'https://notes.example:8443/callback',
    'https://notes.example.evil.example/callback',
    'http://notes.example/callback',
    'com.example.notes:/callback',
    'com.example.notes:/callback?tenant=1',
    'com.example.notes:callback',
  ]
  assert.equal(new Set(alike.map(redirectTargetOf)).size, alike.length)
})

test('APK-05 a new target is the last, an old one is not listed twice, and the oldest are left out', () => {
  const more = withRedirect(places, 'https://notes.example/new')
  assert.deepEqual(more.redirects, [target, 'https://notes.example/new'])
  assert.deepEqual(withRedirect(more, target).redirects, ['https://notes.example/new', target])
  let full = places
  for (let index = 0; index < 25; index += 1) full = withRedirect(full, `${target}${index}`)
  assert.equal(full.redirects.length, limits.appKeyRedirectsMax)
  assert.equal(full.redirects.at(-1), `${target}24`)
  assert.ok(!full.redirects.includes(target))
  for (let index = 0; index < 5; index += 1) full = withRedirect(full, `${target}${'a'.repeat(1900)}${index}`)
  assert.ok(full.redirects.join('').length <= limits.appKeyRedirectsCharactersMax)
  assert.ok(parseAppKeyEnvelope(writeAppKeyEnvelope({ key, places: full })))
})
