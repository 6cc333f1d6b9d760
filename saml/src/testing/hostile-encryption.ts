import {
  assertion,
  audience,
  conditions,
  confirmation,
  nameId,
  response,
  sign,
  signedResponse,
  stranger,
  swap,
} from './document.ts'
import { encrypt, encrypted, mgf1p, oaep, rsa15, xenc, xenc11 } from './encryption.ts'
import { refused, type Refused } from './refused.ts'

const good = signedResponse()
const hidden = encrypted(good)
const [signed = ''] = /<saml:Assertion[^]*<\/saml:Assertion>/.exec(good) ?? []
const [envelope = ''] = /<saml:EncryptedAssertion[^]*<\/saml:EncryptedAssertion>/.exec(hidden) ?? []
const [data = ''] = /<xenc:EncryptedData[^]*<\/xenc:EncryptedData>/.exec(hidden) ?? []
const [key = ''] = /<xenc:EncryptedKey[^]*<\/xenc:EncryptedKey>/.exec(hidden) ?? []
const [keyInfo = ''] = /<ds:KeyInfo>[^]*<\/ds:KeyInfo>/.exec(hidden) ?? []
const referred = encrypted(good, { place: 'referred' })
const beside = encrypted(good, { place: 'beside' })
const eve = swap(nameId, 'ann-7f3c', 'eve-0001')
const unsigned = assertion({ subject: `<saml:Subject>${eve}${confirmation}</saml:Subject>` })
/** A response in which something else than the signed assertion was encrypted. */
const holding = (plaintext: string | Buffer) => response(encrypt(plaintext))

/** Everyone can encrypt with our certificate, which is public. */
const strangers: Refused[] = [
  ['signature_missing', 'encrypted to our key by a stranger, and not signed', holding(unsigned)],
  [
    'signature',
    'encrypted to our key and signed by a stranger',
    encrypted(sign(response(unsigned), '_a1', { by: stranger })),
  ],
  [
    'signature_missing',
    'encrypted and not signed, in a response that the provider has signed',
    sign(holding(unsigned), '_r1'),
  ],
  ['signature', 'changed after it was signed, then encrypted', encrypted(swap(good, 'ann-7f3c', 'eve-0001'))],
  [
    'signature_missing',
    'the signed assertion is an advice of a forged one, which is encrypted',
    holding(assertion({ id: '_evil', advice: `<saml:Advice>${signed}</saml:Advice>` })),
  ],
  ['signature', 'a response whose signature is over the assertion in clear', encrypted(sign(good, '_r1'))],
  [
    'form',
    'a signature over what is encrypted, beside it',
    sign(
      swap(holding(unsigned), '<saml:EncryptedAssertion>', '<saml:EncryptedAssertion ID="_e1"><saml:Issuer/>'),
      '_e1',
    ),
  ],
  [
    'audience',
    'encrypted to our key, signed for somebody else',
    encrypted(signedResponse({ conditions: swap(conditions, audience, swap(audience, '/metadata', '/other')) })),
  ],
  [
    'form',
    'an encrypted name in a signed assertion',
    signedResponse({
      subject: `<saml:Subject><saml:EncryptedID>${data}</saml:EncryptedID>${confirmation}</saml:Subject>`,
    }),
  ],
]

