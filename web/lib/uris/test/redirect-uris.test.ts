import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRedirectUri, redirectUriFault } from '../redirect-uris.ts'

const ours = ['https://id.example', 'https://id.example', 'https://business.example:8443']
const ofPublic = { isPublic: true, ours }
const ofServer = { isPublic: false, ours }

test('a redirect URI that cannot work is explained', () => {
  const faults = {
    callback: 'notAbsolute',
    'https://app.example/callback#top': 'fragment',
    'https://*.app.example/callback': 'wildcard',
    'http://app.example/callback': 'insecure',
    'myapp:/callback': 'customScheme',
    'com.example.app:/callback': undefined,
    'com.example.app:callback': 'customScheme',
    'https://app.example/callback,': 'separator',
    'https://app.example/callback;': 'separator',
    'https://app.example/callback,https://other.example/callback': 'separator',
    'https://app.example/café': 'characters',
    'https://ada:secret@app.example/callback': 'credentials',
    'https://app;x.example/callback': 'origin',
    'HTTPS://App.example/callback': 'origin',
    'https://app.example:443/callback': 'origin',
    'https://id.example/callback': 'ownHost',
    'https://business.example.:8443/callback': 'ownHost',
    'https://business.example/callback': undefined,
    [`https://app.example/${'a'.repeat(2000)}`]: 'tooLong',
    'https://app.example/callback': undefined,
    'https://app.example/a,b;c': undefined,
    'http://localhost:3000/callback': undefined,
    'http://[::1]/callback': undefined,
  }
  for (const [uri, fault] of Object.entries(faults)) assert.equal(redirectUriFault(uri, ofPublic), fault, uri)
  assert.equal(redirectUriFault('com.example.app:/callback', ofServer), 'customScheme')
})

test('the smallest difference to a registered redirect URI is named', () => {
  const registered = ['https://app.example/callback', 'http://localhost:3000/callback']
  const differences = {
    'https://app.example/callback/': 'slash',
    'https://app.example/Callback': 'letterCase',
    'http://app.example/callback': 'scheme',
    'https://app.example:8443/callback': 'port',
    'https://app.example/callback?x=1': 'query',
    'https://app.example/other': 'path',
    'http://127.0.0.1:3000/callback': 'loopbackName',
    'http://localhost:3001/callback': 'port',
    'https://other.example/callback': 'host',
  }
  for (const [sent, difference] of Object.entries(differences)) {
    const checked = checkRedirectUri(sent, registered)
    assert.equal(checked.kind === 'different' && checked.difference, difference, sent)
  }
  assert.deepEqual(checkRedirectUri('https://app.example/callback', registered), { kind: 'match' })
  assert.deepEqual(checkRedirectUri('', registered), { kind: 'empty' })
  assert.deepEqual(checkRedirectUri('callback', registered), { kind: 'notAbsolute' })
  assert.deepEqual(checkRedirectUri('https://app.example/', []), {
    kind: 'different',
    difference: 'nothingRegistered',
    registered: undefined,
  })
})
