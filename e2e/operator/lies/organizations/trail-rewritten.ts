import type { OrganizationId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { defineLie } from '../../lie.ts'
import { rewriteTrail } from '../../trail-rows.ts'

/** Says that an organization was not created but changed: in its first event, and in its whole trail. */
export const trailRewritten = defineLie<{ organizationId: OrganizationId }>({
  rows: ({ db }, { organizationId }) =>
    transaction(db, async (tx) => {
      const action = 'organization.updated'
      await tx
        .updateTable('audit_event')
        .set({ action })
        .where('organization_id', '=', organizationId)
        .where('action', '=', 'organization.created')
        .execute()
      await rewriteTrail(tx, organizationId, (entry) => (entry['sequence'] === 1 ? { ...entry, action } : entry))
    }),
})
