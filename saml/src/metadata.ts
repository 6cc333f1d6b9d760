import { X509Certificate } from 'node:crypto'
import { requestedAttributes } from './assertion.ts'
import { SamlError } from './refusal.ts'
import {
  type SamlIdentityProvider,
  type ServiceProvider,
  bindings,
  nameIdFormats,
  namespaces,
  qualifiedName,
} from './element.ts'
import {
  type XmlElement,
  XmlError,
  attributeOf,
  elementsOf,
  escapeXml,
  everyElementOf,
  parseXml,
  textOf,
} from './xml.ts'
import { contentAlgorithms } from './encryption.ts'
import { isSigned, verifySignedElement } from './signature.ts'

/** Carries the problem of a document to the function that returns it. */
class MetadataError extends Error {}

const failureReason = (what: string) => new MetadataError(what)

/** Minimum key length (NIST SP 800-131A). */
const rsaBitsMin = 2048
const entityIdCharactersMax = 1024
const certificatesMax = 10

const { ds, xenc, xenc11 } = namespaces
const digestBy = (name: string) => `<ds:DigestMethod xmlns:ds="${ds}" Algorithm="${name}"/>`
/** Supported key encryption algorithms. The first is the most common; its SHA-1 is secure within OAEP. */
const keyMethods = [
  { name: `${xenc}rsa-oaep-mgf1p`, content: digestBy(`${ds}sha1`) },
  {
    name: `${xenc11}rsa-oaep`,
    content: `${digestBy(`${xenc}sha256`)}<xenc11:MGF xmlns:xenc11="${xenc11}" Algorithm="${xenc11}mgf1sha256"/>`,
  },
]

/** Current time, the maximum size, and whether a browser may be sent to an address. */
type MetadataConditions = { now: Date; bytesMax: number; isAllowedUrl: (url: URL) => boolean }

/**
 * Parses the metadata of an identity provider (SAML 2.0 Metadata §2.4.3): entity ID, sign-in URL and signing keys.
 * Other content is ignored. `refused` is the problem, a predicate of the sentence "The metadata …", so that the member
 * can fix it.
 */
export async function parseIdentityProviderMetadata(
  metadata: string,
  { now, bytesMax, isAllowedUrl }: MetadataConditions,
): Promise<{ refused: string } | { provider: SamlIdentityProvider }> {
  if (Buffer.byteLength(metadata) > bytesMax) return { refused: 'is too long' }
  try {
    // Unlike responses, metadata can contain comments; none can be within a value.
    const entity = requireEntity(parseXml(withoutComments(metadata)))
    requireCurrent(entity, now)
    const entityId = attributeOf(entity, 'entityID') ?? ''
    if (entityId.trim() === '' || entityId.length > entityIdCharactersMax) throw failureReason('has no entityID')
    const role = requireRole(entity, now)
    const ssoUrl = readSignOnUrl(role, isAllowedUrl)
    const provider = { entityId, ssoUrl, certificates: readCertificates(role, now) }
    if (isSigned(entity)) await requireOwnSignature(entity, provider.certificates)
    return { provider }
  } catch (error) {
    if (error instanceof XmlError) return { refused: 'is not the XML of SAML 2.0' }
    if (error instanceof MetadataError) return { refused: error.message }
    throw error
  }
}

/** Removes comments in linear time. A regular expression would search the rest again for each unterminated comment. */
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

/** Returns the single entity of the document, which can be wrapped in a list. */
function requireEntity(root: XmlElement): XmlElement {
  const found = everyElementOf(root).filter((one) => qualifiedName(one) === 'md:EntityDescriptor')
  const [entity, ...more] = found
  if (!entity || !['md:EntityDescriptor', 'md:EntitiesDescriptor'].includes(qualifiedName(root)))
    throw failureReason('describes no entity')
  if (more.length > 0) throw failureReason('describes more than one entity')
  return entity
}

function requireRole(entity: XmlElement, now: Date): XmlElement {
  const [role, ...more] = elementsOf(entity).filter((one) => qualifiedName(one) === 'md:IDPSSODescriptor')
  if (!role || more.length > 0) throw failureReason('describes no identity provider')
  const protocols = (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/)
  if (!protocols.includes(namespaces.samlp)) throw failureReason('is of a provider that does not speak SAML 2.0')
  requireCurrent(role, now)
  return role
}

function requireCurrent(element: XmlElement, now: Date): void {
  const validUntil = attributeOf(element, 'validUntil')
  if (validUntil !== undefined && !(new Date(validUntil) > now)) throw failureReason('has expired')
}

/** Returns the sign-in URL. It can be inside the organization's network, which this service cannot reach. */
function readSignOnUrl(role: XmlElement, isAllowedUrl: MetadataConditions['isAllowedUrl']): string {
  const [service] = elementsOf(role).filter(
    (one) => qualifiedName(one) === 'md:SingleSignOnService' && attributeOf(one, 'Binding') === bindings.redirect,
  )
  const location = service && attributeOf(service, 'Location')
  if (location === undefined) throw failureReason('names no SingleSignOnService with the HTTP-Redirect binding')
  const url = /^[\x21-\x7e]+$/.test(location) ? URL.parse(location) : null
  if (!url || !isAllowedUrl(url) || url.username !== '' || url.password !== '' || url.hash !== '')
    throw failureReason('has a SingleSignOnService that is not https')
  if (url.searchParams.has('SAMLRequest')) throw failureReason('has a SingleSignOnService with a request in it')
  return location
}

/** Returns the signing certificates (PEM). A key without a use is also a signing key. */
function readCertificates(role: XmlElement, now: Date): string[] {
  const keys = elementsOf(role).filter((one) => qualifiedName(one) === 'md:KeyDescriptor')
  const signing = keys.filter((one) => (attributeOf(one, 'use') ?? 'signing') === 'signing')
  const texts = signing.flatMap(everyElementOf).filter((one) => qualifiedName(one) === 'ds:X509Certificate')
  if (texts.length === 0) throw failureReason('has no certificate to verify signatures with')
  if (texts.length > certificatesMax) throw failureReason('has too many certificates')
  const current = texts.map(readCertificate).filter((one) => one.validToDate > now)
  if (current.length === 0) throw failureReason('has no certificate that has not expired')
  for (const { publicKey } of current) {
    if (publicKey.asymmetricKeyType !== 'rsa') throw failureReason('has a certificate whose key is not RSA')
    if ((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin)
      throw failureReason(`has a certificate whose key is shorter than ${rsaBitsMin} bits`)
  }
  return [...new Set(current.map((one) => one.toString()))]
}

function readCertificate(element: XmlElement): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(textOf(element), 'base64'))
  } catch (error) {
    if (error instanceof XmlError) throw error
    throw failureReason('has a certificate that can not be read')
  }
}

/** Checks that a signature of the metadata is by one of the keys it names, so that changes in transit are detected. */
async function requireOwnSignature(entity: XmlElement, certificates: string[]): Promise<void> {
  try {
    await verifySignedElement(entity, certificates, async () => {})
  } catch (error) {
    if (error instanceof SamlError) throw failureReason('is signed by another than it describes')
    throw error
  }
}

/** Returns the service provider metadata, with a certificate (PEM) if the provider is to encrypt assertions. */
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

/** Requested attributes of a user: a provider that imports the metadata sends them, as Keycloak does. */
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

/** Key and algorithms for encryption. Without the algorithms many providers use CBC. */
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
