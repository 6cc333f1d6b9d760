import { limits } from '@countersign/protocol/formats/limits'
import { isUuid } from '@countersign/protocol/values'
import {
  createGroupOfSource,
  deleteGroupOfSource,
  lockGroupOfSource,
  renameGroupOfSource,
} from '#accounts/groups/managed.ts'
import { sourceOf } from '#accounts/operators/acting-operator.ts'
import { operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { parseFilter } from '#platform/scim/filter.ts'
import { attributeKey, errors as messageErrors, type Selection } from '#platform/scim/message.ts'
import type { PatchOperation } from '#platform/scim/patch.ts'
import { listResponse } from '#platform/scim/schema.ts'
import type { Query } from '#platform/scim/search.ts'
import { requireVersion } from '#platform/scim/version.ts'
import type { ScimSource } from '../source.ts'
import { scimUrlOf } from '../token.ts'
import { isDescending, pageOf } from '../users/user-list.ts'
import { keyOf, readDisplayName, readExternalId, type ScimGroup, type StoredGroup, toResource } from './group.ts'
import { conditionOf, orderOf } from './filter-store.ts'
import * as store from './group-store.ts'
import {
  applyToMembers,
  isScan,
  changeMembers,
  listShown,
  lockAdded,
  type MemberChange,
  readMembersOf,
  replacement,
} from './members.ts'

const errors = defineErrors({ group_not_found: [404, 'This token manages no group with this ID.'] })

/** Tells if a request wants the members of groups. */
function wantsMembers({ attributes = '', excludedAttributes = '' }: Selection): boolean {
  const names = (list: string) => list.split(',').map((name) => attributeKey(name.trim()))
  if (attributes.trim() !== '') return names(attributes).some((name) => name.split('.')[0] === 'members')
  return !names(excludedAttributes).includes('members')
}

/** Returns a group. Throws `group_not_found`, also for the groups of others, and `tooMany` for too many members. */
export async function getGroup({ db, config }: ServerContext, source: ScimSource, id: string, selection: Selection) {
  const group = await requireGroup(db, source, id)
  const members = wantsMembers(selection) ? await readMembersOf(db, source, id) : undefined
  return toResource(scimUrlOf(config), group, members)
}

async function requireGroup(db: Database, { tokenId }: ScimSource, id: string): Promise<StoredGroup> {
  const group = isUuid(id) ? await store.findGroup(db, tokenId, id) : undefined
  if (!group) throw errors.group_not_found()
  return group
}

/** Lists the groups of a token. Throws `invalidFilter`, `invalidValue`, and `tooMany` for too many members. */
export async function listGroups({ db, config }: ServerContext, source: ScimSource, query: Query) {
  const { tokenId } = source
  const { startIndex, count } = pageOf(query)
  const listing = {
    tokenId,
    condition: query.filter === undefined ? undefined : conditionOf(parseFilter(query.filter), sourceOf(source)),
    order: orderOf(query.sortBy ?? 'id'),
    isDescending: isDescending(query),
    skipped: startIndex - 1,
    count,
  }
  const total = await store.countGroups(db, listing)
  const groups = count === 0 || total < startIndex ? [] : await store.listGroups(db, listing)
  const ids = groups.map(({ groupId }) => groupId)
  const shown = wantsMembers(query)
    ? Map.groupBy(await listShown(db, tokenId, ids), ({ groupId }) => groupId)
    : undefined
  const resources = groups.map((group) => {
    const members = shown && (shown.get(group.groupId) ?? []).map(({ identityId }) => identityId)
    return toResource(scimUrlOf(config), group, members)
  })
  return { page: listResponse([], total, startIndex), resources }
}

/**
 * Creates a group with members. Throws `uniqueness` if another group has its key, `too_many_groups`, `user_not_found`,
 * `identity_in_too_many_groups`.
 */
export async function createGroup(
  { db, config }: ServerContext,
  source: ScimSource,
  { displayName, externalId, members }: ScimGroup & { members: string[] },
  now: Date,
) {
  const { tokenId } = source
  return operatorTransaction(db, source, async (tx) => {
    const added = await lockAdded(tx, source, new Set(members))
    const groupId = await createWithKey(tx, source, displayName, now)
    await store.insertGroup(tx, { groupId, tokenId, externalId }, now)
    const group = { groupId, key: keyOf(displayName) }
    await changeMembers(tx, { source, group, added }, replacement(members), now)
    return toResource(
      scimUrlOf(config),
      await requireGroup(tx, source, groupId),
      await readMembersOf(tx, source, groupId),
    )
  })
}

async function createWithKey(tx: Transaction, source: ScimSource, displayName: string, now: Date): Promise<string> {
  const key = keyOf(displayName)
  try {
    return await createGroupOfSource(tx, source, { key, displayName }, now)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'group_exists') throw error
    throw messageErrors.uniqueness({ sentence: `Another group has the key ${key}.` })
  }
}

