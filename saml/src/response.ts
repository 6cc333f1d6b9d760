import type { KeyObject } from 'node:crypto'
import { type SamlSubject, requireIssuer, verifyAssertion } from './assertion.ts'
import { type SamlConnection, expectChildren, qualifiedName } from './element.ts'
import type { SamlLimits } from './limits.ts'
import { invalid, SamlError, type SamlRefusal } from './refusal.ts'
import { type XmlElement, XmlError, type XmlScope, attributeOf, everyElementOf, parseXml, readXmlRoot } from './xml.ts'
import { decrypt, parseEncryptedElement } from './encryption.ts'
import { isSignature, verifySignedElement } from './signature.ts'

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'

/** A response, the expected request, and a function that loads the decryption keys. */
export type SamlResponseInput = {
  samlResponse: string
  requestId: string
  findKeys: () => Promise<KeyObject[]>
  /** Called before each signed part is passed to the library; can reject it. */
  onSigned?: () => Promise<void>
}

/** Current time, and the limits. */
export type SamlConditions = { now: Date; limits: SamlLimits }

/**
 * Returns the user named by a response, after the checks of the Web Browser SSO Profile (SAML 2.0 Profiles §4.1.4), or
 * why it is rejected. The response must answer the request `requestId`; responses without a request are rejected. Only
 * content signed by a configured key counts, whether or not it is encrypted. Errors of `findKeys` and `onSigned` pass
 * through.
 */
export function verifySamlResponse(
  connection: SamlConnection,
  answer: SamlResponseInput,
  { now, limits }: SamlConditions,
): Promise<{ refused: SamlRefusal } | { user: SamlSubject }> {
  const { samlResponse, requestId } = answer
  const expected = { requestId, now, limits }
  const read = async () => {
    const response = parseXml(decodeResponse(samlResponse, limits))
    const assertion = await readResponse(connection, response, { ...answer, ...expected })
    return { user: verifyAssertion(connection, assertion, expected) }
  }
  return read().catch(toRefused)
}

/**
 * Returns the id of the request that a response answers, or why the response is rejected. Parses only the start tag of
 * the root, because a response to an unknown request needs no more work. The id is not authenticated.
 */
export function parseInResponseTo(
  samlResponse: string,
  limits: Pick<SamlLimits, 'samlResponseBytesMax'>,
): { refused: SamlRefusal } | { requestId: string } {
  try {
    return { requestId: requestIdOf(readXmlRoot(decodeResponse(samlResponse, limits))) }
  } catch (error) {
    return toRefused(error)
  }
}

/** Maps an error of the reader to a refusal, and throws others again. */
function toRefused(error: unknown): { refused: SamlRefusal } {
  if (error instanceof XmlError) return { refused: invalid('form').refusal }
  if (error instanceof SamlError) return { refused: error.refusal }
  throw error
}

/** Throws if there is no request id: an attacker could have started a provider-initiated sign-in. */
function requestIdOf(response: XmlElement): string {
  const requestId = attributeOf(response, 'InResponseTo')
  if (requestId === undefined) throw new SamlError('mismatch', 'unsolicited')
  return requestId
}

function decodeResponse(samlResponse: string, limits: Pick<SamlLimits, 'samlResponseBytesMax'>): string {
  const base64 = samlResponse.replaceAll(/[ \t\r\n]/g, '')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > limits.samlResponseBytesMax) throw invalid('too_large')
  // Node ignores invalid base64 characters, and another reader could interpret them.
  if (base64 === '' || bytes.toString('base64') !== base64) throw new XmlError('It is not base64')
  return decodeText(bytes)
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new XmlError('It is not UTF-8')
  }
}

