import { randomUUID } from 'node:crypto'
import { domainOfEmail } from '@countersign/protocol/formats/domain'
import { isListedDomain } from '@countersign/protocol/formats/registration/domain-list'
import { isEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import { randomDigits } from '#platform/crypto/random.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { readRegistrationRule, type RegistrationRule } from '#platform/settings/setting.ts'
import { registrationCodeMail } from './code-mail.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_email: [400, 'Not a deliverable e-mail address.'],
  invalid_code: [400, 'The verification code is wrong or expired. Codes allow five attempts within ten minutes.'],
  registration_closed: [403, 'No one can register here. Sign in if you have an account.'],
  invitation_required: [403, 'An account needs an invitation of the operator.'],
  email_domain_not_allowed: [403, 'Addresses of this domain cannot register. An invitation admits any address.'],
  email_verification_required: [403, 'emailProof is missing, expired or was used. Verify an e-mail address first.'],
  email_not_required: [409, 'Everyone can register. Start the registration without emailProof.'],
})

/**
 * Throws `registration_closed`, or `invitation_required` if only those with an invitation may register. In mode
 * `domains`, the proof of an address decides.
 */
export function requireOpenMode({ mode }: RegistrationRule, invitation: string | undefined): void {
  if (mode === 'closed') throw errors.registration_closed()
  if (mode === 'invited' && invitation === undefined) throw errors.invitation_required()
}

/** More than of other codes: anyone can request one, for any address of a listed domain. */
const codeDigits = 8
/** Time from the code until the account exists. */
const proofLifetimeSeconds = 30 * 60

/** Address to prove, language of the mail, and the network that requests it (`clientAddressKey`). */
type Requested = { email: string; language: Language; network: string }

/**
 * Mails a code to an address of a listed domain. The answer and the mail are the same whether an identity has this
 * address or not. Throws `invalid_email`, `email_domain_not_allowed`, `email_not_required`, `registration_closed`,
 * `invitation_required`, `rate_limited`, `mail_not_set_up`, `temporarily_unavailable` or `undeliverable`.
 */
export async function mailCode(
  { db, config, keyring, mail, rateLimits }: ServerContext,
  { email: text, language, network }: Requested,
  now: Date,
): Promise<{ verificationId: string; email: string; expiresAt: Date }> {
  const email = parseAddress(text)
  const rule = await readRegistrationRule(db, config)
  requireOpenMode(rule, undefined)
  if (rule.mode === 'open') throw errors.email_not_required()
  requireListed(rule, email)
  mail.require()
  const mailbox = mailboxOf(email)
  // One network cannot use up the limit of the mailbox, so that its owner, elsewhere, can still register.
  await rateLimits.count('registration-codes-per-address-and-network', hashKey(`${mailbox} ${siteKey(network)}`))
  await rateLimits.count('registration-codes-per-address', hashKey(mailbox))

  const verificationId = randomUUID()
  const code = randomDigits(codeDigits)
  const { authUrl, brand } = config
  await mail.send(registrationCodeMail({ to: email, authUrl, brand, language }, code))
  const expiresAt = addSeconds(now, limits.emailCodeLifetimeSeconds)
  const codeMac = keyring.mac(contextOf(verificationId, email), code)
  await store.insertVerification(db, { verificationId, email, codeMac, expiresAt })
  return { verificationId, email, expiresAt }
}

/** Parses an address. Its domain becomes ASCII in lower case, as in the list. Throws `invalid_email`. */
function parseAddress(text: string): string {
  const domain = domainOfEmail(text)
  const email = `${text.slice(0, text.indexOf('@'))}@${domain}`
  if (domain === undefined || !isEmail(email)) throw errors.invalid_email()
  return email
}

/** Returns the mailbox of an address: without letter case, and without its subaddress (RFC 5233). */
function mailboxOf(email: string): string {
  const [name = '', domain = ''] = email.toLowerCase().split('@')
  return `${name.split('+')[0]}@${domain}`
}

/**
 * Exchanges a code for the proof of its address, which a registration presents. The code works once and allows five
 * attempts. Throws `invalid_code`.
 */
export async function exchangeCode(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  { verificationId, code }: { verificationId: string; code: string },
  now: Date,
): Promise<{ emailProof: string; email: string; expiresAt: Date }> {
  const digits = code.replaceAll(/\s/g, '')
  const exchanged = await transaction(db, async (tx) => {
    const sent = await store.recordAttempt(tx, verificationId, now)
    const isRight = sent && equalBytes(sent.codeMac, keyring.mac(contextOf(verificationId, sent.email), digits))
    if (!isRight) return undefined
    const emailProof = generateToken('emailProof')
    const expiresAt = addSeconds(now, proofLifetimeSeconds)
    const proof = { verificationId, proofSha256: sha256(emailProof), expiresAt }
    return (await store.insertProof(tx, proof)) ? { emailProof, email: sent.email, expiresAt } : undefined
  })
  // The transaction has committed the count of the wrong attempt.
  if (!exchanged) throw errors.invalid_code()
  return exchanged
}

/** Returns the context to which a code is bound: its request and the address. */
function contextOf(verificationId: string, email: string): string {
  return `registration-code:${verificationId}:${email}`
}

/** A proof that is presented, and the rule of this moment. */
type Presented = { emailProof: string | undefined; rule: RegistrationRule }

/** Throws what `consumeProof` would throw now. */
export async function requireProof(tx: Transaction, { emailProof, rule }: Presented, now: Date): Promise<void> {
  requireProved(await findProved(emailProof, (proofSha256) => store.findProved(tx, proofSha256, now)), rule)
}

/**
 * Uses a proof once, in the transaction of the registration that presents it. Returns its address, or undefined if none
 * is presented and none is needed. Throws `email_verification_required`, or `email_domain_not_allowed` if the domain is
 * not in the list any more.
 */
export async function consumeProof(
  tx: Transaction,
  { emailProof, rule }: Presented,
  now: Date,
): Promise<string | undefined> {
  return requireProved(await findProved(emailProof, (proofSha256) => store.consumeProof(tx, proofSha256, now)), rule)
}

/** Finds the address of a proof that is presented. Throws `email_verification_required` for one that is of no use. */
async function findProved(
  emailProof: string | undefined,
  find: (proofSha256: Uint8Array) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (emailProof === undefined) return undefined
  const email = await find(sha256(emailProof))
  if (email === undefined) throw errors.email_verification_required()
  return email
}

function requireProved(email: string | undefined, rule: RegistrationRule): string | undefined {
  if (rule.mode !== 'domains') return email
  if (email === undefined) throw errors.email_verification_required()
  requireListed(rule, email)
  return email
}

function requireListed({ domains }: RegistrationRule, email: string): void {
  const domain = domainOfEmail(email)
  if (domain === undefined || !isListedDomain(domain, domains)) throw errors.email_domain_not_allowed()
}

/** Deletes up to `batch` addresses whose code or proof has expired. Returns their number. */
export function pruneProofs(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpired(db, now, batch)
}
