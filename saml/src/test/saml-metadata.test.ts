import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connection, instant, now, provider, sign, stranger, successor, swap } from '../testing/document.ts'
import { parseIdentityProviderMetadata, serviceProviderMetadata } from '../metadata.ts'
import { attributeOf, elementsOf, everyElementOf, parseXml, textOf } from '../xml.ts'

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

const read = (text: string) =>
  parseIdentityProviderMetadata(text, {
    now,
    bytesMax: 256 * 1024,
    isAllowedUrl: ({ protocol, hostname }) => protocol === 'https:' && /^[\w.-]+$/.test(hostname),
  })

async function providerOf(text: string) {
  const result = await read(text)
  assert.ok('provider' in result, JSON.stringify(result))
  return result.provider
}

async function refusedAs(text: string, problem: RegExp): Promise<void> {
  const result = await read(text)
  assert.ok('refused' in result, JSON.stringify(result))
  assert.match(result.refused, problem)
}

test('metadata contains the provider, its sign-in URL and its signing keys', async () => {
  const pem = [provider.certificate, successor.certificate]
  const keys = pem.map((one) => key(one)).join('') + key(stranger.certificate, ' use="encryption"')
  assert.deepEqual(await providerOf(metadata({ keys })), {
    entityId: 'https://idp.acme.example/saml',
    ssoUrl: 'https://idp.acme.example/sso',
    certificates: pem,
  })
})

test('metadata can be a list of one, and have comments, a key without use, or a signature of its key', async () => {
  const list = `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${metadata()}</EntitiesDescriptor>`
  const commented = swap(metadata(), '<md:Extensions/>', '<!-- the keys: <md:KeyDescriptor> --><md:Extensions/>')
  const issued = swap(metadata(), '<md:Extensions/>', '<Issuer/>')
  for (const text of [list, commented, metadata({ keys: key(provider.certificate, '') }), sign(issued, '_m1')])
    assert.deepEqual((await providerOf(text)).certificates, [provider.certificate])
})

test('SML-17 metadata with unsafe keys or URLs is rejected with the reason', async () => {
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

test('SML-17 metadata signed by a key that it does not contain is rejected', async () => {
  const issued = swap(metadata(), '<md:Extensions/>', '<Issuer/>')
  await refusedAs(sign(issued, '_m1', { by: stranger }), /signed by another/)
  await refusedAs(swap(sign(issued, '_m1'), 'https://idp.acme.example/sso', 'https://idp.evil.example/sso'), /another/)
})

test('SML-17 an expired certificate is ignored, and a valid one is used', async () => {
  const expired = readFileSync(join(import.meta.dirname, '../testing/keys/expired.pem'), 'utf8')
  await refusedAs(metadata({ keys: key(expired) }), /no certificate that has not expired/)
  const { certificates } = await providerOf(metadata({ keys: key(expired) + key(provider.certificate) }))
  assert.deepEqual(certificates, [provider.certificate])
})

test('service provider metadata requires signed assertions and contains the consumer service URL', () => {
  const text = serviceProviderMetadata({ entityId: 'https://id.example.com/a?b=1&c="2"', acsUrl: connection.acsUrl })
  const elements = everyElementOf(parseXml(text))
  const valueOf = (name: string, attribute: string) =>
    elements.filter(({ localName }) => localName === name).map((one) => attributeOf(one, attribute))
  assert.deepEqual(valueOf('EntityDescriptor', 'entityID'), ['https://id.example.com/a?b=1&c="2"'])
  assert.deepEqual(valueOf('SPSSODescriptor', 'WantAssertionsSigned'), ['true'])
  assert.deepEqual(valueOf('AssertionConsumerService', 'Location'), [connection.acsUrl])
  // SML-22: the metadata announces no logout service.
  assert.doesNotMatch(text, /SingleLogout/)
})

test('CLI-12 service provider metadata requests the e-mail address and name attributes', () => {
  const [service] = everyElementOf(parseXml(serviceProviderMetadata(connection))).filter(
    ({ localName }) => localName === 'AttributeConsumingService',
  )
  assert.ok(service)
  const requested = elementsOf(service).filter(({ localName }) => localName === 'RequestedAttribute')
  assert.deepEqual(
    requested.map((one) => [attributeOf(one, 'Name'), attributeOf(one, 'FriendlyName')]),
    ['email', 'firstName', 'lastName'].map((name) => [name, name]),
  )
})

test('service provider metadata contains the encryption key and algorithms, with escaped content', () => {
  const text = serviceProviderMetadata(connection, stranger.certificate)
  const elements = everyElementOf(parseXml(text))
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
