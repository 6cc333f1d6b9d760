import { X509Certificate } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { isLocal } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { requestedAttributes } from './saml-attributes.ts'
import { bindings, nameIdFormats, nameOf, namespaces } from './saml-element.ts'
import type { SamlIdentityProvider, ServiceProvider } from './saml.ts'
import {
  attributeOf,
  elementsOf,
  escapeXml,
  everyElementOf,
  readXml,
  textOf,
  XmlError,
  type XmlElement,
} from './xml.ts'
import { contentAlgorithms } from './encryption.ts'
import { isSigned, readSigned } from './signature.ts'

const refuse = refusals({ invalid_metadata: [400, 'This is not the metadata of a SAML 2.0 identity provider.'] })

const because = (what: string) => refuse.invalid_metadata({ sentence: `The metadata ${what}.` })

/** Shorter keys are no longer to be relied on (NIST SP 800-131A). */
const rsaBitsMin = 2048
const entityIdCharactersMax = 1024
const certificatesMax = 10

const { ds, xenc, xenc11 } = namespaces
const digestBy = (name: string) => `<ds:DigestMethod xmlns:ds="${ds}" Algorithm="${name}"/>`
/** By what the key of the content is encrypted. The first is what everybody has; its SHA-1 is sound within OAEP. */
const keyMethods = [
  { name: `${xenc}rsa-oaep-mgf1p`, content: digestBy(`${ds}sha1`) },
  {
    name: `${xenc11}rsa-oaep`,
    content: `${digestBy(`${xenc}sha256`)}<xenc11:MGF xmlns:xenc11="${xenc11}" Algorithm="${xenc11}mgf1sha256"/>`,
  },
]

/**
 * What we need to know of an identity provider, out of its metadata (SAML 2.0 Metadata §2.4.3): its name, where people
 * sign in, and the keys that sign. Everything else in there is not read. Refuses `invalid_metadata`, and says why:
 * whoever brought it can mend it.
 */
export async function readIdentityProviderMetadata(metadata: string, now: Date): Promise<SamlIdentityProvider> {
  if (Buffer.byteLength(metadata) > limits.samlMetadataBytesMax) throw because('is too long')
  try {
    // Unlike in an answer, people write comments here; none can stand in a value.
    const entity = requireEntity(readXml(withoutComments(metadata)))
    requireCurrent(entity, now)
    const entityId = attributeOf(entity, 'entityID') ?? ''
    if (entityId.trim() === '' || entityId.length > entityIdCharactersMax) throw because('has no entityID')
    const role = requireRole(entity, now)
    const provider = { entityId, ssoUrl: readSignOnUrl(role), certificates: readCertificates(role, now) }
    if (isSigned(entity)) await requireOwnSignature(entity, provider.certificates)
    return provider
  } catch (error) {
    if (error instanceof XmlError) throw because('is not the XML of SAML 2.0')
    throw error
  }
}

/** Searches each part of the text once: a pattern would search the rest of it again at each comment without an end. */
function withoutComments(text: string): string {
  const kept: string[] = []
  let at = 0
  for (let begin = text.indexOf('<!--'); begin >= 0; begin = text.indexOf('<!--', at)) {
    const end = text.indexOf('-->', begin + '<!--'.length)
    if (end < 0) throw new XmlError('A comment does not end')
    kept.push(text.slice(at, begin))
    at = end + '-->'.length
  }
  return [...kept, text.slice(at)].join('')
}

/** The one entity of the document; some wrap it into a list. */
function requireEntity(root: XmlElement): XmlElement {
  const found = everyElementOf(root).filter((one) => nameOf(one) === 'md:EntityDescriptor')
  const [entity, ...more] = found
  if (!entity || !['md:EntityDescriptor', 'md:EntitiesDescriptor'].includes(nameOf(root)))
    throw because('describes no entity')
  if (more.length > 0) throw because('describes more than one entity')
  return entity
}

function requireRole(entity: XmlElement, now: Date): XmlElement {
  const [role, ...more] = elementsOf(entity).filter((one) => nameOf(one) === 'md:IDPSSODescriptor')
  if (!role || more.length > 0) throw because('describes no identity provider')
  const protocols = (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/)
  if (!protocols.includes(namespaces.samlp)) throw because('is of a provider that does not speak SAML 2.0')
  requireCurrent(role, now)
  return role
}

function requireCurrent(element: XmlElement, now: Date): void {
  const validUntil = attributeOf(element, 'validUntil')
  if (validUntil !== undefined && !(new Date(validUntil) > now)) throw because('has expired')
}

