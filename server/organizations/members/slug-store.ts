import type { OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Claimant of a slug: an organization, and the user who requests it. */
export type Taker = { organizationId: OrganizationId; userId: UserId }

/**
 * Claims a slug that no organization has, that this organization had, or that this user released by deletion. Returns
 * false if another organization has it, if it is reserved for another claimant, or if the key of another organization's
 * group contained it.
 */
export async function claimSlug(tx: Transaction, slug: string, taker: Taker, now: Date): Promise<boolean> {
  const { organizationId, userId } = taker
  const claimed = await tx
    .insertInto('organization_slug')
    .values({ slug, organization_id: organizationId })
    .onConflict((conflict) =>
      conflict
        .column('slug')
        .doUpdateSet({ organization_id: organizationId, available_at: null, former_owner_id: null })
        .where('organization_slug.available_at', 'is not', null)
        .where(({ or, eb }) =>
          or([
            eb('organization_slug.available_at', '<=', now),
            eb('organization_slug.organization_id', '=', organizationId),
            eb('organization_slug.former_owner_id', '=', userId),
          ]),
        )
        .where(({ or, eb }) =>
          or([
            eb('organization_slug.in_group_key', '=', false),
            eb('organization_slug.organization_id', '=', organizationId),
          ]),
        ),
    )
    .returning('slug')
    .executeTakeFirst()
  return claimed !== undefined
}

type Released = { organizationId: OrganizationId; slug: string }

/**
 * Reserves the former slug of an organization until the given time. Returns false if the maximum number is reserved
 * already.
 */
export async function releaseSlug(
  tx: Transaction,
  { organizationId, slug }: Released,
  { availableAt, keptMax }: { availableAt: Date; keptMax: number },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_slug')
    .set({ available_at: availableAt })
    .where('slug', '=', slug)
    .where(({ eb, selectFrom }) => {
      const kept = selectFrom('organization_slug as kept')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kept.organization_id', '=', organizationId)
        .where('kept.available_at', '>', now)
      return eb(kept, '<', keptMax)
    })
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Reserves the slugs of an organization for the user who deletes it: the current slug until the given time, former
 * slugs until their existing time. Reserves none if the user has the maximum number of reserved slugs already.
 */
export async function keepSlugs(
  tx: Transaction,
  { organizationId, userId }: Taker,
  { availableAt, keptMax }: { availableAt: Date; keptMax: number },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('organization_slug')
    .set(({ fn, val }) => ({ available_at: fn.coalesce('available_at', val(availableAt)), former_owner_id: userId }))
    .where('organization_id', '=', organizationId)
    .where(({ eb, selectFrom }) => {
      const kept = selectFrom('organization_slug as kept')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kept.former_owner_id', '=', userId)
        .where('kept.available_at', '>', now)
      return eb(kept, '<', keptMax)
    })
    .execute()
}

/** Deletes the slugs of an organization that are not reserved for a user. Those in keys of groups stay, without end. */
export async function deleteSlugs(tx: Transaction, organizationId: OrganizationId, now: Date): Promise<void> {
  await tx
    .deleteFrom('organization_slug')
    .where('organization_id', '=', organizationId)
    .where('former_owner_id', 'is', null)
    .where('in_group_key', '=', false)
    .execute()
  await tx
    .updateTable('organization_slug')
    .set({ available_at: now })
    .where('organization_id', '=', organizationId)
    .where('available_at', 'is', null)
    .execute()
}

/** Keeps the present slug of an organization for it for ever. */
export async function keepForGroups(tx: Transaction, { organizationId, slug }: Released): Promise<void> {
  await tx
    .updateTable('organization_slug')
    .set({ in_group_key: true })
    .where('slug', '=', slug)
    .where('organization_id', '=', organizationId)
    .where('available_at', 'is', null)
    .execute()
}

/** Deletes up to `batch` slugs whose reservation has ended, and returns the number. */
export async function deleteFreeSlugs(db: Database, now: Date, batch: number): Promise<number> {
  const free = db
    .selectFrom('organization_slug')
    .select('slug')
    .where('available_at', '<=', now)
    .where('in_group_key', '=', false)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('organization_slug')
    .where('slug', 'in', free)
    .where('available_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
