import { constants, createDecipheriv, privateDecrypt, type KeyObject } from 'node:crypto'
import { namespaces, expectChildren } from './element.ts'
import { invalid } from './refusal.ts'
import { attributeOf, textOf, XmlError, type XmlElement } from './xml.ts'

const { xenc, xenc11 } = namespaces
const ivBytes = 12
const tagBytes = 16

/** Content encryption algorithms. CBC is missing, because it is unauthenticated and allows padding-oracle attacks. */
export const contentAlgorithms = {
  [`${xenc11}aes256-gcm`]: { cipher: 'aes-256-gcm', keyBytes: 32 },
  [`${xenc11}aes192-gcm`]: { cipher: 'aes-192-gcm', keyBytes: 24 },
  [`${xenc11}aes128-gcm`]: { cipher: 'aes-128-gcm', keyBytes: 16 },
} as const

/** Hashes of OAEP, each with the mask generation function of the same hash, because Node supports no other pairs. */
const oaepHashes = [
  { hash: 'sha1', digest: `${namespaces.ds}sha1`, mask: `${xenc11}mgf1sha1` },
  { hash: 'sha256', digest: `${xenc}sha256`, mask: `${xenc11}mgf1sha256` },
  { hash: 'sha384', digest: 'http://www.w3.org/2001/04/xmldsig-more#sha384', mask: `${xenc11}mgf1sha384` },
  { hash: 'sha512', digest: `${xenc}sha512`, mask: `${xenc11}mgf1sha512` },
] as const
const [sha1] = oaepHashes

type ContentAlgorithm = (typeof contentAlgorithms)[keyof typeof contentAlgorithms]
type OaepHash = (typeof oaepHashes)[number]['hash']

/** An encrypted element, with its content key, which is encrypted to a key of this service. */
export type Encrypted = ContentAlgorithm & { content: Uint8Array; wrappedKey: Uint8Array; oaepHash: OaepHash }

/**
 * Parses an encrypted element (XML Encryption 1.1) in the form of SAML 2.0 (Core §6): one element and one key, in its
 * `KeyInfo` or as a sibling. Nothing is fetched from elsewhere. Throws `SamlError` and `XmlError`.
 */
export function parseEncryptedElement(element: XmlElement): Encrypted {
  const { 'xenc:EncryptedData': data, 'xenc:EncryptedKey': beside } = expectChildren(element, {
    'xenc:EncryptedData': 'one',
    'xenc:EncryptedKey': 'maybe',
  })
  if ((attributeOf(data, 'Type') ?? `${xenc}Element`) !== `${xenc}Element`)
    throw new XmlError('Its Type is not Element')
  const parts = expectChildren(data, {
    'xenc:EncryptionMethod': 'one',
    'ds:KeyInfo': 'maybe',
    'xenc:CipherData': 'one',
  })
  const algorithm = readContentAlgorithm(parts['xenc:EncryptionMethod'])
  const key = requireKey(parts['ds:KeyInfo'], beside)
  return { ...algorithm, ...readKey(key, attributeOf(data, 'Id')), content: readCipher(parts['xenc:CipherData']) }
}

/**
 * Decrypts an element with the first of these private keys that fits. Returns undefined if none fits or the ciphertext
 * was changed; the result does not reveal the reason. The content is not authenticated, because the certificate is
 * public.
 */
export function decrypt(encrypted: Encrypted, keys: KeyObject[]): Buffer | undefined {
  for (const key of keys) {
    const contentKey = attempt(() => unwrapKey(encrypted, key))
    const opened = contentKey && attempt(() => openContent(encrypted, contentKey))
    if (opened) return opened
  }
  return undefined
}

function unwrapKey({ wrappedKey, oaepHash }: Encrypted, key: KeyObject): Buffer {
  return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, wrappedKey)
}

/**
 * Decrypts the content (XML Encryption 1.1 §5.2.4): nonce, ciphertext, tag. A key of the wrong length for the cipher is
 * rejected.
 */
function openContent({ cipher, content }: Encrypted, contentKey: Buffer): Buffer {
  const iv = content.subarray(0, ivBytes)
  const decipher = createDecipheriv(cipher, contentKey, iv, { authTagLength: tagBytes })
  decipher.setAuthTag(content.subarray(-tagBytes))
  return Buffer.concat([decipher.update(content.subarray(ivBytes, -tagBytes)), decipher.final()])
}

