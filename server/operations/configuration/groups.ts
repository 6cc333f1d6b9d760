import type { DeclaredGroup } from '@countersign/protocol/operations/configuration'
import {
  createGroup,
  deleteGroup,
  findGroupsByKey,
  requireManual,
  requireRightsOverGroup,
  updateGroup,
} from '#accounts/groups/group.ts'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { defineErrors } from '#platform/api-error.ts'
import {
  actionOn,
  type Applying,
  type Change,
  claim,
  definedValues,
  differences,
  fieldsOfNew,
  naming,
  requireDistinct,
  type Values,
} from './plan.ts'
import * as store from './store.ts'

const errors = defineErrors({ invalid_request: [400, 'A new group needs displayName.'] })

type Existing = Awaited<ReturnType<typeof findGroupsByKey>>[number]

/** Creates and changes the declared groups. Throws as the functions of groups, and `managed_elsewhere`. */
export async function applyGroups(applying: Applying, declared: DeclaredGroup[]): Promise<Change[]> {
  const { tx, operator } = applying
  requirePermissions(operator, ['groups.manage'])
  const keys = declared.map(({ key }) => key)
  requireDistinct(keys)
  const existing = await findGroupsByKey(tx, keys)
  const byKey = new Map(existing.map((group) => [group.key, group]))
  const managed = await store.findByGroup(
    tx,
    existing.map(({ groupId }) => groupId),
  )
  const sourceOf = new Map(managed.map(({ groupId, source }) => [groupId, source]))
  const changes: Change[] = []
  for (const group of declared) {
    const found = byKey.get(group.key)
    const object = `groups/${group.key}`
    changes.push(
      await naming(object, () =>
        found
          ? changeGroup(applying, group, { ...found, source: sourceOf.get(found.groupId) })
          : addGroup(applying, group),
      ),
    )
  }
  return changes
}

async function addGroup(applying: Applying, declared: DeclaredGroup): Promise<Change> {
  const { tx, operator, now } = applying
  const { key, displayName, description } = declared
  if (displayName === undefined) throw errors.invalid_request()
  const input = { key, displayName, description, protected: declared.protected ?? false }
  const { groupId, protected: isProtected } = await createGroup(tx, operator, input, now)
  await claim(applying, { kind: 'group', key, groupId })
  // Claims that name its key protect it, unless the document says otherwise.
  const values = { ...definedValues({ protected: isProtected || undefined }), ...valuesOf(declared) }
  return { object: `groups/${key}`, action: 'create', fields: fieldsOfNew(values) }
}

async function changeGroup(
  applying: Applying,
  declared: DeclaredGroup,
  { source: managedBy, ...found }: Existing & { source: string | undefined },
): Promise<Change> {
  const { tx, operator, now } = applying
  const { key, groupId } = found
  requireManual(found)
  const before = { displayName: found.displayName, description: found.description, protected: found.protected }
  const fields = differences(before, valuesOf(declared))
  const action = actionOn(applying, managedBy, fields)
  if (action !== 'none') requireRightsOverGroup(operator, found, now)
  if (fields.length > 0 && action !== 'none') {
    const changed = new Set(fields.map(({ path }) => path))
    const change = {
      ...(changed.has('displayName') && { displayName: declared.displayName }),
      ...(changed.has('description') && { description: declared.description }),
      ...(changed.has('protected') && { protected: declared.protected ?? false }),
    }
    await updateGroup(tx, { operator, groupId }, change, now)
  }
  if (action === 'adopt') await claim(applying, { kind: 'group', key, groupId })
  return { object: `groups/${key}`, action, fields }
}

function valuesOf({ displayName, description, protected: isProtected }: DeclaredGroup): Values {
  return definedValues({ displayName, description, protected: isProtected === null ? false : isProtected })
}

/** Deletes the groups of the source that the document does not name. Throws as `deleteGroup`. */
export async function pruneGroups(applying: Applying, declared: DeclaredGroup[]): Promise<Change[]> {
  const { tx, operator, source, now } = applying
  const named = new Set(declared.map(({ key }) => key))
  const gone = (await store.listObjects(tx, source, 'group')).filter(({ key }) => !named.has(key))
  const existing = await findGroupsByKey(
    tx,
    gone.map(({ key }) => key),
  )
  const changes: Change[] = []
  for (const { key, groupId } of gone) {
    await store.release(tx, { source, kind: 'group', key })
    const found = existing.find((each) => each.groupId === groupId)
    if (!found) continue
    const object = `groups/${key}`
    await naming(object, () => deleteGroup(tx, { operator, groupId: found.groupId }, now))
    const fields = [{ path: 'memberCount', from: found.memberCount, to: null }]
    changes.push({ object, action: 'delete', fields })
  }
  return changes
}
