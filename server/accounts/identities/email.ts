import type { Identity } from '@countersign/protocol/accounts/identities'
import { domainOfEmail } from '@countersign/protocol/formats/domain'
import { isListedDomain } from '@countersign/protocol/formats/registration/domain-list'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import { recordEdit } from '#accounts/app-events/event.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { randomDigits } from '#platform/crypto/random.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { readRegistrationRule } from '#platform/settings/setting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'
import {
  actingUserTransaction,
  lockOwnIdentity,
  requireOwnIdentity,
  toIdentity,
  verifiedEmailOf,
  type IdentityRow,
} from './identity.ts'
import { emailRemovedMail, emailVerificationMail } from './email-mails.ts'
import { requireUnmanaged } from './managed.ts'
import { isSuspended } from './suspension.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_email: [400, 'Not a deliverable e-mail address.'],
  invalid_code: [400, 'The verification code is wrong or expired. Codes allow five attempts within ten minutes.'],
  email_domain_required: [
    409,
    'Registration needs an address of certain domains. This account must keep its last one.',
  ],
})

/** An identity of the signed-in user, and the language of mails. */
type EmailVerificationInput = { session: PasskeySession; identityId: IdentityId; language: Language }

/**
 * Mails a verification code to an address; a new code replaces the last one. The mail is sent before the code is
 * stored: if sending fails, the previous code stays valid. Throws `invalid_email`, `identity_not_found`,
 * `reauthentication_required`, `email_domain_required`, `rate_limited`, `mail_not_set_up`, `temporarily_unavailable` or
 * `undeliverable`, and `managed_elsewhere` for another address than the one that a directory manages.
 */
export async function startEmailVerification(
  { db, config, keyring, mail, rateLimits }: ServerContext,
  { session, identityId, language }: EmailVerificationInput,
  text: string,
  now: Date,
): Promise<{ email: string; expiresAt: Date }> {
  if (!isEmail(text)) throw errors.invalid_email()
  const { userId } = session
  const identity = await requireOwnIdentity(db, session, identityId, now)
  const { handle } = identity
  requireRecentAuthentication(session, now)
  const email = normalizeEmail(text)
  requireChoice(identity, email)
  await requireListedEmail(db, config, { identity, email }, now)
  mail.require()
  await rateLimits.count('mails-per-user', ownKey(session, now))
  // One user cannot use up the limit of the address, so that its owner can still verify it.
  await rateLimits.count('email-verifications-per-address-and-user', hashKey(`${userId} ${email.toLowerCase()}`))
  await rateLimits.count('email-verifications-per-address', hashKey(email.toLowerCase()))

  const code = randomDigits(limits.emailCodeDigits)
  await mail.send(
    emailVerificationMail({ to: email, handle, authUrl: config.authUrl, brand: config.brand, language }, code),
  )
  const expiresAt = addSeconds(now, limits.emailCodeLifetimeSeconds)
  const codeMac = keyring.mac(contextOf(identityId, email), code)
  await actingTransaction(db, session, async (tx) => {
    await lockOwnIdentity(tx, session, identityId, now)
    await store.upsertEmailVerification(tx, { identityId, email, codeMac, expiresAt })
    await recordAuditEvent(
      tx,
      { action: 'identity.email_verification.requested', actor: 'user', userId, identityId },
      now,
    )
  })
  return { email, expiresAt }
}

/**
 * Verifies an address by the code that was mailed to it. The code works once and allows five wrong attempts. Throws
 * `identity_not_found`, `email_domain_required` or `invalid_code`.
 */
export async function completeEmailVerification(
  kernel: ServerContext,
  { session, identityId, language }: EmailVerificationInput,
  code: string,
  now: Date,
): Promise<Identity> {
  const { db, config, keyring } = kernel
  const { userId } = session
  const digits = code.replaceAll(/\s/g, '')
  const proved = await actingUserTransaction(db, session, async (tx) => {
    const before = await lockOwnIdentity(tx, session, identityId, now)
    const proof = await store.recordVerificationAttempt(tx, identityId, now)
    if (!proof || !equalBytes(proof.codeMac, keyring.mac(contextOf(identityId, proof.email), digits))) return undefined
    await store.deleteEmailProof(tx, identityId)
    requireChoice(before, proof.email)
    await requireListedEmail(tx, config, { identity: before, email: proof.email }, now)
    const after = await store.setEmail(tx, { identityId, email: proof.email, verifiedAt: now, chosenBy: 'user' }, now)
    await recordEdit(tx, { identityId, by: 'self', before, after }, now)
    await recordAuditEvent(tx, { action: 'identity.email.verified', actor: 'user', userId, identityId }, now)
    return { before, after }
  })
  // The transaction has committed the count of the wrong attempt.
  if (!proved) throw errors.invalid_code()
  if (proved.before.email !== proved.after.email) await notifyFormerEmail(kernel, proved.before, language)
  return toIdentity(proved.after)
}

type MailedProof = { userId: UserId; before: IdentityRow; email: string; by: 'invitation' | 'registration' }

