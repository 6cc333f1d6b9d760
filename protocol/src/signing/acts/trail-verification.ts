import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { fromCanonicalBase64Of } from '../../formats/base64.ts'
import {
  actMessage,
  actsDigest,
  detailsDigest,
  proposalDigest,
  type SignedAct,
  statementDigest,
  trailHead,
} from '../../formats/acts/act.ts'
import type { JsonObject } from '../../formats/signing/canonical-json.ts'
import type { NoteSuite } from '../../formats/signing/checkpoint.ts'
import { isSignedBy } from '../../formats/signing/ed25519.ts'
import type { Sha256 } from '../../formats/signing/merkle-tree.ts'
import {
  type ActProposal,
  type ActStatement,
  parseActProposal,
  parseActStatement,
  parseTrailEntry,
  type TrailEntry,
} from './statements.ts'

const saltBytes = 16
const actsMax = 100

/** Record of a trail as it is exported, one line of JSON each. Erased details are absent, with their salt. */
const TrailRecord = Type.Object(
  {
    entry: Type.String(),
    details: Type.Optional(Type.Unsafe<JsonObject>(Type.Object({}))),
    salt: Type.Optional(Type.String()),
    proposal: Type.Optional(Type.String()),
    acts: Type.Array(
      Type.Object(
        { statement: Type.String(), presence: Type.String(), signature: Type.String() },
        { additionalProperties: false },
      ),
      { maxItems: actsMax },
    ),
  },
  { additionalProperties: false },
)
export type TrailRecord = Static<typeof TrailRecord>

/** End of a trail: its number of entries, and the digest of the last one. */
export type TrailHead = { sequence: number; head: string | null }

/** What the verifier of a trail knows by itself. */
export type ExpectedTrail = {
  organizationId: string
  /** Head that the verifier saw before: without it, an older or another trail is not noticed. */
  remembered?: TrailHead | undefined
} & (ExpectedSigners | UnknownSigners)

/** Then neither the service of the acts nor their signatures are verified. All else is. */
type UnknownSigners = { issuer?: undefined; publicKeyOf?: undefined }

/** What the verifier of a trail knows of those who signed it. */
export type ExpectedSigners = {
  issuer: string
  /**
   * Returns the public key of an identity as the transparency log states it, base64, if it was in force at an instant:
   * who has a replaced key could sign acts that are dated later.
   */
  publicKeyOf: (identityId: string, keyVersion: number, at: string) => string | undefined
}

/** First error found in a trail. */
export type TrailError =
  | 'malformed_entry'
  | 'other_organization'
  | 'sequence_gap'
  | 'broken_trail'
  | 'trail_rewritten'
  | 'trail_cut'
  | 'other_details'
  | 'other_acts'
  | 'malformed_act'
  | 'other_act'
  | 'other_issuer'
  | 'unknown_key'
  | 'invalid_act'
  | 'act_replayed'
  | 'act_out_of_order'
  | 'other_trail'
  | 'executed_other'
  | 'other_proposal'
  | 'approved_twice'
  | 'out_of_time'

/** Valid record: the entry, and the statements of those who signed it, the one who did the act first. */
export type VerifiedTrailRecord = { entry: TrailEntry; acts: ActStatement[] }
type TrailRecordVerification = VerifiedTrailRecord | { flaw: TrailError }

type Flaw = { flaw: TrailError }

/** State of a verification. `heads[n]` is the head after the first `n` entries. */
type Progress = { heads: (string | null)[]; lastAct: string | null; nonces: Set<string>; flaw: TrailError | undefined }

/**
 * Returns a verifier of one trail, from its first entry on. `add` takes the next record and returns its content, or the
 * first error; after an error it accepts no further record. `finish` returns the head, or an error of the whole.
 */
export function createTrailVerifier(suite: NoteSuite, expected: ExpectedTrail) {
  const progress: Progress = { heads: [null], lastAct: null, nonces: new Set(), flaw: undefined }
  return {
    add(record: unknown): TrailRecordVerification {
      if (progress.flaw !== undefined) return { flaw: progress.flaw }
      const verified = verifyRecord(suite, record, expected, progress)
      if ('flaw' in verified) progress.flaw = verified.flaw
      return verified
    },
    finish(): TrailHead | Flaw {
      const sequence = progress.heads.length - 1
      if (progress.flaw === undefined && sequence < (expected.remembered?.sequence ?? 0)) progress.flaw = 'trail_cut'
      return progress.flaw === undefined
        ? { sequence, head: progress.heads[sequence] ?? null }
        : { flaw: progress.flaw }
    },
  }
}

function verifyRecord(
  suite: NoteSuite,
  record: unknown,
  expected: ExpectedTrail,
  progress: Progress,
): TrailRecordVerification {
  const { sha256 } = suite
  if (!Check(TrailRecord, record)) return { flaw: 'malformed_entry' }
  const entry = parseTrailEntry(record.entry)
  // Users alone sign. An entry of another actor with signatures would misstate who acted.
  if (!entry || (record.acts.length > 0 && entry.actor !== 'user')) return { flaw: 'malformed_entry' }
  if (entry.organizationId !== expected.organizationId) return { flaw: 'other_organization' }
  const { heads } = progress
  if (entry.sequence !== heads.length) return { flaw: 'sequence_gap' }
  if (entry.previous !== heads.at(-1)) return { flaw: 'broken_trail' }
  const head = trailHead(sha256, entry)
  const { remembered } = expected
  if (remembered?.sequence === entry.sequence && remembered.head !== head) return { flaw: 'trail_rewritten' }
  if (!isDetailsOf(sha256, record, entry)) return { flaw: 'other_details' }

  const acts = verifyActs(suite, { record, entry }, expected, progress)
  if ('flaw' in acts) return acts
  const [first] = record.acts
  if (first) progress.lastAct = statementDigest(sha256, first.statement)
  for (const { nonce } of acts.statements) progress.nonces.add(nonce)
  heads.push(head)
  return { entry, acts: acts.statements }
}

