import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { connection, now } from '#sso/saml/corpus/document.ts'
import { beginSaml } from '#sso/saml/request.ts'
import { attributeOf, elementsOf, readXml, textOf } from '#sso/saml/xml.ts'

function read(location: string) {
  const sent = new URL(location).searchParams.get('SAMLRequest') ?? ''
  return readXml(inflateRawSync(Buffer.from(sent, 'base64')).toString('utf8'))
}

test('the browser carries a request that says who asks, what for, and where the answer goes', () => {
  const { location, requestId } = beginSaml(connection, now)
  assert.ok(location.startsWith(`${connection.identityProvider.ssoUrl}?SAMLRequest=`))
  const request = read(location)
  assert.equal(request.localName, 'AuthnRequest')
  assert.deepEqual(Object.fromEntries(request.attributes.map(({ name, value }) => [name, value])), {
    ID: requestId,
    Version: '2.0',
    IssueInstant: now.toISOString(),
    Destination: connection.identityProvider.ssoUrl,
    AssertionConsumerServiceURL: connection.acsUrl,
    ProtocolBinding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  })
  const [issuer, policy] = elementsOf(request)
  assert.equal(issuer && textOf(issuer), connection.entityId)
  assert.equal(policy && attributeOf(policy, 'AllowCreate'), 'true')
})

test('no two requests have the same id, and none can be guessed', () => {
  const ids = new Set(Array.from({ length: 100 }, () => beginSaml(connection, now).requestId))
  assert.equal(ids.size, 100)
  for (const id of ids) assert.match(id, /^_[\da-f]{40}$/)
})

test('what stands in the address of the provider stays there', () => {
  const ssoUrl = 'https://idp.acme.example/sso?tenant=a&b=%2F"'
  const { location } = beginSaml({ ...connection, identityProvider: { ...connection.identityProvider, ssoUrl } }, now)
  assert.ok(location.startsWith(`${ssoUrl}&SAMLRequest=`))
  assert.equal(attributeOf(read(location), 'Destination'), ssoUrl)
})
