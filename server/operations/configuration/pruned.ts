import { limits } from '@countersign/protocol/formats/limits'
import { deleteDisabledApp } from '#clients/registration/operator-app.ts'
import { deletePausedSink } from '#operations/sinks/sink.ts'
import { addSeconds } from '#platform/clock.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

/** Deletes up to `batch` apps and sinks that a document has not named for long. One that was enabled since stays. */
export async function deletePruned(db: Database, now: Date, batch: number): Promise<number> {
  const due = await store.listDue(db, now, batch)
  for (const object of due) await deleteDue(db, object, now)
  return due.length
}

function deleteDue(db: Database, { source, key, clientId, sinkId }: store.Due, now: Date): Promise<void> {
  const named = { source, key, kind: clientId === null ? 'sink' : 'app' } as const
  return transaction(db, async (tx) => {
    const due = await store.lockDue(tx, named, now)
    if (!due?.deleteAt) return
    const since = addSeconds(due.deleteAt, -limits.prunedObjectSeconds)
    const isDeleted =
      clientId === null
        ? sinkId !== null && (await deletePausedSink(tx, { sinkId, since }, now))
        : await deleteDisabledApp(tx, { clientId, since }, now)
    if (!isDeleted) await store.setDeletion(tx, named, null)
  })
}
