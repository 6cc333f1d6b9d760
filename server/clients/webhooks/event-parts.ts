import type { IdentityId } from '@countersign/protocol/ids'

/** A value that ends with an identity, because it contains its username. An event has at most one of an identity. */
export type EventPart = {
  identityId: IdentityId
  /** Names and indexes that lead from the data of the event to the value. */
  path: string[]
  value: object
}

/** A part as it is stored: its value is JSON. */
export type StoredPart = { path: string[]; value: string }

/** Adds parts to the payload of an event. Without parts, the payload stays the same text. */
export function addParts(payload: string, parts: StoredPart[]): string {
  if (parts.length === 0) return payload
  const event: unknown = JSON.parse(payload)
  for (const { path, value } of parts) setAt(event, ['data', ...path], JSON.parse(value))
  return JSON.stringify(event)
}

function setAt(parent: unknown, [name, ...rest]: string[], value: unknown): void {
  if (typeof parent !== 'object' || parent === null || name === undefined) throw new Error('the event has no such path')
  if (rest.length > 0) return setAt(Reflect.get(parent, name), rest, value)
  Reflect.set(parent, name, value)
}
