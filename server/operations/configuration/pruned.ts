import type { ClientId } from '@countersign/protocol/ids'
import { deleteDisabledApp } from '#clients/registration/operator-app.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

/** Deletes up to `batch` apps that a document has not named for long. One that was enabled since stays. */
export async function deletePrunedApps(db: Database, now: Date, batch: number): Promise<number> {
  const due = await store.listDue(db, now, batch)
  for (const clientId of due) await deleteDue(db, clientId, now)
  return due.length
}

function deleteDue(db: Database, clientId: ClientId, now: Date): Promise<void> {
  return transaction(db, async (tx) => {
    if (!(await store.lockDue(tx, clientId, now))) return
    if (!(await deleteDisabledApp(tx, clientId, now))) await store.setDeletion(tx, clientId, null)
  })
}
