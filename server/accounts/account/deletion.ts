import type { EventActor } from '@countersign/protocol/clients/webhook-events'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { recordIdentityEvents } from '#accounts/app-events/event.ts'
import { requireListedEmail } from '#accounts/identities/email.ts'
import {
  actingUserTransaction,
  deleteUnlessLast,
  deleteUser,
  lockIdentitiesOfUser,
  lockIdentity,
  removeIdentity,
  requireOwnIdentity,
} from '#accounts/identities/identity.ts'
import { applyRemaining } from '#accounts/identities/suspension.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'

type Services = { kernel: ServerContext; lifecycle: Lifecycle }

/**
 * Deletes one of a user's identities with all its data. The handle stays reserved, and the audit log keeps only the
 * identity's ID. Throws `identity_not_found`, `reauthentication_required`, `last_identity`, `last_owner`,
 * `email_domain_required` or `rate_limited`.
 */
export async function deleteIdentity(
  { kernel: { db, config, rateLimits }, lifecycle }: Services,
  session: PasskeySession,
  identityId: IdentityId,
  now: Date,
): Promise<void> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId, now)
  requireRecentAuthentication(session, now)
  // The handle stays reserved for months. Without a limit, repeated creation and deletion could reserve all handles.
  await rateLimits.count('handle-changes-per-user', ownKey(session, now))
  await actingUserTransaction(db, session, async (tx) => {
    await lockIdentitiesOfUser(tx, userId)
    const identity = await lockIdentity(tx, identityId)
    await recordDeleted(tx, { identityIds: [identityId], by: 'self' }, now)
    await removeIdentity(tx, session, identityId, now)
    if (identity) await requireListedEmail(tx, config, { identity, email: null }, now)
    await endDataOf(tx, lifecycle, { userId, identityId, by: 'self' }, now)
    // A suspension through this identity may have ended, and the apps get its event from the cleanup only later.
    await applyRemaining(tx, { userId, by: 'system' }, now)
    await recordAuditEvent(tx, { action: 'identity.deleted', actor: 'user', userId, identityId }, now)
  })
}

/**
 * Deletes an account with all its data at once. The audit log keeps IDs that lead to no data. Because other users sign
 * in to the account's registered apps, these are deleted only with `withApps`. Throws `reauthentication_required`,
 * `last_owner`, or `owns_apps`, which names the apps.
 */
export async function deleteAccount(
  { kernel: { db }, lifecycle }: Services,
  session: PasskeySession,
  { withApps }: { withApps: boolean },
  now: Date,
): Promise<void> {
  requireRecentAuthentication(session, now)
  const { userId } = session
  await actingUserTransaction(db, session, async (tx) => {
    await recordDeleted(tx, { identityIds: await lockIdentitiesOfUser(tx, userId), by: 'self' }, now)
    await endAccount(tx, lifecycle, { userId, withApps, by: 'self' }, now)
    await recordAuditEvent(tx, { action: 'account.deleted', actor: 'user', userId }, now)
  })
}

type Owned = { userId: UserId; identityId: IdentityId }
type By = { by: EventActor }

/**
 * Deletes an identity for its operator like its user does, in an account that the transaction has locked. The account
 * ends with its last identity. Its sessions end too if only suspended identities remain. Throws `last_owner` or
 * `owns_apps`.
 */
export async function endIdentity(
  tx: Transaction,
  lifecycle: Lifecycle,
  { by, ...owned }: Owned & By,
  now: Date,
): Promise<void> {
  const { userId, identityId } = owned
  await recordDeleted(tx, { identityIds: [identityId], by }, now)
  if (!(await deleteUnlessLast(tx, owned, now))) return endAccount(tx, lifecycle, { userId, withApps: false, by }, now)
  await endDataOf(tx, lifecycle, { ...owned, by }, now)
  const { identityIds, all } = await applyRemaining(tx, { userId, by }, now)
  if (!all) return
  // The account cannot be used any more, as if its last active identity were suspended.
  const ending = { userId, identityIds, which: 'all' } as const
  await lifecycle.end(tx, 'access', ending, now)
  await lifecycle.end(tx, 'sessions', ending, now)
}

/** Records the deletion of locked identities for apps, while they still exist. */
async function recordDeleted(
  tx: Transaction,
  { identityIds, by }: { identityIds: IdentityId[]; by: EventActor },
  now: Date,
): Promise<void> {
  const events = identityIds.map((identityId) => ({ type: 'identity.deleted', identityId, by }) as const)
  await recordIdentityEvents(tx, events, now)
}

async function endDataOf(tx: Transaction, lifecycle: Lifecycle, { userId, identityId, by }: Owned & By, now: Date) {
  const identityIds = [identityId]
  await lifecycle.end(tx, 'identities', { userId, identityIds, by }, now)
  await lifecycle.end(tx, 'sessions', { userId, identityIds, which: 'of identities' }, now)
}

type Ended = By & { userId: UserId; withApps: boolean }

async function endAccount(tx: Transaction, lifecycle: Lifecycle, { userId, withApps, by }: Ended, now: Date) {
  const identityIds = await deleteUser(tx, userId, now)
  await lifecycle.end(tx, 'apps', { userId, withApps }, now)
  await lifecycle.end(tx, 'identities', { userId, identityIds, by }, now)
  await lifecycle.end(tx, 'account', { userId }, now)
  await lifecycle.end(tx, 'sessions', { userId, identityIds, which: 'all' }, now)
}
