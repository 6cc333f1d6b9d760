import { randomUUID } from 'node:crypto'
import { foldHandle } from '@countersign/protocol/formats/handle'
import type { Database } from '#platform/database/database.ts'
import * as store from './store.ts'
import type { IdentityRow } from './store.ts'

/** The identity that has a handle now. Looks as often for one that nobody has, so that its time tells nothing. */
export async function identityOfHandle(db: Database, handle: string): Promise<IdentityRow | undefined> {
  const found = await store.findHandle(db, foldHandle(handle))
  const owner = found?.freeAt === null ? found.identityId : null
  return store.findIdentity(db, owner ?? randomUUID())
}
