import { isSoundPoint } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64Url, toBase64Url } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { deriveBytes } from './hkdf.ts'
import { WrappingKey } from './wrapping-key.ts'

/** An X25519 key pair for one approval: the public half in base64url, the private half for key agreement alone. */
export type ApprovalKey = { publicKey: string; privateKey: CryptoKey }

/** What a device shows later: its public key and a nonce, 32 bytes each in base64url. */
export type Opening = { publicKey: string; nonce: string }

/** What both devices must have seen alike: the approval, whose it is, and all that was said. */
export type Transcript = { approvalId: string; userId: string; asked: Opening; answer: { publicKey: string } }

/**
 * What two devices agree on: six digits that the device that asks shows, to be typed on the other; two digits that the
 * other shows once these were right, to be typed on the one that asked; and a key that wraps the master key meanwhile.
 */
export type Agreement = { digits: string; confirmation: string; wrappingKey: WrappingKey }

/** The other side sent what is no key, or not what it had committed itself to. */
export class NotTheSame extends Error {
  override readonly name = 'NotTheSame'
}

const bytes = 32

/** The private half can't be exported, and is lost with the page. */
export async function newApprovalKey(): Promise<ApprovalKey> {
  const pair = await crypto.subtle.generateKey('X25519', false, ['deriveBits'])
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey)
  return { publicKey: toBase64Url(new Uint8Array(publicKey)), privateKey: pair.privateKey }
}

export function newNonce(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))
}

/** What a device says of its public key and nonce before it shows them: their hash. */
export async function commitmentTo({ publicKey, nonce }: Opening): Promise<string> {
  const label = new TextEncoder().encode('countersign/device-approval/commitment/v1')
  const committed = Uint8Array.of(...label, ...bytesOf(publicKey), ...bytesOf(nonce))
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', committed)))
}

/**
 * What the device that asked agrees on with the one that answered. Throws `NotTheSame` for a key with which everybody
 * would agree on the same.
 */
export async function agreeAsAsker(own: ApprovalKey, transcript: Transcript): Promise<Agreement> {
  return agree(own, transcript.answer.publicKey, transcript)
}

/**
 * The same for the device that answered. Throws `NotTheSame` also where the other one shows something else than it had
 * committed itself to before it knew the answer: it could have tried keys until the digits fit.
 */
export async function agreeAsAnswerer(
  own: ApprovalKey,
  transcript: Transcript,
  commitment: string,
): Promise<Agreement> {
  if ((await commitmentTo(transcript.asked)) !== commitment) throw new NotTheSame()
  return agree(own, transcript.asked.publicKey, transcript)
}

async function agree(
  { privateKey }: ApprovalKey,
  theirs: string,
  { approvalId, userId, asked, answer }: Transcript,
): Promise<Agreement> {
  const point = bytesOf(theirs)
  if (!isSoundPoint('X25519', point)) throw new NotTheSame()
  const publicKey = await crypto.subtle.importKey('raw', point, 'X25519', false, [])
  const secret = await crypto.subtle.deriveBits({ name: 'X25519', public: publicKey }, privateKey, 256)
  // None of these holds a line break, so there is one transcript of each text.
  const said = [approvalId, userId, asked.publicKey, asked.nonce, answer.publicKey].join('\n')
  return {
    digits: digitsOf(
      await deriveBytes(secret, `countersign/device-approval/digits/v1\n${said}`),
      limits.deviceApprovalDigits,
    ),
    confirmation: digitsOf(
      await deriveBytes(secret, `countersign/device-approval/confirmation/v1\n${said}`),
      limits.deviceConfirmationDigits,
    ),
    wrappingKey: await WrappingKey.derive(secret, `countersign/device-approval/wrap/v1\n${said}`),
  }
}

/** All 256 bits as one number, of which the last digits: no code is likelier than another by more than 2^-236. */
function digitsOf(derived: Uint8Array, count: number): string {
  const number = derived.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return String(number % 10n ** BigInt(count)).padStart(count, '0')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const decoded = fromCanonicalBase64Url(text)
  if (decoded?.length !== bytes) throw new NotTheSame()
  return decoded
}
