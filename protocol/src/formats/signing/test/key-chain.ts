import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { hashKeyEvent, keyLinkMessage, keyPossessionMessage, writeKeyEvent, type ProvedKeyEvent } from '../key-event.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
export const log = 'api.example.com/transparency'

export type TestKey = { publicKey: string; raw: Uint8Array; sign: (message: Uint8Array) => string }

/** Derives a key pair from a name, as the vectors of the formats do. */
export function testKey(name: string): TestKey {
  const seed = sha256(Buffer.from(`countersign trust v2 vector: ${name}`))
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const raw = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url')
  return {
    publicKey: raw.toString('base64'),
    raw,
    sign: (message) => sign(null, message, privateKey).toString('base64'),
  }
}

export type LeafProofs = { link?: TestKey | string | undefined; possession?: TestKey | string | undefined }

/** Writes a leaf with proofs by these keys; a text is taken as it is, and none is null. */
export function leafOf(at: string, event: ProvedKeyEvent, { link, possession }: LeafProofs): string {
  const signedBy = (key: TestKey | string | undefined, message: Uint8Array) =>
    typeof key === 'object' ? key.sign(message) : (key ?? null)
  return writeKeyEvent({
    ...event,
    at,
    link: signedBy(link, keyLinkMessage(log, event)),
    possession: signedBy(possession, keyPossessionMessage(log, event)),
  })
}

export const hashOf = (leaf: string) => hashKeyEvent(sha256, leaf)
