import type { Database, Transaction } from '#kernel/database.ts'

/** Takes a slug that no organization has, or that this one had; false where another has it, or it is kept for that. */
export async function claimSlug(tx: Transaction, slug: string, organizationId: string, now: Date): Promise<boolean> {
  const claimed = await tx
    .insertInto('organization_slug')
    .values({ slug, organization_id: organizationId })
    .onConflict((conflict) =>
      conflict
        .column('slug')
        .doUpdateSet({ organization_id: organizationId, free_at: null })
        .where(({ or, and, eb }) =>
          or([
            eb('organization_slug.free_at', '<=', now),
            and([
              eb('organization_slug.organization_id', '=', organizationId),
              eb('organization_slug.free_at', 'is not', null),
            ]),
          ]),
        ),
    )
    .returning('slug')
    .executeTakeFirst()
  return claimed !== undefined
}

/** Keeps the slug of an organization for it until then, and of those that it had before the latest ones. */
export async function releaseSlug(
  tx: Transaction,
  { organizationId, slug }: { organizationId: string; slug: string },
  { freeAt, keptMax }: { freeAt: Date; keptMax: number },
): Promise<void> {
  await tx.updateTable('organization_slug').set({ free_at: freeAt }).where('slug', '=', slug).execute()
  const older = tx
    .selectFrom('organization_slug')
    .select('slug')
    .where('organization_id', '=', organizationId)
    .where('free_at', 'is not', null)
    .orderBy('free_at', 'desc')
    .offset(keptMax)
  await tx.deleteFrom('organization_slug').where('slug', 'in', older).execute()
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
