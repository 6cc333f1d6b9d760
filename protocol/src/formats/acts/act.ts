/**
 * What the key of a member signs for an act in an organization: a statement of the action, a salted digest of its
 * details, the time and the organization's trail, and a digest of the passkey's assertion for this statement.
 */
import { fromCanonicalBase64Of, toBase64 } from '../base64.ts'
import { concatBytes } from '../signing/bytes.ts'
import type { JsonObject } from '../signing/canonical-json.ts'
import { frame } from '../signing/frame.ts'
import type { Sha256 } from '../signing/merkle-tree.ts'

/** A signed act. `statement` is canonical JSON; `presence` (digest of an assertion) and `signature` are base64. */
export type SignedAct = { statement: string; presence: string; signature: string }

/** Actions that change the council of an organization without a signature, by what their details say. */
export const unsignedCouncilActions = [
  'organization.council.reset_vetoed',
  'organization.member.keys_reset',
  'organization.member.removed',
] as const

/** Settings of an organization that a council protects. */
export const councilSettings = ['approvalsNeeded', 'requireSignedActions'] as const

const separator = Uint8Array.of(0)
const utf8 = new TextEncoder()

/** Computes the WebAuthn challenge for a statement. */
export function actChallenge(sha256: Sha256, statement: JsonObject): Uint8Array {
  return sha256(frame('countersign/act-presence/v2', statement))
}

/** Builds the message that the key of the identity signs. `presence` is a digest of 32 bytes (`presenceDigest`). */
export function actMessage(statement: JsonObject, presence: Uint8Array): Uint8Array<ArrayBuffer> {
  return frame('countersign/act/v2', statement, concatBytes(separator, presence))
}

/**
 * Computes the digest of the details that a statement and its trail entry contain, base64. The details can be erased
 * later: without the salt of 16 bytes, which is erased with them, the digest does not show them.
 */
export function detailsDigest(sha256: Sha256, details: JsonObject, salt: Uint8Array): string {
  return toBase64(sha256(frame('countersign/trail-details/v2', details, concatBytes(separator, salt))))
}

/**
 * Computes the commitment that stands in the details of an act in place of a secret, base64. Throws a `RangeError` for
 * a secret with half a character, which would have the commitment of another one.
 */
export function secretCommitment(sha256: Sha256, secret: string, salt: Uint8Array): string {
  if (!secret.isWellFormed()) throw new RangeError('The secret contains half a character.')
  const tail = concatBytes(separator, utf8.encode(secret))
  return toBase64(sha256(frame('countersign/act-secret/v2', { salt: toBase64(salt) }, tail)))
}

/** Computes the digest by which the next act names this one, base64. */
export function statementDigest(sha256: Sha256, statement: string): string {
  return toBase64(sha256(utf8.encode(statement)))
}

/** Computes the digest of a proposal, by which its approvals and its act name it, base64. */
export function proposalDigest(sha256: Sha256, proposal: JsonObject): string {
  return toBase64(sha256(frame('countersign/act-proposal/v2', proposal)))
}

/**
 * Computes the digest of all signatures of a trail entry, base64: for each, the digest of its statement, the digest of
 * its assertion, and the signature. Returns undefined if one of them is not canonical base64 of its length.
 */
export function actsDigest(sha256: Sha256, acts: readonly SignedAct[]): string | undefined {
  const parts = acts.flatMap(({ statement, presence, signature }) => {
    const [digest, bytes] = [fromCanonicalBase64Of(32, presence), fromCanonicalBase64Of(64, signature)]
    return digest && bytes ? [sha256(utf8.encode(statement)), digest, bytes] : []
  })
  return parts.length === acts.length * 3 ? toBase64(sha256(concatBytes(...parts))) : undefined
}

/** Computes the digest of a trail entry, by which the next entry names it: the head of the trail, base64. */
export function trailHead(sha256: Sha256, entry: JsonObject): string {
  return toBase64(sha256(frame('countersign/trail/v2', entry)))
}
