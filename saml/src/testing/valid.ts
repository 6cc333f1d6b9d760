import {
  assertion,
  attribute,
  attributes,
  audience,
  authentication,
  conditions,
  confirmation,
  connection,
  instant,
  nameId,
  response,
  sign,
  signedResponse,
  stranger,
  success,
  swap,
  successor,
  type CorpusDocument,
} from './document.ts'

const subject = (name: string, ...confirmations: string[]) =>
  `<saml:Subject>${name}${(confirmations.length === 0 ? [confirmation] : confirmations).join('')}</saml:Subject>`
const named = (attributed: string, text: string) => subject(`<saml:NameID${attributed}>${text}</saml:NameID>`)
const withValues = (...each: string[]) => `<saml:AttributeStatement>${each.join('')}</saml:AttributeStatement>`

const emailFormat = ' Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"'
const unspecified = ' Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"'
const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'
const typed =
  '<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue xmlns:xsi=' +
  '"http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">ann@acme.example</saml:AttributeValue>' +
  '</saml:Attribute></saml:AttributeStatement>'
const schema = ' xmlns:xs="http://www.w3.org/2001/XMLSchema"'
const groups = Array.from({ length: 900 }, (_, number) => `cn=group-${number},ou=groups,o=acme,dc=acme,dc=example`)

/** The same document as other writers write it. */
const otherPrefixes = (text: string) =>
  text.replaceAll(/(<\/?|xmlns:)samlp\b/g, '$1Odd.pre-fix_2').replaceAll(/(<\/?|xmlns:)saml\b/g, '$1s')
const noPrefix = (text: string) => text.replaceAll(/(<\/?)saml:/g, '$1').replaceAll(' xmlns:saml=', ' xmlns=')
const indented = (text: string) => text.replaceAll('><', '>\n  <')

/** How the same may be written. */
const writings: [what: string, document: string][] = [
  ['the assertion is signed, the response is not', signedResponse()],
  ['both are signed', sign(signedResponse(), '_r1')],
  ['signed with SHA-512', sign(response(assertion()), '_a1', { method: 'rsa-sha512', digest: 'sha512' })],
  [
    'signed by the second of two keys, as while one replaces the other',
    sign(response(assertion()), '_a1', { by: successor }),
  ],
  ['a signature that names no key', sign(response(assertion()), '_a1', { shown: null })],
  [
    'a signature beside a certificate that has nothing to do with it',
    sign(response(assertion()), '_a1', { shown: stranger }),
  ],
  ['a signature without a prefix', sign(response(assertion()), '_a1', { prefix: '' })],
  ['prefixes that nobody expects', sign(otherPrefixes(response(assertion())), '_a1')],
  ['an assertion in the default namespace', sign(response(noPrefix(assertion()), { from: '' }), '_a1')],
  ['indented, and signed as it is', sign(indented(response(assertion())), '_a1')],
  ['lines that end as on Windows', sign(indented(response(assertion())), '_a1').replaceAll('\n', '\r\n')],
  [
    'a declaration and a byte order mark',
    `\uFEFF<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n${signedResponse()}\n`,
  ],
  ['attributes between single quotes', signedResponse().replaceAll(/ (Version|ID|Name)="([^"]*)"/g, " $1='$2'")],
  [
    'a name written with references to characters',
    signedResponse({ subject: named(unspecified, 'O&#39;Hara &amp; &#x41;nn') }),
  ],
  ['a name that is not Latin', signedResponse({ subject: named(unspecified, 'Анна Ивановна 安娜') })],
  [
    'prefixes in values, included in the canonical form',
    sign(response(assertion({ attributes: typed, more: schema })), '_a1', { include: ['xs'] }),
  ],
  [
    'prefixes declared by the response and included by both signatures, as Okta has them',
    sign(
      sign(swap(response(assertion({ attributes: typed })), ' ID="_r1"', `${schema} ID="_r1"`), '_a1', {
        include: ['xs'],
      }),
      '_r1',
      { include: ['xs'] },
    ),
  ],
  ['prefixes in values, not included', signedResponse({ attributes: typed, more: schema })],
]

const holder =
  '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"><saml:SubjectConfirmationData/>' +
  '</saml:SubjectConfirmation>'
