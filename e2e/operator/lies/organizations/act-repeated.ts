import { randomUUIDv7 } from 'node:crypto'
import { trailHead } from '@countersign/protocol/formats/acts/act'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { OrganizationId } from '@countersign/protocol/ids'
import { sha256 } from '../../../../server/platform/crypto/secret.ts'
import { transaction } from '../../../../server/platform/database/database.ts'
import { defineLie } from '../../lie.ts'
import { entryOf } from '../../trail-rows.ts'

/** Gives an organization its former name again, with the signed act that once gave it that name. */
export const actRepeated = defineLie<{ organizationId: OrganizationId; sequence: number; name: string }>({
  rows: ({ db, now }, { organizationId, sequence, name }) =>
    transaction(db, async (tx) => {
      const act = await tx
        .selectFrom('organization_trail')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('sequence', '=', sequence)
        .executeTakeFirstOrThrow()
      const signatures = await tx
        .selectFrom('organization_act_signature')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('sequence', '=', sequence)
        .execute()
      const last = await tx
        .selectFrom('organization_trail_head')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const next = { sequence: last.sequence + 1, event_id: randomUUIDv7() }
      const entry = { ...entryOf(act), sequence: next.sequence, previous: last.head, at: now.toISOString() }
      const event = await tx
        .selectFrom('audit_event')
        .selectAll()
        .where('event_id', '=', act.event_id)
        .executeTakeFirstOrThrow()
      const details = JSON.stringify(event.details)
      await tx
        .insertInto('audit_event')
        .values({ ...event, event_id: next.event_id, sequence: null, occurred_at: now, details })
        .execute()
      await tx
        .insertInto('organization_trail')
        .values({ ...act, ...next, entry: writeCanonicalJson(entry) })
        .execute()
      await tx
        .insertInto('organization_act_signature')
        .values(signatures.map((each) => ({ ...each, sequence: next.sequence })))
        .execute()
      await tx
        .updateTable('organization_trail_head')
        .set({ sequence: next.sequence, head: trailHead(sha256, entry) })
        .where('organization_id', '=', organizationId)
        .execute()
      await tx.updateTable('organization').set({ name }).where('organization_id', '=', organizationId).execute()
    }),
})
