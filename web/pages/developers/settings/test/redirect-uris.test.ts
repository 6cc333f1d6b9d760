import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRedirectUri, redirectUriFault } from '../redirect-uris.ts'

test('a redirect URI that cannot work is explained', () => {
  const faults = {
    callback: 'notAbsolute',
    'https://app.example/callback#top': 'fragment',
    'https://*.app.example/callback': 'wildcard',
    'http://app.example/callback': 'insecure',
    'myapp:/callback': 'customScheme',
    'com.example.app:/callback': undefined,
    'https://app.example/callback': undefined,
    'http://localhost:3000/callback': undefined,
    'http://[::1]/callback': undefined,
  }
  for (const [uri, fault] of Object.entries(faults)) assert.equal(redirectUriFault(uri, true), fault, uri)
  assert.equal(redirectUriFault('com.example.app:/callback', false), 'customScheme')
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
