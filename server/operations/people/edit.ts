import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import type { AdminIdentityChange, AdminIdentityDetails } from '@countersign/protocol/operations/people'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordEdit } from '#accounts/app-events/event.ts'
import { setUnverifiedEmail } from '#accounts/identities/email.ts'
import { requireUnmanaged } from '#accounts/identities/managed.ts'
import { changeProfile, type IdentityRow, lockIdentity, validateIdentity } from '#accounts/identities/identity.ts'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { missingIdentity } from '#accounts/invitations/invited/invited-identity.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { readDetails } from './directory.ts'
import { emailChangedMail } from './email-changed-mail.ts'

const errors = defineErrors({
  invalid_email: [400, 'Not a deliverable e-mail address.'],
  version_mismatch: [412, 'The identity was changed meanwhile. Read it again.'],
})

/** An edit by an operator of one version of an identity, or of any. */
type Target = { operator: Operator; identityId: IdentityId; version: number | undefined }

/**
 * Changes the username, the name or the address of an identity, like its user. The address is not verified. Both
 * addresses get a mail, and the user sees the change in their activity. Throws `identity_not_found`,
 * `identity_invited`, `operator_protected`, `version_mismatch`, `managed_elsewhere`, `invalid_handle`,
 * `invalid_request`, `invalid_email`, `handle_taken` and `rate_limited`.
 */
export async function editIdentity(
  kernel: ServerContext,
  { operator, identityId, version }: Target,
  { handle, displayName, ...requested }: AdminIdentityChange,
  now: Date,
): Promise<AdminIdentityDetails> {
  const { db, rateLimits } = kernel
  const profile = { ...(handle !== undefined && { handle }), ...(displayName !== undefined && { displayName }) }
  validateIdentity(profile)
  if (typeof requested.email === 'string' && !isEmail(requested.email)) throw errors.invalid_email()
  const email = typeof requested.email === 'string' ? normalizeEmail(requested.email) : requested.email
  await rateLimits.count('identity-edits-per-operator', operatorKeyOf(operator))
  if (typeof email === 'string') await rateLimits.count('operator-mails-per-address', hashKey(email.toLowerCase()))

  const target = { operator, identityId, version }
  const { before, after } = await operatorTransaction(db, operator, (tx) =>
    replace(tx, target, { profile, email }, now),
  )
  if (before.email !== after.email)
    for (const to of [before.email, after.email]) if (to !== null) await notify(kernel, to, after)
  return readDetails(db, identityId, now)
}

type Edit = { profile: { handle?: string; displayName?: string }; email: string | null | undefined }

/** Replaces a version of an identity, and records which fields changed. Without a change, it records nothing. */
async function replace(
  tx: Transaction,
  { operator, identityId, version }: Target,
  { profile, email }: Edit,
  now: Date,
): Promise<{ before: IdentityRow; after: IdentityRow }> {
  const { before, userId } = await lockForEdit(tx, operator, identityId)
  if (version !== undefined && before.version !== version) throw errors.version_mismatch()
  const edited = { ...before, ...profile, ...(email !== undefined && { email }) }
  const changed = (['handle', 'displayName', 'email'] as const).filter((field) => edited[field] !== before[field])
  if (changed.length === 0) return { before, after: before }
  requireUnmanaged(before)
  const named = changed.some((field) => field !== 'email') ? await changeProfile(tx, before, profile, now) : before
  const isReaddressed = changed.includes('email')
  const after = isReaddressed ? await setUnverifiedEmail(tx, { identityId, email: edited.email }, now) : named
  await recordEdit(tx, { identityId, by: 'operator', before, after }, now)
  const event = { action: 'identity.edited', userId, identityId, details: { changed } } as const
  await recordAuditEvent(tx, { ...event, ...auditFieldsOf(operator) }, now)
  return { before, after }
}

/**
 * Locks the account of an identity, then the identity. Throws `identity_not_found`, `identity_invited` and
 * `operator_protected`.
 */
async function lockForEdit(tx: Transaction, operator: Operator, identityId: IdentityId) {
  const account = await lockAccountOfIdentity(tx, identityId)
  const before = account && (await lockIdentity(tx, identityId))
  if (!before) throw await missingIdentity(tx, identityId)
  const { userId, identityIds } = account
  await requireRightsOver(tx, operator, { accountIdentityIds: identityIds, affectedIds: [identityId] })
  return { before, userId }
}

/** Sends a notice of the change. It is already committed, so a failure to send is only logged. */
async function notify(
  { config, mail, log }: ServerContext,
  to: string,
  { handle, identityId }: IdentityRow,
): Promise<void> {
  try {
    await mail.send(emailChangedMail({ to, handle, authUrl: config.authUrl, brand: config.brand }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.warn({ identityId, reason: error.code }, 'notification of an edited address failed')
  }
}
