import { type SamlConnection, expectChildren, nameIdFormats, qualifiedName } from './element.ts'
import type { SamlLimits } from './limits.ts'
import { invalid } from './refusal.ts'
import { type XmlElement, XmlError, attributeOf, textOf } from './xml.ts'

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'

/** Names of the attributes: common names, LDAP object identifiers, and Microsoft claim URIs. */
const names = {
  email: ['email', 'mail', 'emailAddress', 'urn:oid:0.9.2342.19200300.100.1.3', `${claims}emailaddress`],
  emailVerified: ['email_verified', 'emailVerified'],
  displayName: [
    'displayName',
    'urn:oid:2.16.840.1.113730.3.1.241',
    'http://schemas.microsoft.com/identity/claims/displayname',
    'urn:oid:2.5.4.3',
  ],
  givenName: ['givenName', 'firstName', 'urn:oid:2.5.4.42', `${claims}givenname`],
  familyName: ['sn', 'surname', 'lastName', 'urn:oid:2.5.4.4', `${claims}surname`],
}

/** Attribute names to request from a provider. */
export const requestedAttributes = ['email', 'firstName', 'lastName'] as const

/**
 * Reads the attributes of an assertion. The provider controls its own directory, so an e-mail address counts as
 * verified unless the assertion says otherwise. Throws `SamlError`.
 */
function parseAttributes(statements: XmlElement[]) {
  const attributes = statements.flatMap((statement) => {
    const parts = expectChildren(statement, { 'saml:Attribute': 'any', 'saml:EncryptedAttribute': 'any' })
    return parts['saml:Attribute']
  })
  const read = (among: string[]) => readFirst(attributes, among)
  const wholeName = [read(names.givenName), read(names.familyName)].filter((one) => one !== undefined).join(' ')
  return {
    email: read(names.email),
    emailVerified: (read(names.emailVerified) ?? 'true') === 'true',
    displayName: read(names.displayName) ?? wholeName,
    attributes: attributes.flatMap(readAll),
  }
}

/** Returns all texts of an attribute. A provider may also repeat an attribute of several values, one in each. */
function readAll(attribute: XmlElement): { name: string; value: string }[] {
  const name = attributeOf(attribute, 'Name')
  if (name === undefined) return []
  const values = expectChildren(attribute, { 'saml:AttributeValue': 'any' })['saml:AttributeValue']
  return values.flatMap(({ children: [text, ...rest] }) =>
    typeof text === 'string' && rest.length === 0 ? [{ name, value: text.trim() }] : [],
  )
}

/**
 * Returns the value of the first of these names that is present. A repeated attribute is rejected, because another
 * reader could use the other one. An attribute with several values is ignored, because it is unclear which applies.
 */
function readFirst(attributes: XmlElement[], among: string[]): string | undefined {
  const name = among.find((one) => attributes.some((attribute) => attributeOf(attribute, 'Name') === one))
  const [attribute, ...more] = attributes.filter((one) => attributeOf(one, 'Name') === name)
  if (name === undefined || !attribute) return undefined
  if (more.length > 0) throw invalid('attribute_twice')
  const [value, ...others] = expectChildren(attribute, { 'saml:AttributeValue': 'any' })['saml:AttributeValue']
  if (!value || others.length > 0) return undefined
  const [text = '', ...rest] = value.children
  return typeof text === 'string' && rest.length === 0 ? text.trim() : undefined
}

/**
 * User named by a response, as the provider states it, and the assertion. The assertion id is stored until it expires,
 * because it can be used once.
 */
export type SamlSubject = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string
  /** Texts of all attributes: one entry for each value. */
  attributes: { name: string; value: string }[]
  assertionId: string
  notOnOrAfter: Date
}

/** The request that the response must answer, the current time, and the limits. */
type ExpectedResponse = { requestId: string; now: Date; limits: SamlLimits }
type Clock = Pick<ExpectedResponse, 'now' | 'limits'>

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const entity = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'
const acceptedFormats: string[] = Object.values(nameIdFormats)

/**
 * Returns the user named by an assertion. Checks the issuer, subject, audience, request and time (SAML 2.0 Profiles
 * §4.1.4.2). The caller has verified the signature. Throws `SamlError` and `XmlError`.
 */
export function verifyAssertion(
  connection: SamlConnection,
  assertion: XmlElement,
  expected: ExpectedResponse,
): SamlSubject {
  const parts = expectChildren(assertion, {
    'saml:Issuer': 'one',
    'saml:Subject': 'one',
    'saml:Conditions': 'one',
    'saml:Advice': 'maybe',
    'saml:AuthnStatement': 'any',
    'saml:AttributeStatement': 'any',
  })
  const assertionId = attributeOf(assertion, 'ID')
  if (qualifiedName(assertion) !== 'saml:Assertion' || assertionId === undefined) throw invalid('form')
  if (attributeOf(assertion, 'Version') !== '2.0') throw invalid('version')
  if (isAhead(assertion, 'IssueInstant', expected)) throw invalid('issue_instant')
  requireIssuer(parts['saml:Issuer'], connection.identityProvider.entityId)
  requireConditions(parts['saml:Conditions'], connection.entityId, expected)
  requireAuthentication(parts['saml:AuthnStatement'], expected)

  const { 'saml:NameID': nameId, 'saml:SubjectConfirmation': confirmations } = expectChildren(parts['saml:Subject'], {
    'saml:NameID': 'one',
    'saml:SubjectConfirmation': 'any',
  })
  const notOnOrAfter = requireConfirmation(confirmations, connection.acsUrl, expected)
  const subject = readNameId(nameId, connection)
  const said = parseAttributes(parts['saml:AttributeStatement'])
  const email = said.email ?? (attributeOf(nameId, 'Format') === nameIdFormats.emailAddress ? subject : undefined)
  if (subject === '' || subject.length > expected.limits.subjectCharactersMax) throw invalid('subject')
  return { ...said, subject, email, assertionId, notOnOrAfter }
}

