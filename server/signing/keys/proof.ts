import { toBase64 } from '@countersign/protocol/formats/base64'
import { isSignedBy } from '@countersign/protocol/formats/signing/ed25519'
import {
  keyLinkMessage,
  keyPossessionMessage,
  type KeyEvent,
  type ProvedKeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { defineErrors } from '#platform/api-error.ts'
import { verifies } from '#platform/crypto/ed25519.ts'

const errors = defineErrors({
  incomplete_key_proofs: [400, 'Send previous, link and possession together, or none of them.'],
  invalid_possession: [403, 'possession does not verify with the signing key over its log entry.'],
  invalid_link: [403, 'link does not verify with the former signing key over the log entry.'],
  key_history_changed: [409, 'previous is not the last log entry of the key. Read the key and try again.'],
})

/** Proofs of a log entry; null where there is none. */
export type KeyProofs = Pick<KeyEvent, 'link' | 'possession'>
export const noProofs: KeyProofs = { link: null, possession: null }

/** Proofs that a client has sent for a log entry that follows `previous`. */
export type SentKeyProofs = Partial<Record<'previous' | 'link' | 'possession', string>>

/** Returns the proofs of a rotation if the client has sent them all. Throws `incomplete_key_proofs`. */
export function readRotationProofs({ previous, link, possession }: SentKeyProofs): Required<SentKeyProofs> | undefined {
  if (previous === undefined && link === undefined && possession === undefined) return undefined
  if (previous === undefined || link === undefined || possession === undefined) throw errors.incomplete_key_proofs()
  return { previous, link, possession }
}

type Proved = { log: string; event: ProvedKeyEvent; formerPublicKey: Uint8Array | undefined }

/**
 * Verifies the proofs of a log entry, so that the log contains no wrong ones. `previous` is what the client has signed
 * over; the entry's own is the last one. Throws `key_history_changed`, `invalid_link`, `invalid_possession`.
 */
export function requireValidProofs(
  { previous, link, possession }: SentKeyProofs & { possession: string },
  { log, event, formerPublicKey }: Proved,
): KeyProofs {
  if ((previous ?? null) !== event.previous) throw errors.key_history_changed()
  if (link !== undefined && !isBy(formerPublicKey, link, keyLinkMessage(log, event))) throw errors.invalid_link()
  if (!isBy(Buffer.from(event.publicKey, 'base64'), possession, keyPossessionMessage(log, event)))
    throw errors.invalid_possession()
  return { link: link ?? null, possession }
}

function isBy(publicKey: Uint8Array | undefined, signature: string, message: Uint8Array): boolean {
  if (!publicKey) return false
  const signed = { publicKey: toBase64(publicKey), signature }
  return isSignedBy((key, text, bytes) => verifies(text, bytes, key), signed, message)
}
