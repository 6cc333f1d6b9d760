/**
 * History of an identity's signing key: all its leaves in the order of the log. Each key is proved by the key before it
 * (`link`) and by itself (`possession`), so a service that adds a key of its own shows that the user did not.
 */
import type { NoteSuite } from './checkpoint.ts'
import { isSignedBy } from './ed25519.ts'
import {
  hashKeyEvent,
  identityDigest,
  isOfNewKey,
  keyLinkMessage,
  keyPossessionMessage,
  readKeyEvent,
  type KeyEvent,
  type LeafError,
} from './key-event.ts'

/** First error found in a history. */
export type KeyHistoryError =
  | LeafError
  | 'other_identity'
  | 'after_removal'
  | 'time_went_back'
  | 'version_gap'
  | 'version_twice'
  | 'broken_chain'
  | 'unlinked_key'
  | 'no_possession'
  | 'key_used_before'

/** Proof that a key lacks: its leaf has none, because a client made the key that does not make proofs. */
export type MissingKeyProof = Extract<KeyHistoryError, 'unlinked_key' | 'no_possession'>

/** What the next leaf of an identity is checked against. It is plain JSON, so that it can be stored. */
export type KeyHistoryState = {
  identity: string
  keyVersion: number
  publicKey: string
  /** Key of the version before. */
  formerPublicKey: string | null
  /** Hash of the last leaf, base64. */
  head: string
  /** Instant of the last leaf. */
  at: string
  /** Event of the last leaf; a key is adopted once. */
  event: KeyEvent['event']
  hasPossession: boolean
  /** True of a first key too. */
  isLinked: boolean
}

/** Key in a history. It is in force from `createdAt` until before `endedAt`. */
export type HistoryKey = Pick<KeyHistoryState, 'keyVersion' | 'publicKey' | 'hasPossession' | 'isLinked'> & {
  /** Index of the leaf that made it. */
  index: number
  createdAt: string
  endedAt: string | null
}

/** History without error: all keys, oldest first, and the state after the last leaf. */
export type KeyHistory = { keys: HistoryKey[]; state: KeyHistoryState }

/** Leaf with its index in the log. */
export type IndexedLeaf = { index: number; leaf: string }

/**
 * Checks the next leaf of an identity. `state` is undefined before its first leaf. An absent proof is not an error;
 * a wrong one is. Of the keys before, it knows the last two alone. Hostile leaves do not make it throw.
 */
export function advanceKeyHistory(
  suite: NoteSuite,
  log: string,
  state: KeyHistoryState | undefined,
  leaf: string,
): KeyHistoryState | KeyHistoryError {
  const next = readKeyEvent(leaf)
  if (typeof next === 'string') return next
  const error = findSequenceError(state, next) ?? findProofError(suite, log, state, next)
  const former = state ? [state.publicKey, state.formerPublicKey] : []
  if (!error && isOfNewKey(next.event) && former.includes(next.publicKey)) return 'key_used_before'
  return error ?? append(state, next, hashKeyEvent(suite.sha256, leaf))
}

/**
 * Checks all leaves of an identity, in the order of the log. Returns the first error, and which leaf has it (from 0);
 * an identity without leaves has a `version_gap`.
 */
export function readKeyHistory(
  suite: NoteSuite,
  { log, identityId, leaves }: { log: string; identityId: string; leaves: readonly IndexedLeaf[] },
): KeyHistory | { error: KeyHistoryError; position: number } {
  const identity = identityDigest(suite.sha256, identityId)
  let state: KeyHistoryState | undefined
  const keys: HistoryKey[] = []
  for (const [position, { index, leaf }] of leaves.entries()) {
    if (index <= (leaves[position - 1]?.index ?? -1)) return { error: 'broken_chain', position }
    const next = advanceKeyHistory(suite, log, state, leaf)
    if (typeof next === 'string') return { error: next, position }
    if (next.identity !== identity) return { error: 'other_identity', position }
    // A key that was replaced may have been stolen, and the owner of its successor can be led to link it.
    const { publicKey, keyVersion } = next
    if (keys.some((key) => key.publicKey === publicKey && key.keyVersion < keyVersion))
      return { error: 'key_used_before', position }
    state = next
    addToKeys(keys, state, index)
  }
  return state ? { keys, state } : { error: 'version_gap', position: 0 }
}

