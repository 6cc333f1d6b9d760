import { limits } from '@countersign/protocol/formats/limits'
import { slugify } from '@countersign/protocol/formats/domain'
import { addSeconds } from '#platform/clock.ts'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as slugStore from './slug-store.ts'
import type { Taker } from './slug-store.ts'

const errors = defineErrors({
  slug_taken: [409, 'slug is already in use.'],
  too_many_slugs: [
    409,
    `The slug was changed ${limits.slugsReservedMax} times in 90 days. Reuse a former slug, or wait.`,
  ],
})

/** Claims a slug derived from a name. Appends random letters if another organization has it. */
export async function claimSlug(tx: Transaction, name: string, taker: Taker, now: Date): Promise<string> {
  const suggested = slugify(name)
  let slug = suggested
  while (!(await slugStore.claimSlug(tx, slug, taker, now))) slug = `${suggested}-${randomSuffix()}`
  return slug
}

/**
 * Changes the slug of an organization, and reserves the former slug for it for 90 days. Throws `slug_taken`, and
 * `too_many_slugs` at the maximum number: a reserved slug is never released early, because other organizations could
 * take it while it is still known.
 */
export async function moveSlug(
  tx: Transaction,
  { userId, ...organization }: Taker & { slug: string },
  slug: string,
  now: Date,
): Promise<void> {
  const { organizationId } = organization
  if (!(await slugStore.claimSlug(tx, slug, { organizationId, userId }, now))) throw errors.slug_taken()
  const kept = { availableAt: slugKeptUntil(now), keptMax: limits.slugsReservedMax }
  if (!(await slugStore.releaseSlug(tx, organization, kept, now))) throw errors.too_many_slugs()
}

/**
 * Releases the slugs of an organization that a user deletes. They are reserved for that user for 90 days if the
 * organization is a week old or has other members, because it can be known by them. The limit keeps a user from
 * blocking many slugs.
 */
export async function giveUpSlugs(
  tx: Transaction,
  { createdAt, hasOthers, ...taker }: Taker & { createdAt: Date; hasOthers: boolean },
  now: Date,
): Promise<void> {
  const isKnown = hasOthers || addSeconds(createdAt, limits.slugKeptAfterSeconds) <= now
  const kept = { availableAt: slugKeptUntil(now), keptMax: limits.slugsOfDeletedMax }
  if (isKnown) await slugStore.keepSlugs(tx, taker, kept, now)
  await slugStore.deleteSlugs(tx, taker.organizationId, now)
}

/**
 * Keeps the present slug of an organization for it for ever, because the key of a group contains it: apps would take
 * the members of another organization's group with that key for those of this one.
 */
export function keepSlugForGroups(
  tx: Transaction,
  organization: { organizationId: OrganizationId; slug: string },
): Promise<void> {
  return slugStore.keepForGroups(tx, organization)
}

/** Returns the time until which a slug that is released now stays reserved. */
function slugKeptUntil(now: Date): Date {
  return addSeconds(now, limits.slugReservedSeconds)
}

/** Deletes up to `batch` slugs whose 90 days are over, and returns the number. */
export function pruneSlugs(db: Database, now: Date, batch: number): Promise<number> {
  return slugStore.deleteFreeSlugs(db, now, batch)
}

function randomSuffix(): string {
  const count = limits.slugSuffixCharacters - 1
  return randomBytes(count / 2).toString('hex')
}
