import { timingSafeEqual } from 'node:crypto'
import { peopleSearch } from '@countersign/protocol/operations/people-search'
import { isUuid } from '@countersign/protocol/values'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import type { Keyring } from '#platform/crypto/keyring.ts'

/** Row after which a page begins. `key` is its value in the order of the list, as text. */
export type Position = { key: string; identityId: IdentityId }

/** Number of identities that a list has, as its first page counted them. */
export type Count = { count: number; countIs: 'exact' | 'at_least' }

const macBytes = 16

/** Writes a cursor, which is valid for the same `question` only: text of the filters and the order. */
export function writeCursor(keyring: Keyring, question: string, { key, identityId, count, countIs }: Position & Count) {
  const text = JSON.stringify([key, identityId, count, countIs])
  return Buffer.concat([macOf(keyring, question, text), Buffer.from(text)]).toString('base64url')
}

/** Reads a cursor. Returns undefined unless this service wrote it for this question. */
export function readCursor(keyring: Keyring, question: string, cursor: string): (Position & Count) | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) return undefined
  const text = bytes.subarray(macBytes).toString()
  if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(keyring, question, text))) return undefined
  const values: unknown = JSON.parse(text)
  const [key, identityId, count, countIs] = isList(values) ? values : []
  if (typeof key !== 'string' || typeof identityId !== 'string' || !isUuid(identityId)) return undefined
  if (typeof count !== 'number' || count > peopleSearch.countMax) return undefined
  return { key, identityId: asId<IdentityId>(identityId), count, countIs: countIs === 'exact' ? 'exact' : 'at_least' }
}

function macOf(keyring: Keyring, question: string, text: string): Buffer {
  return keyring.mac(`people-cursor:${question}`, text).subarray(0, macBytes)
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}
