import type { KeyObject } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { readAssertion, requireIssuer, type SamlPerson } from './saml-assertion.ts'
import { nameOf, partsOf } from './saml-element.ts'
import type { SamlConnection } from './saml.ts'
import { because, refuse } from '#sso/providers/upstream.ts'
import { attributeOf, everyElementOf, readXml, readXmlRoot, XmlError, type XmlElement, type XmlScope } from './xml.ts'
import { decrypt, readEncrypted } from './encryption.ts'
import { isSignature, readSigned } from './signature.ts'

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'

/** An answer, the request that it has to be to, and how to come by the keys to which it may be encrypted. */
export type SamlAnswer = {
  samlResponse: string
  requestId: string
  findKeys: () => Promise<KeyObject[]>
  /** Is called before each part that the provider has signed is given to the library; may refuse it. */
  onSigned?: () => Promise<void>
}

/**
 * Whom an identity provider's answer names, after the checks of the Web Browser SSO Profile (SAML 2.0 Profiles §4.1.4).
 * It answers the request with `requestId` and no other; nobody is taken in whom we have not sent. Nothing but what a
 * configured key has signed says who the person is, whether or not it is encrypted besides. Refuses
 * `sso_answer_invalid`, `sso_answer_mismatch`, `sso_denied`.
 */
export async function finishSaml(connection: SamlConnection, answer: SamlAnswer, now: Date): Promise<SamlPerson> {
  const { samlResponse, requestId } = answer
  try {
    const response = readXml(decodeResponse(samlResponse))
    const assertion = await readResponse(connection, response, { ...answer, now })
    return readAssertion(connection, assertion, { requestId, now })
  } catch (error) {
    if (error instanceof XmlError) throw invalid('form')
    throw error
  }
}

/**
 * The id of the request that an answer says it is to. Reads no more of it than the start tag of its root: an answer to
 * an unknown request is not worth the rest. Not authenticated. Refuses as `finishSaml` does.
 */
export function readRequestId(samlResponse: string): string {
  try {
    return requestIdOf(readXmlRoot(decodeResponse(samlResponse)))
  } catch (error) {
    if (error instanceof XmlError) throw invalid('form')
    throw error
  }
}

/** Refuses where there is none: a provider that begins by itself might have been begun by anybody. */
function requestIdOf(response: XmlElement): string {
  const requestId = attributeOf(response, 'InResponseTo')
  if (requestId === undefined) throw refuse.sso_answer_mismatch(because('unsolicited'))
  return requestId
}

function decodeResponse(samlResponse: string): string {
  const base64 = samlResponse.replaceAll(/[ \t\r\n]/g, '')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > limits.samlResponseBytesMax) throw invalid('too_large')
  // Node overlooks what is not base64; to another reader it might be something.
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

/** The signed part of a response, if the response is the answer to our request. */
async function readResponse(
  connection: SamlConnection,
  received: XmlElement,
  { requestId, findKeys, onSigned, now }: SamlAnswer & { now: Date },
): Promise<XmlElement> {
  if (nameOf(received) !== 'samlp:Response') throw invalid('form')
  requireDistinctIds(received)
  const { acsUrl, identityProvider } = connection
  const { certificates } = identityProvider
  const fit = (read: (signed: XmlElement) => unknown) => async (signed: XmlElement) => {
    if (everyElementOf(signed).length > limits.samlSignedElementsMax) throw invalid('too_many_elements')
    read(signed)
    await onSigned?.()
  }
  const wrapped = receivedParts(received)
  // Whoever signs the response too is held to it.
  const response = wrapped['ds:Signature'] ? await readSigned(received, certificates, fit(receivedParts)) : received
  const { 'samlp:Status': status, 'saml:Issuer': issuer } = receivedParts(response)
  if (attributeOf(response, 'Version') !== '2.0') throw invalid('version')
  if (requestIdOf(response) !== requestId) throw refuse.sso_answer_mismatch(because('in_response_to'))
  if (attributeOf(response, 'Destination') !== acsUrl) throw invalid('destination')
  if (issuer) requireIssuer(issuer, identityProvider.entityId)
  requireSuccess(status)

  const { 'saml:Assertion': assertions, 'saml:EncryptedAssertion': encrypted } = wrapped
  const [only, ...more] = [...assertions, ...encrypted]
  if (!only || more.length > 0) throw invalid('assertions')
  const assertion = encrypted.length > 0 ? await openAssertion(only, findKeys) : only
  if (assertion !== only) requireDistinctIds(received, assertion)
  if (everyElementOf(assertion).filter(isSignature).length > 1) throw invalid('signature_twice')
  const asked = { requestId, now }
  return readSigned(
    assertion,
    certificates,
    fit((signed) => readAssertion(connection, signed, asked)),
  )
}

function receivedParts(response: XmlElement) {
  return partsOf(response, {
    'saml:Issuer': 'maybe',
    'ds:Signature': 'maybe',
    'samlp:Status': 'one',
    'saml:Assertion': 'any',
    'saml:EncryptedAssertion': 'any',
  })
}

/**
 * What is in an encrypted assertion. That it is encrypted vouches for nothing, for anybody may encrypt to a published
 * key: from here on it is read as one that came in clear. Whatever did not open, or opened to something else than an
 * assertion, is refused alike.
 */
async function openAssertion(element: XmlElement, findKeys: SamlAnswer['findKeys']): Promise<XmlElement> {
  const encrypted = readEncrypted(element)
  const keys = await findKeys()
  if (keys.length === 0) throw invalid('encrypted')
  const opened = decrypt(encrypted, keys)
  const assertion = opened && readOpened(opened, element.scope)
  if (!assertion || nameOf(assertion) !== 'saml:Assertion') throw invalid('decryption')
  return assertion
}

/** An element that was encrypted, with what prefixes mean where it belongs (XML Encryption 1.1 §4.4). */
function readOpened(opened: Buffer, scope: XmlScope): XmlElement | undefined {
  try {
    return readXml(decodeText(opened), scope)
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

/** No id stands twice in all of it, in any spelling: a signature means what it refers to by one. */
function requireDistinctIds(...documents: XmlElement[]): void {
  const ids = documents
    .flatMap(everyElementOf)
    .flatMap(({ attributes }) =>
      attributes.filter(({ localName }) => localName.toLowerCase() === 'id').map(({ value }) => value),
    )
  if (new Set(ids).size !== ids.length) throw invalid('id_twice')
}

function requireSuccess(status: XmlElement): void {
  const parts = partsOf(status, {
    'samlp:StatusCode': 'one',
    'samlp:StatusMessage': 'maybe',
    'samlp:StatusDetail': 'maybe',
  })
  const code = attributeOf(parts['samlp:StatusCode'], 'Value')
  if (code === success) return
  // The code within says more: AuthnFailed, RequestDenied, InvalidNameIDPolicy.
  const { 'samlp:StatusCode': inner } = partsOf(parts['samlp:StatusCode'], { 'samlp:StatusCode': 'maybe' })
  const [, word] =
    /^urn:oasis:names:tc:SAML:2\.0:status:(\w{1,40})$/.exec((inner && attributeOf(inner, 'Value')) ?? code ?? '') ?? []
  throw refuse.sso_denied(because(word ?? 'status'))
}

function invalid(what: string) {
  return refuse.sso_answer_invalid(because(what))
}
