import { fromCanonicalBase64 } from '../base64.ts'
import { sameBytes } from './bytes.ts'
import { verifyNote, readCheckpoint, type Checkpoint, type NoteKey, type NoteSuite } from './checkpoint.ts'
import { identityDigest, parseKeyEvent, type KeyEvent } from './key-event.ts'
import { hashLeaf, rootFromInclusionProof, type Sha256 } from './merkle-tree.ts'

/** Log entry of an identity's key, with the proof of it under a checkpoint. */
export type LoggedKey = { identityId: string; checkpoint: string; index: number; leaf: string; hashes: string[] }

/**
 * Returns the logged event if everything is consistent: the log key has signed the checkpoint, and its tree contains
 * the leaf, which belongs to this identity. Returns undefined otherwise.
 */
export function verifyKeyInclusion(
  suite: NoteSuite,
  { identityId, checkpoint, index, leaf, hashes }: LoggedKey,
  logKey: NoteKey,
): { checkpoint: Checkpoint; event: KeyEvent } | undefined {
  const { sha256 } = suite
  const head = verifyCheckpoint(suite, checkpoint, logKey)
  const event = parseKeyEvent(leaf)
  if (!head || !containsLeaf(sha256, head, { index, leaf, hashes })) return undefined
  return event?.identity === identityDigest(sha256, identityId) ? { checkpoint: head, event } : undefined
}

/** Checks the proof that the tree of a checkpoint contains a leaf at this index. */
export function containsLeaf(
  sha256: Sha256,
  { size, root }: Checkpoint,
  { index, leaf, hashes }: Pick<LoggedKey, 'index' | 'leaf' | 'hashes'>,
): boolean {
  const path = hashes.flatMap((hash) => fromCanonicalBase64(hash) ?? [])
  if (path.length < hashes.length) return false
  const leafHash = hashLeaf(sha256, new TextEncoder().encode(leaf))
  const proved = rootFromInclusionProof(sha256, { index, size, leafHash, hashes: path })
  return proved !== undefined && sameBytes(proved, root)
}

/** Returns a checkpoint that this key has signed, for the log of the key's name. */
export function verifyCheckpoint(suite: NoteSuite, note: string, logKey: NoteKey): Checkpoint | undefined {
  const text = verifyNote(suite, note, logKey)
  const checkpoint = text === undefined ? undefined : readCheckpoint(text)
  return checkpoint?.origin === logKey.name ? checkpoint : undefined
}
