/**
 * Leaf of the log of signing keys: an event of a key, in bytes that are the same for every implementation (RFC 8785).
 */
import { fromCanonicalBase64, toBase64 } from '../base64.ts'
import { isObject } from '../json.ts'
import { parseCanonicalJson, writeCanonicalJson } from './canonical-json.ts'
import type { Sha256 } from './merkle-tree.ts'

/** Kind of a key event. `rotated` is a key that replaced another; `removed` is the last key of a deleted identity. */
export type KeyEventKind = 'created' | 'rotated' | 'removed'

export type KeyEvent = {
  event: KeyEventKind
  /** Owner of the key, recognizable only with the identity's ID: see `identityDigest`. */
  identity: string
  publicKey: string
  keyVersion: number
  at: string
}

const version = 1

/** Formats a key event. */
export function writeKeyEvent({ event, identity, publicKey, keyVersion, at }: KeyEvent): string {
  return writeCanonicalJson({ at, event, identity, keyVersion, publicKey, version })
}

/** Parses a leaf; returns undefined if the bytes are not the canonical form of an event. */
export function parseKeyEvent(leaf: string): KeyEvent | undefined {
  const read = parseCanonicalJson(leaf)
  if (!isObject(read)) return undefined
  const { event, identity, publicKey, keyVersion, at } = read
  if (!isKind(event) || !isDigest(identity) || !isDigest(publicKey)) return undefined
  if (typeof keyVersion !== 'number' || !Number.isInteger(keyVersion) || keyVersion < 1) return undefined
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return undefined
  const found = { event, identity, publicKey, keyVersion, at }
  return writeKeyEvent(found) === leaf ? found : undefined
}

/**
 * Computes the digest by which an identity is found in the log. The log lists no identities, but a client that knows an
 * identity's ID finds all its leaves and cannot be shown others. An ID has 74 random bits, too many to guess.
 */
export function identityDigest(sha256: Sha256, identityId: string): string {
  return toBase64(sha256(new TextEncoder().encode(`${digestPrefix}${identityId}`)))
}

export const digestPrefix = 'countersign/transparency/identity/v1:'

function isKind(value: unknown): value is KeyEventKind {
  return value === 'created' || value === 'rotated' || value === 'removed'
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && fromCanonicalBase64(value)?.length === 32
}
