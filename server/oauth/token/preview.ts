import type { ClaimsPreview } from '@countersign/protocol/clients/claims'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { findIdentity } from '#accounts/identities/identity.ts'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { hasAccess } from '#clients/registration/access/access.ts'
import { getApp } from '#clients/registration/app.ts'
import { effectiveScope } from '#oauth/authorize/parameters.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { claimsIn, readAssignedClaims } from './assigned-claims.ts'
import { identityClaims } from './claims.ts'

const errors = defineErrors({ identity_not_found: [404, 'No identity has this ID.'] })

type Previewed = { clientId: ClientId; identityId: IdentityId; scope: string | undefined }

/**
 * Returns what an app would learn about an identity, without a signed token, and without the user ID that would link
 * the identities of one user. Records the look at the identity. Throws `permission_denied` without `people.read`,
 * `app_not_found`, `identity_not_found`.
 */
export async function previewClaims(
  db: Database,
  operator: Operator,
  { clientId, identityId, scope: requested }: Previewed,
  now: Date,
): Promise<ClaimsPreview> {
  requirePermissions(operator, ['people.read'])
  const app = await getApp(db, { manager: operator, clientId })
  const identity = await findIdentity(db, identityId)
  if (!identity) throw errors.identity_not_found()
  const given = requested === undefined ? new ScopeSet(app.allowedScopes) : ScopeSet.parse(requested)
  const scope = effectiveScope(given, app).filter((each) => each !== 'user_id')
  await operatorTransaction(db, operator, (tx) =>
    recordAuditEvent(
      tx,
      {
        action: 'app.claims.previewed',
        ...auditFieldsOf(operator),
        clientId,
        identityId,
        details: { scope: scope.toString() },
      },
      now,
    ),
  )

  const assigned = await readAssignedClaims(db, app, { identityId, scope })
  const claims = identityClaims({ ...identity, ...assigned }, scope)
  const known = { scope, assigned, claims }
  const inIdToken = claimsIn('id_token', app, known)
  const idToken = app.idTokenClaims && scope.has('openid') ? inIdToken : { claims: {}, omitted: [], bytes: 0 }
  const userinfo = claimsIn('userinfo', app, known)
  const accessToken = claimsIn('access_token', app, { ...known, claims: {} })
  return {
    scope: scope.toString(),
    hasAccess: await hasAccess(db, app, identityId),
    idToken: { sub: identityId, ...idToken.claims },
    userinfo: { sub: identityId, ...userinfo.claims },
    accessToken: { sub: identityId, ...accessToken.claims },
    bytes: { idToken: idToken.bytes, userinfo: userinfo.bytes, accessToken: accessToken.bytes },
    omitted: [...new Set([idToken, userinfo, accessToken].flatMap(({ omitted }) => omitted))],
  }
}
