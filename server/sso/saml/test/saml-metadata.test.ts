import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '#platform/refusal.ts'
import { connection, instant, now, provider, sign, stranger, successor, swap } from '#sso/saml/corpus/document.ts'
import { readIdentityProviderMetadata, serviceProviderMetadata } from '#sso/saml/metadata.ts'
import { attributeOf, elementsOf, everyElementOf, readXml, textOf } from '#sso/saml/xml.ts'

const base64 = (certificate: string) => certificate.replaceAll(/-----[^-]+-----|\s/g, '')
const key = (certificate: string, use = ' use="signing"') =>
  `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
  ${base64(certificate)}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
const service = (binding: string, location: string) =>
  `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${location}"/>`
const redirect = service('HTTP-Redirect', 'https://idp.acme.example/sso')

function metadata({
  keys = key(provider.certificate),
  services = service('HTTP-POST', 'https://idp.acme.example/post') + redirect,
  validUntil = instant(3600),
  entityId = 'https://idp.acme.example/saml',
  speaks = 'urn:oasis:names:tc:SAML:2.0:protocol',
} = {}): string {
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ID="_m1" entityID="${entityId}"
    validUntil="${validUntil}"><md:Extensions/><md:IDPSSODescriptor WantAuthnRequestsSigned="false"
    protocolSupportEnumeration="${speaks}">${keys}
    <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="javascript:alert(1)"/>
    <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>${services}
    </md:IDPSSODescriptor></md:EntityDescriptor>`
}

async function refusedAs(text: string, sentence: RegExp): Promise<void> {
  await assert.rejects(readIdentityProviderMetadata(text, now), (error) => {
    assert.ok(error instanceof Refusal, String(error))
    assert.equal(error.code, 'invalid_metadata')
    assert.match(error.message, sentence)
    return true
  })
}

test('metadata says who the provider is, where people sign in, and who signs', async () => {
  const pem = [provider.certificate, successor.certificate]
  const keys = pem.map((one) => key(one)).join('') + key(stranger.certificate, ' use="encryption"')
  assert.deepEqual(await readIdentityProviderMetadata(metadata({ keys }), now), {
    entityId: 'https://idp.acme.example/saml',
    ssoUrl: 'https://idp.acme.example/sso',
    certificates: pem,
  })
})

test('metadata may be a list of one, have comments, a key without a use, or the signature of its key', async () => {
  const list = `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${metadata()}</EntitiesDescriptor>`
  const commented = swap(metadata(), '<md:Extensions/>', '<!-- the keys: <md:KeyDescriptor> --><md:Extensions/>')
  const issued = swap(metadata(), '<md:Extensions/>', '<Issuer/>')
  for (const text of [list, commented, metadata({ keys: key(provider.certificate, '') }), sign(issued, '_m1')])
    assert.deepEqual((await readIdentityProviderMetadata(text, now)).certificates, [provider.certificate])
})

test('SML-17 metadata that would leave answers unverified or lead people astray is refused, saying why', async () => {
  const cases: [string, RegExp][] = [
    [metadata({ keys: '' }), /no certificate to verify/],
    [metadata({ keys: key(provider.certificate, ' use="encryption"') }), /no certificate to verify/],
    [metadata({ keys: key('bm90IGEgY2VydGlmaWNhdGU=') }), /can not be read/],
    [metadata({ validUntil: instant(-1) }), /expired/],
    [metadata({ validUntil: 'some day' }), /expired/],
    [metadata({ services: service('HTTP-POST', 'https://idp.acme.example/sso') }), /HTTP-Redirect/],
    [metadata({ services: service('HTTP-Redirect', 'http://idp.acme.example/sso') }), /not https/],
    [metadata({ services: service('HTTP-Redirect', 'javascript:alert(1)') }), /not https/],
    [metadata({ services: service('HTTP-Redirect', '//idp.acme.example/sso') }), /not https/],
    [metadata({ services: service('HTTP-Redirect', 'https://a:b@idp.acme.example/sso') }), /not https/],
    [metadata({ services: service('HTTP-Redirect', 'https://idp.acme.example/sso?SAMLRequest=x') }), /a request in it/],
    [metadata({ entityId: ' ' }), /no entityID/],
    [metadata({ speaks: 'urn:oasis:names:tc:SAML:1.1:protocol' }), /does not speak/],
    [serviceProviderMetadata(connection), /no identity provider/],
    [metadata() + metadata(), /not the XML/],
    [`<!DOCTYPE x [<!ENTITY y "z">]>${metadata()}`, /not the XML/],
    [`<x>${metadata()}</x>`, /describes no entity/],
    ['<html><body>Sign in</body></html>', /describes no entity/],
    [metadata() + ' '.repeat(300_000), /too long/],
  ]
  for (const [text, sentence] of cases) await refusedAs(text, sentence)
})

test('SML-17 metadata that another signs than it describes is refused', async () => {
  const issued = swap(metadata(), '<md:Extensions/>', '<Issuer/>')
  await refusedAs(sign(issued, '_m1', { by: stranger }), /signed by another/)
  await refusedAs(swap(sign(issued, '_m1'), 'https://idp.acme.example/sso', 'https://idp.evil.example/sso'), /another/)
})

test('SML-17 a certificate that has expired signs no more; one beside it does', async () => {
  const expired = readFileSync(join(import.meta.dirname, '../corpus/keys/expired.pem'), 'utf8')
  await refusedAs(metadata({ keys: key(expired) }), /no certificate that has not expired/)
  const { certificates } = await readIdentityProviderMetadata(
    metadata({ keys: key(expired) + key(provider.certificate) }),
    now,
  )
  assert.deepEqual(certificates, [provider.certificate])
})

test('what a provider is told of us says that assertions must be signed, and where they go', () => {
  const text = serviceProviderMetadata({ entityId: 'https://id.example.com/a?b=1&c="2"', acsUrl: connection.acsUrl })
  const elements = everyElementOf(readXml(text))
  const valueOf = (name: string, attribute: string) =>
    elements.filter(({ localName }) => localName === name).map((one) => attributeOf(one, attribute))
  assert.deepEqual(valueOf('EntityDescriptor', 'entityID'), ['https://id.example.com/a?b=1&c="2"'])
  assert.deepEqual(valueOf('SPSSODescriptor', 'WantAssertionsSigned'), ['true'])
  assert.deepEqual(valueOf('AssertionConsumerService', 'Location'), [connection.acsUrl])
  // SML-22: nobody is told of a way to sign others out.
  assert.doesNotMatch(text, /SingleLogout/)
})

test('CLI-12 the metadata asks a provider for the e-mail address and the name, as they are read', () => {
  const [service] = everyElementOf(readXml(serviceProviderMetadata(connection))).filter(
    ({ localName }) => localName === 'AttributeConsumingService',
  )
  assert.ok(service)
  const requested = elementsOf(service).filter(({ localName }) => localName === 'RequestedAttribute')
  assert.deepEqual(
    requested.map((one) => [attributeOf(one, 'Name'), attributeOf(one, 'FriendlyName')]),
    ['email', 'firstName', 'lastName'].map((name) => [name, name]),
  )
})

test('what a provider is told of our key says by what to encrypt to it, and none of it breaks open', () => {
  const text = serviceProviderMetadata(connection, stranger.certificate)
  const elements = everyElementOf(readXml(text))
  const [key, ...others] = elements.filter(({ localName }) => localName === 'KeyDescriptor')
  assert.ok(key && others.length === 0)
  assert.equal(attributeOf(key, 'use'), 'encryption')
  const [certificate] = everyElementOf(key).filter(({ localName }) => localName === 'X509Certificate')
  assert.equal(certificate && textOf(certificate), base64(stranger.certificate))
  const methods = everyElementOf(key).filter(({ localName }) => localName === 'EncryptionMethod')
  assert.deepEqual(
    methods.map((one) => attributeOf(one, 'Algorithm')),
    [
      'http://www.w3.org/2009/xmlenc11#aes256-gcm',
      'http://www.w3.org/2009/xmlenc11#aes192-gcm',
      'http://www.w3.org/2009/xmlenc11#aes128-gcm',
      'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
      'http://www.w3.org/2009/xmlenc11#rsa-oaep',
    ],
  )
  assert.doesNotMatch(serviceProviderMetadata(connection), /KeyDescriptor/)
})
