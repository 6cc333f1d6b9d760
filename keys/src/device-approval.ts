import { isValidCurvePoint } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64Url, toBase64Url } from '@countersign/protocol/formats/base64'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { deriveBytes } from './hkdf.ts'
import { KeyEncryptionKey } from './prf.ts'

/** An X25519 key pair for one approval: the public key in base64url, the private key for key agreement only. */
export type EphemeralKeyPair = { publicKey: string; privateKey: CryptoKey }

/** Values that a device reveals later: its public key and a nonce, 32 bytes each in base64url. */
export type Opening = { publicKey: string; nonce: string }

/** The transcript that both devices must share: the approval, its user, and all exchanged values. */
export type Transcript = { approvalId: string; userId: string; opening: Opening; answer: { publicKey: string } }

/**
 * Results on which two devices agree. The requesting device shows six digits, to be typed on the other. After these
 * were correct, the other device shows two digits, to be typed on the requesting one. A key wraps the master key on its
 * way.
 */
export type Agreement = { digits: string; confirmation: string; wrappingKey: KeyEncryptionKey }

/** The other side sent an invalid key, or one that does not match its commitment. */
export class TranscriptMismatchError extends Error {
  override readonly name = 'TranscriptMismatchError'
}

const bytes = 32

/** Generates a key pair. The private key is not extractable, and is lost with the page. */
export async function generateEphemeralKeyPair(): Promise<EphemeralKeyPair> {
  const pair = await crypto.subtle.generateKey('X25519', false, ['deriveBits'])
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey)
  return { publicKey: toBase64Url(new Uint8Array(publicKey)), privateKey: pair.privateKey }
}

export function newNonce(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))
}

/** Returns the commitment of a device: the hash of its public key and nonce, before it reveals them. */
export async function computeCommitment({ publicKey, nonce }: Opening): Promise<string> {
  const label = new TextEncoder().encode('countersign/device-approval/commitment/v1')
  const committed = Uint8Array.of(...label, ...bytesOf(publicKey), ...bytesOf(nonce))
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', committed)))
}

/**
 * Returns the results on the requesting device. Throws `TranscriptMismatchError` for a key whose shared secret is
 * public.
 */
export async function agreeAsRequester(own: EphemeralKeyPair, transcript: Transcript): Promise<Agreement> {
  return agree(own, transcript.answer.publicKey, transcript)
}

/**
 * Returns the results on the responding device. Throws `TranscriptMismatchError` also if the other device reveals
 * values that differ from its commitment. Without the commitment it could try keys until the digits match.
 */
export async function agreeAsApprover(
  own: EphemeralKeyPair,
  transcript: Transcript,
  commitment: string,
): Promise<Agreement> {
  if ((await computeCommitment(transcript.opening)) !== commitment) throw new TranscriptMismatchError()
  return agree(own, transcript.opening.publicKey, transcript)
}

async function agree(
  { privateKey }: EphemeralKeyPair,
  theirs: string,
  { approvalId, userId, opening, answer }: Transcript,
): Promise<Agreement> {
  const point = bytesOf(theirs)
  if (!isValidCurvePoint('X25519', point)) throw new TranscriptMismatchError()
  const publicKey = await crypto.subtle.importKey('raw', point, 'X25519', false, [])
  const secret = await crypto.subtle.deriveBits({ name: 'X25519', public: publicKey }, privateKey, 256)
  // None of these contains a line break, so each transcript has a unique text.
  const said = [approvalId, userId, opening.publicKey, opening.nonce, answer.publicKey].join('\n')
  return {
    digits: digitsOf(
      await deriveBytes(secret, `countersign/device-approval/digits/v1\n${said}`),
      pageLimits.deviceApprovalDigits,
    ),
    confirmation: digitsOf(
      await deriveBytes(secret, `countersign/device-approval/confirmation/v1\n${said}`),
      pageLimits.deviceConfirmationDigits,
    ),
    wrappingKey: await KeyEncryptionKey.derive(secret, `countersign/device-approval/wrap/v1\n${said}`),
  }
}

/**
 * Uses all 256 bits as one number, of which the last digits are taken: no code is likelier than another by more than
 * 2^-236.
 */
function digitsOf(derived: Uint8Array, count: number): string {
  const number = derived.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return String(number % 10n ** BigInt(count)).padStart(count, '0')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const decoded = fromCanonicalBase64Url(text)
  if (decoded?.length !== bytes) throw new TranscriptMismatchError()
  return decoded
}
