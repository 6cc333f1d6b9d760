import { formerRecipient, response, sign, signedResponse, swap, assertion, type CorpusDocument } from './document.ts'
import { encrypted, mgf1p, oaep, xenc } from './encryption.ts'

const good = signedResponse()
const inLines = (text: string) => text.replaceAll(/[A-Za-z0-9+/=]{76}(?=[A-Za-z0-9+/=]*<\/xenc:CipherValue>)/g, '$&\n')
const recipientInfo =
  '</xenc:EncryptionMethod><ds:KeyInfo><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=us</ds:X509IssuerName>' +
  '<ds:X509SerialNumber>1</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo><xenc:CipherData>'
const indented = sign(response(assertion()).replaceAll('><', '>\n  <'), '_a1')
/** A writer of XML may leave to the response what a prefix means. */
const undeclared = good.replace(/(<saml:Assertion) xmlns:saml="[^"]*"/, '$1')

const shapes: [what: string, document: string][] = [
  ['encrypted with AES-256-GCM, the key by RSA-OAEP', encrypted(good)],
  ['encrypted with AES-128-GCM', encrypted(good, { cipher: 'aes-128-gcm' })],
  ['encrypted with AES-192-GCM', encrypted(good, { cipher: 'aes-192-gcm' })],
  ['the key by RSA-OAEP that does not say its hash', encrypted(good, { method: mgf1p('') })],
  ['the key by RSA-OAEP with SHA-256', encrypted(good, { hash: 'sha256', method: oaep('sha256') })],
  ['the key by RSA-OAEP with SHA-512', encrypted(good, { hash: 'sha512', method: oaep('sha512') })],
  ['the key by RSA-OAEP with SHA-1, in the name of 2009', encrypted(good, { method: oaep('sha1') })],
  ['the key beside what it opens, which refers to it, as Shibboleth has it', encrypted(good, { place: 'referred' })],
  ['the key beside what it opens, to which it refers', encrypted(good, { place: 'beside' })],
  ['encrypted to the key before the present one', encrypted(good, { to: formerRecipient })],
  ['encrypted, in a response that is signed', sign(encrypted(good), '_r1')],
  [
    'encrypted with both signed within and around, and the key beside',
    sign(encrypted(good, { place: 'beside' }), '_r1'),
  ],
  ['encrypted, in lines of 76 characters', inLines(encrypted(good))],
  ['encrypted, and not said to be an element', swap(encrypted(good), ` Type="${xenc}Element"`, '')],
  ['encrypted, and said for whom', swap(encrypted(good), '</xenc:EncryptionMethod><xenc:CipherData>', recipientInfo)],
  ['encrypted without what its prefix means', encrypted(undeclared)],
  ['encrypted in lines that end as on Windows', encrypted(indented.replaceAll('\n', '\r\n'))],
]

/** Every one is accepted. */
export const validEncryptions: CorpusDocument[] = shapes.map(([what, bytes]) => ({ case: 'SML-20', what, bytes }))
