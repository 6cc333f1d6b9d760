import type { TrailPlace } from '@countersign/protocol/formats/acts/follow-trail'
import { isObject } from '@countersign/protocol/formats/json'
import { useDeviceStore } from '../device-database.ts'

/** Act that was done on this device: every later trail contains it. Digest of its statement, and its last instant. */
type OwnAct = { statement: string; expiresAt: string }

/**
 * Head of an organization's trail as this device has followed it. `at` is the time of the statement that named it. It is
 * not sealed, because it is compared before keys are unlocked: it shows which organizations were administered here.
 */
export type RememberedTrail = TrailPlace & { at: string; ownAct: OwnAct | null }

/** Reads what this device remembers of a trail; undefined if there is nothing. */
export async function readTrailMemory(organizationId: string): Promise<RememberedTrail | undefined> {
  const remembered = await useDeviceStore('trails', 'readonly', (store) => store.get(organizationId))
  return isRememberedTrail(remembered) ? remembered : undefined
}

export async function writeTrailMemory(organizationId: string, trail: RememberedTrail): Promise<void> {
  await useDeviceStore('trails', 'readwrite', (store) => store.put(trail, organizationId))
}

function isRememberedTrail(value: unknown): value is RememberedTrail {
  if (!isObject(value) || !Number.isSafeInteger(value['sequence']) || typeof value['at'] !== 'string') return false
  const { head, lastAct, ownAct } = value
  return isTextOrNull(head) && (lastAct === undefined || isTextOrNull(lastAct)) && (ownAct === null || isOwnAct(ownAct))
}

function isOwnAct(value: unknown): value is OwnAct {
  return isObject(value) && typeof value['statement'] === 'string' && typeof value['expiresAt'] === 'string'
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
