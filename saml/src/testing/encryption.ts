import { constants, createCipheriv, createHash, createPublicKey, publicEncrypt } from 'node:crypto'
import { recipient, swap } from './document.ts'

export const xenc = 'http://www.w3.org/2001/04/xmlenc#'
export const xenc11 = 'http://www.w3.org/2009/xmlenc11#'
const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'

const ciphers = {
  'aes-128-gcm': { name: `${xenc11}aes128-gcm`, keyBytes: 16 },
  'aes-192-gcm': { name: `${xenc11}aes192-gcm`, keyBytes: 24 },
  'aes-256-gcm': { name: `${xenc11}aes256-gcm`, keyBytes: 32 },
  'aes-256-cbc': { name: `${xenc}aes256-cbc`, keyBytes: 32 },
} as const

const digests = {
  sha1: `${xmldsig}sha1`,
  sha256: `${xenc}sha256`,
  sha512: `${xenc}sha512`,
} as const
type Hash = keyof typeof digests

type Encrypting = {
  /** The private key of the recipient. */
  to?: { key: string }
  cipher?: keyof typeof ciphers
  padding?: 'oaep' | 'rsa-1_5'
  /** What OAEP hashes with, and what its mask is made with. */
  hash?: Hash
  mask?: Hash
  /** What is said of that in the document. */
  method?: string
  place?: 'within' | 'beside' | 'referred'
  /** What becomes of the encrypted bytes, and of the key before it is encrypted. */
  changed?: (content: Buffer) => Buffer
  changedKey?: (contentKey: Buffer) => Buffer
}

/** Bytes that are always the same: the corpus is. */
const bytesOf = (purpose: string, length: number) => createHash('sha512').update(purpose).digest().subarray(0, length)

export const mgf1p = (content = `<ds:DigestMethod Algorithm="${digests.sha1}"/>`) =>
  `<xenc:EncryptionMethod Algorithm="${xenc}rsa-oaep-mgf1p">${content}</xenc:EncryptionMethod>`
export const oaep = (digest: Hash, mask = digest) =>
  `<xenc:EncryptionMethod Algorithm="${xenc11}rsa-oaep"><ds:DigestMethod Algorithm="${digests[digest]}"/>` +
  `<xenc11:MGF xmlns:xenc11="${xenc11}" Algorithm="${xenc11}mgf1${mask}"/></xenc:EncryptionMethod>`
export const rsa15 = `<xenc:EncryptionMethod Algorithm="${xenc}rsa-1_5"/>`

/** An encrypted assertion, as XML Encryption 1.1 has it: whatever is in it is what was given. */
export function encrypt(plaintext: string | Buffer, encrypting: Encrypting = {}): string {
  const { cipher = 'aes-256-gcm', place = 'within', method = mgf1p() } = encrypting
  const { changed = (bytes) => bytes, changedKey = (bytes) => bytes } = encrypting
  const contentKey = bytesOf('content key', ciphers[cipher].keyBytes)
  const content = changed(encryptContent(Buffer.from(plaintext), cipher, contentKey))
  const value = (bytes: Buffer) =>
    `<xenc:CipherData><xenc:CipherValue>${bytes.toString('base64')}</xenc:CipherValue></xenc:CipherData>`
  const list = place === 'within' ? '' : '<xenc:ReferenceList><xenc:DataReference URI="#_data"/></xenc:ReferenceList>'
  const wrapped = wrapKey(changedKey(contentKey), encrypting)
  const key = `<xenc:EncryptedKey xmlns:xenc="${xenc}" Id="_key">${method}${value(wrapped)}${list}</xenc:EncryptedKey>`
  const keyInfo = {
    within: `<ds:KeyInfo>${key}</ds:KeyInfo>`,
    beside: '',
    referred: `<ds:KeyInfo><ds:RetrievalMethod Type="${xenc}EncryptedKey" URI="#_key"/></ds:KeyInfo>`,
  }[place]
  return (
    `<saml:EncryptedAssertion><xenc:EncryptedData xmlns:xenc="${xenc}" xmlns:ds="${xmldsig}" Id="_data" ` +
    `Type="${xenc}Element"><xenc:EncryptionMethod Algorithm="${ciphers[cipher].name}"/>${keyInfo}${value(content)}` +
    `</xenc:EncryptedData>${place === 'within' ? '' : declareSignature(key)}</saml:EncryptedAssertion>`
  )
}

const declareSignature = (key: string) => key.replace('<xenc:EncryptedKey', `<xenc:EncryptedKey xmlns:ds="${xmldsig}"`)

/** A response with its assertion encrypted. */
export function encrypted(response: string, encrypting: Encrypting = {}): string {
  const [assertion = ''] = /<saml:Assertion[^]*<\/saml:Assertion>/.exec(response) ?? []
  return swap(response, assertion, encrypt(assertion, encrypting))
}

function encryptContent(plaintext: Buffer, cipher: keyof typeof ciphers, contentKey: Buffer): Buffer {
  if (cipher === 'aes-256-cbc') {
    const iv = bytesOf('block', 16)
    const encryption = createCipheriv(cipher, contentKey, iv)
    return Buffer.concat([iv, encryption.update(plaintext), encryption.final()])
  }
  const nonce = bytesOf('nonce', 12)
  const encryption = createCipheriv(cipher, contentKey, nonce)
  return Buffer.concat([nonce, encryption.update(plaintext), encryption.final(), encryption.getAuthTag()])
}

/** RSA with a padding of our own making: Node's is another each time, and knows no mask of another hash. */
function wrapKey(contentKey: Buffer, { to = recipient, padding = 'oaep', hash = 'sha1', mask = hash }: Encrypting) {
  const key = createPublicKey(to.key)
  const length = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8
  const padded = padding === 'oaep' ? padOaep(contentKey, length, { hash, mask }) : padRsa15(contentKey, length)
  return publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, padded)
}

/** EME-OAEP (RFC 8017 §7.1.1), with an empty label. */
function padOaep(message: Buffer, length: number, { hash, mask }: { hash: Hash; mask: Hash }): Buffer {
  const labelHash = createHash(hash).digest()
  const seed = bytesOf('seed', labelHash.length)
  const zeros = Buffer.alloc(length - message.length - 2 * labelHash.length - 2)
  const block = Buffer.concat([labelHash, zeros, Buffer.of(1), message])
  const maskedBlock = xor(block, mgf1(seed, block.length, mask))
  return Buffer.concat([Buffer.of(0), xor(seed, mgf1(maskedBlock, seed.length, mask)), maskedBlock])
}

/** EME-PKCS1-v1_5 (RFC 8017 §7.2.1). */
function padRsa15(message: Buffer, length: number): Buffer {
  return Buffer.concat([Buffer.of(0, 2), Buffer.alloc(length - message.length - 3, 0x55), Buffer.of(0), message])
}

/** RFC 8017 §B.2.1. */
function mgf1(seed: Buffer, length: number, hash: Hash): Buffer {
  const blocks: Buffer[] = []
  for (let counter = 0; Buffer.concat(blocks).length < length; counter += 1)
    blocks.push(
      createHash(hash)
        .update(seed)
        .update(Buffer.of(0, 0, 0, counter))
        .digest(),
    )
  return Buffer.concat(blocks).subarray(0, length)
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, place) => byte ^ (other[place] ?? 0)))
}
