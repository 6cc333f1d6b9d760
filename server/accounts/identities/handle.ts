import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './handle-store.ts'

const errors = defineErrors({
  handle_taken: [409, 'This handle is already in use. Choose another one.'],
  invalid_handle: [400, 'This handle is reserved.'],
})

/** Handles that could impersonate the service or its staff. */
const reserved = new Set(
  `abuse account accounts admin administrator api auth billing business contact countersign developer developers help
  hostmaster info legal login mail moderator null oauth official operator owner postmaster privacy register root
  security service signin staff status support system team trust undefined webmaster www`.split(/\s+/),
)

export function isReservedHandle(handle: string): boolean {
  return reserved.has(withoutSeparators(handle))
}

const withoutSeparators = (handle: string) => normalizeHandle(handle).replaceAll(/[._-]/g, '')

type Branded = Pick<Config, 'brand'>

/** Checks whether a handle has the letters and digits of the name that the operator gave the service. */
export function isBrandHandle({ brand: { name } }: Branded, handle: string): boolean {
  const letters = name.normalize('NFKD').toLowerCase()
  return withoutSeparators(handle) === letters.replaceAll(/[^a-z0-9]/g, '')
}

/**
 * Throws `invalid_handle` if a user chooses the name of the service as a handle. Operators can give it to an identity,
 * and the name may be later than the handle: an identity that has it keeps it.
 */
export async function requireUnbrandedHandle(
  db: Database,
  config: Branded,
  { handle, identityId }: { handle: string; identityId?: IdentityId },
): Promise<void> {
  if (!isBrandHandle(config, handle)) return
  const known = await store.findHandle(db, normalizeHandle(handle))
  if (identityId === undefined || known?.identityId !== identityId) throw errors.invalid_handle()
}

/**
 * Throws `handle_taken` if the handle is in use now, or reserved for another identity. The final decision is made by
 * `claimHandle`.
 */
export async function requireAvailableHandle(
  db: Database,
  { handle, identityId }: { handle: string; identityId: IdentityId },
  now: Date,
): Promise<void> {
  const known = await store.findHandle(db, normalizeHandle(handle))
  if (isHeld(known, now) && known?.identityId !== identityId) throw errors.handle_taken()
}

/**
 * Returns whether a handle can be registered now, or by an identity that had it, as far as `requireAvailableHandle` and
 * the reserved ones say.
 */
export async function isAvailableHandle(
  db: Database,
  { handle, identityId }: { handle: string; identityId?: IdentityId | undefined },
  now: Date,
): Promise<boolean> {
  if (isReservedHandle(handle)) return false
  const known = await store.findHandle(db, normalizeHandle(handle))
  return !isHeld(known, now) || (identityId !== undefined && known?.identityId === identityId)
}

/** Tells if a handle is in use, or reserved for the identity that had it. */
export function isHeld(known: { availableAt: Date | null } | undefined, now: Date): boolean {
  return known !== undefined && (known.availableAt === null || known.availableAt > now)
}

/** Claims a handle that is available, or that this identity had before. Throws `handle_taken`. */
export async function claimHandle(tx: Transaction, handle: string, identityId: IdentityId, now: Date): Promise<void> {
  if (!(await store.claimHandle(tx, { handleNormalized: normalizeHandle(handle), identityId }, now)))
    throw errors.handle_taken()
}

/** Releases a handle. For ninety days only the identity that had it can claim it. */
export async function releaseHandle(tx: Transaction, handle: string, identityId: IdentityId, now: Date): Promise<void> {
  await store.releaseHandle(tx, normalizeHandle(handle), identityId, reservedUntil(now))
}

/** Locks the handle of an invited identity until the transaction ends, before the identity, like an acceptance. */
export async function lockHandle(tx: Transaction, identityId: IdentityId): Promise<void> {
  await store.lockHandles(tx, identityId)
}

/** Frees the handle of an identity that no one has accepted. No one has known it by this handle. */
export async function freeHandle(tx: Transaction, identityId: IdentityId): Promise<void> {
  await store.deleteHandles(tx, identityId)
}

/** Returns the instant until which a handle that is released now stays reserved. */
export function reservedUntil(now: Date): Date {
  return addSeconds(now, limits.handleReservedSeconds)
}

/**
 * Finds the identity that had this handle at an instant, as far as that is known. A handle that the identity has
 * released since is found while it is reserved, and returned in lower case: the present handle is never returned for a
 * former one. Suspended identities are found as well.
 */
export async function findByHandleAt(db: Database, handle: string, at: Date, now: Date) {
  const handleNormalized = normalizeHandle(handle)
  const found = await store.findIdentityAt(db, handleNormalized, { at, reservedUntil: reservedUntil(at), now })
  if (!found) return undefined
  const isPresent = normalizeHandle(found.handle) === handleNormalized
  return { identityId: found.identityId, handle: isPresent ? found.handle : handleNormalized }
}

/** Lists the handles that an identity released and can reclaim, with the end of their reservation. */
export async function listFormerHandles(db: Database, identityId: IdentityId, now: Date) {
  const released = await store.listReleasedHandles(db, identityId, now)
  return released.map(({ handle, keptUntil }) => ({ handle, keptUntil: keptUntil.toISOString() }))
}

/** Deletes up to `batch` released handles whose reservation has ended. Returns their number. */
export function pruneHandles(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteReleasedHandles(db, now, batch)
}
