import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import type { FastifyRequest } from 'fastify'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { deleteSsoRecords } from './ending-store.ts'
import * as store from './store.ts'

const errors = defineErrors({ unauthorized: [401, 'Authentication required.'] })

/** SSO authentication of a session's user as one of their identities. */
export type EnterpriseSso = { connectionId: string; identityId: IdentityId; authenticatedAt: Date }

/** Checks whether the endpoint accepts sessions without a passkey. */
export function allowsEnterpriseSession({ routeOptions }: FastifyRequest): boolean {
  const { ssoSession = 'nothing' } = routeOptions.config
  return ssoSession !== 'nothing'
}

/** Records an SSO authentication in a session. Throws `unauthorized` if the session has ended. */
export async function recordSsoAuthentication(
  tx: Transaction,
  named: { sessionId: SessionId; organizationId: OrganizationId; connectionId: string; identityId: IdentityId },
  now: Date,
): Promise<void> {
  if (!(await store.upsertSsoAuthentication(tx, named, now))) throw errors.unauthorized()
}

/** Finds the SSO authentication of a session for an organization, if it has not expired. */
export async function findSsoAuthentication(
  db: Database,
  sessionId: SessionId,
  organizationId: OrganizationId,
  now: Date,
): Promise<EnterpriseSso | undefined> {
  const said = await store.findSsoAuthentication(db, sessionId, organizationId)
  return said && said.authenticatedAt > addSeconds(now, -limits.enterpriseSsoSeconds) ? said : undefined
}

/**
 * Records that a session uses an organization without SSO. Returns whether to audit it, which is once an hour. Throws
 * `unauthorized` if the session has ended.
 */
export async function recordSsoBypass(
  tx: Transaction,
  within: { sessionId: SessionId; organizationId: OrganizationId },
  now: Date,
): Promise<boolean> {
  const since = addSeconds(now, -limits.ssoBypassRecordedSeconds)
  if (await store.upsertSsoBypass(tx, { ...within, since }, now)) return true
  if (!(await store.findAuthTime(tx, within.sessionId))) throw errors.unauthorized()
  return false
}

/** Lists the organizations whose SSO has authenticated this identity in a session. */
export function listSsoOrganizations(
  db: Database,
  named: { sessionId: SessionId; identityId: IdentityId },
  now: Date,
): Promise<OrganizationId[]> {
  return store.listOrganizationsOfSession(db, named, addSeconds(now, -limits.enterpriseSsoSeconds))
}

/** Moves SSO authentications from the session of a token to the session of the same user that replaces it. */
export function transferSsoAuthentication(
  tx: Transaction,
  earlier: { sessionId: SessionId; tokenSha256: Uint8Array },
  later: { sessionId: SessionId; userId: UserId },
): void {
  store.moveSsoAuthentication(tx, earlier, later)
}

/**
 * Deletes up to `batch` records of each kind that expired more than a day ago. Returns their number. Records outlive
 * their session, so that ending many sessions need not delete them.
 */
export function pruneSsoRecords(db: Database, now: Date, batch: number): Promise<number> {
  const before = addSeconds(now, -limits.sessionNotesKeptSeconds)
  const named = addSeconds(before, -limits.enterpriseSsoSeconds)
  return deleteSsoRecords(db, { named, entered: addSeconds(before, -limits.ssoBypassRecordedSeconds) }, batch)
}
