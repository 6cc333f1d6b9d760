import type { Database, Transaction } from '#kernel/database.ts'
import { findActive, type ActiveResource } from './resource-store.ts'

export type { ActiveResource }

/** What may be a resource key, or an audience: a URI. Anything else is answered without being looked up. */
const nameable = /^[\x21-\x7e]{2,2000}$/

/**
 * A resource at which apps may act now, by its key or its audience, letter for letter but for a slash at the end. No
 * audience could be a key, so that one name never means two resources.
 */
export async function findActiveResource(
  db: Database | Transaction,
  named: string,
): Promise<ActiveResource | undefined> {
  return nameable.test(named) ? findActive(db, named) : undefined
}
