import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { isRegisteredRedirectUri, redirectUriOrigins, requireRedirectUri } from '#clients/registration/settings.ts'

const refused = { code: 'invalid_redirect_uri', status: 400 }
const ours = {
  baseUrl: 'https://api.id.example',
  authUrl: 'https://id.example',
  businessUrl: 'https://team.id.example',
}
const nativeApp = 'com.example.app:/callback'

describe('an app can register', () => {
  for (const uri of [
    'https://app.example/callback',
    'https://app.example',
    'https://app.example?from=countersign',
    'https://app.example:8443/a/b?c=d%2Fe',
    'https://xn--bcher-kva.example/callback',
    'http://localhost:3000/callback',
    'http://app.localhost/callback',
    'http://127.0.0.1:49152/callback',
    'http://[::1]:8080/callback',
  ])
    test(uri, () => requireRedirectUri(uri, { isPublic: false, ours }))

  test(`${nativeApp}, when it is public`, () => {
    requireRedirectUri(nativeApp, { isPublic: true, ours })
    assert.throws(() => requireRedirectUri(nativeApp, { isPublic: false, ours }), refused)
  })
})

describe('AUZ-07: an app cannot register', () => {
  for (const [what, uri] of Object.entries({
    'a script': 'javascript:alert(1)',
    'a script behind an authority': 'javascript://app.example/%0aalert(1)',
    'a document in the address': 'data:text/html,<script>alert(1)</script>',
    'a blob': 'blob:https://app.example/5bfad0a5-0d3c-4d1b-9f2e-6d1f1c1f6a01',
    'a file': 'file:///etc/passwd',
    'an address without TLS': 'http://app.example/callback',
    'a name that only begins like localhost': 'http://localhost.evil.example/callback',
    'an address that only begins like loopback': 'http://127.0.0.1.evil.example/callback',
    'a wildcard host': 'https://*.app.example/callback',
    'a wildcard path': 'https://app.example/*',
    'a fragment': 'https://app.example/callback#section',
    'an empty fragment': 'https://app.example/callback#',
    'a user name': 'https://good.example@evil.example/callback',
    'a user name and password': 'https://good.example:443@evil.example/callback',
    'many user names': 'https://a@b@c@evil.example/callback',
    'a backslash before the at sign': 'https://good.example\\@evil.example/callback',
    'a backslash for a slash': 'https:\\\\app.example\\callback',
    'a tab': 'https://app.exa\tmple/callback',
    'a line break': 'https://app.example/callback\n',
    'a space before': ' https://app.example/callback',
    'U+0000': 'https://app.example/callback\0',
    'a host in upper case': 'https://App.Example/callback',
    'a scheme in upper case': 'HTTPS://app.example/callback',
    'a port that says nothing': 'https://app.example:443/callback',
    'a host in Cyrillic letters': 'https://\u0430pp.example/callback',
    'an escaped host': 'https://app%2eexample/callback',
    'loopback as one number': 'http://2130706433/callback',
    'a URL without its slashes': 'https:app.example/callback',
    'a URL without its scheme': '//app.example/callback',
    'a path alone': '/callback',
    'no host': 'https:///callback?',
    nothing: '',
    'a scheme that belongs to no domain': 'myapp:/callback',
    'a private-use scheme without a path': 'com.example.app:callback',
    'a private-use scheme with a user name': 'com.example.app://user@host/callback',
  }))
    test(what, () => assert.throws(() => requireRedirectUri(uri, { isPublic: true, ours }), refused))
})

test('AUZ-04, AUZ-05, AUZ-06: only the exact registered text is a redirect URI of the app', () => {
  const redirectUris = ['https://app.example/callback', 'http://127.0.0.1:8080/callback']
  const app = {
    clientId: asId<ClientId>('app_1'),
    redirectUris,
    metadataFetchedAt: null,
    isPublic: true,
    allowAnyLoopbackPort: false,
  }
  for (const uri of app.redirectUris) assert.ok(isRegisteredRedirectUri(app, uri, ours))
  for (const uri of [
    'https://app.example/callback/',
    'https://app.example/Callback',
    'https://APP.example/callback',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://app.example/call%62ack',
    'https://app.example/x/../callback',
    'https://app.example/callback?x=1',
    'https://app.example/callback#x',
    'https://app.example./callback',
    'https://app.example@evil.example/callback',
    'https://app.example\\@evil.example/callback',
    'https://app.example/call\tback',
    'http://app.example/callback',
    'http://127.0.0.1:8081/callback',
    'http://127.0.0.1/callback',
    'http://localhost:8080/callback',
    '',
  ])
    assert.ok(!isRegisteredRedirectUri(app, uri, ours), uri)
})

test('AUZ-06 a public app can use any port of its loopback redirect URIs, and no other difference', () => {
  const redirectUris = ['http://127.0.0.1/callback', 'http://[::1]:8080/callback', 'http://localhost:9090/callback']
  const app = {
    clientId: asId<ClientId>('app_1'),
    redirectUris,
    metadataFetchedAt: null,
    isPublic: true,
    allowAnyLoopbackPort: true,
  }
  for (const uri of ['http://127.0.0.1:51234/callback', 'http://[::1]/callback', 'http://[::1]:1/callback'])
    assert.ok(isRegisteredRedirectUri(app, uri, ours), uri)
  for (const uri of [
    'http://localhost:9091/callback',
    'http://localhost/callback',
    'http://127.0.0.1:51234/callback/',
    'http://127.0.0.1:51234/Callback',
    'http://127.0.0.1:51234/callback?x=1',
    'http://127.0.0.1:51234/callback#x',
    'http://127.0.0.1:51234',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:051/callback',
    'http://127.0.0.1:/callback',
    'http://127.0.0.2:51234/callback',
    'http://127.1:51234/callback',
    'http://2130706433:51234/callback',
    'http://user@127.0.0.1:51234/callback',
    'http://127.0.0.1:51234@evil.example/callback',
    'http://127.0.0.1.evil.example:51234/callback',
    'http://[::ffff:127.0.0.1]:51234/callback',
    'http://[0:0:0:0:0:0:0:1]:51234/callback',
    'https://127.0.0.1:51234/callback',
  ])
    assert.ok(!isRegisteredRedirectUri(app, uri, ours), uri)
  assert.ok(!isRegisteredRedirectUri({ ...app, isPublic: false }, 'http://127.0.0.1:51234/callback', ours))
  assert.ok(!isRegisteredRedirectUri({ ...app, allowAnyLoopbackPort: false }, 'http://127.0.0.1:51234/callback', ours))
})

test('the origins of an app are the distinct origins of its web redirect URIs', () => {
  const uris = ['https://app.example/a', 'https://app.example/b', 'http://localhost:3000/', nativeApp]
  assert.deepEqual(redirectUriOrigins(uris), ['https://app.example', 'http://localhost:3000'])
})
