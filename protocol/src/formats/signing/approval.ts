/**
 * What the key of an identity signs when a person approves a text: not the text alone, but a statement of the request,
 * the app, the role and the time, and a digest of the passkey's assertion for this statement.
 */
import { concatBytes } from './bytes.ts'
import type { JsonObject } from './canonical-json.ts'
import { frame } from './frame.ts'
import type { Sha256 } from './merkle-tree.ts'

/** Assertion of a passkey (WebAuthn §5.2.1), and its public key as SubjectPublicKeyInfo. */
export type PresenceEvidence = {
  publicKey: Uint8Array
  authenticatorData: Uint8Array
  clientDataJson: Uint8Array
  signature: Uint8Array
}

/** Stands in place of the digest if no passkey was used for the statement. Verifiers accept it as no digest. */
const noPresence = new Uint8Array(32)

/** Computes the WebAuthn challenge for a statement. */
export function approvalChallenge(sha256: Sha256, statement: JsonObject): Uint8Array {
  return sha256(approvalChallengeInput(statement))
}

/** Returns the bytes of which the challenge is the SHA-256, for browsers, which hash asynchronously. */
export function approvalChallengeInput(statement: JsonObject): Uint8Array<ArrayBuffer> {
  return frame('countersign/approval-presence/v2', statement)
}

/**
 * Computes the digest of an assertion. Receipts contain the digest alone: the assertion itself would show which
 * identities share a passkey.
 */
export function presenceDigest(sha256: Sha256, evidence: PresenceEvidence): Uint8Array {
  return sha256(presenceDigestInput(evidence))
}

/** Returns the bytes of which the digest is the SHA-256. */
export function presenceDigestInput(evidence: PresenceEvidence): Uint8Array<ArrayBuffer> {
  const { publicKey, authenticatorData, clientDataJson, signature } = evidence
  const parts = [publicKey, authenticatorData, clientDataJson, signature].flatMap((part) => [lengthOf(part), part])
  return concatBytes(new TextEncoder().encode('countersign/presence/v2\0'), ...parts)
}

/** Builds the message that the key of the identity signs. `presence` is a digest of 32 bytes. */
export function approvalMessage(statement: JsonObject, presence: Uint8Array = noPresence): Uint8Array<ArrayBuffer> {
  return frame('countersign/approval/v2', statement, concatBytes(Uint8Array.of(0), presence))
}

/** Four bytes, the most significant first. */
function lengthOf(part: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, part.length)
  return bytes
}
