import type { DeclaredApp, DeclaredGroup } from '@countersign/protocol/operations/configuration'
import { findGroupsByKey, updateGroup } from '#accounts/groups/group.ts'
import { mappingsOf, namedGroups } from '#clients/claims/claim.ts'
import { type Applying, type Change, naming } from './plan.ts'

type Declared = { groups: DeclaredGroup[]; apps: DeclaredApp[] }

/**
 * Applies apps, and adds to the plan which groups become protected by it: a role or a claim in an app gives power to
 * their members. Groups that the document declares as not protected stay so. Throws as `updateGroup`.
 */
export async function withProtection(
  applying: Applying,
  { groups, apps }: Declared,
  planned: Change[],
  applyApps: () => Promise<Change[]>,
): Promise<Change[]> {
  const { tx } = applying
  const open = (await findGroupsByKey(tx, empoweredGroups(apps)))
    .filter((group) => !group.protected)
    .map(({ key }) => key)
  const changes = [...planned, ...(await applyApps())]
  await liftProtection(applying, groups)
  for (const { key, protected: isProtected } of await findGroupsByKey(tx, open))
    if (isProtected) addProtection(changes, `groups/${key}`)
  return changes
}

async function liftProtection({ tx, operator, now }: Applying, declared: DeclaredGroup[]): Promise<void> {
  const open = declared.filter((group) => group.protected === false || group.protected === null)
  const existing = await findGroupsByKey(
    tx,
    open.map(({ key }) => key),
  )
  for (const { groupId, key, protected: isProtected } of existing)
    if (isProtected)
      await naming(`groups/${key}`, () => updateGroup(tx, { operator, groupId }, { protected: false }, now))
}

/** Returns the keys of groups to which declared apps give roles, or claims by their name. */
function empoweredGroups(apps: DeclaredApp[]): string[] {
  const named = apps.flatMap(({ roleAssignments = [], claims = [] }) => [
    ...roleAssignments.flatMap(({ groups = [] }) => groups),
    ...namedGroups(mappingsOf(claims)),
  ])
  return [...new Set(named)]
}

/** Adds the protection to the change of a group, or a change of its own if there is none. */
function addProtection(changes: Change[], object: string): void {
  const nth = changes.findIndex((change) => change.object === object)
  const { action = 'none', fields = [] } = changes[nth] ?? {}
  const field = { path: 'protected', from: action === 'create' ? null : false, to: true }
  const change: Change = { object, action: action === 'none' ? 'update' : action, fields: [...fields, field] }
  if (nth === -1) changes.push(change)
  else changes[nth] = change
}
