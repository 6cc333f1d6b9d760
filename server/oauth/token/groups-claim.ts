import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { listGroupsOf } from '#accounts/groups/member.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import type { Database } from '#platform/database/database.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'
import type { IdentityClaims } from './claims.ts'

type Granted = { identityId: IdentityId; scope: string }

/**
 * Reads the groups of an identity that an app may know, by key: those that the app names, or all. Reads the current
 * members, and nothing if the grant has no scope `groups`.
 */
export async function readGroupsClaim(
  db: Database,
  app: RegisteredApp,
  { identityId, scope }: Granted,
): Promise<{ groups?: string[] }> {
  if (!effectiveScope(ScopeSet.parse(scope), app).has('groups')) return {}
  const named = new Set(app.access.groups.map(({ groupId }) => groupId))
  const isShared = (groupId: string) => app.groupsClaim === 'all' || named.has(groupId)
  const groups = await listGroupsOf(db, identityId)
  return { groups: groups.filter(({ groupId }) => isShared(groupId)).map(({ key }) => key) }
}

/**
 * Returns the claims that fit into a JWT. Groups that are too many are left out as a whole, and `claims_omitted` says
 * so: an app that saw some of them could not tell that others are missing.
 */
export function claimsOfJwt(claims: IdentityClaims): IdentityClaims & { claims_omitted?: string[] } {
  const { groups, ...others } = claims
  if (groups === undefined || Buffer.byteLength(JSON.stringify(groups)) <= limits.groupsClaimBytesMax) return claims
  return { ...others, claims_omitted: ['groups'] }
}
