/**
 * Leaf of the log of signing keys: an event of a key, in bytes that are the same for every implementation (RFC 8785).
 * Each leaf names the leaf before it of the same identity, so the leaves of an identity form a chain.
 */
import { fromCanonicalBase64, toBase64 } from '../base64.ts'
import { isObject } from '../json.ts'
import { parseCanonicalJson, writeCanonicalJson } from './canonical-json.ts'
import { isValidPublicKey } from './ed25519.ts'
import { frame } from './frame.ts'
import { isCanonicalInstant } from './instant.ts'
import { hashLeaf, type Sha256 } from './merkle-tree.ts'

/**
 * Kind of a key event. `rotated` is a key that replaced another; `adopted` proves a key that was logged without proof;
 * `removed` is the last key of a deleted identity; `recovered` is a key that replaced a lost one, with no link to it.
 */
export const keyEventKinds = ['created', 'rotated', 'adopted', 'removed', 'recovered'] as const
export type KeyEventKind = (typeof keyEventKinds)[number]

/** Checks whether an event brings a key into force that was not before. The others concern the key in force. */
export function isOfNewKey(kind: KeyEventKind): boolean {
  return kind === 'created' || kind === 'rotated' || kind === 'recovered'
}

/** Parts of a key event that its two proofs sign, together with the name of the log. */
export type ProvedKeyEvent = {
  event: KeyEventKind
  /** Owner of the key, recognizable only with the identity's ID: see `identityDigest`. */
  identity: string
  keyVersion: number
  /** Hash of this identity's leaf before (`hashKeyEvent`), base64; null in its first leaf. */
  previous: string | null
  publicKey: string
}

export type KeyEvent = ProvedKeyEvent & {
  at: string
  /** Signature of `keyLinkMessage` by the key of the version before, base64; null if there is none. */
  link: string | null
  /** Signature of `keyPossessionMessage` by the key itself, base64; null if there is none. */
  possession: string | null
}

/** Cause for which a text is not a leaf. Readers know all five events, and refuse any other. */
export type LeafError = 'malformed_leaf' | 'unknown_event'

const version = 2

/** Formats a key event. */
export function writeKeyEvent(keyEvent: KeyEvent): string {
  const { at, event, identity, keyVersion, link, possession, previous, publicKey } = keyEvent
  return writeCanonicalJson({ at, event, identity, keyVersion, link, possession, previous, publicKey, version })
}

/** Parses a leaf; returns undefined if the text is not the canonical form of an event. */
export function parseKeyEvent(leaf: string): KeyEvent | undefined {
  const found = readKeyEvent(leaf)
  return typeof found === 'string' ? undefined : found
}

/** Parses a leaf; returns the cause if the text is not the canonical form of an event. */
export function readKeyEvent(leaf: string): KeyEvent | LeafError {
  const fields = parseCanonicalJson(leaf)
  if (!isObject(fields)) return 'malformed_leaf'
  const { event, identity, publicKey, keyVersion, at, link, possession, previous } = fields
  if (typeof event !== 'string') return 'malformed_leaf'
  if (!isKind(event)) return 'unknown_event'
  if (!isDigest(identity) || !isPublicKey(publicKey)) return 'malformed_leaf'
  if (typeof keyVersion !== 'number' || keyVersion < 1) return 'malformed_leaf'
  if (typeof at !== 'string' || !isCanonicalInstant(at)) return 'malformed_leaf'
  if (!isSignature(link) || !isSignature(possession) || !(previous === null || isDigest(previous)))
    return 'malformed_leaf'
  const found = { at, event, identity, keyVersion, link, possession, previous, publicKey }
  return hasItsFields(found) && writeKeyEvent(found) === leaf ? found : 'malformed_leaf'
}

/** Builds the message that the key of the version before signs: it names the new key as its successor. */
export function keyLinkMessage(log: string, keyEvent: ProvedKeyEvent): Uint8Array<ArrayBuffer> {
  return frame('countersign/key-link/v2', provedFields(log, keyEvent))
}

/** Builds the message that the key itself signs: it belongs to this identity. */
export function keyPossessionMessage(log: string, keyEvent: ProvedKeyEvent): Uint8Array<ArrayBuffer> {
  return frame('countersign/key-possession/v2', provedFields(log, keyEvent))
}

/** Computes the hash of a leaf (RFC 9162 §2.1.1), base64: what `previous` of the next leaf names. */
export function hashKeyEvent(sha256: Sha256, leaf: string): string {
  return toBase64(hashLeaf(sha256, new TextEncoder().encode(leaf)))
}

/**
 * Computes the digest by which an identity is found in the log. The log lists no identities, but a client that knows an
 * identity's ID finds all its leaves and cannot be shown others. An ID has 74 random bits, too many to guess.
 */
export function identityDigest(sha256: Sha256, identityId: string): string {
  return toBase64(sha256(new TextEncoder().encode(`${digestPrefix}${identityId}`)))
}

export const digestPrefix = 'countersign/transparency/identity/v1:'

function provedFields(log: string, { event, identity, keyVersion, previous, publicKey }: ProvedKeyEvent) {
  return { event, identity, keyVersion, log, previous, publicKey }
}

/** Checks what an event needs by itself: its version, and the proofs that it may or must have. */
function hasItsFields({ event, keyVersion, link, possession }: KeyEvent): boolean {
  if (event === 'created') return keyVersion === 1 && link === null
  if (event === 'rotated') return keyVersion > 1
  if (event === 'adopted') return possession !== null && (keyVersion > 1 || link === null)
  if (event === 'recovered') return keyVersion > 1 && link === null && possession !== null
  return link === null && possession === null
}

function isKind(value: string): value is KeyEventKind {
  return keyEventKinds.some((kind) => kind === value)
}

/** Checks that a value is the base64 of a SHA-256. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && fromCanonicalBase64(value)?.length === 32
}

function isPublicKey(value: unknown): value is string {
  const bytes = typeof value === 'string' ? fromCanonicalBase64(value) : undefined
  return bytes !== undefined && isValidPublicKey(bytes)
}

function isSignature(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && fromCanonicalBase64(value)?.length === 64)
}