/** Where the browser goes: it may be inside the organization's own network, where this service is not. */
function readSignOnUrl(role: XmlElement): string {
  const [service] = elementsOf(role).filter(
    (one) => nameOf(one) === 'md:SingleSignOnService' && attributeOf(one, 'Binding') === bindings.redirect,
  )
  const location = service && attributeOf(service, 'Location')
  if (location === undefined) throw because('names no SingleSignOnService with the HTTP-Redirect binding')
  const url = /^[\x21-\x7e]+$/.test(location) ? URL.parse(location) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url))
  if (!url || !isSafe || !hasPlainHost(url) || url.username !== '' || url.password !== '' || url.hash !== '')
    throw because('has a SingleSignOnService that is not https')
  if (url.searchParams.has('SAMLRequest')) throw because('has a SingleSignOnService with a request in it')
  return location
}

/** The certificates (PEM) by whose keys the provider signs: a key without a use is for signing too. */
function readCertificates(role: XmlElement, now: Date): string[] {
  const keys = elementsOf(role).filter((one) => nameOf(one) === 'md:KeyDescriptor')
  const signing = keys.filter((one) => (attributeOf(one, 'use') ?? 'signing') === 'signing')
  const texts = signing.flatMap(everyElementOf).filter((one) => nameOf(one) === 'ds:X509Certificate')
  if (texts.length === 0) throw because('has no certificate to verify signatures with')
  if (texts.length > certificatesMax) throw because('has too many certificates')
  const current = texts.map(readCertificate).filter((one) => one.validToDate > now)
  if (current.length === 0) throw because('has no certificate that has not expired')
  for (const { publicKey } of current) {
    if (publicKey.asymmetricKeyType !== 'rsa') throw because('has a certificate whose key is not RSA')
    if ((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin)
      throw because(`has a certificate whose key is shorter than ${rsaBitsMin} bits`)
  }
  return [...new Set(current.map((one) => one.toString()))]
}

function readCertificate(element: XmlElement): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(textOf(element), 'base64'))
  } catch (error) {
    if (error instanceof XmlError) throw error
    throw because('has a certificate that can not be read')
  }
}

/** Who signs it is to have one of the keys that it names: what was changed on its way doesn't pass for theirs. */
async function requireOwnSignature(entity: XmlElement, certificates: string[]): Promise<void> {
  try {
    await readSigned(entity, certificates, async () => {})
  } catch (error) {
    if (error instanceof Refusal) throw because('is signed by another than it describes')
    throw error
  }
}

/** What an identity provider is told of us, and where there is a certificate (PEM) that it is to encrypt to its key. */
export function serviceProviderMetadata({ entityId, acsUrl }: ServiceProvider, certificate?: string): string {
  const formats = Object.values(nameIdFormats).map((format) => `    <md:NameIDFormat>${format}</md:NameIDFormat>`)
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<md:EntityDescriptor xmlns:md="${namespaces.md}" entityID="${escapeXml(entityId)}">`,
    `  <md:SPSSODescriptor protocolSupportEnumeration="${namespaces.samlp}"`,
    '      AuthnRequestsSigned="false" WantAssertionsSigned="true">',
    ...(certificate === undefined ? [] : describeKey(certificate)),
    ...formats,
    `    <md:AssertionConsumerService index="0" isDefault="true" Binding="${bindings.post}"`,
    `        Location="${escapeXml(acsUrl)}"/>`,
    ...describeAttributes(),
    '  </md:SPSSODescriptor>',
    '</md:EntityDescriptor>',
    '',
  ]
  return lines.join('\n')
}

/** The attributes of a user that are read: a provider that imports this sends them, as Keycloak does. */
function describeAttributes(): string[] {
  const format = 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic'
  return [
    '    <md:AttributeConsumingService index="0" isDefault="true">',
    '      <md:ServiceName xml:lang="en">Countersign</md:ServiceName>',
    ...requestedAttributes.map(
      (name) => `      <md:RequestedAttribute Name="${name}" FriendlyName="${name}" NameFormat="${format}"/>`,
    ),
    '    </md:AttributeConsumingService>',
  ]
}

/** The key to encrypt to, and by what: without that a provider takes what it likes, which is CBC for many. */
function describeKey(certificate: string): string[] {
  const base64 = new X509Certificate(certificate).raw.toString('base64')
  const method = (name: string, content = '') =>
    `      <md:EncryptionMethod Algorithm="${name}">${content}</md:EncryptionMethod>`
  return [
    '    <md:KeyDescriptor use="encryption">',
    `      <ds:KeyInfo xmlns:ds="${namespaces.ds}"><ds:X509Data>`,
    `        <ds:X509Certificate>${base64}</ds:X509Certificate>`,
    '      </ds:X509Data></ds:KeyInfo>',
    ...Object.keys(contentAlgorithms).map((name) => method(name)),
    ...keyMethods.map(({ name, content }) => method(name, content)),
    '    </md:KeyDescriptor>',
  ]
}