/**
 * Sets an address whose control the user has just proved by a secret that was mailed to it alone, in the transaction
 * that consumes this secret. `before` is the identity, which the transaction has locked. The user has chosen the
 * address of a registration, but not that of an invitation. The caller notifies the former address after the commit.
 */
export async function setProvedEmail(
  tx: Transaction,
  { userId, before, email, by }: MailedProof,
  now: Date,
): Promise<IdentityRow> {
  const { identityId } = before
  const chosenBy = by === 'registration' ? 'user' : 'others'
  await store.deleteEmailProof(tx, identityId)
  const after = await store.setEmail(tx, { identityId, email, verifiedAt: now, chosenBy }, now)
  await recordEdit(tx, { identityId, by: 'self', before, after }, now)
  const event = { action: 'identity.email.verified', actor: 'user', userId, identityId } as const
  await recordAuditEvent(tx, { ...event, details: { by } }, now)
  return after
}

type Unverified = { identityId: IdentityId; email: string | null }

/** Sets an address that the user has not verified, or none, in an identity that the transaction has locked. */
export async function setUnverifiedEmail(
  tx: Transaction,
  { identityId, email }: Unverified,
  now: Date,
): Promise<IdentityRow> {
  // A code that was mailed before would replace the address.
  await store.deleteEmailProof(tx, identityId)
  return store.setEmail(tx, { identityId, email, verifiedAt: null, chosenBy: 'others' }, now)
}

/**
 * Removes the address and any pending verification. Throws `identity_not_found`, `email_domain_required` or
 * `reauthentication_required`.
 */
export async function removeEmail(
  kernel: ServerContext,
  { session, identityId, language }: EmailVerificationInput,
  now: Date,
): Promise<Identity> {
  const { userId } = session
  await requireOwnIdentity(kernel.db, session, identityId, now)
  requireRecentAuthentication(session, now)
  const { before, after } = await actingUserTransaction(kernel.db, session, async (tx) => {
    const held = await lockOwnIdentity(tx, session, identityId, now)
    await store.deleteEmailProof(tx, identityId)
    if (held.email === null) return { before: held, after: held }
    requireUnmanaged(held)
    await requireListedEmail(tx, kernel.config, { identity: held, email: null }, now)
    const changed = await store.setEmail(tx, { identityId, email: null, verifiedAt: null, chosenBy: 'user' }, now)
    await recordEdit(tx, { identityId, by: 'self', before: held, after: changed }, now)
    await recordAuditEvent(tx, { action: 'identity.email.removed', actor: 'user', userId, identityId }, now)
    return { before: held, after: changed }
  })
  await notifyFormerEmail(kernel, before, language)
  return toIdentity(after)
}

/** An identity, and the address that it will have: null for none, or if the identity is deleted. */
type NextEmail = {
  identity: Pick<IdentityRow, 'userId' | 'identityId' | 'email' | 'emailVerified'>
  email: string | null
}

/**
 * In mode `domains`, throws `email_domain_required` if a change by the user would leave an account without a verified
 * address of a listed domain that had one. An account without one, by an invitation, has nothing to keep. The
 * transaction has locked the user, so that no other identity loses its address at the same time.
 */
export async function requireListedEmail(
  db: Database | Transaction,
  config: Config,
  { identity, email }: NextEmail,
  now: Date,
): Promise<void> {
  const before = verifiedEmailOf(identity)
  if (before === null || before === email) return
  const { mode, domains } = await readRegistrationRule(db, config)
  const isListed = (address: string | null) => isListedDomain(domainOfEmail(address ?? '') ?? '', domains)
  if (mode !== 'domains' || !isListed(before) || isListed(email)) return
  const others = (await store.listIdentitiesOfUser(db, identity.userId)).filter(
    (each) => each.identityId !== identity.identityId && !isSuspended(each, now),
  )
  if (!others.some((each) => isListed(verifiedEmailOf(each)))) throw errors.email_domain_required()
}

/** Returns the address with a pending verification, or null. */
export async function findPendingEmail(db: Database, identityId: IdentityId, now: Date): Promise<string | null> {
  return (await store.findEmailVerification(db, identityId, now))?.email ?? null
}

/** Deletes up to `batch` expired verifications. Returns their number. */
export function pruneEmailVerifications(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredProofs(db, now, batch)
}

/** Notifies the former address. The change is already committed, so a failure to send is only logged. */
export async function notifyFormerEmail(
  { config, mail, log }: ServerContext,
  { email, handle, identityId }: Pick<IdentityRow, 'email' | 'handle' | 'identityId'>,
  language: Language,
): Promise<void> {
  if (email === null) return
  try {
    await mail.send(emailRemovedMail({ to: email, handle, authUrl: config.authUrl, brand: config.brand, language }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.warn({ identityId, reason: error.code }, 'email removal notification failed')
  }
}

/** Throws `managed_elsewhere` for another address than the one that a directory has given an identity. */
function requireChoice(identity: Pick<IdentityRow, 'email' | 'managedBy'>, email: string): void {
  if (identity.email !== email) requireUnmanaged(identity)
}

/** Returns the context to which a verification code is bound: the address and the identity. */
function contextOf(identityId: IdentityId, email: string): string {
  return `email-code:${identityId}:${email}`
}