type Change = { id: string; ifMatch: string | undefined }

/** Replaces a group and its members. Throws as `patchGroup`. */
export function replaceGroup(
  kernel: ServerContext,
  source: ScimSource,
  { members, ...sent }: ScimGroup & { members: string[] } & Change,
  now: Date,
) {
  return change(kernel, source, { ...sent, resolve: async () => ({ ...sent, members: replacement(members) }) }, now)
}

const tooManyScans = `At most ${limits.scimMemberScansMax} operations can filter members by more than value eq.`

/**
 * Applies operations to a group and its members. The key stays. Throws `group_not_found`, `version_mismatch`,
 * `user_not_found`, `identity_in_too_many_groups`, `tooMany`, `invalidPath`, `invalidValue`.
 */
export function patchGroup(
  kernel: ServerContext,
  source: ScimSource,
  { operations, ...target }: Change & { operations: PatchOperation[] },
  now: Date,
) {
  const resolve = async (tx: Transaction, before: StoredGroup): Promise<Resolved> => {
    let members: MemberChange = { replaces: false, add: new Set(), remove: new Set() }
    const sent: Partial<ScimGroup> = {}
    const scans = operations.filter(({ path }) => path.name === 'members' && isScan(path.filter)).length
    if (scans > limits.scimMemberScansMax) throw messageErrors.tooMany({ sentence: tooManyScans })
    for (const operation of operations) {
      const { op, path, value } = operation
      const isPlain = path.part === undefined && path.filter === undefined
      if (path.name === 'members')
        members = await applyToMembers(members, operation, () => readMembersOf(tx, source, before.groupId))
      else if (!isPlain) throw messageErrors.invalidPath()
      else if (path.name === 'externalid') sent.externalId = op === 'remove' ? null : readExternalId(value)
      else sent.displayName = readDisplayName(value)
    }
    return { ...sent, members }
  }
  return change(kernel, source, { ...target, resolve }, now)
}

/** What a request changes. What it does not name stays. */
type Resolved = Partial<ScimGroup> & { members: MemberChange }
type Changing = Change & { resolve: (tx: Transaction, before: StoredGroup) => Promise<Resolved> }

/** Changes a group. Returns it without its members if they are too many to show. */
async function change(
  { db, config }: ServerContext,
  source: ScimSource,
  { id, ifMatch, resolve }: Changing,
  now: Date,
) {
  const url = scimUrlOf(config)
  return operatorTransaction(db, source, async (tx) => {
    const found = await requireGroup(tx, source, id)
    const { members, ...sent } = await resolve(tx, found)
    const added = await lockAdded(tx, source, members.add)
    const locked = await lockGroupOfSource(tx, id, sourceOf(source))
    if (!locked) throw errors.group_not_found()
    const before = await requireGroup(tx, source, id)
    requireVersion(ifMatch, toResource(url, before, undefined).meta.version)
    const { displayName, externalId } = { ...before, ...sent }
    if (displayName !== before.displayName)
      await renameGroupOfSource(tx, { operator: source, group: before, displayName }, now)
    await changeMembers(tx, { source, group: before, added }, members, now)
    await store.updateGroup(tx, { groupId: id, externalId }, now)
    const after = await requireGroup(tx, source, id)
    const isShown = after.memberCount <= limits.scimMembersShownMax
    return toResource(url, after, isShown ? await readMembersOf(tx, source, id) : undefined)
  })
}

/** Deletes a group. Its members are no longer in it at once. Throws `group_not_found`, `version_mismatch`. */
export async function deleteGroup(
  { db, config }: ServerContext,
  source: ScimSource,
  { id, ifMatch }: Change,
  now: Date,
): Promise<void> {
  await operatorTransaction(db, source, async (tx) => {
    const group = isUuid(id) ? await lockGroupOfSource(tx, id, sourceOf(source)) : undefined
    if (!group) throw errors.group_not_found()
    const before = await requireGroup(tx, source, id)
    requireVersion(ifMatch, toResource(scimUrlOf(config), before, undefined).meta.version)
    await deleteGroupOfSource(tx, { operator: source, group }, now)
    await store.deleteGroup(tx, id)
  })
}
