import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyRequest } from 'fastify'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import * as ssoSessionStore from './sso-session-store.ts'
import * as store from './store.ts'

const refuse = refusals({ unauthorized: [401, 'Sign in first.'] })

/** That the provider of an organization has named the person of a session, as one of their identities. */
export type EnterpriseSso = { connectionId: string; identityId: string; authenticatedAt: Date }

/** Whether the endpoint is open to a session without a passkey, which each endpoint says of itself. */
export function isOpenWithoutPasskey({ routeOptions }: FastifyRequest): boolean {
  const { ssoSession = 'nothing' } = routeOptions.config
  return ssoSession !== 'nothing'
}

/**
 * Notes on a session that the provider of an organization has named its person now. Refuses `unauthorized` where the
 * session has ended.
 */
export async function noteEnterpriseSso(
  tx: Transaction,
  named: { sessionId: string; organizationId: string; connectionId: string; identityId: string },
  now: Date,
): Promise<void> {
  if (!(await ssoSessionStore.upsertEnterpriseSso(tx, named, now))) throw refuse.unauthorized()
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
  const said = await ssoSessionStore.findEnterpriseSso(db, sessionId, organizationId)
  return said && said.authenticatedAt > secondsAfter(now, -limits.enterpriseSsoSeconds) ? said : undefined
}

/**
 * Notes that a session is in an organization without its provider; whether to tell that, which is once an hour. Refuses
 * `unauthorized` where the session has ended.
 */
export async function noteWithoutSso(
  tx: Transaction,
  within: { sessionId: string; organizationId: string },
  now: Date,
): Promise<boolean> {
  const since = secondsAfter(now, -limits.withoutSsoNotedSeconds)
  if (await ssoSessionStore.upsertWithoutSso(tx, { ...within, since }, now)) return true
  if (!(await store.findAuthTime(tx, within.sessionId))) throw refuse.unauthorized()
  return false
}

/** The organizations whose own provider has named the person of a session as this one of their identities. */
export function listEnterpriseSso(
  db: Database,
  named: { sessionId: string; identityId: string },
  now: Date,
): Promise<string[]> {
  return ssoSessionStore.listOrganizationsOfSession(db, named, secondsAfter(now, -limits.enterpriseSsoSeconds))
}

/** Moves what providers have said in the session of a token to another one of the same person, that takes its place. */
export async function passOnEnterpriseSso(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  await ssoSessionStore.moveEnterpriseSso(tx, earlier, later)
}

/**
 * Deletes up to `batch` notes of each kind that have not counted for a day, and says how many. They outlive the
 * session: what ends many sessions at once need not look for them.
 */
export function pruneNotes(db: Database, now: Date, batch: number): Promise<number> {
  const before = secondsAfter(now, -limits.sessionNotesKeptSeconds)
  const named = secondsAfter(before, -limits.enterpriseSsoSeconds)
  return ssoSessionStore.deleteNotes(
    db,
    { named, entered: secondsAfter(before, -limits.withoutSsoNotedSeconds) },
    batch,
  )
}