/** What does not open is refused alike, whatever it was. */
const closed: Refused[] = [
  ['decryption', 'encrypted to the key of somebody else', encrypted(good, { to: stranger })],
  ['decryption', 'a changed ciphertext', encrypted(good, { changed: (bytes) => change(bytes, 40) })],
  ['decryption', 'a changed nonce', encrypted(good, { changed: (bytes) => change(bytes, 0) })],
  ['decryption', 'a changed tag', encrypted(good, { changed: (bytes) => change(bytes, bytes.length - 1) })],
  ['decryption', 'a tag of four bytes', encrypted(good, { changed: (bytes) => bytes.subarray(0, -12) })],
  ['decryption', 'no tag', encrypted(good, { changed: (bytes) => bytes.subarray(0, -16) })],
  ['decryption', 'a byte after the tag', encrypted(good, { changed: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) })],
  ['decryption', 'a nonce alone', encrypted(good, { changed: (bytes) => bytes.subarray(0, 12) })],
  ['decryption', 'nothing at all', encrypted(good, { changed: () => Buffer.alloc(0) })],
  [
    'decryption',
    'a key that is too short for its cipher',
    encrypted(good, { changedKey: (bytes) => bytes.subarray(16) }),
  ],
  [
    'decryption',
    'another key than it was encrypted with',
    encrypted(good, { changedKey: (bytes) => change(bytes, 0) }),
  ],
  ['decryption', 'an empty key', encrypted(good, { changedKey: () => Buffer.alloc(0) })],
  [
    'decryption',
    'an encrypted key of one byte',
    hidden.replace(/(<xenc:EncryptedKey[^]*?<xenc:CipherValue>)[^<]*/, '$1AA=='),
  ],
  ['decryption', 'a key by another hash than is said', encrypted(good, { hash: 'sha256', method: mgf1p() })],
  ['decryption', 'a key by RSA 1.5 that is said to be by RSA-OAEP', encrypted(good, { padding: 'rsa-1_5' })],
]

const algorithm = (name: string) => hidden.replace(`${xenc11}aes256-gcm`, name)
const algorithms: Refused[] = [
  ['encryption_algorithm', 'AES-256-CBC', encrypted(good, { cipher: 'aes-256-cbc' })],
  ['encryption_algorithm', 'Triple DES', algorithm(`${xenc}tripledes-cbc`)],
  ['encryption_algorithm', 'an algorithm that there is not', algorithm(`${xenc11}aes256-none`)],
  ['encryption_algorithm', 'the name of something that every object has', algorithm('constructor')],
  ['encryption_algorithm', 'the key by RSA 1.5', encrypted(good, { padding: 'rsa-1_5', method: rsa15 })],
  [
    'encryption_algorithm',
    'the key by a key that both share',
    encrypted(good, { method: `<xenc:EncryptionMethod Algorithm="${xenc}kw-aes256"/>` }),
  ],
  [
    'encryption_algorithm',
    'RSA-OAEP with SHA-256 and a mask by SHA-1',
    encrypted(good, { hash: 'sha256', mask: 'sha1', method: oaep('sha256', 'sha1') }),
  ],
  [
    'encryption_algorithm',
    'RSA-OAEP with SHA-256 in the name that fixes the mask',
    encrypted(good, { hash: 'sha256', mask: 'sha1', method: mgf1p(`<ds:DigestMethod Algorithm="${xenc}sha256"/>`) }),
  ],
  ['form', 'RSA-OAEP with a label', encrypted(good, { method: mgf1p('<xenc:OAEPparams>AA==</xenc:OAEPparams>') })],
  [
    'form',
    'a length of the key',
    swap(
      hidden,
      `${xenc11}aes256-gcm"/>`,
      `${xenc11}aes256-gcm"><xenc:KeySize>128</xenc:KeySize></xenc:EncryptionMethod>`,
    ),
  ],
]

/** One is all that an answer may have, in clear or not. */
const several: Refused[] = [
  [
    'assertions',
    'two encrypted assertions',
    swap(hidden, envelope, envelope + encrypt(unsigned).replaceAll('"_', '"_2')),
  ],
  [
    'assertions',
    'an encrypted assertion beside a signed one',
    swap(good, '</samlp:Response>', `${envelope}</samlp:Response>`),
  ],
  ['assertions', 'an encrypted assertion before a signed one', swap(good, signed, envelope + signed)],
  ['assertions', 'an encrypted assertion that a stranger adds', swap(good, signed, encrypt(unsigned) + signed)],
  ['form', 'two encrypted elements in one assertion', swap(hidden, data, data + swap(data, '"_', '"_2'))],
  [
    'id_twice',
    'an assertion with the id of the response',
    encrypted(signedResponse({ id: '_r2' })).replace('"_r1"', '"_r2"'),
  ],
  ['id_twice', 'an assertion with the id of what it is encrypted in', encrypted(signedResponse({ id: '_data' }))],
]

