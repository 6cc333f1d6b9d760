import { constants, createHash, verify } from 'node:crypto'
import { invalid } from './refusal.ts'
import { canonicalize } from './xml-canonical.ts'
import { attributeOf, elementsOf, parseXml, textOf, writeXml, type XmlElement } from './xml.ts'

const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = `${xmldsig}enveloped-signature`
/** Maximum number of references; the library compares each with every attribute. */
const includedPrefixesMax = 64
/** Verification parameters by algorithm; the PSS salt has the length of its hash (RFC 9231 §2.3.9). */
const signingAlgorithms = new Map([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { hash: 'sha256' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { hash: 'sha512' }],
  [
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
    {
      hash: 'sha256',
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    },
  ],
])
const digestAlgorithms = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

/** Checks if an element has a signature of its own. Does not verify it. */
export function isSigned(element: XmlElement): boolean {
  return elementsOf(element).some(isSignature)
}

export function isSignature({ localName, namespace }: XmlElement): boolean {
  return localName === 'Signature' && namespace === xmldsig
}

/**
 * Returns the signed content of an element (XML Signature, enveloped), parsed again from exactly the bytes that the
 * signature covers. The signature must be the element's own and cover all of it. Only the given certificates (PEM) are
 * trusted, not the document. `requireFit` can reject the signed content, or all that the library would read, before the
 * library verifies it. Throws `SamlError`.
 */
export async function verifySignedElement(
  element: XmlElement,
  certificates: string[],
  requireFit: (signed: XmlElement, readByLibrary: XmlElement) => Promise<void>,
): Promise<XmlElement> {
  const parts = requireSignature(element)
  const content = canonicalContent(element, parts)
  const publicCert = certificates.find((certificate) => isSignedBy(certificate, content, parts))
  if (publicCert === undefined) throw invalid('signature')
  const signature = withoutKeyInfo(parts)
  const readByLibrary = {
    ...element,
    children: element.children.map((child) => (child === parts.signature ? signature : child)),
  }
  await requireFit(parseXml(content), readByLibrary)

  const { SignedXml } = await import('xml-crypto')
  const verification = new SignedXml({ publicCert, getCertFromKeyInfo: () => null })
  if (!isVerified(verification, writeXml(signature), writeXml(readByLibrary))) throw invalid('signature')
  const [signed, ...more] = verification.getSignedReferences()
  if (signed === undefined || more.length > 0) throw invalid('signature')
  return parseXml(signed)
}

/**
 * Checks if the key of a certificate made the signature, before the library verifies it. The library takes a hundred
 * times as long and parses the whole document before it checks the key, so unsigned documents must not reach it.
 */
function isSignedBy(certificate: string, content: string, parts: SignatureParts): boolean {
  const { signedInfo, signatureValue, method, digest } = parts
  const { hash, ...padding } = method
  const signedBytes = Buffer.from(canonicalize(signedInfo, parts.included))
  const value = Buffer.from(textOf(signatureValue), 'base64')
  if (!verify(hash, signedBytes, { key: certificate, ...padding }, value)) return false
  return createHash(digest.hash)
    .update(content)
    .digest()
    .equals(Buffer.from(textOf(digest.value), 'base64'))
}

/** Returns the bytes that the signature's digest covers. */
function canonicalContent(element: XmlElement, { signature, digest }: SignatureParts): string {
  const content = { ...element, children: element.children.filter((child) => child !== signature) }
  return canonicalize(content, digest.included)
}

type Verification = { loadSignature: (signature: string) => void; checkSignature: (document: string) => boolean }

/** For some mismatches the library returns false, for others it throws. Both mean that the signature is invalid. */
function isVerified(verification: Verification, signature: string, document: string): boolean {
  try {
    verification.loadSignature(signature)
    return verification.checkSignature(document)
  } catch {
    return false
  }
}

type SignatureParts = ReturnType<typeof requireSignature>

/**
 * Returns the signature of an element, if it has the one form that SAML 2.0 allows (Core §5.4). Two readers could
 * interpret other forms differently.
 */
