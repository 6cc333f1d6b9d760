import { ScopeSet } from '@countersign/protocol/scope-set'
import { hasAccess } from '#clients/registration/access/access.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { queueLogouts } from '#accounts/backchannel-logout/logout.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import {
  type OrganizationClaim,
  resolveOrganizationClaim,
  toOrganizationClaim,
} from '#organizations/membership/context.ts'
import { type IssuedTokens, revokeFamiliesOfClient } from '#tokens/families/family.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'
import { type AssignedClaims, readAssignedClaims } from './assigned-claims.ts'

const errors = defineErrors({
  invalid_grant: [400, 'The user can no longer use the organization this grant was issued for.'],
})

const withoutAccess = { sentence: 'The user has no access to this app.' }

/** New tokens, with the scope that the app may use, and the claims that are read when they are issued. */
export type CompletedRedemption = IssuedTokens & { scope: ScopeSet } & OrganizationClaim & AssignedClaims

/**
 * Completes a redemption whose new tokens no one has yet: checks that the user may still use the app, and reads the
 * organization, the groups and the roles of the user. What is read is newer than the tokens, so a member who was
 * removed before the request gets none. Throws `invalid_grant`.
 */
export async function completeRedemption(
  { db, app }: { db: Database; app: RegisteredApp },
  issued: IssuedTokens,
  now: Date,
): Promise<CompletedRedemption> {
  const { granted } = issued
  if (!(await hasAccess(db, app, granted.identityId))) {
    await endAccess(db, app, issued, now)
    throw errors.invalid_grant(withoutAccess)
  }
  const organization = await resolveOrganizationClaim(db, granted)
  if (organization.kind === 'revoked') throw errors.invalid_grant()
  const scope = effectiveScope(ScopeSet.parse(granted.scope), app)
  const assigned = await readAssignedClaims(db, app, { identityId: granted.identityId, scope })
  return { ...issued, scope, ...toOrganizationClaim(organization), ...assigned }
}

/** Revokes what an app has of a user who may no longer use it, and ends the user's sessions there. */
async function endAccess(
  db: Database,
  { clientId }: RegisteredApp,
  { granted: { identityId } }: IssuedTokens,
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    await revokeFamiliesOfClient(tx, identityId, clientId, now)
    await queueLogouts(tx, { identityIds: [identityId], clientId }, now)
    await recordAuditEvent(tx, { action: 'app.access.ended', actor: 'system', identityId, clientId }, now)
  })
}
