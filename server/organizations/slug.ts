import { limits } from '@countersign/protocol/formats/limits'
import { slugOf } from '@countersign/protocol/formats/slug'
import type { Transaction } from '#kernel/database.ts'
import { randomBytes } from '#kernel/random.ts'
import { claimSlug } from './store.ts'

/** Takes the slug that a name suggests, with random letters after it where another organization has that one. */
export async function takeSlug(tx: Transaction, name: string, organizationId: string): Promise<string> {
  const suggested = slugOf(name)
  let slug = suggested
  while (!(await claimSlug(tx, slug, organizationId))) slug = `${suggested}-${randomSuffix()}`
  return slug
}

function randomSuffix(): string {
  const count = limits.slugSuffixCharacters - 1
  return randomBytes(count / 2).toString('hex')
}