/** Checks the details of an entry against its digest, unless both they and their salt were erased. */
function isDetailsOf(sha256: Sha256, { details, salt }: TrailRecord, entry: TrailEntry): boolean {
  if (details === undefined && salt === undefined) return true
  const bytes = salt === undefined ? undefined : fromCanonicalBase64Of(saltBytes, salt)
  if (!details || !bytes) return false
  try {
    return detailsDigest(sha256, details, bytes) === entry.details
  } catch (error) {
    // Details without canonical form have no digest.
    if (error instanceof RangeError) return false
    throw error
  }
}

type Recorded = { record: TrailRecord; entry: TrailEntry }

function verifyActs(
  suite: NoteSuite,
  { record, entry }: Recorded,
  expected: ExpectedTrail,
  progress: Progress,
): { statements: ActStatement[] } | Flaw {
  const { sha256 } = suite
  const statements = record.acts.flatMap(({ statement }) => parseActStatement(statement) ?? [])
  if (statements.length < record.acts.length) return { flaw: 'malformed_act' }
  if (actsDigest(sha256, record.acts) !== entry.acts) return { flaw: 'other_acts' }
  for (const [index, statement] of statements.entries()) {
    const flaw =
      differenceFrom(entry, statement, index) ??
      signatureFlaw(suite, record.acts[index], statement, expected) ??
      orderFlaw(statement, progress)
    if (flaw) return { flaw }
  }
  const [first, ...approvals] = statements
  const flaw = first ? proposalFlaw(sha256, record, first, approvals) : unsignedFlaw(record)
  return flaw ? { flaw } : { statements }
}

/** Compares a statement with the entry that it is said to be for. */
function differenceFrom(entry: TrailEntry, statement: ActStatement, index: number): TrailError | undefined {
  const isItsRole = statement.role === (index === 0 ? 'sign' : 'approve')
  const isSameAct = statement.organizationId === entry.organizationId && statement.action === entry.action
  if (!isItsRole || !isSameAct) return 'other_act'
  if (statement.details !== entry.details) return 'executed_other'
  return statement.at <= entry.at && entry.at < statement.expiresAt ? undefined : 'out_of_time'
}

function signatureFlaw(
  suite: NoteSuite,
  act: SignedAct | undefined,
  statement: ActStatement,
  { issuer, publicKeyOf }: ExpectedSigners | UnknownSigners,
): TrailError | undefined {
  if (publicKeyOf === undefined) return undefined
  if (statement.issuer !== issuer) return 'other_issuer'
  const publicKey = publicKeyOf(statement.identityId, statement.keyVersion, statement.at)
  if (publicKey === undefined) return 'unknown_key'
  return act && isActSigned(suite, act, statement, publicKey) ? undefined : 'invalid_act'
}

/** Verifies the signature of an act by a key. Zeros, as an approval without a passkey has them, are no presence. */
export function isActSigned(
  { verifyEd25519 }: Pick<NoteSuite, 'verifyEd25519'>,
  { presence, signature }: SignedAct,
  statement: ActStatement,
  publicKey: string,
): boolean {
  const digest = fromCanonicalBase64Of(32, presence)
  if (!digest || digest.every((byte) => byte === 0)) return false
  return isSignedBy(verifyEd25519, { publicKey, signature }, actMessage(statement, digest))
}

/** Checks that an act is new, follows the act before, and that its signer saw this trail. */
function orderFlaw(statement: ActStatement, { heads, lastAct, nonces }: Progress): TrailError | undefined {
  const { nonce, role, previousAct, trail } = statement
  if (nonces.has(nonce)) return 'act_replayed'
  if (role === 'sign' && previousAct !== lastAct) return 'act_out_of_order'
  return heads[trail.sequence] === trail.head ? undefined : 'other_trail'
}

/** Checks that the approvals are of the proposal that the act names, each by another identity, before the act. */
function proposalFlaw(
  sha256: Sha256,
  record: TrailRecord,
  act: ActStatement,
  approvals: ActStatement[],
): TrailError | undefined {
  const signers = new Set([act, ...approvals].map(({ identityId }) => identityId))
  if (signers.size <= approvals.length) return 'approved_twice'
  if (new Set([act, ...approvals].map(({ nonce }) => nonce)).size <= approvals.length) return 'act_replayed'
  const proposal = record.proposal === undefined ? undefined : parseActProposal(record.proposal)
  if (!proposal) {
    const isAlone = record.proposal === undefined && act.proposal === null && approvals.length === 0
    return isAlone ? undefined : 'other_proposal'
  }
  const digest = proposalDigest(sha256, proposal)
  if (!isProposalOf(proposal, act) || [act, ...approvals].some((each) => each.proposal !== digest))
    return 'other_proposal'
  const isInTime = [act, ...approvals].every(
    ({ at, expiresAt }) => proposal.createdAt <= at && at <= act.at && expiresAt <= proposal.expiresAt,
  )
  return isInTime ? undefined : 'out_of_time'
}

/** Checks that a proposal is of this act, by the identity that signed it. */
function isProposalOf(proposal: ActProposal, act: ActStatement): boolean {
  const names = ['issuer', 'organizationId', 'identityId', 'action', 'details'] as const
  return names.every((name) => proposal[name] === act[name])
}

function unsignedFlaw({ proposal }: TrailRecord): TrailError | undefined {
  return proposal === undefined ? undefined : 'other_proposal'
}
