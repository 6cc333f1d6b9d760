import { foldHandle } from '@countersign/protocol/formats/handle'
import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import * as store from './store.ts'

const refuse = refusals({ handle_taken: [409, 'This handle is taken. Choose another one.'] })

/** Handles that would let someone pass for the service or for its staff. */
const reserved = new Set(
  `abuse account accounts admin administrator api auth billing business contact countersign developer developers help
  hostmaster info legal login mail moderator null oauth official operator owner postmaster privacy register root
  security service signin staff status support system team trust undefined webmaster www`.split(/\s+/),
)

export function isReservedHandle(handle: string): boolean {
  return reserved.has(foldHandle(handle).replaceAll(/[._-]/g, ''))
}

/** Refuses `handle_taken` where someone has the handle now; who takes it in the end, `takeHandle` decides. */
export async function requireFreeHandle(db: Database, handle: string, now: Date): Promise<void> {
  const known = await store.findHandle(db, foldHandle(handle))
  if (known && (known.freeAt === null || known.freeAt > now)) throw refuse.handle_taken()
}

/** Takes a handle that nobody has, or that this identity had itself. Refuses `handle_taken`. */
export async function takeHandle(tx: Transaction, handle: string, identityId: string, now: Date): Promise<void> {
  if (!(await store.claimHandle(tx, { handleFolded: foldHandle(handle), identityId }, now))) throw refuse.handle_taken()
}

/** Gives a handle up. For ninety days nobody takes it but the identity that had it. */
export async function giveUpHandle(tx: Transaction, handle: string, identityId: string, now: Date): Promise<void> {
  await store.releaseHandle(tx, foldHandle(handle), identityId, reservedUntil(now))
}

/** Until when a handle that is given up now is kept from others. */
export function reservedUntil(now: Date): Date {
  return secondsAfter(now, limits.handleReservedSeconds)
}

/** The handles that an identity gave up and may take back, with the end of that. */
export async function listFormerHandles(db: Database, identityId: string, now: Date) {
  const released = await store.listReleasedHandles(db, identityId, now)
  return released.map(({ handle, keptUntil }) => ({ handle, keptUntil: keptUntil.toISOString() }))
}

/** Deletes up to `batch` handles that nobody has any more, and says how many. */
export function pruneHandles(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteFreeHandles(db, now, batch)
}
