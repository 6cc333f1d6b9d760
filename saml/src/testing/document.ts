import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignedXml } from 'xml-crypto'
import type { SamlConnection } from '../element.ts'

/** One document of the corpus: the case that it belongs to, what it is, and what it is refused for. */
export type CorpusDocument = { case: string; what: string; because?: string; bytes: string | Buffer }

const read = (name: string) => readFileSync(join(import.meta.dirname, 'keys', `${name}.pem`), 'utf8')

/** Made for this corpus; nothing else trusts them. */
export const provider = { key: read('provider.key'), certificate: read('provider') }
export const successor = { key: read('successor.key'), certificate: read('successor') }
/** Ours, to which answers are encrypted: the one that is published, and the one before it. */
export const recipient = { key: read('recipient.key') }
export const formerRecipient = { key: read('former.key') }
export const stranger = { key: read('stranger.key'), certificate: read('stranger') }

/** Ours, as they open what is encrypted to them. */
export const findKeys = async () => [createPrivateKey(recipient.key), createPrivateKey(formerRecipient.key)]

const ours = 'https://id.example.com/api/sso/0190b8e2-7f9a-7cc2-b1a5-0d3c1f2e4a6b'

/** The recipient of the responses of the corpus, the request that they answer, and their time. */
export const connection: SamlConnection = {
  entityId: `${ours}/metadata`,
  acsUrl: `${ours}/acs`,
  identityProvider: {
    entityId: 'https://idp.acme.example/saml',
    ssoUrl: 'https://idp.acme.example/sso',
    certificates: [provider.certificate, successor.certificate],
  },
}
/** Limits of the responses of the corpus. */
export const limits = {
  clockSkewSecondsMax: 60,
  samlResponseBytesMax: 128 * 1024,
  samlSignedElementsMax: 1000,
  samlSignedAttributesMax: 1500,
  subjectCharactersMax: 255,
}
export const requestId = '_5a1d3c0f9e7b42868d1c0a9b8e7f6d5c4b3a2910'
export const now = new Date('2026-11-21T12:00:00.000Z')

/** An instant so many seconds from now. */
export const instant = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()

const saml = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'
const samlp = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"'
/** An element of an assertion, with attributes as they are written. */
export const element = (name: string, attributed: string, content: string) =>
  `<saml:${name}${attributed}>${content}</saml:${name}>`
export const issuer = element('Issuer', '', connection.identityProvider.entityId)
export const nameId =
  '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">ann-7f3c</saml:NameID>'
export const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const confirmation =
  `<saml:SubjectConfirmation Method="${bearer}"><saml:SubjectConfirmationData InResponseTo="${requestId}" ` +
  `Recipient="${connection.acsUrl}" NotOnOrAfter="${instant(300)}"/></saml:SubjectConfirmation>`
export const audience = element('AudienceRestriction', '', element('Audience', '', connection.entityId))
export const conditions = element('Conditions', ` NotBefore="${instant(-60)}" NotOnOrAfter="${instant(300)}"`, audience)
export const authentication =
  `<saml:AuthnStatement AuthnInstant="${instant(-10)}" SessionIndex="_s1"><saml:AuthnContext>` +
  '<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport' +
  '</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>'
export const attribute = (name: string, ...values: string[]) =>
  `<saml:Attribute Name="${name}">` +
  values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('') +
  '</saml:Attribute>'
export const attributes =
  `<saml:AttributeStatement>${attribute('email', 'ann@acme.example')}` +
  `${attribute('displayName', 'Ann Archer')}</saml:AttributeStatement>`
export const success =
  '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'

const parts = {
  issuer,
  subject: `<saml:Subject>${nameId}${confirmation}</saml:Subject>`,
  conditions,
  advice: '',
  authentication,
  attributes,
}

/** An assertion about Ann, with what a document wants otherwise. It is not signed. */
export function assertion(other: Partial<typeof parts> & { id?: string; more?: string } = {}): string {
  const { id = '_a1', more = '', ...parted } = other
  const attributed = ` ${saml} ID="${id}" Version="2.0" IssueInstant="${instant(-5)}"${more}`
  return element('Assertion', attributed, Object.values({ ...parts, ...parted }).join(''))
}

/** A response around assertions. It is not signed. */
export function response(
  content: string,
  { id = '_r1', destination = connection.acsUrl, inResponseTo = requestId, from = issuer, status = success } = {},
): string {
  const answers = inResponseTo === '' ? '' : ` InResponseTo="${inResponseTo}"`
  const goesTo = destination === '' ? '' : ` Destination="${destination}"`
  return (
    `<samlp:Response ${samlp} ${saml} ID="${id}" Version="2.0" IssueInstant="${instant(-5)}"${goesTo}${answers}>` +
    `${from}${status}${content}</samlp:Response>`
  )
}

const algorithms = {
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  inclusive: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  exclusiveWithComments: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'rsa-sha256': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'rsa-sha512': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'rsa-sha1': 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
} as const

type Signing = {
  by?: { key: string; certificate: string }
  shown?: { certificate: string } | null
  method?: 'rsa-sha256' | 'rsa-sha512' | 'rsa-sha1'
  digest?: 'sha256' | 'sha512' | 'sha1'
  canonicalization?: 'exclusive' | 'inclusive' | 'exclusiveWithComments'
  prefix?: string
  include?: string[]
}

/** A text with another in place of a part that it must have. */
export function swap(text: string, part: string, other: string): string {
  if (!text.includes(part)) throw new Error(`There is no ${part} to swap.`)
  return text.replaceAll(part, () => other)
}

/**
 * A document with the element of an id signed, in the way that a correct provider signs it, unless stated otherwise.
 */
export function sign(document: string, id: string, signing: Signing = {}): string {
  const { by = provider, shown = by, method = 'rsa-sha256', digest = 'sha256', prefix = 'ds' } = signing
  const { canonicalization = 'exclusive', include = [] } = signing
  const signer = new SignedXml({
    privateKey: by.key,
    ...(shown ? { publicCert: shown.certificate } : { getKeyInfoContent: () => null }),
    signatureAlgorithm: algorithms[method],
    canonicalizationAlgorithm: algorithms[canonicalization],
  })
  signer.addReference({
    xpath: `//*[@ID='${id}']`,
    transforms: [algorithms.enveloped, algorithms[canonicalization]],
    digestAlgorithm: algorithms[digest],
    inclusiveNamespacesPrefixList: include,
  })
  const reference = `//*[@ID='${id}']/*[local-name(.)='Issuer']`
  signer.computeSignature(document, { prefix, location: { reference, action: 'after' } })
  return signer.getSignedXml()
}

/** The usual answer: an assertion that is signed, in a response that isn't. */
export function signedResponse(
  about: Parameters<typeof assertion>[0] = {},
  around: Parameters<typeof response>[1] = {},
): string {
  return sign(response(assertion(about), around), about.id ?? '_a1')
}
