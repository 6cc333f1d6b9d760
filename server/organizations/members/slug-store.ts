import type { Database, Transaction } from '#platform/database/database.ts'

/** Who takes a slug: an organization, and the user who asks for it. */
export type Taker = { organizationId: string; userId: string }

/**
 * Takes a slug that no organization has, that this one had, or one that this user deleted; false where another has it,
 * or it is kept for that.
 */
export async function claimSlug(tx: Transaction, slug: string, taker: Taker, now: Date): Promise<boolean> {
  const { organizationId, userId } = taker
  const claimed = await tx
    .insertInto('organization_slug')
    .values({ slug, organization_id: organizationId })
    .onConflict((conflict) =>
      conflict
        .column('slug')
        .doUpdateSet({ organization_id: organizationId, free_at: null, former_owner_id: null })
        .where('organization_slug.free_at', 'is not', null)
        .where(({ or, eb }) =>
          or([
            eb('organization_slug.free_at', '<=', now),
            eb('organization_slug.organization_id', '=', organizationId),
            eb('organization_slug.former_owner_id', '=', userId),
          ]),
        ),
    )
    .returning('slug')
    .executeTakeFirst()
  return claimed !== undefined
}

type Released = { organizationId: string; slug: string }

/** Keeps the slug of an organization for it until then; false where so many are kept for it already. */
export async function releaseSlug(
  tx: Transaction,
  { organizationId, slug }: Released,
  { freeAt, keptMax }: { freeAt: Date; keptMax: number },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_slug')
    .set({ free_at: freeAt })
    .where('slug', '=', slug)
    .where(({ eb, selectFrom }) => {
      const kept = selectFrom('organization_slug as kept')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kept.organization_id', '=', organizationId)
        .where('kept.free_at', '>', now)
      return eb(kept, '<', keptMax)
    })
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Keeps the slugs of an organization for the user who deletes it: the present one until then, the former ones as long
 * as before. None where so many are kept for the user already.
 */
export async function keepSlugs(
  tx: Transaction,
  { organizationId, userId }: Taker,
  { freeAt, keptMax }: { freeAt: Date; keptMax: number },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization_slug')
    .set(({ fn, val }) => ({ free_at: fn.coalesce('free_at', val(freeAt)), former_owner_id: userId }))
    .where('organization_id', '=', organizationId)
    .where(({ eb, selectFrom }) => {
      const kept = selectFrom('organization_slug as kept')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kept.former_owner_id', '=', userId)
        .where('kept.free_at', '>', now)
      return eb(kept, '<', keptMax)
    })
    .execute()
}

/** Deletes the slugs of an organization that are kept for no user. */
export async function deleteSlugs(tx: Transaction, organizationId: string): Promise<void> {
  await tx
    .deleteFrom('organization_slug')
    .where('organization_id', '=', organizationId)
    .where('former_owner_id', 'is', null)
    .execute()
}

/** Deletes up to `batch` slugs that are kept for nobody any more, and says how many. */
export async function deleteFreeSlugs(db: Database, now: Date, batch: number): Promise<number> {
  const free = db.selectFrom('organization_slug').select('slug').where('free_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('organization_slug')
    .where('slug', 'in', free)
    .where('free_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
