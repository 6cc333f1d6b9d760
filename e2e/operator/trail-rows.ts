import { trailHead } from '@countersign/protocol/formats/acts/act'
import {
  type JsonObject,
  parseCanonicalJson,
  writeCanonicalJson,
} from '@countersign/protocol/formats/signing/canonical-json'
import type { OrganizationId } from '@countersign/protocol/ids'
import { sha256 } from '../../server/platform/crypto/secret.ts'
import type { Transaction } from '../../server/platform/database/database.ts'

/** Parses the entry of a row. */
export function entryOf({ entry }: { entry: string }): JsonObject {
  return { ...Object(parseCanonicalJson(entry)) }
}

/**
 * Writes the trail of an organization again, with changed entries, so that each continues the one before and the
 * service names the last one as its head.
 */
export async function rewriteTrail(
  tx: Transaction,
  organizationId: OrganizationId,
  change: (entry: JsonObject) => JsonObject,
): Promise<void> {
  const rows = await tx
    .selectFrom('organization_trail')
    .select(['sequence', 'entry'])
    .where('organization_id', '=', organizationId)
    .orderBy('sequence')
    .execute()
  let head: string | null = null
  for (const row of rows) {
    const entry = { ...change(entryOf(row)), previous: head }
    head = trailHead(sha256, entry)
    await tx
      .updateTable('organization_trail')
      .set({ entry: writeCanonicalJson(entry) })
      .where('organization_id', '=', organizationId)
      .where('sequence', '=', row.sequence)
      .execute()
  }
  await tx.updateTable('organization_trail_head').set({ head }).where('organization_id', '=', organizationId).execute()
}
