/** Rules for the signed heads of one log: each must continue all that were seen before. */
import { fromCanonicalBase64 } from '../base64.ts'
import type { Checkpoint, NoteKey, NoteSuite } from '../signing/checkpoint.ts'
import { verifyCheckpoint } from '../signing/key-inclusion.ts'
import { isConsistent } from '../signing/merkle-tree.ts'

/** Consistency proof between two sizes of a log, as the service answers it. */
export type SizeProof = { from: number; to: number; hashes: string[] }

export type LogHeadError = 'other_log_key' | 'log_rolled_back' | 'log_forked'

/** Two signed heads, of which the second does not continue the first. */
export type HeadContradiction = { error: LogHeadError; checkpoints: string[]; proof: SizeProof | null }

/**
 * Checks that the heads of an answer continue the known ones, and each other. `known` were verified before, `answered`
 * were fetched after `known` was read.
 */
export function findHeadContradiction(
  suite: NoteSuite,
  key: NoteKey,
  { known, answered, proofs }: { known: string[]; answered: string[]; proofs: readonly SizeProof[] },
): HeadContradiction | undefined {
  const notes = [...new Set([...known, ...answered])]
  const heads = notes.flatMap((note) => ({ note, head: verifyCheckpoint(suite, note, key) }))
  const foreign = heads.find(({ head }) => !head)
  if (foreign) return { error: 'other_log_key', checkpoints: [foreign.note], proof: null }
  const sorted = heads
    .flatMap(({ note, head }) => (head ? [{ note, ...head }] : []))
    .toSorted((one, other) => one.size - other.size)
  const latest = sorted.findLast(({ note }) => known.includes(note))
  const back = latest && sorted.find(({ note, size }) => size < latest.size && answered.includes(note))
  for (const [index, to] of sorted.entries()) {
    const from = sorted[index - 1]
    if (!from) continue
    const proof = proofs.find((each) => each.from === from.size && each.to === to.size) ?? null
    if (continues(suite, from, to, proof)) continue
    return { error: 'log_forked', checkpoints: [from.note, to.note], proof }
  }
  if (back) return { error: 'log_rolled_back', checkpoints: [latest.note, back.note], proof: null }
  return undefined
}

/** Returns the pairs of sizes for which `findHeadContradiction` needs a proof. Ignores what is not a signed head. */
export function listNeededProofs(suite: NoteSuite, key: NoteKey, notes: string[]): { from: number; to: number }[] {
  const sizes = notes.flatMap((note) => verifyCheckpoint(suite, note, key)?.size ?? [])
  const sorted = [...new Set(sizes)].filter((size) => size > 0).toSorted((one, other) => one - other)
  return sorted.slice(1).map((to, index) => ({ from: sorted[index] ?? 0, to }))
}

function continues({ sha256 }: NoteSuite, from: Checkpoint, to: Checkpoint, proof: SizeProof | null): boolean {
  const hashes = (proof?.hashes ?? []).map(fromCanonicalBase64)
  const decoded = hashes.filter((hash) => hash !== undefined)
  if (decoded.length < hashes.length) return false
  return isConsistent(sha256, { from, to, hashes: from.size === to.size ? [] : decoded })
}
