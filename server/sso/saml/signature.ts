import { constants, createHash, verify } from 'node:crypto'
import { because, refuse } from '#sso/providers/upstream.ts'
import { canonicalize } from './xml-canonical.ts'
import { attributeOf, elementsOf, readXml, textOf, writeXml, type XmlElement } from './xml.ts'

const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = `${xmldsig}enveloped-signature`
/** The library compares each with every attribute. */
const includedPrefixesMax = 64
/** How each is verified; the salt of PSS is as long as its hash (RFC 9231 §2.3.9). */
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

/** Whether an element is signed by a signature of its own. That it holds is not said by this. */
export function isSigned(element: XmlElement): boolean {
  return elementsOf(element).some(isSignature)
}

export function isSignature({ localName, namespace }: XmlElement): boolean {
  return localName === 'Signature' && namespace === xmldsig
}

/**
 * What was signed of an element (XML Signature, enveloped), read anew out of the very bytes that the signature covers,
 * and of nothing else. The signature is the element's own and covers all of it; whose it is, the given certificates
 * (PEM) tell, and not the document. `requireFit` refuses what need not be looked at any further, as our own code has
 * read it, before the library is asked. Refuses `sso_answer_invalid`.
 */
export async function readSigned(
  element: XmlElement,
  certificates: string[],
  requireFit: (signed: XmlElement) => Promise<void>,
): Promise<XmlElement> {
  const parts = requireSignature(element)
  const content = canonicalContent(element, parts)
  const publicCert = certificates.find((certificate) => isSignedBy(certificate, content, parts))
  if (publicCert === undefined) throw invalid('signature')
  await requireFit(readXml(content))

  const { SignedXml } = await import('xml-crypto')
  const verification = new SignedXml({ publicCert, getCertFromKeyInfo: () => null })
  if (!isVerified(verification, writeSignature(parts), writeXml(element))) throw invalid('signature')
  const [signed, ...more] = verification.getSignedReferences()
  if (signed === undefined || more.length > 0) throw invalid('signature')
  return readXml(signed)
}

/**
 * Whether the key of a certificate has signed what the library is then asked about. The library needs a hundred times
 * as long, and reads the whole document before it looks at the key: nobody without a signature makes it work.
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

/** What the digest of a signature is of. */
function canonicalContent(element: XmlElement, { signature, digest }: SignatureParts): string {
  const content = { ...element, children: element.children.filter((child) => child !== signature) }
  return canonicalize(content, digest.included)
}

type Verification = { loadSignature: (signature: string) => void; checkSignature: (document: string) => boolean }

/** At some of what doesn't match it answers no and at some it throws. Either way nobody vouches for the document. */
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
 * The signature of an element, if it is of the one form that SAML 2.0 has (Core §5.4): of any other, two readers would
 * make two things.
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

/** The signature as a document of its own. The key that it names is left out, for nobody asks it. */
function writeSignature({ signature, signedInfo, signatureValue }: SignatureParts): string {
  return writeXml({ ...signature, children: [signedInfo, signatureValue] })
}

/** By what it is verified, and what is to have which digest. */
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
 * One of the accepted, with no parameter but the prefixes that an exclusive canonical form includes nevertheless, which
 * are answered.
 */
function requireAlgorithm(method: XmlElement, accepted: string[], what: string): ReadonlySet<string> {
  if (!accepted.includes(attributeOf(method, 'Algorithm') ?? '')) throw invalid(what)
  const [inclusion, ...more] = elementsOf(method)
  if (more.length > 0 || (inclusion && inclusion.localName !== 'InclusiveNamespaces')) throw invalid('signature_form')
  const prefixes = ((inclusion && attributeOf(inclusion, 'PrefixList')) ?? '').split(' ')
  if (prefixes.length > includedPrefixesMax) throw invalid('signature_form')
  return new Set(prefixes.flatMap((prefix) => (prefix === '#default' ? [''] : prefix === '' ? [] : [prefix])))
}

/** The id by which a signature refers to an element. That no other has it, the reader of the document has seen to. */
function requireId(element: XmlElement): string {
  const id = attributeOf(element, 'ID') ?? ''
  if (!/^[A-Za-z_][\w.-]{0,255}$/.test(id)) throw invalid('signature_reference')
  return id
}

/** The elements in another, where they are those, in that order, and no others. */
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

function invalid(what: string) {
  return refuse.sso_answer_invalid(because(what))
}
