import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyRequest } from 'fastify'
import { secondsAfter } from '#kernel/clock.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import {
  deleteEnterpriseSso,
  deleteSessionsOfIdentities,
  findEnterpriseSso,
  listOrganizationsOfSession,
  moveEnterpriseSso,
  upsertEnterpriseSso,
  upsertWithoutSso,
  type EnterpriseSsoOf,
} from './enterprise-sso-store.ts'

/** That the provider of an organization has named the person of a session, as one of their identities. */
export type EnterpriseSso = { connectionId: string; identityId: string; authenticatedAt: Date }

/**
 * What a session can do that an organization opened, and no passkey. Whoever holds the organization's provider can open
 * one, so it is not for what the person owns: their passkeys, keys, other identities, apps, and the account as a whole.
 * Nor for what a key signs, that a passkey opens: a signature that comes with it was made for something else.
 * An endpoint that is not named here is closed to it.
 */
const openWithoutPasskey = new Set([
  'GET /api/auth/session',
  'DELETE /api/auth/session',
  'POST /api/auth/session/business',
  'POST /api/auth/session/end',
  'GET /api/identities',
  'GET /api/identities/:identityId',
  'GET /api/oauth/authorization/:clientId',
  'POST /api/oauth/authorize',
  'GET /api/oauth/delegations',
  'GET /api/oauth/delegations/:delegationId/uses',
  'DELETE /api/oauth/delegations/:delegationId',
  'GET /api/signing/requests',
  'GET /api/signing/requests/:requestId',
  'POST /api/signing/requests/:requestId/deny',
  // As a member of that organization alone.
  'GET /api/organizations',
  'GET /api/organizations/:organizationId',
  'PATCH /api/organizations/:organizationId',
  'GET /api/organizations/:organizationId/audit',
  'GET /api/organizations/:organizationId/audit/export',
  'GET /api/organizations/:organizationId/members',
  'GET /api/organizations/:organizationId/members/:memberId',
  'PATCH /api/organizations/:organizationId/members/:memberId',
  'DELETE /api/organizations/:organizationId/members/:memberId',
  'GET /api/organizations/:organizationId/invitations',
  'POST /api/organizations/:organizationId/invitations',
  'GET /api/organizations/:organizationId/invitations/:invitationId',
  'DELETE /api/organizations/:organizationId/invitations/:invitationId',
])

export function isOpenWithoutPasskey({ method, routeOptions: { url = '' } }: FastifyRequest): boolean {
  // Fastify answers HEAD wherever it answers GET.
  return openWithoutPasskey.has(`${method === 'HEAD' ? 'GET' : method} ${url}`)
}

/** Notes on a session that the provider of an organization has named its person now. */
export async function noteEnterpriseSso(
  tx: Transaction,
  named: { sessionId: string; organizationId: string; connectionId: string; identityId: string },
  now: Date,
): Promise<void> {
  await upsertEnterpriseSso(tx, named, now)
}

/**
 * Whether, how, and as which identity the person of a session was signed in by an organization's own provider, not
 * longer ago than what it says holds.
 */
export async function readEnterpriseSso(
  db: Database,
  sessionId: string,
  organizationId: string,
  now: Date,
): Promise<EnterpriseSso | undefined> {
  const said = await findEnterpriseSso(db, sessionId, organizationId)
  return said && said.authenticatedAt > secondsAfter(now, -limits.enterpriseSsoSeconds) ? said : undefined
}

/** Notes that a session is in an organization without its provider; whether to tell that, which is once an hour. */
export function noteWithoutSso(
  tx: Transaction,
  within: { sessionId: string; organizationId: string },
  now: Date,
): Promise<boolean> {
  const since = secondsAfter(now, -limits.withoutSsoNotedSeconds)
  return upsertWithoutSso(tx, { ...within, since }, now)
}

/** The organizations whose own provider has named the person of a session as this one of their identities. */
export function listEnterpriseSso(
  db: Database,
  named: { sessionId: string; identityId: string },
  now: Date,
): Promise<string[]> {
  return listOrganizationsOfSession(db, named, secondsAfter(now, -limits.enterpriseSsoSeconds))
}

/** Moves what providers have said in the session of a token to another one of the same person, that takes its place. */
export async function passOnEnterpriseSso(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  await moveEnterpriseSso(tx, earlier, later)
}

/**
 * Takes back what a provider has said: of all members or of these identities, by every connection of the organization
 * or one. The sessions that it opened alone end; answers which, for the codes that they gave.
 */
export async function endEnterpriseSso(
  tx: Transaction,
  of: EnterpriseSsoOf,
): Promise<{ sessionId: string; identityId: string }[]> {
  return of.identityIds?.length === 0 ? [] : deleteEnterpriseSso(tx, of)
}

/** Ends the sessions that are of these identities alone, and what providers have said of them in others. */
export async function endSessionsOfIdentities(tx: Transaction, userId: string, identityIds: string[]): Promise<void> {
  await deleteSessionsOfIdentities(tx, userId, identityIds)
}