/** Returns the signed part of a response, if it answers the expected request. */
async function readResponse(
  connection: SamlConnection,
  received: XmlElement,
  { requestId, findKeys, onSigned, now, limits }: SamlResponseInput & SamlConditions,
): Promise<XmlElement> {
  if (qualifiedName(received) !== 'samlp:Response') throw invalid('form')
  requireDistinctIds(received)
  const { acsUrl, identityProvider } = connection
  const { certificates } = identityProvider
  const fit = (read: (signed: XmlElement) => unknown) => async (signed: XmlElement, readByLibrary: XmlElement) => {
    requireFewParts(readByLibrary, limits)
    read(signed)
    await onSigned?.()
  }
  const wrapped = receivedParts(received)
  // If the provider also signs the response, that signature must be valid.
  const response = wrapped['ds:Signature']
    ? await verifySignedElement(received, certificates, fit(receivedParts))
    : received
  const { 'samlp:Status': status, 'saml:Issuer': issuer } = receivedParts(response)
  if (attributeOf(response, 'Version') !== '2.0') throw invalid('version')
  if (requestIdOf(response) !== requestId) throw new SamlError('mismatch', 'in_response_to')
  if (attributeOf(response, 'Destination') !== acsUrl) throw invalid('destination')
  if (issuer) requireIssuer(issuer, identityProvider.entityId)
  requireSuccess(status)

  const { 'saml:Assertion': assertions, 'saml:EncryptedAssertion': encrypted } = wrapped
  const [only, ...more] = [...assertions, ...encrypted]
  if (!only || more.length > 0) throw invalid('assertions')
  const assertion = encrypted.length > 0 ? await openAssertion(only, findKeys) : only
  if (assertion !== only) requireDistinctIds(received, assertion)
  if (everyElementOf(assertion).filter(isSignature).length > 1) throw invalid('signature_twice')
  const expected = { requestId, now, limits }
  return verifySignedElement(
    assertion,
    certificates,
    fit((signed) => verifyAssertion(connection, signed, expected)),
  )
}

/**
 * Limits what the signature library reads slowly. Namespace declarations count as attributes, also those that the
 * signature does not cover because no name uses them.
 */
function requireFewParts(
  readByLibrary: XmlElement,
  { samlSignedElementsMax, samlSignedAttributesMax }: SamlLimits,
): void {
  const elements = everyElementOf(readByLibrary)
  if (elements.length > samlSignedElementsMax) throw invalid('too_many_elements')
  const scopes = new Set(elements.map(({ scope }) => scope))
  const declarations = [...scopes].reduce((count, { declared }) => count + declared.size, 0)
  const attributes = elements.reduce((count, one) => count + one.attributes.length, declarations)
  if (attributes > samlSignedAttributesMax) throw invalid('too_many_attributes')
}

function receivedParts(response: XmlElement) {
  return expectChildren(response, {
    'saml:Issuer': 'maybe',
    'ds:Signature': 'maybe',
    'samlp:Status': 'one',
    'saml:Assertion': 'any',
    'saml:EncryptedAssertion': 'any',
  })
}

/**
 * Decrypts an assertion. Encryption authenticates nothing, because the key is public, so the result gets the same
 * checks as a plain assertion. All failures, including other content than an assertion, throw the same error.
 */
async function openAssertion(element: XmlElement, findKeys: SamlResponseInput['findKeys']): Promise<XmlElement> {
  const encrypted = parseEncryptedElement(element)
  const keys = await findKeys()
  if (keys.length === 0) throw invalid('encrypted')
  const opened = decrypt(encrypted, keys)
  const assertion = opened && readOpened(opened, element.scope)
  if (!assertion || qualifiedName(assertion) !== 'saml:Assertion') throw invalid('decryption')
  return assertion
}

/** Parses a decrypted element with the namespace prefixes of its context (XML Encryption 1.1 §4.4). */
function readOpened(opened: Buffer, scope: XmlScope): XmlElement | undefined {
  try {
    return parseXml(decodeText(opened), scope)
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

/** Checks that no id occurs twice in the document, in any spelling, because signatures refer to elements by id. */
function requireDistinctIds(...documents: XmlElement[]): void {
  const ids = documents
    .flatMap(everyElementOf)
    .flatMap(({ attributes }) =>
      attributes.filter(({ localName }) => localName.toLowerCase() === 'id').map(({ value }) => value),
    )
  if (new Set(ids).size !== ids.length) throw invalid('id_twice')
}

function requireSuccess(status: XmlElement): void {
  const parts = expectChildren(status, {
    'samlp:StatusCode': 'one',
    'samlp:StatusMessage': 'maybe',
    'samlp:StatusDetail': 'maybe',
  })
  const code = attributeOf(parts['samlp:StatusCode'], 'Value')
  if (code === success) return
  // The nested status code is more specific: AuthnFailed, RequestDenied, InvalidNameIDPolicy.
  const { 'samlp:StatusCode': inner } = expectChildren(parts['samlp:StatusCode'], { 'samlp:StatusCode': 'maybe' })
  const [, word] =
    /^urn:oasis:names:tc:SAML:2\.0:status:(\w{1,40})$/.exec((inner && attributeOf(inner, 'Value')) ?? code ?? '') ?? []
  throw new SamlError('denied', word ?? 'status')
}
