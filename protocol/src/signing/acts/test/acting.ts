import assert from 'node:assert/strict'
import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto'
import { fromCanonicalBase64, toBase64Url } from '../../../formats/base64.ts'
import {
  actMessage,
  actsDigest,
  detailsDigest,
  proposalDigest,
  type SignedAct,
  statementDigest,
  trailHead,
} from '../../../formats/acts/act.ts'
import { type JsonObject, writeCanonicalJson } from '../../../formats/signing/canonical-json.ts'
import { nodeSuite } from '../../receipt-verification.ts'
import { parseTrailEntry } from '../statements.ts'
import {
  createTrailVerifier,
  type ExpectedSigners,
  type ExpectedTrail,
  type TrailRecord,
} from '../trail-verification.ts'
import { vector } from './vector.ts'

const { sha256 } = nodeSuite
export const { ada, bob, organizationId, issuer } = vector
export const keys = { ada: keyOf('ada 2'), bob: keyOf('bob 1') }
export const expected: ExpectedTrail & ExpectedSigners = {
  organizationId,
  issuer,
  publicKeyOf: (identityId, keyVersion) =>
    new Map([
      [`${ada} 2`, vector.publicKeys.ada],
      [`${bob} 1`, vector.publicKeys.bob],
    ]).get(`${identityId} ${keyVersion}`),
}

/** The instant `minutes` after noon, when the tests begin. */
export function at(minutes: number): string {
  return new Date(Date.UTC(2030, 0, 1, 12) + minutes * 60_000).toISOString()
}

export const salt = bytes(vector.salt)
export const digestOf = (details: JsonObject) => detailsDigest(sha256, details, salt)

export const action = 'organization.member.updated'

/** Signs the statement of Ada's act, with changes. */
export function signAct(changes: JsonObject, { key = keys.ada, message = actMessage } = {}): SignedAct {
  const statement: JsonObject = {
    ...{ version: 2, issuer, organizationId, identityId: ada, keyVersion: 2, role: 'sign' },
    ...{ action, details: vector.detailsDigest, proposal: null, previousAct: null },
    ...{ nonce: nonce(), trail: { head: null, sequence: 0 }, at: at(3), expiresAt: at(8) },
    ...changes,
  }
  const signature = sign(null, message(statement, bytes(vector.act.presence)), key).toString('base64')
  return { statement: writeCanonicalJson(statement), presence: vector.act.presence, signature }
}

/** Signs an approval by Bob, with changes. */
export function approveAct(changes: JsonObject, { key = keys.bob } = {}): SignedAct {
  return signAct({ role: 'approve', identityId: bob, keyVersion: 1, ...changes }, { key })
}

/** Builds a trail record after these, with changes of the entry. */
export function append(
  records: TrailRecord[],
  { acts = [], proposal, details = vector.details }: Partial<Pick<TrailRecord, 'acts' | 'proposal' | 'details'>>,
  changes: JsonObject = {},
): TrailRecord[] {
  const last = records.at(-1)
  const entry: JsonObject = {
    ...{ version: 2, organizationId, sequence: records.length + 1, previous: last ? headOf(last) : null },
    ...{ at: at(3), action, actor: acts.length > 0 ? 'user' : 'system', details: digestOf(details) },
    ...{ acts: actsDigest(sha256, acts) ?? '', ...changes },
  }
  const record = { entry: writeCanonicalJson(entry), details, salt: vector.salt, acts }
  return [...records, proposal === undefined ? record : { ...record, proposal }]
}

/** Builds a proposal of Ada, with changes, and its digest. */
export function propose(changes: JsonObject = {}): { proposal: string; digest: string } {
  const proposal: JsonObject = {
    ...{ version: 2, issuer, organizationId, identityId: ada, action, details: vector.detailsDigest },
    ...{ nonce: nonce(), createdAt: at(1), expiresAt: at(7 * 24 * 60), ...changes },
  }
  return { proposal: writeCanonicalJson(proposal), digest: proposalDigest(sha256, proposal) }
}

/** Builds a trail of one act that Ada proposed and Bob approved, with changes of the proposal and both statements. */
export function proposed({ proposal = {}, act = {}, approval = {} }: Record<string, JsonObject>): TrailRecord[] {
  const { proposal: text, digest } = propose(proposal)
  const approved = approveAct({ proposal: digest, at: at(2), expiresAt: at(7 * 24 * 60), ...approval })
  return append([], { acts: [signAct({ proposal: digest, ...act }), approved], proposal: text })
}

export function headOf({ entry }: TrailRecord): string {
  const parsed = parseTrailEntry(entry)
  assert.ok(parsed)
  return trailHead(sha256, parsed)
}

export function digestOfAct({ statement }: SignedAct): string {
  return statementDigest(sha256, statement)
}

/** Verifies a whole trail; returns its first error, or its head. */
export function verify(records: unknown[], changes: Partial<ExpectedTrail & ExpectedSigners> = {}) {
  const verifier = createTrailVerifier(nodeSuite, { ...expected, ...changes })
  for (const record of records) verifier.add(record)
  const end = verifier.finish()
  return 'flaw' in end ? end.flaw : end
}

export function bytes(base64: string): Uint8Array {
  const decoded = fromCanonicalBase64(base64)
  assert.ok(decoded)
  return decoded
}

let nonces = 0

function nonce(): string {
  nonces += 1
  return toBase64Url(hash('sha256', `nonce ${nonces}`, 'buffer'))
}

/** Returns a key of the design's vectors: PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410 §7), and a seed. */
function keyOf(name: string): KeyObject {
  const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
  const seed = hash('sha256', `countersign trust v2 vector: ${name}`, 'buffer')
  return createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' })
}