/** Compares strings exactly. */
export function requireIssuer(issuer: XmlElement, entityId: string): void {
  if ((attributeOf(issuer, 'Format') ?? entity) !== entity) throw invalid('issuer')
  if (textOf(issuer) !== entityId) throw invalid('issuer')
}

/** Returns the NameID: its whole text, with a persistent format. A transient name identifies no user. */
function readNameId(nameId: XmlElement, { entityId, identityProvider }: SamlConnection): string {
  const format = attributeOf(nameId, 'Format') ?? nameIdFormats.unspecified
  if (format.endsWith(':transient')) throw invalid('name_id_transient')
  if (!acceptedFormats.includes(format)) throw invalid('name_id_format')
  // Qualifiers must name this provider and this service (Core §8.3.7).
  const { entityId: providerId } = identityProvider
  if ((attributeOf(nameId, 'NameQualifier') ?? providerId) !== providerId) throw invalid('name_id_qualifier')
  if ((attributeOf(nameId, 'SPNameQualifier') ?? entityId) !== entityId) throw invalid('name_id_qualifier')
  const text = textOf(nameId)
  if (text !== text.trim() || /\p{C}/u.test(text)) throw invalid('name_id')
  return text
}

function requireConditions(conditions: XmlElement, audience: string, at: Clock): void {
  const { 'saml:AudienceRestriction': restrictions } = expectChildren(conditions, {
    'saml:AudienceRestriction': 'any',
    'saml:OneTimeUse': 'maybe',
    'saml:ProxyRestriction': 'maybe',
  })
  if (isAhead(conditions, 'NotBefore', at)) throw invalid('not_yet_valid')
  if (isOver(conditions, 'NotOnOrAfter', at)) throw invalid('expired')
  const isForUs = (restriction: XmlElement) =>
    expectChildren(restriction, { 'saml:Audience': 'any' })['saml:Audience'].some((one) => textOf(one) === audience)
  if (restrictions.length === 0 || !restrictions.every(isForUs)) throw invalid('audience')
}

function requireAuthentication(statements: XmlElement[], at: Clock): void {
  if (statements.length === 0) throw invalid('authn_statement')
  if (statements.some((one) => isAhead(one, 'AuthnInstant', at))) throw invalid('authn_instant')
  if (statements.some((one) => isOver(one, 'SessionNotOnOrAfter', at))) throw invalid('session_expired')
}

/**
 * Returns the time until which the bearer confirmation is valid. One valid confirmation is enough; others are for other
 * recipients.
 */
function requireConfirmation(confirmations: XmlElement[], acsUrl: string, expected: ExpectedResponse): Date {
  const objections: string[] = []
  for (const confirmation of confirmations.filter((one) => attributeOf(one, 'Method') === bearer)) {
    const { 'saml:SubjectConfirmationData': data } = expectChildren(confirmation, {
      'saml:NameID': 'maybe',
      'saml:SubjectConfirmationData': 'one',
    })
    const objection = objectionTo(data, acsUrl, expected)
    const until = instantOf(data, 'NotOnOrAfter')
    if (objection === undefined && until) return until
    objections.push(objection ?? 'expired')
  }
  throw invalid(objections[0] ?? 'subject_confirmation')
}

function objectionTo(data: XmlElement, acsUrl: string, expected: ExpectedResponse): string | undefined {
  if (attributeOf(data, 'Recipient') !== acsUrl) return 'recipient'
  if (attributeOf(data, 'InResponseTo') !== expected.requestId) return 'in_response_to'
  if (isOver(data, 'NotOnOrAfter', expected)) return 'expired'
  return isAhead(data, 'NotBefore', expected) ? 'not_yet_valid' : undefined
}

/** Checks if an instant is in the future by more than the clock tolerance. A missing instant is not. */
function isAhead(element: XmlElement, name: string, { now, limits }: Clock): boolean {
  const instant = instantOf(element, name)
  return instant !== undefined && instant.getTime() > now.getTime() + limits.clockSkewSecondsMax * 1000
}

function isOver(element: XmlElement, name: string, { now, limits }: Clock): boolean {
  const instant = instantOf(element, name)
  return instant !== undefined && instant.getTime() + limits.clockSkewSecondsMax * 1000 <= now.getTime()
}

function instantOf(element: XmlElement, name: string): Date | undefined {
  const text = attributeOf(element, name)
  if (text === undefined) return undefined
  const instant = new Date(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text) || Number.isNaN(instant.getTime()))
    throw new XmlError(`${name} is not a timestamp`)
  return instant
}
