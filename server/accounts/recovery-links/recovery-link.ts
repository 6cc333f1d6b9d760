import { randomUUIDv7 } from 'node:crypto'
import type { NewRecoveryLink, RecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { findIdentity, type IdentityRow, lockIdentity } from '#accounts/identities/identity.ts'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { missingIdentity } from '#accounts/invitations/invited/invited-identity.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent, recordIdentityView } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { notifyOthers, recoveryAddressOf } from './notice.ts'
import { recoveryLinkMail } from './recovery-mails.ts'
import * as store from './store.ts'
import type { RecoveryLinkRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'reason must be 1 to 500 visible characters in one line.'],
  no_recovery_address: [422, 'The identity has no address that its user chose and verified seven days ago or earlier.'],
  recovery_in_progress: [
    409,
    'A recovery of this identity is in progress or can be undone. Cancel it, or wait until it is settled.',
  ],
  recovery_link_not_found: [404, 'No recovery link has this ID.'],
  state_changed: [409, 'The recovery has expired, or was completed or cancelled.'],
})

type Target = { operator: Operator; identityId: IdentityId }

/**
 * Mails a recovery link to an identity, and a notice to the other verified addresses of its user. The link is stored
 * first: if it cannot be mailed, it is cancelled. Throws `identity_not_found`, `identity_invited`, `invalid_request`,
 * `operator_protected`, `no_recovery_address`, `recovery_in_progress`, `rate_limited`, `mail_not_set_up`,
 * `temporarily_unavailable` and `undeliverable`.
 */
