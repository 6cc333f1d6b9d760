import { limits } from '@countersign/protocol/formats/limits'
import { slugOf } from '@countersign/protocol/formats/slug'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import * as slugStore from './slug-store.ts'
import type { Taker } from './slug-store.ts'

const refuse = refusals({
  slug_taken: [409, 'Another organization has this slug. Choose another one.'],
  too_many_slugs: [
    409,
    `The slug was changed ${limits.slugsReservedMax} times in ninety days. Take back a former one, or wait.`,
  ],
})

/** Takes the slug that a name suggests, with random letters after it where another organization has that one. */
export async function takeSlug(tx: Transaction, name: string, taker: Taker, now: Date): Promise<string> {
  const suggested = slugOf(name)
  let slug = suggested
  while (!(await slugStore.claimSlug(tx, slug, taker, now))) slug = `${suggested}-${randomSuffix()}`
  return slug
}

/**
 * Gives an organization another slug; the one that it had is kept for it for ninety days. Refuses `slug_taken`, and
 * `too_many_slugs` in place of letting one go that is kept: others would have it before it is forgotten.
 */
export async function moveSlug(
  tx: Transaction,
  { userId, ...organization }: Taker & { slug: string },
  slug: string,
  now: Date,
): Promise<void> {
  const { organizationId } = organization
  if (!(await slugStore.claimSlug(tx, slug, { organizationId, userId }, now))) throw refuse.slug_taken()
  const kept = { freeAt: slugKeptUntil(now), keptMax: limits.slugsReservedMax }
  if (!(await slugStore.releaseSlug(tx, organization, kept, now))) throw refuse.too_many_slugs()
}

/**
 * Gives up the slugs of an organization that a user deletes. Where it was known by them, as one that is a week old or
 * has other members may be, they are kept for ninety days, for that user; a user blocks few slugs by organizations that
 * are gone.
 */
export async function giveUpSlugs(
  tx: Transaction,
  { createdAt, hasOthers, ...taker }: Taker & { createdAt: Date; hasOthers: boolean },
  now: Date,
): Promise<void> {
  const isKnown = hasOthers || secondsAfter(createdAt, limits.slugKeptAfterSeconds) <= now
  const kept = { freeAt: slugKeptUntil(now), keptMax: limits.slugsOfDeletedMax }
  if (isKnown) await slugStore.keepSlugs(tx, taker, kept, now)
  await slugStore.deleteSlugs(tx, taker.organizationId)
}

/** Until when a slug that is given up now is kept from others. */
function slugKeptUntil(now: Date): Date {
  return secondsAfter(now, limits.slugReservedSeconds)
}

/** Deletes up to `batch` released slugs whose ninety days are over, and says how many. */
export function pruneSlugs(db: Database, now: Date, batch: number): Promise<number> {
  return slugStore.deleteFreeSlugs(db, now, batch)
}

function randomSuffix(): string {
  const count = limits.slugSuffixCharacters - 1
  return randomBytes(count / 2).toString('hex')
}
