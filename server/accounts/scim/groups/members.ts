import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { isUuid } from '@countersign/protocol/values'
import { changeMembersOfSource } from '#accounts/groups/managed.ts'
import type { GroupRef } from '#accounts/groups/group.ts'
import { lockIdentities } from '#accounts/identities/identity.ts'
import { addGroup, removeGroup } from '#accounts/invitations/invited/provisioned.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { matchesElement } from '#platform/scim/element.ts'
import { errors as messageErrors } from '#platform/scim/message.ts'
import type { PatchOperation } from '#platform/scim/patch.ts'
import type { ScimSource } from '../source.ts'
import { readMembers } from './group.ts'
import * as store from './group-store.ts'

const errors = defineErrors({ user_not_found: [404, 'This token manages no user with the ID of a member.'] })
const shownMax = limits.scimMembersShownMax

/** Change of the members of a group. With `replaces`, those who are not added leave. */
export type MemberChange = { replaces: boolean; add: Set<string>; remove: Set<string> }

/** Returns the change by which a group gets exactly these members. */
export function replacement(members: string[]): MemberChange {
  return { replaces: true, add: new Set(members), remove: new Set() }
}

/**
 * Adds an operation on `members` to a change. `present` reads the members of the group, which few operations need.
 * Throws `invalidPath`, `invalidValue`, `tooMany`.
 */
export async function applyToMembers(
  change: MemberChange,
  { op, path, value }: PatchOperation,
  present: () => Promise<IdentityId[]>,
): Promise<MemberChange> {
  const { filter, part } = path
  if (part !== undefined) throw messageErrors.invalidPath()
  if (filter && op !== 'remove')
    throw messageErrors.mutability({ sentence: 'Members are added and removed as a whole.' })
  if (op === 'replace') return replacement(readMembers(value))
  if (op === 'add') return added(change, readMembers(value))
  if (!filter && (value === undefined || value === null)) return replacement([])
  if (!filter) return removed(change, readMembers(value))
  const named = valueIn(filter)
  if (named !== undefined) return removed(change, [named])
  const members = change.replaces ? [...change.add] : [...(await present()), ...change.add]
  return removed(
    change,
    members.filter((id) =>
      matchesElement(
        new Map([
          ['value', id],
          ['type', 'User'],
        ]),
        filter,
      ),
    ),
  )
}

type MemberFilter = NonNullable<PatchOperation['path']['filter']>

/** Tells if a filter has to be compared with each member. */
export function isScan(filter: MemberFilter | undefined): boolean {
  return filter !== undefined && valueIn(filter) === undefined
}

function valueIn(filter: MemberFilter): string | undefined {
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.path.name !== 'value') return undefined
  return typeof filter.value === 'string' ? filter.value.toLowerCase() : undefined
}

function added({ replaces, add, remove }: MemberChange, ids: string[]): MemberChange {
  const these = new Set(ids)
  return { replaces, add: add.union(these), remove: remove.difference(these) }
}

function removed({ replaces, add, remove }: MemberChange, ids: string[]): MemberChange {
  const these = new Set(ids)
  return { replaces, add: add.difference(these), remove: remove.union(these) }
}

/** Reads the members of one group. Throws `tooMany` if they are too many to show. */
export async function readMembersOf(db: Database, { tokenId }: ScimSource, groupId: string): Promise<IdentityId[]> {
  const found = await listShown(db, tokenId, [groupId])
  return found.map(({ identityId }) => identityId)
}

/** Lists the members of groups. Throws `tooMany` if they are too many to show. */
export async function listShown(db: Database, tokenId: string, groupIds: string[]): Promise<store.MemberOfGroup[]> {
  const found = await store.listMembers(db, { tokenId, groupIds, count: shownMax + 1 })
  if (found.length > shownMax)
    throw messageErrors.tooMany({ sentence: `More than ${shownMax} members. Send excludedAttributes=members.` })
  return found
}

/**
 * Locks the identities of accounts that become members, before their group. Those that are invited are not locked: they
 * may be accepted meanwhile. Throws `user_not_found`, also for the users of other tokens.
 */
export async function lockAdded(tx: Transaction, { tokenId }: ScimSource, ids: Set<string>) {
  const known = [...ids].every(isUuid) ? await store.listUsersAmong(tx, tokenId, [...ids]) : []
  if (known.length < ids.size) throw errors.user_not_found()
  return { known, ofAccounts: await lockIdentities(tx, known) }
}

type Target = { source: ScimSource; group: GroupRef; added: Awaited<ReturnType<typeof lockAdded>> }

/** Applies a change to the members of a locked group. Throws `identity_in_too_many_groups` and `tooMany`. */
export async function changeMembers(
  tx: Transaction,
  { source, group, added: { known, ofAccounts } }: Target,
  change: MemberChange,
  now: Date,
): Promise<void> {
  const { groupId } = group
  const present = change.replaces ? await readMembersOf(tx, source, groupId) : []
  const left = new Set<string>([...change.remove, ...present])
  for (const id of known) left.delete(id)
  const remove = await store.listUsersAmong(tx, source.tokenId, [...left].filter(isUuid))
  const invited = known.filter((id) => !ofAccounts.includes(id))
  const changed = invited.length > 0 ? await addGroup(tx, { groupId, identityIds: invited }) : []
  // Who accepted the invitation meanwhile is not invited any more.
  const accepted = await lockIdentities(
    tx,
    invited.filter((id) => !changed.includes(id)),
  )
  const add = [...ofAccounts, ...accepted]
  if (remove.length > 0) await removeGroup(tx, { groupId, identityIds: remove })
  if (add.length + remove.length > 0) await changeMembersOfSource(tx, { operator: source, group, add, remove }, now)
}
