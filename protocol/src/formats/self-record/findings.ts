/** What the evidence of an alarm proves to others, who trust the key of the log and nothing else in the file. */
import type { NoteKey, NoteSuite } from '../signing/checkpoint.ts'
import { findPromiseError } from '../signing/inclusion-promise.ts'
import type { KeyEvent } from '../signing/key-event.ts'
import { advanceKeyHistory, type KeyHistoryError, type KeyHistoryState } from '../signing/key-history.ts'
import { verifyCheckpoint, verifyKeyInclusion } from '../signing/key-inclusion.ts'
import { sameBytes } from '../signing/bytes.ts'
import type { Evidence } from './evidence.ts'
import { findHeadContradiction } from './log-heads.ts'

export type Finding =
  /** Two heads of one size with two roots, both signed: two logs under one name. Proved. */
  | { kind: 'fork'; size: number; isProved: true }
  /** Two signed heads, without a proof that one continues the other. Only the log can answer. */
  | { kind: 'unconnected_heads'; from: number; to: number; isProved: false }
  /** A head that the key has not signed, so anyone may have made it. */
  | { kind: 'unsigned_head'; isProved: false }
  /** Entry of the identity in the signed log that breaks a rule of key histories. Proved. */
  | { kind: 'invalid_entry'; index: number; event: KeyEvent; error: KeyHistoryError; isProved: true }
  /** Entry of a key in the signed log. `missing` are the proofs by its owner that it lacks. */
  | { kind: 'key_entry'; index: number; event: KeyEvent; isForeign: boolean; missing: string[]; isProved: boolean }
  /** Promise of the log to contain an entry. It is kept: a list of all entries after `due` breaks or keeps it. */
  | { kind: 'promise'; publicKey: string | null; issued: string; due: string; isProved: false }

/** Lists what the evidence shows under a key of the log. The list is empty if the key has signed nothing in it. */
export function listFindings(suite: NoteSuite, evidence: Evidence, key: NoteKey): Finding[] {
  return [
    ...findingsOfHeads(suite, evidence, key),
    ...findingsOfLeaves(suite, evidence, key),
    ...promiseOf(suite, evidence, key),
  ]
}

function findingsOfHeads(suite: NoteSuite, { checkpoints, proof }: Evidence, key: NoteKey): Finding[] {
  const heads = checkpoints.map((note) => verifyCheckpoint(suite, note, key))
  const signed = heads.filter((head) => head !== undefined)
  const unsigned: Finding[] = signed.length < heads.length ? [{ kind: 'unsigned_head', isProved: false }] : []
  const forked = signed.find((one) => signed.some(({ size, root }) => size === one.size && !sameBytes(root, one.root)))
  if (forked) return [{ kind: 'fork', size: forked.size, isProved: true }, ...unsigned]
  const sizes = signed.map(({ size }) => size)
  const [from, to] = [Math.min(...sizes), Math.max(...sizes)]
  if (signed.length < 2 || from === to) return unsigned
  const notes = checkpoints.filter((_, index) => heads[index])
  const proofs = proof ? [proof] : []
  const isConnected = !findHeadContradiction(suite, key, { known: [], answered: notes, proofs })
  return isConnected ? unsigned : [{ kind: 'unconnected_heads', from, to, isProved: false }, ...unsigned]
}

/**
 * Reads the leaves that the last signed head contains. Each is checked against the one before it only where it names
 * it: who made the file may have left out leaves.
 */
function findingsOfLeaves(suite: NoteSuite, evidence: Evidence, key: NoteKey): Finding[] {
  const { identityId, checkpoints, leaves, publicKey } = evidence
  const checkpoint = checkpoints.findLast((note) => verifyCheckpoint(suite, note, key))
  if (identityId === null || checkpoint === undefined) return []
  const found: Finding[] = []
  let state: KeyHistoryState | undefined
  for (const logged of leaves) {
    const event = verifyKeyInclusion(suite, { identityId, checkpoint, ...logged }, key)?.event
    if (!event) continue
    const { index } = logged
    const follows = event.previous === (state?.head ?? null)
    const next = advanceKeyHistory(suite, key.name, state, logged.leaf)
    if (typeof next === 'string') {
      if (follows || isProvable(next)) found.push({ kind: 'invalid_entry', index, event, error: next, isProved: true })
      state = undefined
      continue
    }
    state = next
    const missing = [...(next.isLinked ? [] : ['link']), ...(next.hasPossession ? [] : ['possession'])]
    const isForeign = event.publicKey === publicKey
    found.push({ kind: 'key_entry', index, event, isForeign, missing, isProved: isForeign && missing.length > 0 })
  }
  return found
}

/** Checks whether an error lies in the leaf itself, whatever precedes it. */
function isProvable(error: KeyHistoryError): boolean {
  return error === 'malformed_leaf' || error === 'unknown_event' || error === 'no_possession'
}

function promiseOf(suite: NoteSuite, { promised, publicKey }: Evidence, key: NoteKey): Finding[] {
  if (!promised || findPromiseError(suite, promised.promise, { leaf: promised.leaf, logKey: key })) return []
  const { issued, due } = promised.promise
  return [{ kind: 'promise', publicKey, issued, due, isProved: false }]
}