/**
 * Returns what is not proved of a key: that the user holds it, and that each key up to it was named by the key before.
 * A break that was not closed before the next rotation stays. A key after a recovery has such a break: it may be
 * another person's.
 */
export function listMissingKeyProofs({ keys }: Pick<KeyHistory, 'keys'>, keyVersion: number): MissingKeyProof[] {
  const isLinked = keys.every((key) => key.keyVersion > keyVersion || key.isLinked)
  const hasPossession = keys.some((key) => key.keyVersion === keyVersion && key.hasPossession)
  return [...(isLinked ? [] : (['unlinked_key'] as const)), ...(hasPossession ? [] : (['no_possession'] as const))]
}

/** Checks everything but the proofs: the identity, the time, the version and the chain. */
function findSequenceError(state: KeyHistoryState | undefined, next: KeyEvent): KeyHistoryError | undefined {
  if (state && next.identity !== state.identity) return 'other_identity'
  if (state?.event === 'removed') return 'after_removal'
  if (state && next.at < state.at) return 'time_went_back'
  const isSameKey = !isOfNewKey(next.event)
  const due = (state?.keyVersion ?? 0) + (isSameKey ? 0 : 1)
  if (next.keyVersion < due) return 'version_twice'
  if (next.keyVersion > due) return 'version_gap'
  if (isSameKey && next.publicKey !== state?.publicKey) return 'version_twice'
  if (next.event === 'adopted' && state?.event === 'adopted') return 'version_twice'
  return next.previous === (state?.head ?? null) ? undefined : 'broken_chain'
}

/**
 * Checks the proofs that the leaf has. The former key signs the link: of a rotation that is the key in force, and of an
 * adoption the one before it.
 */
function findProofError(
  { verifyEd25519 }: NoteSuite,
  log: string,
  state: KeyHistoryState | undefined,
  next: KeyEvent,
): KeyHistoryError | undefined {
  const { link, possession, publicKey } = next
  const former = next.event === 'adopted' ? state?.formerPublicKey : state?.publicKey
  const isOfFormer = (signature: string) =>
    isSignedBy(verifyEd25519, { publicKey: former ?? '', signature }, keyLinkMessage(log, next))
  if (link !== null && !isOfFormer(link)) return 'unlinked_key'
  const isOfKey = (signature: string) =>
    isSignedBy(verifyEd25519, { publicKey, signature }, keyPossessionMessage(log, next))
  return possession !== null && !isOfKey(possession) ? 'no_possession' : undefined
}

function append(state: KeyHistoryState | undefined, next: KeyEvent, head: string): KeyHistoryState {
  const { identity, keyVersion, publicKey, at, event } = next
  const isSameKey = state?.keyVersion === keyVersion
  return {
    identity,
    keyVersion,
    publicKey,
    formerPublicKey: (isSameKey ? state.formerPublicKey : state?.publicKey) ?? null,
    head,
    at,
    event,
    hasPossession: next.possession !== null || (isSameKey && state.hasPossession),
    isLinked: keyVersion === 1 || next.link !== null || (isSameKey && state.isLinked),
  }
}

/** Adds a new key, ends the one before, or notes what an adoption or removal changes of the last one. */
function addToKeys(keys: HistoryKey[], state: KeyHistoryState, index: number): void {
  const { keyVersion, publicKey, hasPossession, isLinked, at, event } = state
  const last = keys.at(-1)
  if (!last || last.keyVersion < keyVersion) {
    if (last) last.endedAt = at
    keys.push({ index, keyVersion, publicKey, hasPossession, isLinked, createdAt: at, endedAt: null })
    return
  }
  Object.assign(last, { hasPossession, isLinked, endedAt: event === 'removed' ? at : null })
}
