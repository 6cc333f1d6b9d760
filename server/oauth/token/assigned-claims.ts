import type { ClaimPlace } from '@countersign/protocol/clients/claims'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import { type GroupOfIdentity, listGroupsOf } from '#accounts/groups/member.ts'
import { mapClaims, type MappedClaims } from '#clients/claims/mapping.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { listRolesOf } from '#clients/roles/role.ts'
import type { Database } from '#platform/database/database.ts'
import type { IdentityClaims } from './claims.ts'

/** Claims about what operators assigned to an identity. */
export type AssignedClaims = { groups?: string[] | undefined; roles?: string[] | undefined }
/** An identity, and the scope that its app may use (`effectiveScope`). */
type Granted = { identityId: IdentityId; scope: ScopeSet }

/**
 * Reads the groups of an identity that an app may know, and its roles in the app, as far as the scope of the grant
 * gives them. Reads what is so now, without a cache.
 */
export async function readAssignedClaims(
  db: Database,
  app: RegisteredApp,
  { identityId, scope }: Granted,
): Promise<AssignedClaims> {
  // One after the other: a request takes one connection at a time.
  const groups = scope.has('groups') ? await readGroups(db, app, identityId) : undefined
  const roles = scope.has('roles') ? await listRolesOf(db, app.clientId, identityId) : undefined
  return { ...(groups && { groups }), ...(roles && { roles }) }
}

/**
 * Reads the groups of an identity, by key: those that the access or the roles of the app name, or all. A group of a
 * directory is among all only if it is named: the directory chooses its key.
 */
async function readGroups(db: Database, app: RegisteredApp, identityId: IdentityId): Promise<string[]> {
  const named = new Set([...app.access.groups.map(({ groupId }) => groupId), ...app.roleGroupIds])
  const isShared = ({ groupId, managedBy }: GroupOfIdentity) =>
    named.has(groupId) || (app.groupsClaim === 'all' && managedBy === null)
  const groups = await listGroupsOf(db, identityId)
  return groups.filter(isShared).map(({ key }) => key)
}

/** What an app learns about an identity, apart from its mapped claims. */
type Known = { scope: ScopeSet; assigned: AssignedClaims; claims: IdentityClaims | AssignedClaims }

/** Claims that fit, their names that do not, and how many bytes all of them have. */
export type FittingClaims = { claims: Record<string, unknown>; omitted: string[]; bytes: number }

/**
 * Returns the claims of an identity in one place, with the mapped claims of the app. If they are too large, `groups` is
 * left out, then `roles`, then mapped claims from the last: each as a whole, because an app that saw some of the groups
 * could not tell that others are missing. `claims_omitted` names them.
 */
export function claimsIn(
  place: ClaimPlace,
  { claims: mappings }: Pick<RegisteredApp, 'claims'>,
  { scope, assigned, claims }: Known,
  bytesMax: number = place === 'userinfo' ? limits.answerClaimsBytesMax : limits.assignedClaimsBytesMax,
): FittingClaims {
  const mapped = mapClaims(mappings, { scope, assigned, place })
  const sizes = sizesOf(claims, mapped)
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  const omitted: string[] = []
  let left = bytes
  for (const [name, size] of sizes) {
    if (left <= bytesMax) break
    left -= size
    omitted.push(name)
  }
  const all = { ...Object.fromEntries(mapped), ...claims }
  if (omitted.length === 0) return { claims: all, omitted, bytes }
  const kept = Object.entries(all).filter(([name]) => !omitted.includes(name))
  return { claims: { ...Object.fromEntries(kept), claims_omitted: omitted }, omitted, bytes }
}

/** Returns the claims that can be left out with their bytes, in the order in which they are. */
function sizesOf({ groups, roles }: AssignedClaims, mapped: MappedClaims): [name: string, bytes: number][] {
  const sizes: [string, number][] = []
  if (groups) sizes.push(['groups', bytesOf(groups)])
  if (roles) sizes.push(['roles', bytesOf(roles)])
  const others = [...mapped].map(([name, value]): [string, number] => [name, bytesOf({ [name]: value })])
  return sizes.concat(others.toReversed())
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
