import { defineLie } from '../../lie.ts'

/** Writes another text into the row of a signing request that is pending. */
export const requestRowChanged = defineLie<{ requestId: string; payload: string }>({
  async rows({ db }, { requestId, payload }) {
    await db.updateTable('signing_request').set({ payload }).where('request_id', '=', requestId).execute()
  },
})
