import { deviceOf } from '@countersign/protocol/formats/registries/devices'
import { type Catalogue, type Language, languages, textsIn } from '@countersign/protocol/formats/registries/languages'
import { toBase64Url } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { UserId } from '@countersign/protocol/ids'
import { deleteKeyWrap, listKeyWraps } from '#accounts/keys/key-wrap.ts'
import { findResettingPasskey } from '#accounts/keys/key-reset.ts'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { isUniqueViolation, type Database, type Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { forgetProofs, isOpen } from '#accounts/sessions/proof.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import type { VerifiedRegistration } from './attestation.ts'
import { toSubjectPublicKeyInfo } from './public-key.ts'
import * as store from './store.ts'
import type { Credential } from './store.ts'

const errors = defineErrors({
  credential_in_use: [409, 'This passkey already belongs to an account.'],
  passkey_not_found: [404, 'No passkey of this account has this ID.'],
  too_many_passkeys: [409, 'An account can have at most 20 passkeys. Remove one first.'],
  last_passkey: [409, 'The last passkey cannot be removed. Add another one first.'],
  invalid_request: [400, 'name must be 1 to 80 visible characters.'],
})

/** Lists the passkeys of a user, oldest first. */
export async function listPasskeys(db: Database, userId: UserId): Promise<Passkey[]> {
  const uses = await readKeyUses(db, userId)
  return (await store.listCredentials(db, userId)).map((credential) => toPasskey(credential, uses))
}

/** Stores a newly registered passkey. Throws `credential_in_use`. */
export async function createPasskey(
  tx: Transaction,
  { userId, browser, ...made }: VerifiedRegistration & { userId: UserId; browser: RegisteringBrowser },
  now: Date,
): Promise<void> {
  await insertPasskey(tx, { ...made, name: passkeyName(made, browser, now), userId }, now)
}

/** Stores a passkey of an account. Throws `credential_in_use`. */
async function insertPasskey(tx: Transaction, made: store.NewCredential, now: Date): Promise<void> {
  await store.insertCredential(tx, made, now).catch((error: unknown) => {
    throw isUniqueViolation(error, 'passkey_credential_pkey') ? errors.credential_in_use() : error
  })
}

/**
 * Makes a passkey that a recovery link brought one of the account, which the transaction has locked. Throws
 * `credential_in_use` and `too_many_passkeys`.
 */
export async function adoptPasskey(
  tx: Transaction,
  made: store.NewCredential & { userHandle: Uint8Array },
  now: Date,
): Promise<void> {
  if (!(await hasRoomForPasskey(tx, made.userId))) throw errors.too_many_passkeys()
  await insertPasskey(tx, made, now)
}

/** Checks whether an account has fewer passkeys than it can have. */
export async function hasRoomForPasskey(tx: Transaction, userId: UserId): Promise<boolean> {
  return (await store.listCredentials(tx, userId)).length < limits.passkeysPerUserMax
}

/**
 * Makes room for the passkey of a recovery in an account that the transaction has locked: a recovery must not be
 * refused. If there is none, removes the newest passkey that was never used since it was created, such as that of a
 * former recovery. A thief who repeats recoveries thus removes their own passkeys. If all were used, removes the one
 * that was not used for longest. The caller ends the sessions.
 */
export async function makeRoomForPasskey(tx: Transaction, userId: UserId, now: Date): Promise<void> {
  let passkeys = await listPasskeys(tx, userId)
  while (passkeys.length >= limits.passkeysPerUserMax) {
    const removed = passkeys.findLast(isUnused) ?? passkeys.toSorted(byReplaceability)[0]
    if (!removed) return
    await removeForRecovery(tx, { userId, credentialId: removed.credentialId }, now)
    passkeys = passkeys.filter((each) => each !== removed)
  }
}

type Removed = { userId: UserId; credentialId: string }

async function removeForRecovery(tx: Transaction, { userId, credentialId }: Removed, now: Date): Promise<void> {
  await store.deleteCredential(tx, userId, credentialId)
  await deleteKeyWrap(tx, userId, credentialId)
  const event = { action: 'passkey.removed', actor: 'system', userId, details: { credentialId } } as const
  await recordAuditEvent(tx, event, now)
}

const isUnused = ({ createdAt, lastUsedAt, mayResetKeys }: Passkey) => lastUsedAt === createdAt && !mayResetKeys
/** By last use, and those that may reset keys last. */
const byReplaceability = (one: Passkey, other: Passkey) =>
  Number(one.mayResetKeys) - Number(other.mayResetKeys) || one.lastUsedAt.localeCompare(other.lastUsedAt)

type Renaming = { session: PasskeySession; credentialId: string; name: string }

/** Renames a passkey. Throws `passkey_not_found` or `invalid_request`. */
export async function renamePasskey(
  db: Database,
  { session, credentialId, name }: Renaming,
  now: Date,
): Promise<Passkey> {
  if (!isDisplayName(name)) throw errors.invalid_request()
  const { userId } = session
  return actingTransaction(db, session, async (tx) => {
    const renamed = await store.setCredentialName(tx, userId, credentialId, name)
    if (!renamed) throw errors.passkey_not_found()
    await recordAuditEvent(tx, { action: 'passkey.renamed', actor: 'user', userId, details: { credentialId } }, now)
    return toPasskey(renamed, await readKeyUses(tx, userId))
  })
}

type Removing = { session: PasskeySession; credentialId: string }

/**
 * Removes a passkey with its key wrap and its sessions. Returns whether the current session stays open, because another
 * passkey opened it or has authenticated the user in it since. Throws `passkey_not_found` or `last_passkey`.
 */
export async function removePasskey(
  { db, sessions }: { db: Database; sessions: SessionLifecycle },
  { session, credentialId }: Removing,
  now: Date,
): Promise<{ goesOn: boolean }> {
  const { userId, sessionId } = session
  const removed = await actingUserTransaction(db, session, async (tx) => {
    if (!(await store.deleteCredential(tx, userId, credentialId))) return undefined
    await deleteKeyWrap(tx, userId, credentialId)
    await forgetProofs(tx, { userId, sessionId, credentialId })
    const sessionsEnded = await sessions.end(tx, { userId, which: 'of passkey', credentialId }, now)
    const details = { credentialId, sessionsEnded }
    await recordAuditEvent(tx, { action: 'passkey.removed', actor: 'user', userId, details }, now)
    return { goesOn: await isOpen(tx, sessionId) }
  })
  if (removed) return removed
  const kept = await store.findCredential(db, credentialId)
  throw kept?.userId === userId ? errors.last_passkey() : errors.passkey_not_found()
}

/** Deletes the passkeys and pending ceremonies of a user who is being deleted. */
export async function deletePasskeys(tx: Transaction, userId: UserId): Promise<void> {
  await store.deleteCredentialsOfUser(tx, userId)
  await store.deleteFlowsOfUser(tx, userId)
}

/** Checks whether a passkey belongs to any account. */
export async function passkeyExists(db: Database, credentialId: string): Promise<boolean> {
  return (await store.findCredential(db, credentialId)) !== undefined
}

/** The passkeys that unlock a user's keys, and the one that can reset them. */
type KeyUses = { opens: Set<string | undefined>; resetting: string | undefined }

async function readKeyUses(db: Database | Transaction, userId: UserId): Promise<KeyUses> {
  const wraps = await listKeyWraps(db, userId)
  const resetting = await findResettingPasskey(db, userId)
  return { opens: new Set(wraps.map(({ credentialId }) => credentialId)), resetting }
}

function toPasskey(credential: Credential, { opens, resetting }: KeyUses): Passkey {
  return {
    credentialId: credential.credentialId,
    name: credential.name,
    createdAt: credential.createdAt.toISOString(),
    lastUsedAt: credential.lastUsedAt.toISOString(),
    backedUp: credential.backedUp,
    transports: credential.transports,
    opensKeys: opens.has(credential.credentialId),
    mayResetKeys: credential.credentialId === resetting,
    publicKey: toBase64Url(toSubjectPublicKeyInfo(new Uint8Array(credential.publicKey))),
  }
}

/** Browser that registers a passkey, and the language of its user. */
export type RegisteringBrowser = { userAgent: string | undefined; language: Language }

type Names = {
  kinds: Record<VerifiedRegistration['kind'], string>
  on: (browser: string, system: string) => string
  since: (name: string, day: string) => string
}

const names: Catalogue<Names> = {
  en: {
    kinds: { 'security key': 'Security key', 'phone or tablet': 'Phone or tablet', unknown: 'Passkey' },
    on: (browser, system) => `${browser} on ${system}`,
    since: (name, day) => `${name}, ${day}`,
  },
  de: {
    kinds: { 'security key': 'Sicherheitsschlüssel', 'phone or tablet': 'Smartphone oder Tablet', unknown: 'Passkey' },
    on: (browser, system) => `${browser} unter ${system}`,
    since: (name, day) => `${name}, ${day}`,
  },
  ar: {
    kinds: { 'security key': 'مفتاح أمان', 'phone or tablet': 'هاتف أو جهاز لوحي', unknown: 'مفتاح مرور' },
    on: (browser, system) => `متصفح ${browser} على ${system}`,
    since: (name, day) => `${name}، يوم ${day}`,
  },
}

/**
 * Returns the first name of a passkey, which its owner can change: that of the product that keeps it, otherwise where
 * and on which day (UTC) it was created.
 */
export function passkeyName(
  { product, kind }: Pick<VerifiedRegistration, 'product' | 'kind'>,
  { userAgent, language }: RegisteringBrowser,
  now: Date,
): string {
  if (product !== undefined) return product
  const { kinds, on, since } = textsIn(names, language)
  const { browser, system } = deviceOf(userAgent ?? '')
  const device = browser && system ? on(browser, system) : (browser ?? system)
  const { locale } = languages[language]
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(now)
  return since(kind === 'unknown' ? (device ?? kinds.unknown) : kinds[kind], day)
}
