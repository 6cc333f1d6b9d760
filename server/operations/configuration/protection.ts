import type { DeclaredApp, DeclaredGroup } from '@countersign/protocol/operations/configuration'
import { findGroupsByKey } from '#accounts/groups/group.ts'
import { mappingsOf, namedGroups } from '#clients/claims/claim.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type Applying, type Change, naming } from './plan.ts'

const errors = defineErrors({
  invalid_request: [400, 'Its role or claim in an app protects it. Leave out protected: false.'],
})

type Declared = { groups: DeclaredGroup[]; apps: DeclaredApp[] }

/**
 * Applies apps, and adds to the plan which groups become protected by it, since a role or a claim in an app gives power
 * to their members. Throws `invalid_request` for a group that the document declares unprotected.
 */
export async function withProtection(
  { tx }: Pick<Applying, 'tx'>,
  { groups, apps }: Declared,
  planned: Change[],
  applyApps: () => Promise<Change[]>,
): Promise<Change[]> {
  const keys = empoweredGroups(apps)
  if (keys.length === 0) return [...planned, ...(await applyApps())]
  const open = (await findGroupsByKey(tx, keys)).filter((group) => !group.protected).map(({ key }) => key)
  const made = await applyApps()
  const closed = open.length === 0 ? [] : (await findGroupsByKey(tx, open)).filter((group) => group.protected)
  const changes = [...planned, ...made]
  for (const { key } of closed)
    await naming(`groups/${key}`, async () => {
      if (groups.some((group) => group.key === key && group.protected === false)) throw errors.invalid_request()
      addProtection(changes, `groups/${key}`)
    })
  return changes
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
