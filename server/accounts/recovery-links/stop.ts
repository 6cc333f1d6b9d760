import type { OwnRecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import { limits } from '@countersign/protocol/formats/limits'
import { actingUserTransaction, lockIdentity } from '#accounts/identities/identity.ts'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import * as store from './store.ts'
import type { LinkKey, RecoveryLinkRow } from './store.ts'

const errors = defineErrors({
  recovery_link_not_found: [404, 'The recovery has ended, or never existed.'],
})

export type StopServices = { lifecycle: Lifecycle; sessions: SessionLifecycle }

/** Lists the recoveries of the account of a session that its user can stop or undo. */
export async function listOwnRecoveryLinks(
  db: Database,
  { userId }: PasskeySession,
  now: Date,
): Promise<OwnRecoveryLink[]> {
  return (await store.listOpenLinks(db, userId, now)).flatMap(toOwn)
}

function toOwn(row: RecoveryLinkRow): OwnRecoveryLink[] {
  const { recoveryLinkId, identityId, state } = row
  if (state !== 'issued' && state !== 'redeemed' && state !== 'completed') return []
  return [
    {
      ...{ recoveryLinkId, identityId, state },
      issuedAt: row.issuedAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
      completesAt: row.completesAt?.toISOString() ?? null,
      holdUntil: row.holdUntil?.toISOString() ?? null,
    },
  ]
}

/**
 * Stops or undoes a recovery from a session of the account, which locks recovery links. Throws
 * `recovery_link_not_found`, and `unauthorized` if the session has ended.
 */
export async function stopOwnRecoveryLink(
  { db, ...services }: StopServices & { db: Database },
  { session, recoveryLinkId }: { session: PasskeySession; recoveryLinkId: string },
  now: Date,
): Promise<void> {
  const key = { userId: session.userId, recoveryLinkId }
  await actingUserTransaction(db, session, (tx) => stop(tx, services, { key, by: 'session' }, now))
}

/**
 * Stops or undoes a recovery by the secret of a mailed link, which locks recovery links. Throws
 * `recovery_link_not_found`.
 */
export async function stopMailedRecoveryLink(
  { db, ...services }: StopServices & { db: Database },
  secret: string,
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    const key = await store.findLinkBySecret(tx, 'stop_sha256', sha256(secret))
    // The lock of the account comes first, as in everything that changes a recovery.
    if (!key || !(await lockAccountOfIdentity(tx, key.identityId))) throw errors.recovery_link_not_found()
    await stop(tx, services, { key, by: 'mail' }, now)
  })
}

type Stopping = { key: LinkKey; by: 'session' | 'mail' }

async function stop(
  tx: Transaction,
  { lifecycle, sessions }: StopServices,
  { key, by }: Stopping,
  now: Date,
): Promise<void> {
  const lockedUntil = addSeconds(now, limits.recoveryLockSeconds)
  const cancelled = await store.cancelLink(tx, key, { lockedUntil }, now)
  if (cancelled) return record(tx, 'recovery_link.stopped', { row: cancelled, by }, now)
  const before = await store.findLink(tx, key)
  const undone = await store.undoLink(tx, key, { lockedUntil }, now)
  if (!undone || !before?.credentialId) throw errors.recovery_link_not_found()
  const { userId, identityId, completedAt: connectedSince } = undone
  // A consent in progress completes first, and is found. A later one finds no session.
  await lockIdentity(tx, identityId)
  await lifecycle.end(tx, 'recovered', { userId, identityIds: [identityId], connectedSince }, now)
  await sessions.end(tx, { userId, which: 'of recovered passkey', credentialId: before.credentialId }, now)
  await record(tx, 'recovery_link.undone', { row: undone, by }, now)
}

type Ended = { row: RecoveryLinkRow; by: Stopping['by'] }

async function record(
  tx: Transaction,
  action: 'recovery_link.stopped' | 'recovery_link.undone',
  { row: { userId, identityId, recoveryLinkId }, by }: Ended,
  now: Date,
): Promise<void> {
  await recordAuditEvent(tx, { action, actor: 'user', userId, identityId, details: { recoveryLinkId, by } }, now)
}
