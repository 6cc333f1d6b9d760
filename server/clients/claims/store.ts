import type { ClaimMapping } from '@countersign/protocol/clients/claims'
import type { ClientId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Transaction } from '#platform/database/database.ts'

/**
 * Replaces the mapped claims of an app, in their order, and the keys of groups to which they give a meaning. The caller
 * has locked the app.
 */
export async function replaceClaims(
  tx: Transaction,
  clientId: ClientId,
  { claims, groupKeys }: { claims: ClaimMapping[]; groupKeys: string[] },
): Promise<void> {
  await tx.deleteFrom('app_claim').where('client_id', '=', clientId).execute()
  await tx.deleteFrom('app_claim_group').where('client_id', '=', clientId).execute()
  const rows = claims.map((mapping, position) => ({
    ...{ client_id: clientId, claim: mapping.claim, position },
    mapping: JSON.stringify(mapping),
  }))
  if (rows.length > 0) await tx.insertInto('app_claim').values(rows).execute()
  await sql`
    insert into app_claim_group (client_id, group_key)
    select ${clientId}, group_key from unnest(${groupKeys}::text[]) group_key`.execute(tx)
}