export async function issueRecoveryLink(
  kernel: ServerContext,
  { operator, identityId, reason }: Target & Pick<NewRecoveryLink, 'reason'>,
  now: Date,
): Promise<RecoveryLink> {
  const { db, config, mail, rateLimits } = kernel
  if (!isDisplayName(reason, limits.recoveryReasonCharactersMax)) throw errors.invalid_request()
  mail.require()
  await rateLimits.count('recovery-links-per-operator', operatorKeyOf(operator))
  // An operator who may not recover an identity must not use up its limit. A count in the transaction would wait for
  // another connection.
  await operatorTransaction(db, operator, (tx) => lockForRecovery(tx, { operator, identityId }, now))
  await rateLimits.count('recovery-links-per-identity', identityId)
  const [token, stop] = [generateToken('recoveryLink'), generateToken('recoveryStop')]
  const issued = await operatorTransaction(db, operator, async (tx) => {
    const { userId, identity, to } = await lockForRecovery(tx, { operator, identityId }, now)
    await store.expireLinks(tx, userId, now)
    const link = await store.insertLink(tx, {
      ...{ userId, identityId, reason, issuedAt: now, recoveryLinkId: randomUUIDv7() },
      ...{ tokenSha256: sha256(token), stopSha256: sha256(stop) },
      expiresAt: addSeconds(now, limits.recoveryLinkLifetimeSeconds),
    })
    if (!link) throw errors.recovery_in_progress()
    const details = { recoveryLinkId: link.recoveryLinkId, delivery: 'mail', reason }
    const event = { action: 'recovery_link.issued', ...auditFieldsOf(operator), userId, identityId, details } as const
    await recordAuditEvent(tx, event, now)
    return { link, to, handle: identity.handle }
  })
  const { link, to, handle } = issued
  const { authUrl, brand } = config
  try {
    await mail.send(recoveryLinkMail({ to, handle, authUrl, brand, token, stop }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await withdraw(db, { operator, link }, now)
    throw error
  }
  await notifyOthers(kernel, { userId: link.userId, except: to, stop })
  return toRecoveryLink(link, now)
}

/**
 * Locks the account for a recovery. Throws `identity_not_found`, `operator_protected`, and `no_recovery_address`
 * unless the user chose the address of this identity and verified it long enough ago.
 */
async function lockForRecovery(tx: Transaction, { operator, identityId }: Target, now: Date) {
  const { userId, identity } = await lockTarget(tx, { operator, identityId })
  const to = recoveryAddressOf(identity, now)
  if (to === null) throw errors.no_recovery_address()
  return { userId, identity, to }
}

/** A recovery acts on the whole account. Throws `identity_not_found`, `identity_invited` and `operator_protected`. */
async function lockTarget(
  tx: Transaction,
  { operator, identityId }: Target,
): Promise<{ userId: UserId; identity: IdentityRow }> {
  const account = await lockAccountOfIdentity(tx, identityId)
  const identity = account && (await lockIdentity(tx, identityId))
  if (!identity) throw await missingIdentity(tx, identityId)
  const { userId, identityIds } = account
  await requireRightsOver(tx, operator, { accountIdentityIds: identityIds, affectedIds: identityIds })
  return { userId, identity }
}

/** Cancels a link that could not be mailed. */
async function withdraw(
  db: Database,
  { operator, link }: { operator: Operator; link: RecoveryLinkRow },
  now: Date,
): Promise<void> {
  await transaction(db, async (tx) => {
    const cancelled = await store.cancelLink(tx, link, { lockedUntil: null }, now)
    if (cancelled) await recordCancelled(tx, { operator, link }, now)
  })
}

async function recordCancelled(
  tx: Transaction,
  { operator, link: { userId, identityId, recoveryLinkId } }: { operator: Operator; link: RecoveryLinkRow },
  now: Date,
): Promise<void> {
  const event = { action: 'recovery_link.cancelled', ...auditFieldsOf(operator), userId, identityId } as const
  await recordAuditEvent(tx, { ...event, details: { recoveryLinkId } }, now)
}

type TargetLink = { identityId: IdentityId; recoveryLinkId: string }

/**
 * Returns a recovery link, and records that the operator looks at its identity. Throws `recovery_link_not_found`, also
 * for a link of a sibling.
 */
export async function getRecoveryLink(
  db: Database,
  { operator, ...target }: TargetLink & { operator: Operator },
  now: Date,
): Promise<RecoveryLink> {
  await recordIdentityView(db, auditFieldsOf(operator), target.identityId, now)
  return toRecoveryLink(await requireLink(db, target), now)
}

/**
 * Lists the recovery links of an identity, newest first, and records that the operator looks at it. Throws
 * `identity_not_found` and `identity_invited`.
 */
export async function listRecoveryLinks(
  db: Database,
  { operator, identityId }: { operator: Operator; identityId: IdentityId },
  now: Date,
): Promise<RecoveryLink[]> {
  await recordIdentityView(db, auditFieldsOf(operator), identityId, now)
  const identity = await findIdentity(db, identityId)
  if (!identity) throw await missingIdentity(db, identityId)
  const links = await store.listLinksOfIdentity(db, identity.userId, identityId)
  return links.map((link) => toRecoveryLink(link, now))
}

/**
 * Cancels a recovery before its passkey is valid. Throws `recovery_link_not_found`, `operator_protected` and
 * `state_changed`.
 */
export async function cancelRecoveryLink(
  db: Database,
  { operator, ...target }: TargetLink & { operator: Operator },
  now: Date,
): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const link = await requireLink(tx, target)
    await lockTarget(tx, { operator, identityId: target.identityId })
    if (!(await store.cancelLink(tx, link, { lockedUntil: null }, now))) throw errors.state_changed()
    await recordCancelled(tx, { operator, link }, now)
  })
}

async function requireLink(db: Database, { identityId, recoveryLinkId }: TargetLink): Promise<RecoveryLinkRow> {
  const identity = await findIdentity(db, identityId)
  const link = identity && (await store.findLink(db, { userId: identity.userId, recoveryLinkId }))
  if (link?.identityId !== identityId) throw errors.recovery_link_not_found()
  return link
}

/** Deletes up to `batch` links without a passkey that were issued a month ago. Returns their number. */
export function pruneRecoveryLinks(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteOldLinks(db, addSeconds(now, -limits.recoveryLinkKeptSeconds), batch)
}

function toRecoveryLink(link: RecoveryLinkRow, now: Date): RecoveryLink {
  const { recoveryLinkId, identityId, state, reason } = link
  return {
    ...{ recoveryLinkId, identityId, reason },
    state: state === 'issued' && link.expiresAt <= now ? 'expired' : state,
    issuedAt: link.issuedAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
    completesAt: link.completesAt?.toISOString() ?? null,
    holdUntil: link.holdUntil?.toISOString() ?? null,
    endedAt: link.endedAt?.toISOString() ?? null,
  }
}
