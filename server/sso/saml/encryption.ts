import { constants, createDecipheriv, privateDecrypt, type KeyObject } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { namespaces, partsOf } from './saml-element.ts'
import { because, refuse } from '#sso/providers/upstream.ts'
import { attributeOf, textOf, XmlError, type XmlElement } from './xml.ts'

const { xenc, xenc11 } = namespaces
const ivBytes = 12
const tagBytes = 16

/** What content is encrypted with. There is no CBC: what nobody authenticates tells its content to whoever asks on. */
export const contentAlgorithms = {
  [`${xenc11}aes256-gcm`]: { cipher: 'aes-256-gcm', keyBytes: 32 },
  [`${xenc11}aes192-gcm`]: { cipher: 'aes-192-gcm', keyBytes: 24 },
  [`${xenc11}aes128-gcm`]: { cipher: 'aes-128-gcm', keyBytes: 16 },
} as const

/** The hashes of OAEP, each with the mask that is made with the same one: Node knows no other pairs. */
const oaepHashes = [
  { hash: 'sha1', digest: `${namespaces.ds}sha1`, mask: `${xenc11}mgf1sha1` },
  { hash: 'sha256', digest: `${xenc}sha256`, mask: `${xenc11}mgf1sha256` },
  { hash: 'sha384', digest: 'http://www.w3.org/2001/04/xmldsig-more#sha384', mask: `${xenc11}mgf1sha384` },
  { hash: 'sha512', digest: `${xenc}sha512`, mask: `${xenc11}mgf1sha512` },
] as const
const [sha1] = oaepHashes

type ContentAlgorithm = (typeof contentAlgorithms)[keyof typeof contentAlgorithms]
type OaepHash = (typeof oaepHashes)[number]['hash']

/** An encrypted element, and the key to it, which is encrypted to one of ours. */
export type Encrypted = ContentAlgorithm & { content: Uint8Array; wrappedKey: Uint8Array; oaepHash: OaepHash }

/**
 * What is encrypted in an element (XML Encryption 1.1), where that is of the form that SAML 2.0 has (Core §6): one
 * element, and one key to it, in its `KeyInfo` or beside it. Nothing in it is fetched from anywhere. Refuses
 * `sso_answer_invalid`; throws `XmlError`.
 */
export function readEncrypted(element: XmlElement): Encrypted {
  const { 'xenc:EncryptedData': data, 'xenc:EncryptedKey': beside } = partsOf(element, {
    'xenc:EncryptedData': 'one',
    'xenc:EncryptedKey': 'maybe',
  })
  if ((attributeOf(data, 'Type') ?? `${xenc}Element`) !== `${xenc}Element`) throw new XmlError('It is no element')
  const parts = partsOf(data, { 'xenc:EncryptionMethod': 'one', 'ds:KeyInfo': 'maybe', 'xenc:CipherData': 'one' })
  const algorithm = readContentAlgorithm(parts['xenc:EncryptionMethod'])
  const key = requireKey(parts['ds:KeyInfo'], beside)
  return { ...algorithm, ...readKey(key, attributeOf(data, 'Id')), content: readCipher(parts['xenc:CipherData']) }
}

/**
 * What was encrypted, opened by whichever of these private keys it is for; undefined where it is for none of them, or
 * was changed since: nobody learns which. Whoever has our certificate can have written it.
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

/** XML Encryption 1.1 §5.2.4: the nonce, the ciphertext, the tag. A key of another length than the cipher's is none. */
function openContent({ cipher, content }: Encrypted, contentKey: Buffer): Buffer {
  const iv = content.subarray(0, ivBytes)
  const decipher = createDecipheriv(cipher, contentKey, iv, { authTagLength: tagBytes })
  decipher.setAuthTag(content.subarray(-tagBytes))
  return Buffer.concat([decipher.update(content.subarray(ivBytes, -tagBytes)), decipher.final()])
}

/** At what doesn't open, Node throws. */
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
  partsOf(method, {})
  return algorithm
}

/** The one encrypted key: in the element's `KeyInfo`, or beside the element, which may refer to it. */
function requireKey(keyInfo: XmlElement | undefined, beside: XmlElement | undefined): XmlElement {
  const { 'xenc:EncryptedKey': within, 'ds:RetrievalMethod': reference } = keyInfo
    ? partsOf(keyInfo, { 'xenc:EncryptedKey': 'maybe', 'ds:RetrievalMethod': 'maybe' })
    : {}
  const key = within ?? beside
  if (!key || (within && (beside || reference))) throw new XmlError('It has not one encrypted key')
  if (!reference) return key
  partsOf(reference, {})
  if ((attributeOf(reference, 'Type') ?? `${xenc}EncryptedKey`) !== `${xenc}EncryptedKey`)
    throw new XmlError('It refers to something else than a key')
  requireReference(reference, attributeOf(key, 'Id'))
  return key
}

function readKey(key: XmlElement, dataId: string | undefined): Pick<Encrypted, 'wrappedKey' | 'oaepHash'> {
  // For whom the key is says its KeyInfo, which nobody reads: it opens with one of ours or it doesn't.
  const parts = partsOf(key, {
    'xenc:EncryptionMethod': 'one',
    'ds:KeyInfo': 'maybe',
    'xenc:CipherData': 'one',
    'xenc:ReferenceList': 'maybe',
    'xenc:CarriedKeyName': 'maybe',
  })
  const list = parts['xenc:ReferenceList']
  if (list) requireReference(partsOf(list, { 'xenc:DataReference': 'one' })['xenc:DataReference'], dataId)
  return { wrappedKey: readCipher(parts['xenc:CipherData']), oaepHash: readOaepHash(parts['xenc:EncryptionMethod']) }
}

/** The hash of RSA-OAEP (XML Encryption 1.1 §5.5.2). RSA 1.5 is refused: it gives keys away to whoever asks often. */
function readOaepHash(method: XmlElement): OaepHash {
  const name = attributeOf(method, 'Algorithm')
  if (name !== `${xenc}rsa-oaep-mgf1p` && name !== `${xenc11}rsa-oaep`) throw invalid('encryption_algorithm')
  const { 'ds:DigestMethod': digest, 'xenc11:MGF': mask } = partsOf(method, {
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

/** The bytes that stand there themselves. */
function readCipher(data: XmlElement): Uint8Array {
  const { 'xenc:CipherValue': value } = partsOf(data, { 'xenc:CipherValue': 'one' })
  const bytes = fromCanonicalBase64(textOf(value).replaceAll(/[ \t\r\n]/g, ''))
  if (!bytes) throw new XmlError('It has a CipherValue that is not base64')
  return bytes
}

function invalid(what: string) {
  return refuse.sso_answer_invalid(because(what))
}
