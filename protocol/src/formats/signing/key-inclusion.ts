import { fromCanonicalBase64 } from '../base64.ts'
import { sameBytes } from './bytes.ts'
import { verifyNote, readCheckpoint, type Checkpoint, type NoteKey, type NoteSuite } from './checkpoint.ts'
import { identityDigest, parseKeyEvent, type KeyEvent } from './key-event.ts'
import { hashLeaf, rootFromInclusionProof } from './merkle-tree.ts'

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
  const path = hashes.flatMap((hash) => fromCanonicalBase64(hash) ?? [])
  if (!head || path.length < hashes.length) return undefined

  const leafHash = hashLeaf(sha256, new TextEncoder().encode(leaf))
  const root = rootFromInclusionProof(sha256, { index, size: head.size, leafHash, hashes: path })
  const event = parseKeyEvent(leaf)
  if (!root || !sameBytes(root, head.root) || event?.identity !== identityDigest(sha256, identityId)) return undefined
  return { checkpoint: head, event }
}

/** Returns a checkpoint that this key has signed, for the log of the key's name. */
export function verifyCheckpoint(suite: NoteSuite, note: string, logKey: NoteKey): Checkpoint | undefined {
  const text = verifyNote(suite, note, logKey)
  const checkpoint = text === undefined ? undefined : readCheckpoint(text)
  return checkpoint?.origin === logKey.name ? checkpoint : undefined
}