function requireSignature(element: XmlElement) {
  const [signature, ...others] = elementsOf(element).filter(isSignature)
  if (!signature) throw invalid('signature_missing')
  if (others.length > 0) throw invalid('signature_twice')

  const [signedInfo, signatureValue, ...rest] = elementsOf(signature)
  if (!isCalled(signedInfo, 'SignedInfo') || !isCalled(signatureValue, 'SignatureValue') || rest.length > 1)
    throw invalid('signature_form')
  if (rest.some((one) => !isCalled(one, 'KeyInfo'))) throw invalid('signature_form')
  textOf(signatureValue)
  return { signature, signedInfo, signatureValue, ...readSignedInfo(signedInfo, requireId(element)) }
}

/**
 * Returns the signature without its KeyInfo, which is not used. It is not signed, so anyone can fill it with
 * elements that the library reads slowly.
 */
function withoutKeyInfo({ signature, signedInfo, signatureValue }: SignatureParts): XmlElement {
  return { ...signature, children: [signedInfo, signatureValue] }
}

/** Returns the signature algorithm, the reference and its digest. */
function readSignedInfo(signedInfo: XmlElement, id: string) {
  const [canonicalization, method, reference] = exactly(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ])
  const included = requireAlgorithm(canonicalization, [exclusive], 'canonicalization')
  requireAlgorithm(method, [...signingAlgorithms.keys()], 'signature_algorithm')
  if (attributeOf(reference, 'URI') !== `#${id}`) throw invalid('signature_reference')

  const [transforms, digestMethod, digestValue] = exactly(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  const [first, second] = exactly(transforms, ['Transform', 'Transform'])
  requireAlgorithm(first, [enveloped], 'transform')
  const includedInContent = requireAlgorithm(second, [exclusive], 'transform')
  requireAlgorithm(digestMethod, [...digestAlgorithms.keys()], 'digest_algorithm')
  textOf(digestValue)
  const signing = signingAlgorithms.get(attributeOf(method, 'Algorithm') ?? '')
  const hash = digestAlgorithms.get(attributeOf(digestMethod, 'Algorithm') ?? '')
  if (!signing || hash === undefined) throw invalid('signature_algorithm')
  return { method: signing, included, digest: { hash, value: digestValue, included: includedInContent } }
}

/**
 * Checks for an accepted transform without parameters, except the prefixes of `InclusiveNamespaces`, which it returns.
 */
function requireAlgorithm(method: XmlElement, accepted: string[], what: string): ReadonlySet<string> {
  if (!accepted.includes(attributeOf(method, 'Algorithm') ?? '')) throw invalid(what)
  const [inclusion, ...more] = elementsOf(method)
  if (more.length > 0 || (inclusion && inclusion.localName !== 'InclusiveNamespaces')) throw invalid('signature_form')
  const prefixes = ((inclusion && attributeOf(inclusion, 'PrefixList')) ?? '').split(' ')
  if (prefixes.length > includedPrefixesMax) throw invalid('signature_form')
  return new Set(prefixes.flatMap((prefix) => (prefix === '#default' ? [''] : prefix === '' ? [] : [prefix])))
}

/** Returns the id that a signature refers to. The parser has made sure that it is unique. */
function requireId(element: XmlElement): string {
  const id = attributeOf(element, 'ID') ?? ''
  if (!/^[A-Za-z_][\w.-]{0,255}$/.test(id)) throw invalid('signature_reference')
  return id
}

/** Returns the child elements if they have exactly these names in this order. */
function exactly<const Names extends readonly string[]>(
  element: XmlElement,
  names: Names,
): { [Place in keyof Names]: XmlElement }
function exactly(element: XmlElement, names: string[]): XmlElement[] {
  const found = elementsOf(element)
  if (found.length !== names.length || !names.every((name, place) => isCalled(found[place], name)))
    throw invalid('signature_form')
  return found
}

function isCalled(element: XmlElement | undefined, localName: string): element is XmlElement {
  return element?.localName === localName && element.namespace === xmldsig
}
