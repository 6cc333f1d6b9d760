import { AccountExport } from '@countersign/protocol/accounts/account'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { listIdentities, userCreatedAt } from '#accounts/identities/identity.ts'
import type { Database } from '#platform/database/database.ts'
import type { ExportParts, ExportSubject } from '#platform/module/define-module.ts'

/**
 * Exports what the service holds about a user, except the hashes of secrets: `export` of each table names the field, or
 * why there is none. Signed acts and wraps of organization keys stay with their organization. Yields the text of an
 * `AccountExport` in pieces. Lists of any size are read in pages while they are sent, so that the export uses little
 * memory and no permanent database connection.
 */
export async function* exportAccount(
  db: Database,
  modules: readonly ExportParts[],
  owner: ExportSubject,
  now: Date,
): AsyncGenerator<string> {
  const { userId } = owner
  const members: Members = new Map<string, unknown>([
    ['exportedAt', now.toISOString()],
    ['user', { userId, createdAt: (await userCreatedAt(db, userId)).toISOString() }],
    ['identities', listOf(exportIdentities(db, modules, userId, now))],
  ])
  for (const { account = {} } of modules)
    for (const [field, read] of Object.entries(account)) members.set(field, await textOrPages(read(db, owner, now)))
  yield* objectOf(Object.keys(AccountExport.properties), members)
}

async function* exportIdentities(
  db: Database,
  modules: readonly ExportParts[],
  userId: UserId,
  now: Date,
): AsyncGenerator<Pieces> {
  const fields = Object.keys(AccountExport.properties.identities.items.properties)
  for (const identity of await listIdentities(db, userId)) {
    const parts = await readIdentityParts(db, modules, { identityId: identity.identityId, fields }, now)
    yield objectOf(fields, new Map<string, unknown>([...Object.entries(identity), ...parts]))
  }
}

/** Reads what modules export of an identity, of the named fields alone: values, or the pieces of lists. */
export async function readIdentityParts(
  db: Database,
  modules: readonly ExportParts[],
  { identityId, fields }: { identityId: IdentityId; fields: readonly string[] },
  now: Date,
): Promise<Members> {
  const members: Members = new Map<string, unknown>()
  for (const { identity: parts = {} } of modules)
    for (const [field, read] of Object.entries(parts))
      if (fields.includes(field)) members.set(field, await textOrPages(read(db, identityId, now)))
  return members
}

/** JSON text in pieces. */
export type Pieces = AsyncGenerator<string, void>

/** Members of an object: plain values, or the pieces of their text. */
export type Members = Map<string, unknown>

/** Serializes an object from its members, in the order of its schema. */
export async function* objectOf(names: string[], members: Members): Pieces {
  let before = '{'
  for (const name of names) {
    const member = members.get(name)
    yield `${before}${JSON.stringify(name)}:`
    if (isPages<string>(member)) yield* member
    else yield JSON.stringify(member)
    before = ','
  }
  yield '}'
}

/** Serializes a list from the pieces of its items. */
async function* listOf(items: AsyncIterable<Pieces>): Pieces {
  let before = '['
  for await (const item of items) {
    yield before
    yield* item
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** Reads a value now, so that a failure is found before the first byte, and a list when its turn comes. */
async function textOrPages(value: unknown): Promise<unknown> {
  return isPages<unknown[]>(value) ? textOf(value) : value
}

/** Serializes a list from pages of its items. */
export async function* textOf(pages: AsyncIterable<unknown[]>): Pieces {
  let before = '['
  for await (const items of pages)
    if (items.length > 0) {
      yield before + items.map((item) => JSON.stringify(item)).join(',')
      before = ','
    }
  yield before === '[' ? '[]' : ']'
}

function isPages<Page>(value: unknown): value is AsyncIterable<Page, void> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
