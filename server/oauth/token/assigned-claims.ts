import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { listGroupsOf } from '#accounts/groups/member.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { listRolesOf } from '#clients/roles/role.ts'
import type { Database } from '#platform/database/database.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'
import type { IdentityClaims } from './claims.ts'

/** Claims about what operators assigned to an identity. */
export type AssignedClaims = { groups?: string[]; roles?: string[] }
type Granted = { identityId: IdentityId; scope: string }

/**
 * Reads the groups of an identity that an app may know, and its roles in the app, as far as the scope of the grant
 * gives them. Reads what is so now, without a cache.
 */
export async function readAssignedClaims(
  db: Database,
  app: RegisteredApp,
  { identityId, scope }: Granted,
): Promise<AssignedClaims> {
  const granted = effectiveScope(ScopeSet.parse(scope), app)
  // One after the other: a request takes one connection at a time.
  const groups = granted.has('groups') ? await readGroups(db, app, identityId) : undefined
  const roles = granted.has('roles') ? await listRolesOf(db, app.clientId, identityId) : undefined
  return { ...(groups && { groups }), ...(roles && { roles }) }
}

/** Reads the groups of an identity, by key: those that the access or the roles of the app name, or all. */
async function readGroups(db: Database, app: RegisteredApp, identityId: IdentityId): Promise<string[]> {
  const named = new Set([...app.access.groups.map(({ groupId }) => groupId), ...app.roleGroupIds])
  const isShared = (groupId: string) => app.groupsClaim === 'all' || named.has(groupId)
  const groups = await listGroupsOf(db, identityId)
  return groups.filter(({ groupId }) => isShared(groupId)).map(({ key }) => key)
}

/** The claims that a JWT leaves out if they are too large, in this order. */
const omittable = ['groups', 'roles'] as const

/**
 * Returns the claims that fit into a JWT. A claim that does not fit is left out as a whole, and `claims_omitted` says
 * so: an app that saw some of the groups could not tell that others are missing.
 */
export function claimsOfJwt(claims: IdentityClaims): IdentityClaims & { claims_omitted?: string[] } {
  const kept = { ...claims }
  const omitted: string[] = []
  for (const name of omittable) {
    if (bytesOf(kept) <= limits.assignedClaimsBytesMax) break
    if (kept[name] === undefined) continue
    delete kept[name]
    omitted.push(name)
  }
  return omitted.length > 0 ? { ...kept, claims_omitted: omitted } : kept
}

function bytesOf(claims: AssignedClaims): number {
  let bytes = 0
  for (const name of omittable) if (claims[name] !== undefined) bytes += Buffer.byteLength(JSON.stringify(claims[name]))
  return bytes
}
