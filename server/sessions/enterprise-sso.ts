import type { FastifyRequest } from 'fastify'
import type { Database, Transaction } from '#kernel/database.ts'
import {
  deleteEnterpriseSso,
  deleteSessionsOfIdentities,
  findEnterpriseSso,
  upsertEnterpriseSso,
  type EnterpriseSsoOf,
} from './enterprise-sso-store.ts'

/** That the provider of an organization has named the person of a session, as one of their identities. */
export type EnterpriseSso = { connectionId: string; identityId: string; authenticatedAt: Date }

/**
 * What a session can do that an organization opened, and no passkey. Whoever holds the organization's provider can open
 * one, so it is not for what the person owns: their passkeys, keys, other identities, apps, and the account as a whole.
 * An endpoint that is not named here is closed to it.
 */
const openWithoutPasskey = new Set([
  'GET /api/auth/session',
  'DELETE /api/auth/session',
  'POST /api/auth/session/business',
  'POST /api/auth/session/end',
  'GET /api/identities',
  'GET /api/identities/:identityId',
  // As a member of that organization alone.
  'GET /api/organizations',
  'GET /api/organizations/:organizationId',
  'PATCH /api/organizations/:organizationId',
  'GET /api/organizations/:organizationId/members',
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

/** Whether, how, and as which identity the person of a session was signed in by an organization's own provider. */
export function readEnterpriseSso(
  db: Database,
  sessionId: string,
  organizationId: string,
): Promise<EnterpriseSso | undefined> {
  return findEnterpriseSso(db, sessionId, organizationId)
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
