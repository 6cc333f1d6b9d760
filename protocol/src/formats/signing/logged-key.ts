import { fromCanonicalBase64 } from '../base64.ts'
import { openNote, readCheckpoint, type Checkpoint, type NoteKey, type NoteSuite } from './checkpoint.ts'
import { identityDigest, readKeyEvent, type KeyEvent } from './key-event.ts'
import { hashLeaf, rootByInclusion } from './merkle-tree.ts'

/** What a log tells of a key of an identity, and what proves that it does under a checkpoint. */
export type LoggedKey = { identityId: string; checkpoint: string; index: number; leaf: string; hashes: string[] }

/**
 * The event that the log tells, where all of it holds together: the checkpoint is signed by the key of the log, the
 * leaf stands in its tree, and is of this identity. Undefined otherwise.
 */
export function openLoggedKey(
  suite: NoteSuite,
  { identityId, checkpoint, index, leaf, hashes }: LoggedKey,
  logKey: NoteKey,
): { checkpoint: Checkpoint; event: KeyEvent } | undefined {
  const { sha256 } = suite
  const head = openCheckpoint(suite, checkpoint, logKey)
  const path = hashes.flatMap((hash) => fromCanonicalBase64(hash) ?? [])
  if (!head || path.length < hashes.length) return undefined

  const leafHash = hashLeaf(sha256, new TextEncoder().encode(leaf))
  const root = rootByInclusion(sha256, { index, size: head.size, leafHash, hashes: path })
  const event = readKeyEvent(leaf)
  if (!root || !sameBytes(root, head.root) || event?.identity !== identityDigest(sha256, identityId)) return undefined
  return { checkpoint: head, event }
}

/** A checkpoint that this key has signed, of the log that bears its name. */
export function openCheckpoint(suite: NoteSuite, note: string, logKey: NoteKey): Checkpoint | undefined {
  const text = openNote(suite, note, logKey)
  const checkpoint = text === undefined ? undefined : readCheckpoint(text)
  return checkpoint?.origin === logKey.name ? checkpoint : undefined
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
