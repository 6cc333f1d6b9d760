import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { sendAhead } from '#platform/database/pipeline.ts'

/** Sets the terms by which an identity is found. */
export function replaceTerms(tx: Transaction, identityId: IdentityId, terms: string[]): void {
  const replaced = sql`
    with former as (
      delete from identity_term where identity_id = ${identityId} and term <> all(${terms}::text[])
    )
    insert into identity_term (term, identity_id)
    select term, ${identityId}::uuid from unnest(${terms}::text[]) term on conflict do nothing`
  sendAhead(tx, replaced)
}

export async function deleteTerms(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('identity_term').where('identity_id', 'in', identityIds).execute()
}

export type NamedRow = Awaited<ReturnType<typeof listNamed>>[number]

type Page = { after: IdentityId | undefined; count: number }

/** Lists the names of identities in the order of their IDs: `count` of them, after the identity `after`. */
export function listNamed(tx: Transaction, table: 'identity' | 'invited_identity', { after, count }: Page) {
  return tx
    .selectFrom(table)
    .select(['identity_id as identityId', 'handle', 'display_name as displayName', 'email'])
    .$if(after !== undefined, (later) => later.where('identity_id', '>', after ?? null))
    .orderBy('identity_id')
    .limit(count)
    .execute()
}

export async function insertTerms(tx: Transaction, rows: { term: string; identityId: IdentityId }[]): Promise<void> {
  await sql`
    insert into identity_term (term, identity_id)
    select * from unnest(
      ${rows.map(({ term }) => term)}::text[], ${rows.map(({ identityId }) => identityId)}::uuid[]
    ) on conflict do nothing`.execute(tx)
}