const commented = swap(unsigned, 'eve-0001', 'ann-7f3c<!---->.evil')
/** What is encrypted is read as strictly as what is not. */
const contents: Refused[] = [
  ['decryption', 'encrypted twice', holding(envelope)],
  ['decryption', 'a response', holding(good)],
  ['decryption', 'a name', holding(nameId)],
  [
    'decryption',
    'an assertion of another namespace',
    holding(swap(signed, 'SAML:2.0:assertion', 'SAML:1.0:assertion')),
  ],
  ['decryption', 'two assertions', holding(signed + signed)],
  ['decryption', 'text before the assertion', holding(`x${signed}`)],
  ['decryption', 'no XML', holding('ann')],
  ['decryption', 'nothing', holding('')],
  ['decryption', 'what is not UTF-8', holding(Buffer.concat([Buffer.from(signed), Buffer.of(0xff)]))],
  ['decryption', 'a document type', holding(`<!DOCTYPE x [<!ENTITY y "z">]>${signed}`)],
  [
    'decryption',
    'a file by an entity',
    holding(`<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>${swap(signed, 'ann-7f3c', '&y;')}`),
  ],
  ['decryption', 'a comment that divides the name', holding(commented)],
  ['decryption', 'a comment that was put in after it was signed', holding(swap(signed, 'ann-7f3c', 'ann<!---->-7f3c'))],
  ['decryption', 'a section', holding(swap(signed, 'ann-7f3c', '<![CDATA[ann-7f3c]]>'))],
  ['decryption', 'an instruction', holding(swap(signed, 'ann-7f3c', '<?x?>ann-7f3c'))],
]

/** The key is there once, and nothing is fetched from elsewhere. */
const forms: Refused[] = [
  ['form', 'no key', swap(hidden, keyInfo, '')],
  [
    'form',
    'a key in it and one beside it',
    swap(hidden, '</saml:EncryptedAssertion>', `${swap(key, '"_key"', '"_2"')}</saml:EncryptedAssertion>`),
  ],
  ['form', 'two keys', swap(hidden, key, key + swap(key, '"_key"', '"_2"'))],
  ['form', 'a name of a key instead of one', swap(hidden, key, '<ds:KeyName>ours</ds:KeyName>')],
  ['form', 'a reference to a key that is not there', swap(referred, 'URI="#_key"', 'URI="#_other"')],
  [
    'form',
    'a reference to a key at another address',
    swap(referred, 'URI="#_key"', 'URI="https://evil.example/#_key"'),
  ],
  [
    'form',
    'a reference to something else than a key',
    swap(referred, `Type="${xenc}EncryptedKey"`, `Type="${xenc}EncryptedData"`),
  ],
  [
    'form',
    'a reference to a key that is transformed',
    swap(referred, 'URI="#_key"/>', 'URI="#_key"><ds:Transforms/></ds:RetrievalMethod>'),
  ],
  ['form', 'a key beside it that is for something else', swap(beside, 'URI="#_data"', 'URI="#_other"')],
  ['form', 'a key beside it that is for an element without an id', swap(beside, ' Id="_data"', '')],
  [
    'form',
    'a ciphertext at another address',
    hidden.replace(
      /<xenc:CipherValue>[^<]*(<\/xenc:CipherValue>)(?=<\/xenc:CipherData><\/xenc:EncryptedData>)/,
      '<xenc:CipherReference URI="https://evil.example/"/>',
    ),
  ],
  ['form', 'content of an element', swap(hidden, `${xenc}Element`, `${xenc}Content`)],
  [
    'form',
    'properties of what is encrypted',
    swap(hidden, '</xenc:EncryptedData>', '<xenc:EncryptionProperties/></xenc:EncryptedData>'),
  ],
  ['form', 'a ciphertext that is not base64', hidden.replace('<xenc:CipherValue>', '<xenc:CipherValue>!')],
  ['form', 'an empty encrypted assertion', swap(hidden, envelope, '<saml:EncryptedAssertion/>')],
]

function change(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = (changed[at] ?? 0) ^ 1
  return changed
}

/** SML-07. */
export const encryptions = refused('SML-07', [
  ...strangers,
  ...closed,
  ...algorithms,
  ...several,
  ...contents,
  ...forms,
])
