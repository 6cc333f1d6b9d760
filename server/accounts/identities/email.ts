import type { Identity } from '@countersign/protocol/accounts/identities'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Language } from '#platform/outbound/language.ts'
import { randomDigits } from '#platform/crypto/random.ts'
import { textKey } from '#platform/rate-limits/rate-limit.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import { holdOwnIdentity, requireOwnIdentity, toIdentity, type IdentityRow } from './identity.ts'
import { changeMail, codeMail } from './email-mails.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_email: [400, 'This is not an e-mail address that we can write to.'],
  invalid_code: [400, 'The code is wrong or has ended. After five tries or ten minutes, ask for a new one.'],
})

/** An identity of the person who is signed in, and the language in which we write to them. */
type Asking = { session: Session; identityId: string; language: Language }

/**
 * Mails a code to an address that someone says is theirs; a new one takes the place of the last. The mail goes first:
 * where it can't be sent, the code that is waiting stays good. Refuses `invalid_email`, `identity_not_found`,
 * `reauthentication_required`, `rate_limited`, `mail_not_set_up`, `temporarily_unavailable`, `undeliverable`.
 */
export async function beginEmailProof(
  { db, config, keyring, mail, rateLimits }: Kernel,
  { session, identityId, language }: Asking,
  text: string,
  now: Date,
): Promise<{ email: string; expiresAt: Date }> {
  if (!isEmail(text)) throw refuse.invalid_email()
  const { userId } = session
  const { handle } = await requireOwnIdentity(db, session, identityId)
  requireFresh(session, now)
  mail.require()
  const email = normalizeEmail(text)
  await rateLimits.count('mail for a person', ownKey(session, now))
  await rateLimits.count('mail to an address', textKey(email.toLowerCase()))

  const code = randomDigits(limits.emailCodeDigits)
  await mail.send(codeMail({ to: email, handle, authUrl: config.authUrl, language }, code))
  const expiresAt = secondsAfter(now, limits.emailCodeLifetimeSeconds)
  const codeMac = keyring.mac(contextOf(identityId, email), code)
  await actingTransaction(db, session, async (tx) => {
    await holdOwnIdentity(tx, session, identityId)
    await store.upsertEmailProof(tx, { identityId, email, codeMac, expiresAt })
    await record(tx, { action: 'identity.email_asked', actor: 'person', userId, identityId }, now)
  })
  return { email, expiresAt }
}

/**
 * Takes an address as proved by the code that was mailed to it, which works once and outlives five wrong guesses
 * nowhere. Refuses `identity_not_found`, `invalid_code`.
 */
export async function finishEmailProof(
  kernel: Kernel,
  { session, identityId, language }: Asking,
  code: string,
  now: Date,
): Promise<Identity> {
  const { db, keyring } = kernel
  const { userId } = session
  const digits = code.replaceAll(/\s/g, '')
  const proved = await actingTransaction(db, session, async (tx) => {
    const before = await holdOwnIdentity(tx, session, identityId)
    const proof = await store.tryEmailProof(tx, identityId, now)
    if (!proof || !equalBytes(proof.codeMac, keyring.mac(contextOf(identityId, proof.email), digits))) return undefined
    await store.deleteEmailProof(tx, identityId)
    const after = await store.setEmail(tx, { identityId, email: proof.email }, now)
    await record(tx, { action: 'identity.email_verified', actor: 'person', userId, identityId }, now)
    return { before, after }
  })
  // A wrong guess has been counted, and stays so.
  if (!proved) throw refuse.invalid_code()
  if (proved.before.email !== proved.after.email) await tellFormerAddress(kernel, proved.before, language)
  return toIdentity(proved.after)
}

/** Removes the address, and any that waits to be proved. Refuses `identity_not_found`, `reauthentication_required`. */
export async function removeEmail(
  kernel: Kernel,
  { session, identityId, language }: Asking,
  now: Date,
): Promise<Identity> {
  const { userId } = session
  await requireOwnIdentity(kernel.db, session, identityId)
  requireFresh(session, now)
  const { before, after } = await actingTransaction(kernel.db, session, async (tx) => {
    const held = await holdOwnIdentity(tx, session, identityId)
    await store.deleteEmailProof(tx, identityId)
    if (held.email === null) return { before: held, after: held }
    const changed = await store.setEmail(tx, { identityId, email: null }, now)
    await record(tx, { action: 'identity.email_removed', actor: 'person', userId, identityId }, now)
    return { before: held, after: changed }
  })
  await tellFormerAddress(kernel, before, language)
  return toIdentity(after)
}

/** The address that waits to be proved, or null. */
export async function readUnprovedEmail(db: Database, identityId: string, now: Date): Promise<string | null> {
  return (await store.findEmailProof(db, identityId, now))?.email ?? null
}

/** Deletes up to `batch` proofs that nobody finished in time, and says how many. */
export function pruneEmailProofs(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredProofs(db, now, batch)
}

/** Tells whoever reads the former address. The change is made by then: a mail that can't be sent is logged alone. */
async function tellFormerAddress(
  { config, mail, log }: Kernel,
  { email, handle, identityId }: IdentityRow,
  language: Language,
): Promise<void> {
  if (email === null) return
  try {
    await mail.send(changeMail({ to: email, handle, authUrl: config.authUrl, language }))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ identityId, reason: error.code }, 'a former address was not told of its removal')
  }
}

/** What a code proves: this address, for this identity. */
function contextOf(identityId: string, email: string): string {
  return `email-code:${identityId}:${email}`
}
