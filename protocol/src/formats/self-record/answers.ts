/** What the service answers about the keys of a user, and what a device remembers of earlier answers. */
import type { SizeProof } from './log-heads.ts'
import type { KnownLog, SelfRecord } from './record.ts'

export type LoggedLeaf = { index: number; leaf: string; hashes: string[] }

/** All leaves of an identity, in pages, each with the signed head under which its proofs are. */
export type AnsweredHistory = { identityId: string; pages: { checkpoint: string; events: LoggedLeaf[] }[] }

/** Current key of an identity as the service names it, and whether the master key opens its private half. */
export type NamedKey = { identityId: string; handle: string; publicKey: string; isOwn: boolean }

export type Answers = {
  /** The log's key as the service names it; read only where none is known. */
  logKey: string | null
  histories: AnsweredHistory[]
  keys: NamedKey[]
  /** IDs of all identities of the user, also those without a key. */
  identityIds: string[]
  proofs: SizeProof[]
}

/** Self-record as the service answered it. */
export type AnsweredRecord =
  | { kind: 'absent' }
  /** It does not open under the master key, or has not the form of a record. */
  | { kind: 'damaged' }
  | { kind: 'newer' }
  | { kind: 'record'; record: SelfRecord }

/** What this device remembers of an identity. */
export type RememberedIdentity = { handle: string; head: string | null; leaves: number; publicKey: string | null }

/** What one device remembers of a user. It finds what a thief of the master key could write into the self-record. */
export type DeviceMemory = {
  identities: Record<string, RememberedIdentity>
  log: KnownLog | null
  /** Highest sequence of a self-record that it has read or written; 0 before the first. */
  sequence: number
  /** Instant since which no check could be completed; null if the last one was. */
  unreachableSince: string | null
  version: 1
}