/** Node throws if decryption fails. */
function attempt(open: () => Buffer): Buffer | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

function readContentAlgorithm(method: XmlElement): ContentAlgorithm {
  const name = attributeOf(method, 'Algorithm')
  const [, algorithm] = Object.entries(contentAlgorithms).find(([each]) => each === name) ?? []
  if (!algorithm) throw invalid('encryption_algorithm')
  expectChildren(method, {})
  return algorithm
}

/** Finds the single encrypted key: in the element's `KeyInfo`, or as a sibling, which can refer to the element. */
function requireKey(keyInfo: XmlElement | undefined, beside: XmlElement | undefined): XmlElement {
  const { 'xenc:EncryptedKey': within, 'ds:RetrievalMethod': reference } = keyInfo
    ? expectChildren(keyInfo, { 'xenc:EncryptedKey': 'maybe', 'ds:RetrievalMethod': 'maybe' })
    : {}
  const key = within ?? beside
  if (!key || (within && (beside || reference))) throw new XmlError('It does not have exactly one encrypted key')
  if (!reference) return key
  expectChildren(reference, {})
  if ((attributeOf(reference, 'Type') ?? `${xenc}EncryptedKey`) !== `${xenc}EncryptedKey`)
    throw new XmlError('It refers to something other than a key')
  requireReference(reference, attributeOf(key, 'Id'))
  return key
}

function readKey(key: XmlElement, dataId: string | undefined): Pick<Encrypted, 'wrappedKey' | 'oaepHash'> {
  // The KeyInfo of the key names the recipient. It is ignored: either a private key fits or it does not.
  const parts = expectChildren(key, {
    'xenc:EncryptionMethod': 'one',
    'ds:KeyInfo': 'maybe',
    'xenc:CipherData': 'one',
    'xenc:ReferenceList': 'maybe',
    'xenc:CarriedKeyName': 'maybe',
  })
  const list = parts['xenc:ReferenceList']
  if (list) requireReference(expectChildren(list, { 'xenc:DataReference': 'one' })['xenc:DataReference'], dataId)
  return { wrappedKey: readCipher(parts['xenc:CipherData']), oaepHash: readOaepHash(parts['xenc:EncryptionMethod']) }
}

/**
 * Returns the hash of RSA-OAEP (XML Encryption 1.1 §5.5.2). RSA 1.5 is rejected, because it allows padding-oracle
 * attacks.
 */
function readOaepHash(method: XmlElement): OaepHash {
  const name = attributeOf(method, 'Algorithm')
  if (name !== `${xenc}rsa-oaep-mgf1p` && name !== `${xenc11}rsa-oaep`) throw invalid('encryption_algorithm')
  const { 'ds:DigestMethod': digest, 'xenc11:MGF': mask } = expectChildren(method, {
    'ds:DigestMethod': 'maybe',
    'xenc11:MGF': 'maybe',
  })
  const digestName = (digest && attributeOf(digest, 'Algorithm')) ?? sha1.digest
  const maskName = (mask && attributeOf(mask, 'Algorithm')) ?? sha1.mask
  const found = oaepHashes.find((each) => each.digest === digestName && each.mask === maskName)
  if (!found || (name === `${xenc}rsa-oaep-mgf1p` && found !== sha1)) throw invalid('encryption_algorithm')
  return found.hash
}

function requireReference(reference: XmlElement, id: string | undefined): void {
  if (id === undefined || attributeOf(reference, 'URI') !== `#${id}`) throw new XmlError('It refers to something else')
}

/** Returns the bytes of the CipherValue. */
function readCipher(data: XmlElement): Uint8Array {
  const { 'xenc:CipherValue': value } = expectChildren(data, { 'xenc:CipherValue': 'one' })
  const base64 = textOf(value).replaceAll(/[ \t\r\n]/g, '')
  const bytes = Buffer.from(base64, 'base64')
  // Node ignores invalid base64 characters, and another reader could interpret them.
  if (bytes.toString('base64') !== base64) throw new XmlError('It has a CipherValue that is not base64')
  return bytes
}
