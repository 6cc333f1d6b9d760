import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { writeCheckpoint, writeNote, type Checkpoint } from '@countersign/protocol/formats/signing/checkpoint'
import { CompactSign } from 'jose'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'

/** What the key of the log is sealed as. It signs checkpoints and receipts, and never a token. */
const context = 'transparency-log-key'

export type LogKey = { publicKey: Uint8Array; privateKey: KeyObject }
export type SealedLogKey = { publicKey: Uint8Array; sealedPrivateKey: string }

export async function makeLogKey(keyring: Kernel['keyring']): Promise<LogKey & SealedLogKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const sealedPrivateKey = await keyring.seal(context, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { publicKey: rawOf(publicKey), privateKey, sealedPrivateKey }
}

/** Throws `ConfigError` where `SECRET_KEY` does not open it. */
export async function openLogKey(
  keyring: Kernel['keyring'],
  { publicKey, sealedPrivateKey }: SealedLogKey,
): Promise<LogKey> {
  return { publicKey, privateKey: createPrivateKey(await keyring.open(context, sealedPrivateKey)) }
}

/** The key as the first root of the keyring seals it. */
export function renewSeal(keyring: Kernel['keyring'], sealedPrivateKey: string): Promise<string> {
  return keyring.renew(context, sealedPrivateKey)
}

/** A checkpoint as a note that the key has signed. */
export function signCheckpoint({ publicKey, privateKey }: LogKey, checkpoint: Checkpoint): string {
  const text = writeCheckpoint(checkpoint)
  return writeNote(sha256, text, { name: checkpoint.origin, publicKey }, sign(null, Buffer.from(text), privateKey))
}

/** A statement that the key of the log has signed, as a compact JWS of this type. */
export async function signStatement(
  keyring: Kernel['keyring'],
  log: SealedLogKey,
  type: string,
  statement: object,
): Promise<string> {
  const { publicKey, privateKey } = await openLogKey(keyring, log)
  const { alg, kid } = publicJwkOf(publicKey)
  return new CompactSign(Buffer.from(JSON.stringify(statement)))
    .setProtectedHeader({ alg, typ: type, kid })
    .sign(privateKey)
}

/** The public half, with its thumbprint (RFC 7638) as its key id. */
export function publicJwkOf(publicKey: Uint8Array) {
  const members = { crv: 'Ed25519', kty: 'OKP', x: Buffer.from(publicKey).toString('base64url') } as const
  const kid = sha256(JSON.stringify(members)).toString('base64url')
  return { ...members, kid, use: 'sig', alg: 'EdDSA' } as const
}

function rawOf(publicKey: KeyObject): Uint8Array {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
}