const elsewhere = swap(confirmation, connection.acsUrl, 'https://other.example/acs')
const skewed = swap(confirmation, instant(300), instant(-59))
const within = (from: number, until: number) =>
  `<saml:Conditions NotBefore="${instant(from)}" NotOnOrAfter="${instant(until)}">`
const advice = (content: string) => `<saml:Advice>${content}</saml:Advice>`
const more = '<saml:Audience>https://other.example</saml:Audience></saml:AudienceRestriction>'
const qualified =
  ` NameQualifier="${connection.identityProvider.entityId}" SPNameQualifier="${connection.entityId}"` +
  ' Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"'
/** What may be said. */
const sayings: [what: string, document: string][] = [
  [
    'the name is an e-mail address, and nothing else is said',
    signedResponse({ subject: named(emailFormat, 'ann@acme.example'), attributes: '' }),
  ],
  ['a name without a format', signedResponse({ subject: named('', 'ann') })],
  ['a name with the qualifiers of both sides', signedResponse({ subject: named(qualified, 'ann-7f3c') })],
  ['a name of 255 characters', signedResponse({ subject: named('', 'x'.repeat(255)) })],
  [
    'what Microsoft calls an e-mail address and a name',
    signedResponse({
      attributes: withValues(
        attribute(`${claims}emailaddress`, 'ann@acme.example'),
        attribute(`${claims}givenname`, 'Ann'),
        attribute(`${claims}surname`, 'Archer'),
      ),
    }),
  ],
  [
    'what LDAP calls them',
    signedResponse({ attributes: withValues(attribute('urn:oid:0.9.2342.19200300.100.1.3', 'ann@acme.example')) }),
  ],
  [
    'nine hundred groups',
    signedResponse({
      attributes: swap(
        attributes,
        '</saml:AttributeStatement>',
        `${attribute('groups', ...groups)}</saml:AttributeStatement>`,
      ),
    }),
  ],
  [
    'an attribute that is not read comes twice',
    signedResponse({ attributes: withValues(attribute('Role', 'a'), attribute('Role', 'b')) }),
  ],
  ['two statements of attributes', signedResponse({ attributes: attributes + withValues(attribute('Role', 'a')) })],
  [
    'an advice that refers to another assertion',
    signedResponse({ advice: advice('<saml:AssertionIDRef>_other</saml:AssertionIDRef>') }),
  ],
  [
    'an advice with an assertion in it, which says nothing here',
    signedResponse({ advice: advice(assertion({ id: '_a2', subject: named('', 'admin') })) }),
  ],
  ['an audience among others', signedResponse({ conditions: swap(conditions, '</saml:AudienceRestriction>', more) })],
  [
    'two restrictions of the audience, with us in both',
    signedResponse({ conditions: swap(conditions, audience, audience + audience) }),
  ],
  [
    'for one use, and not to be handed on',
    signedResponse({
      conditions: swap(
        conditions,
        '</saml:Conditions>',
        '<saml:OneTimeUse/><saml:ProxyRestriction Count="0"/></saml:Conditions>',
      ),
    }),
  ],
  ['conditions without times', signedResponse({ conditions: `<saml:Conditions>${audience}</saml:Conditions>` })],
  [
    'expired 59 seconds ago',
    signedResponse({
      conditions: `${within(-300, -59)}${audience}</saml:Conditions>`,
      subject: subject(nameId, skewed),
    }),
  ],
  ['good only from in 60 seconds', signedResponse({ conditions: `${within(60, 300)}${audience}</saml:Conditions>` })],
  [
    'a confirmation for somebody else beside ours',
    signedResponse({ subject: subject(nameId, holder, elsewhere, confirmation) }),
  ],
  ['a response that does not name its issuer', signedResponse({}, { from: '' })],
  [
    'a session that ends later, at a place',
    signedResponse({
      authentication: swap(authentication, ' SessionIndex', ` SessionNotOnOrAfter="${instant(3600)}" SessionIndex`),
    }),
  ],
  [
    'a status with a message',
    signedResponse(
      {},
      {
        status: swap(success, '</samlp:Status>', '<samlp:StatusMessage>Welcome</samlp:StatusMessage></samlp:Status>'),
      },
    ),
  ],
]

/** Every one is accepted. */
export const valid: CorpusDocument[] = [...writings, ...sayings].map(([what, bytes]) => ({
  case: 'SML-20',
  what,
  bytes,
}))
