import { because, refuse } from './upstream.ts'
import { attributeOf, elementsOf, readXml, textOf, writeXml, type XmlElement } from './xml.ts'

const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = `${xmldsig}enveloped-signature`
const signingAlgorithms = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
]
const digestAlgorithms = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512']

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
 * (PEM) tell, and not the document. Refuses `sso_answer_invalid`.
 */
export async function readSigned(element: XmlElement, certificates: string[]): Promise<XmlElement> {
  const signature = requireSignature(element)
  const document = writeXml(element)
  const { SignedXml } = await import('xml-crypto')
  for (const publicCert of certificates) {
    const verification = new SignedXml({ publicCert, getCertFromKeyInfo: () => null })
    if (!isVerified(verification, signature, document)) continue
    const [signed, ...more] = verification.getSignedReferences()
    if (signed !== undefined && more.length === 0) return readXml(signed)
  }
  throw refuse.sso_answer_invalid(because('signature'))
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

/**
 * The signature of an element, as a document of its own, if it is of the one form that SAML 2.0 has (Core §5.4): of any
 * other, two readers would make two things. The key that it names is left out, for nobody asks it.
 */
function requireSignature(element: XmlElement): string {
  const [signature, ...others] = elementsOf(element).filter(isSignature)
  if (!signature) throw invalid('signature_missing')
  if (others.length > 0) throw invalid('signature_twice')

  const [signedInfo, signatureValue, ...rest] = elementsOf(signature)
  if (!isCalled(signedInfo, 'SignedInfo') || !isCalled(signatureValue, 'SignatureValue') || rest.length > 1)
    throw invalid('signature_form')
  if (rest.some((one) => !isCalled(one, 'KeyInfo'))) throw invalid('signature_form')
  textOf(signatureValue)
  requireSignedInfo(signedInfo, requireId(element))
  return writeXml({ ...signature, children: [signedInfo, signatureValue] })
}

function requireSignedInfo(signedInfo: XmlElement, id: string): void {
  const [canonicalization, method, reference] = exactly(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ])
  requireAlgorithm(canonicalization, [exclusive], 'canonicalization')
  requireAlgorithm(method, signingAlgorithms, 'signature_algorithm')
  if (attributeOf(reference, 'URI') !== `#${id}`) throw invalid('signature_reference')

  const [transforms, digestMethod, digestValue] = exactly(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  const [first, second] = exactly(transforms, ['Transform', 'Transform'])
  requireAlgorithm(first, [enveloped], 'transform')
  requireAlgorithm(second, [exclusive], 'transform')
  requireAlgorithm(digestMethod, digestAlgorithms, 'digest_algorithm')
  textOf(digestValue)
}

/** One of the accepted, with no parameter but which prefixes an exclusive canonical form is to include all the same. */
function requireAlgorithm(method: XmlElement, accepted: string[], what: string): void {
  if (!accepted.includes(attributeOf(method, 'Algorithm') ?? '')) throw invalid(what)
  const parameters = elementsOf(method)
  const isInclusion = ({ localName }: XmlElement) => localName === 'InclusiveNamespaces'
  if (parameters.length > 1 || !parameters.every(isInclusion)) throw invalid('signature_form')
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
