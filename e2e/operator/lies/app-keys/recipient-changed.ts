import { sql } from 'kysely'
import { defineLie } from '../../lie.ts'

/** Writes a key of the operator, as that of the app's server, into each sign-in that a dialog of the browser starts. */
export const recipientChanged = defineLie<{ from: string; to: string }>({
  answers: ({ from, to }, means) => ({
    async 'POST /api/oauth/fedcm/assertion'(text) {
      await sql`update fedcm_continuation set request = replace(request, ${from}, ${to})`.execute(means().db)
      return text
    },
  }),
})
