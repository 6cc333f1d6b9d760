/**
 * A leaf of the log of signing keys: what became of a key, in bytes that everybody computes alike (RFC 8785).
 */
import { fromCanonicalBase64, toBase64 } from '../base64.ts'
import type { Sha256 } from './merkle-tree.ts'

/** A key that replaced one is `rotated`; `removed` is the last key of an identity that is gone. */
export type KeyEventKind = 'created' | 'rotated' | 'removed'

export type KeyEvent = {
  event: KeyEventKind
  /** Whose key it is, told only to those who know the identity: see `identityDigest`. */
  identity: string
  publicKey: string
  keyVersion: number
  at: string
}

const version = 1

/** The fields in the order that RFC 8785 gives them. */
export function writeKeyEvent({ event, identity, publicKey, keyVersion, at }: KeyEvent): string {
  return JSON.stringify({ at, event, identity, keyVersion, publicKey, version })
}

/** The event of a leaf; undefined where these are not the bytes that an event is written in. */
export function readKeyEvent(leaf: string): KeyEvent | undefined {
  const read = parse(leaf)
  if (typeof read !== 'object' || read === null) return undefined
  const { event, identity, publicKey, keyVersion, at } = { ...empty, ...read }
  if (!isKind(event) || !isDigest(identity) || !isDigest(publicKey)) return undefined
  if (typeof keyVersion !== 'number' || !Number.isInteger(keyVersion) || keyVersion < 1) return undefined
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return undefined
  const found = { event, identity, publicKey, keyVersion, at }
  return writeKeyEvent(found) === leaf ? found : undefined
}

/**
 * By what an identity is found in the log: the log lists nobody, and yet whoever knows an identity by its id finds
 * every leaf of it, and can be shown no other. An id has 74 random bits, which nobody tries out.
 */
export function identityDigest(sha256: Sha256, identityId: string): string {
  return toBase64(sha256(new TextEncoder().encode(`${digestPrefix}${identityId}`)))
}

export const digestPrefix = 'countersign/transparency/identity/v1:'

const empty: Record<string, unknown> = {}

function parse(leaf: string): unknown {
  try {
    return JSON.parse(leaf)
  } catch {
    // Not JSON, and so no leaf of ours.
    return undefined
  }
}

function isKind(value: unknown): value is KeyEventKind {
  return value === 'created' || value === 'rotated' || value === 'removed'
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && fromCanonicalBase64(value)?.length === 32
}
