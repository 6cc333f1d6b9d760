import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { connection, now } from '../testing/document.ts'
import { buildAuthnRequest } from '../request.ts'
import { attributeOf, elementsOf, parseXml, textOf } from '../xml.ts'

function read(location: string) {
  const sent = new URL(location).searchParams.get('SAMLRequest') ?? ''
  return parseXml(inflateRawSync(Buffer.from(sent, 'base64')).toString('utf8'))
}

const requestId = `_${'5a'.repeat(20)}`

test('the redirect contains a request with issuer, destination and consumer service URL', () => {
  const location = buildAuthnRequest(connection, requestId, now)
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

test("query parameters in the provider's URL are kept", () => {
  const ssoUrl = 'https://idp.acme.example/sso?tenant=a&b=%2F"'
  const location = buildAuthnRequest(
    { ...connection, identityProvider: { ...connection.identityProvider, ssoUrl } },
    requestId,
    now,
  )
  assert.ok(location.startsWith(`${ssoUrl}&SAMLRequest=`))
  assert.equal(attributeOf(read(location), 'Destination'), ssoUrl)
})
