import type { OrganizationId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { defineLie } from '../../lie.ts'
import { rewriteTrail } from '../../trail-rows.ts'

const hour = 3_600_000

/** Dates the entry of an act an hour back, before it was signed. */
export const actDatedBack = defineLie<{ organizationId: OrganizationId; sequence: number }>({
  rows: ({ db }, { organizationId, sequence }) =>
    transaction(db, (tx) =>
      rewriteTrail(tx, organizationId, (entry) => {
        const { at } = entry
        if (entry['sequence'] !== sequence || typeof at !== 'string') return entry
        return { ...entry, at: new Date(Date.parse(at) - hour).toISOString() }
      }),
    ),
})
