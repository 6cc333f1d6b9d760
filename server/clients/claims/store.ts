import type { ClaimMapping } from '@countersign/protocol/clients/claims'
import type { ClientId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'

/** Replaces the mapped claims of an app, in their order. The caller has locked the app. */
export async function replaceClaims(tx: Transaction, clientId: ClientId, claims: ClaimMapping[]): Promise<void> {
  await tx.deleteFrom('app_claim').where('client_id', '=', clientId).execute()
  if (claims.length === 0) return
  await tx
    .insertInto('app_claim')
    .values(
      claims.map((mapping, position) => ({
        client_id: clientId,
        claim: mapping.claim,
        position,
        mapping: JSON.stringify(mapping),
      })),
    )
    .execute()
}
