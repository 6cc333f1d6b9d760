import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isUuid } from '@countersign/protocol/values'
import { generateToken, parseToken } from '#platform/crypto/token-format.ts'
import { actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'
import { lockActiveOrganization } from '#organizations/members/organization.ts'
import { requireConnection, type AskingForOne, type Connection } from '#sso/connections/connection.ts'
import { toSsoConnection } from '#sso/connections/connection-view.ts'
import * as store from './store.ts'

export type { ScimDirectory } from './store.ts'

const errors = defineErrors({
  unauthorized: [401, 'SCIM token required: Authorization: Bearer <token>.'],
  scim_token_not_found: [404, 'SCIM is not configured for this connection.'],
  scim_users_exist: [409, 'Users exist that are matched by another subjectBy. Remove the SCIM token first.'],
})

/**
 * Creates the SCIM token of a connection and revokes an earlier one. The token can end memberships, also of owners, so
 * only an owner can create it. Throws the errors of `requireMember` and `recordSignedAction`, and
 * `reauthentication_required`, `connection_not_found`, `scim_users_exist`.
 */
export async function createScimToken(
  kernel: ServerContext,
  asking: AskingForOne,
  subjectBy: 'externalId' | 'email',
  now: Date,
): Promise<{ token: string; connection: SsoConnection }> {
  const { organizationId, connectionId } = asking
  const token = generateToken('provisioning')
  const connection = await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now)
    requireRecentAuthenticationForAction(asking, now)
    const from = toFrom(await requireConnection(tx, asking))
    const named = { connectionId, organizationId, subjectBy, tokenSha256: sha256(token) }
    if (!(await store.setToken(tx, named, now))) throw errors.scim_users_exist()
    const act = { action: 'scim.token.created', details: { connectionId, subjectBy }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return toSsoConnection(kernel, await requireConnection(tx, asking), acting.organization)
  })
  return { token, connection }
}

/**
 * Deletes the SCIM token and the users it provisioned; members stay members. Throws the errors of `requireMember` and
 * `recordSignedAction`, and `reauthentication_required`, `connection_not_found`, `scim_token_not_found`.
 */
export async function deleteScimToken(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<void> {
  const { connectionId } = asking
  await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireRecentAuthenticationForAction(asking, now)
    const from = toFrom(await requireConnection(tx, asking))
    if (!(await store.deleteProvisioning(tx, connectionId))) throw errors.scim_token_not_found()
    const act = { action: 'scim.token.revoked', details: { connectionId }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

/** Lists what a change of the token changes, for those who sign it. */
function toFrom({ subjectBy, tokenCreatedAt }: Connection) {
  return { subjectBy, tokenCreatedAt: tokenCreatedAt?.toISOString() ?? null }
}

/** Credentials of a request from a directory. */
type Claiming = { connectionId: string; token: string | undefined; address: string }

/**
 * Authenticates a directory and returns its connection. Throws `unauthorized` for every kind of failure, and
 * `rate_limited`. Directories of many organizations share the addresses of their vendors, so wrong tokens from an
 * address do not lock out valid ones.
 */
export async function requireScimToken(
  kernel: Pick<ServerContext, 'db' | 'rateLimits'>,
  claiming: Claiming,
): Promise<store.ScimDirectory> {
  const found = await proveDirectory(kernel, claiming)
  await kernel.rateLimits.count('scim-requests-per-connection', claiming.connectionId)
  return found
}

/** Authenticates a directory whose request has been counted already. */
export async function proveDirectory(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  { connectionId, token = '', address }: Claiming,
): Promise<store.ScimDirectory> {
  const isSound = isUuid(connectionId) && parseToken('provisioning', token, 0) !== undefined
  const found = isSound ? await store.findProvisioning(db, connectionId) : undefined
  if (found && equalBytes(found.tokenSha256, sha256(token))) return found
  await rateLimits.count('scim-authentication-failures', address)
  throw unauthorized()
}

/**
 * Locks an organization for share, with its members and provisioned users, until the transaction ends. Throws
 * `unauthorized` if the token was revoked in the meantime.
 */
export async function lockScimDirectory(tx: Transaction, asking: store.ScimDirectory): Promise<store.ScimDirectory> {
  const { connectionId, organizationId, tokenSha256 } = asking
  await lockActiveOrganization(tx, organizationId)
  const found = await store.findProvisioning(tx, connectionId)
  if (!found || !equalBytes(found.tokenSha256, tokenSha256)) throw unauthorized()
  return found
}

function unauthorized() {
  return errors.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })
}
