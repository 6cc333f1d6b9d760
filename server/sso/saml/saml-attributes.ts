import { partsOf } from './saml-element.ts'
import { because, refuse } from '#sso/providers/upstream.ts'
import { attributeOf, type XmlElement } from './xml.ts'

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'

/** What providers call what we read: as people write it by hand, as LDAP has it (by OID), as Microsoft does. */
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

/** The names of attributes to ask a provider for. */
export const requestedAttributes = ['email', 'firstName', 'lastName'] as const

/**
 * What an assertion says of a person beside their name. The provider of an organization keeps its own directory, so an
 * address is verified by its word, unless it says itself that it isn't. Refuses `sso_answer_invalid`.
 */
export function readAttributes(statements: XmlElement[]) {
  const attributes = statements.flatMap((statement) => {
    const parts = partsOf(statement, { 'saml:Attribute': 'any', 'saml:EncryptedAttribute': 'any' })
    return parts['saml:Attribute']
  })
  const read = (among: string[]) => readFirst(attributes, among)
  const wholeName = [read(names.givenName), read(names.familyName)].filter((one) => one !== undefined).join(' ')
  return {
    email: read(names.email),
    emailVerified: (read(names.emailVerified) ?? 'true') === 'true',
    displayName: read(names.displayName) ?? wholeName,
  }
}

/**
 * The value under the first of these names that there is. An attribute that comes twice is refused, for the next reader
 * might take the other one; of several values in one nobody says which is meant, so none is.
 */
function readFirst(attributes: XmlElement[], among: string[]): string | undefined {
  const name = among.find((one) => attributes.some((attribute) => attributeOf(attribute, 'Name') === one))
  const [attribute, ...more] = attributes.filter((one) => attributeOf(one, 'Name') === name)
  if (name === undefined || !attribute) return undefined
  if (more.length > 0) throw refuse.sso_answer_invalid(because('attribute_twice'))
  const [value, ...others] = partsOf(attribute, { 'saml:AttributeValue': 'any' })['saml:AttributeValue']
  if (!value || others.length > 0) return undefined
  const [text = '', ...rest] = value.children
  return typeof text === 'string' && rest.length === 0 ? text.trim() : undefined
}
