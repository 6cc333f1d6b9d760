/**
 * Self-record: what a user's browser knows of their own signing keys and of the log, sealed under their master key. The
 * service stores it and can neither read nor write it, so at each unlock the browser compares the service's answers
 * with it.
 */
import { fromCanonicalBase64 } from '../base64.ts'
import { isObject } from '../json.ts'
import { parseCanonicalJson, writeCanonicalJson } from '../signing/canonical-json.ts'
import type { SignedInclusionPromise } from '../signing/inclusion-promise.ts'
import { isCanonicalInstant } from '../signing/instant.ts'
import { pageLimits } from '../registries/page-limits.ts'

/** Leaf that the log has promised to contain. */
export type PromisedLeaf = { leaf: string; promise: SignedInclusionPromise }

/** Key that its owner has made and that the log did not contain yet. */
export type PendingKey = {
  /** The log's promise; null if the client that made the key did not get or keep it. */
  promised: PromisedLeaf | null
  publicKey: string
  /** Instant at which a client of the user first knew the key. */
  since: string
}

/** What is known of an identity's key history. The last leaf commits to all before it, because leaves are a chain. */
export type IdentityEntry = {
  /** Hash of the last leaf, base64; null before the first. */
  head: string | null
  /** Number of leaves up to that one. */
  leaves: number
  /** Keys that the log did not contain yet, oldest first; at most `pageLimits.selfRecordPendingMax`. */
  pending: PendingKey[]
}

/** Log as it was last seen: its key in the format of C2SP log tools, and its signed head. */
export type KnownLog = { checkpoint: string; key: string }

/**
 * Version 1. Members that this version does not know are kept when the record is written again; what an older reader
 * must not ignore gets a higher version.
 */
export type SelfRecord = {
  /** By the ID of the identity, also those without a key. */
  identities: Record<string, IdentityEntry>
  /** Null until the log was read for the first time. */
  log: KnownLog | null
  /** Grows by one with each write, from 1. */
  sequence: number
  version: 1
}

/** `newer_record` is a record of a later version; this one must not overwrite it. */
export type RecordError = 'malformed_record' | 'newer_record'

export const recordVersion = 1 as const

/** Writes a record. Throws a `RangeError` above 32 KiB, which 20 identities with pending keys do not reach. */
export function writeSelfRecord(record: SelfRecord): string {
  const text = writeCanonicalJson(record)
  if (new TextEncoder().encode(text).length > pageLimits.selfRecordBytesMax)
    throw new RangeError('The record is too long.')
  return text
}

/** Parses a record that was opened with the master key. */
export function readSelfRecord(text: string): SelfRecord | RecordError {
  const value = parseCanonicalJson(text)
  if (!isObject(value)) return 'malformed_record'
  const { version, sequence, log, identities } = value
  if (isCount(version) && version > recordVersion) return 'newer_record'
  if (version !== recordVersion || !isCount(sequence) || sequence < 1) return 'malformed_record'
  if (!(log === null || isKnownLog(log)) || !isEntries(identities)) return 'malformed_record'
  return { ...value, version, sequence, log, identities }
}

export function isKnownLog(value: unknown): value is KnownLog {
  return isObject(value) && typeof value['key'] === 'string' && typeof value['checkpoint'] === 'string'
}

function isEntries(value: unknown): value is Record<string, IdentityEntry> {
  return isObject(value) && !Array.isArray(value) && Object.values(value).every(isEntry)
}

function isEntry(value: unknown): value is IdentityEntry {
  if (!isObject(value) || !isCount(value['leaves'])) return false
  const { head, leaves, pending } = value
  return isHead(head, leaves) && Array.isArray(pending) && pending.every(isPending)
}

/** Checks that there is a hash exactly if there are leaves. */
export function isHead(head: unknown, leaves: number): head is string | null {
  if (leaves === 0) return head === null
  return typeof head === 'string' && fromCanonicalBase64(head)?.length === 32
}

function isPending(value: unknown): value is PendingKey {
  if (!isObject(value) || typeof value['publicKey'] !== 'string') return false
  const { since, promised } = value
  return typeof since === 'string' && isCanonicalInstant(since) && (promised === null || isPromisedLeaf(promised))
}

export function isPromisedLeaf(value: unknown): value is PromisedLeaf {
  if (!isObject(value) || typeof value['leaf'] !== 'string' || !isObject(value['promise'])) return false
  const { due, issued, leaf, log, signature } = value['promise']
  return [due, issued, leaf, log, signature].every((member) => typeof member === 'string')
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
