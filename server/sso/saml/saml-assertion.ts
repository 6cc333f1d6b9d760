import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import { readAttributes } from './saml-attributes.ts'
import { nameIdFormats, nameOf, partsOf } from './saml-element.ts'
import type { SamlConnection } from './saml.ts'
import { because, readUpstreamPerson, refuse, type UpstreamPerson } from '#sso/providers/upstream.ts'
import { attributeOf, textOf, XmlError, type XmlElement } from './xml.ts'

/** Whom an answer names, and the assertion that says so: it counts once, and until then it has to be remembered. */
export type SamlPerson = UpstreamPerson & { assertionId: string; notOnOrAfter: Date }

/** The request that is answered, and when. */
type Asked = { requestId: string; now: Date }

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const entity = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'
const acceptedFormats: string[] = Object.values(nameIdFormats)

const invalid = (what: string) => refuse.sso_answer_invalid(because(what))

/**
 * Whom an assertion names, if it is this provider's, about a person, for us, for this request and of now (SAML 2.0
 * Profiles §4.1.4.2). Its signature was verified before. Refuses `sso_answer_invalid`.
 */
export function readAssertion(connection: SamlConnection, assertion: XmlElement, asked: Asked): SamlPerson {
  const parts = partsOf(assertion, {
    'saml:Issuer': 'one',
    'saml:Subject': 'one',
    'saml:Conditions': 'one',
    'saml:Advice': 'maybe',
    'saml:AuthnStatement': 'any',
    'saml:AttributeStatement': 'any',
  })
  const { now } = asked
  const assertionId = attributeOf(assertion, 'ID')
  if (nameOf(assertion) !== 'saml:Assertion' || assertionId === undefined) throw invalid('form')
  if (attributeOf(assertion, 'Version') !== '2.0') throw invalid('version')
  if (isAhead(assertion, 'IssueInstant', now)) throw invalid('issue_instant')
  requireIssuer(parts['saml:Issuer'], connection.identityProvider.entityId)
  requireConditions(parts['saml:Conditions'], connection.entityId, now)
  requireAuthentication(parts['saml:AuthnStatement'], now)

  const { 'saml:NameID': nameId, 'saml:SubjectConfirmation': confirmations } = partsOf(parts['saml:Subject'], {
    'saml:NameID': 'one',
    'saml:SubjectConfirmation': 'any',
  })
  const notOnOrAfter = requireConfirmation(confirmations, connection.acsUrl, asked)
  const subject = readNameId(nameId, connection)
  const said = readAttributes(parts['saml:AttributeStatement'])
  const email = said.email ?? (attributeOf(nameId, 'Format') === nameIdFormats.emailAddress ? subject : undefined)
  return { ...readUpstreamPerson({ ...said, subject, email }), assertionId, notOnOrAfter }
}

/** Letter for letter. */
export function requireIssuer(issuer: XmlElement, entityId: string): void {
  if ((attributeOf(issuer, 'Format') ?? entity) !== entity) throw invalid('issuer')
  if (textOf(issuer) !== entityId) throw invalid('issuer')
}

/**
 * The name of the person: all of its text, and of a form that stays. One that changes with each sign-in names nobody.
 */
function readNameId(nameId: XmlElement, { entityId, identityProvider }: SamlConnection): string {
  const format = attributeOf(nameId, 'Format') ?? nameIdFormats.unspecified
  if (format.endsWith(':transient')) throw invalid('name_id_transient')
  if (!acceptedFormats.includes(format)) throw invalid('name_id_format')
  // Whose name it is: of this provider, and for us (Core §8.3.7).
  const { entityId: providerId } = identityProvider
  if ((attributeOf(nameId, 'NameQualifier') ?? providerId) !== providerId) throw invalid('name_id_qualifier')
  if ((attributeOf(nameId, 'SPNameQualifier') ?? entityId) !== entityId) throw invalid('name_id_qualifier')
  const text = textOf(nameId)
  if (text !== text.trim() || /\p{C}/u.test(text)) throw invalid('name_id')
  return text
}

function requireConditions(conditions: XmlElement, audience: string, now: Date): void {
  const { 'saml:AudienceRestriction': restrictions } = partsOf(conditions, {
    'saml:AudienceRestriction': 'any',
    'saml:OneTimeUse': 'maybe',
    'saml:ProxyRestriction': 'maybe',
  })
  if (isAhead(conditions, 'NotBefore', now)) throw invalid('not_yet_valid')
  if (isOver(conditions, 'NotOnOrAfter', now)) throw invalid('expired')
  const isForUs = (restriction: XmlElement) =>
    partsOf(restriction, { 'saml:Audience': 'any' })['saml:Audience'].some((one) => textOf(one) === audience)
  if (restrictions.length === 0 || !restrictions.every(isForUs)) throw invalid('audience')
}

function requireAuthentication(statements: XmlElement[], now: Date): void {
  if (statements.length === 0) throw invalid('authn_statement')
  if (statements.some((one) => isAhead(one, 'AuthnInstant', now))) throw invalid('authn_instant')
  if (statements.some((one) => isOver(one, 'SessionNotOnOrAfter', now))) throw invalid('session_expired')
}

/** Until when the bearer may come with it. One confirmation that holds is enough; the others say who else may. */
function requireConfirmation(confirmations: XmlElement[], acsUrl: string, asked: Asked): Date {
  const objections: string[] = []
  for (const confirmation of confirmations.filter((one) => attributeOf(one, 'Method') === bearer)) {
    const { 'saml:SubjectConfirmationData': data } = partsOf(confirmation, {
      'saml:NameID': 'maybe',
      'saml:SubjectConfirmationData': 'one',
    })
    const objection = objectionTo(data, acsUrl, asked)
    const until = instantOf(data, 'NotOnOrAfter')
    if (objection === undefined && until) return until
    objections.push(objection ?? 'expired')
  }
  throw invalid(objections[0] ?? 'subject_confirmation')
}

function objectionTo(data: XmlElement, acsUrl: string, { requestId, now }: Asked): string | undefined {
  if (attributeOf(data, 'Recipient') !== acsUrl) return 'recipient'
  if (attributeOf(data, 'InResponseTo') !== requestId) return 'in_response_to'
  if (isOver(data, 'NotOnOrAfter', now)) return 'expired'
  return isAhead(data, 'NotBefore', now) ? 'not_yet_valid' : undefined
}

/** By more than clocks may differ. What is not said is not ahead. */
function isAhead(element: XmlElement, name: string, now: Date): boolean {
  const instant = instantOf(element, name)
  return instant !== undefined && instant > secondsAfter(now, limits.clockSkewSecondsMax)
}

function isOver(element: XmlElement, name: string, now: Date): boolean {
  const instant = instantOf(element, name)
  return instant !== undefined && secondsAfter(instant, limits.clockSkewSecondsMax) <= now
}

function instantOf(element: XmlElement, name: string): Date | undefined {
  const text = attributeOf(element, name)
  if (text === undefined) return undefined
  const instant = new Date(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text) || Number.isNaN(instant.getTime()))
    throw new XmlError(`${name} is no instant`)
  return instant
}
