import { limits } from '@countersign/protocol/formats/limits'
import { slugOf } from '@countersign/protocol/formats/slug'
import { secondsAfter } from '#kernel/clock.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import { randomBytes } from '#kernel/random.ts'
import { refusals } from '#kernel/refusal.ts'
import { claimSlug, deleteFreeSlugs, releaseSlug } from './slug-store.ts'

const refuse = refusals({ slug_taken: [409, 'Another organization has this slug. Choose another one.'] })

/** Takes the slug that a name suggests, with random letters after it where another organization has that one. */
export async function takeSlug(tx: Transaction, name: string, organizationId: string, now: Date): Promise<string> {
  const suggested = slugOf(name)
  let slug = suggested
  while (!(await claimSlug(tx, slug, organizationId, now))) slug = `${suggested}-${randomSuffix()}`
  return slug
}

/** Gives an organization another slug; the one that it had is kept for it for ninety days. Refuses `slug_taken`. */
export async function moveSlug(
  tx: Transaction,
  organization: { organizationId: string; slug: string },
  slug: string,
  now: Date,
): Promise<void> {
  if (!(await claimSlug(tx, slug, organization.organizationId, now))) throw refuse.slug_taken()
  await releaseSlug(tx, organization, { freeAt: slugKeptUntil(now), keptMax: limits.slugsReservedMax })
}

/** Until when a slug that is given up now is kept from others. */
export function slugKeptUntil(now: Date): Date {
  return secondsAfter(now, limits.slugReservedSeconds)
}

/** Deletes up to `batch` released slugs whose ninety days are over, and says how many. */
export function pruneSlugs(db: Database, now: Date, batch: number): Promise<number> {
  return deleteFreeSlugs(db, now, batch)
}

function randomSuffix(): string {
  const count = limits.slugSuffixCharacters - 1
  return randomBytes(count / 2).toString('hex')
}
