import { sql } from 'kysely'
import { defineLie, rewriteAnswer } from '../../lie.ts'

const halfAnHour = 30 * 60_000
const later = (instant: string) => new Date(Date.parse(instant) + halfAnHour).toISOString()

/** Dates approvals half an hour later: that of a signed request in its row, and those that start from now on. */
export const approvalMisdated = defineLie<{ requestId: string }>({
  async rows({ db }, { requestId }) {
    await sql`
      update signing_request
      set created_at = created_at + interval '30 minutes', resolved_at = resolved_at + interval '30 minutes'
      where request_id = ${requestId}`.execute(db)
  },
  answers: () =>
    rewriteAnswer('POST /api/signing/requests/:requestId/approval', ({ statement, challengedAt, ...answer }) => ({
      ...answer,
      challengedAt: later(challengedAt),
      statement: statement.replace(challengedAt, later(challengedAt)),
    })),
})
