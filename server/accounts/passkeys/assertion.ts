import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import { type PresenceEvidence, presenceDigest } from '@countersign/protocol/formats/signing/approval'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { accountSuspended, isSuspendedIdentity, lockActiveUser } from '#accounts/identities/suspension.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession, RecoveredSession } from '#accounts/sessions/session.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { rejectCrossOrigin, userHandleOf } from './ceremony.ts'
import { toSubjectPublicKeyInfo } from './public-key.ts'
import * as store from './store.ts'

export const errors = defineErrors({
  invalid_credential: [401, 'The passkey is unknown or its signature is invalid. Try another one.'],
})

/** A passkey with a verified assertion, in the state that the authenticator reports. */
export type VerifiedAssertion = { userId: UserId; credentialId: string; signCount: number; backedUp: boolean }

type Surroundings = Pick<ServerContext, 'db' | 'config'>

type Proof = {
  credential: AuthenticationResponse
  challenge: string
  /** User that the passkey must belong to, if the user is already known. */
  owner?: UserId
  /** The passkey, if it was already looked for and found. */
  found?: store.Credential | undefined
}

/**
 * Verifies an assertion and runs the work that it authorizes. Both happen in one transaction with the update of the
 * signature counter, with the user locked. Throws `invalid_credential` for any error of the ceremony,
 * `account_suspended`, and `unauthorized` if the account was deleted in the meantime.
 */
export async function withVerifiedAssertion<Result extends object>(
  kernel: Surroundings,
  proof: Proof,
  now: Date,
  work: (tx: Transaction, proved: VerifiedAssertion) => Promise<Result>,
): Promise<Result> {
  const { proved } = await verifyAssertion(kernel, proof)
  const { userId } = proved
  const done = await transaction(kernel.db, async (tx) => {
    const [, isCounted] = await Promise.all([lockActiveUser(tx, userId, now), store.updateSignCount(tx, proved, now)])
    return isCounted ? work(tx, proved) : undefined
  })
  if (done) return done
  throw await rejectCounter(kernel, proved, now)
}

/**
 * Presence of the user of a session, proved by a passkey for one challenge. `evidence` lets others verify the assertion
 * again, and `digest` is the SHA-256 by which signed statements name it.
 */
export type Presence = { proved: VerifiedAssertion; evidence: PresenceEvidence; digest: Uint8Array }

/**
 * Verifies an assertion of a passkey of the session's user for a challenge (base64url). Changes nothing: the caller
 * counts the use with `presenceTransaction`. Throws `invalid_credential` for any error of the ceremony.
 */
export async function verifyPresence(
  kernel: Surroundings,
  { userId }: Pick<PasskeySession, 'userId'>,
  { credential, challenge }: Omit<Proof, 'owner' | 'found'>,
): Promise<Presence> {
  const { proved, publicKey } = await verifyAssertion(kernel, { credential, challenge, owner: userId })
  const { authenticatorData, clientDataJSON, signature } = credential.response
  const evidence = {
    publicKey: toSubjectPublicKeyInfo(publicKey),
    authenticatorData: Buffer.from(authenticatorData, 'base64url'),
    clientDataJson: Buffer.from(clientDataJSON, 'base64url'),
    signature: Buffer.from(signature, 'base64url'),
  }
  return { proved, evidence, digest: presenceDigest(sha256, evidence) }
}

/**
 * Runs what a verified presence authorizes, on behalf of the session, with the user locked, in one transaction with the
 * update of the signature counter. If `work` returns undefined, nothing was done, and the counter stays. The
 * authentication of the session does not become more recent, because the user was asked for this one statement. Throws
 * `invalid_credential` if the counter went backwards or the passkey was removed, `rate_limited` if it did so often, and
 * like `actingUserTransaction`.
 */
export function presenceTransaction<Result>(
  kernel: Counting,
  proof: PresenceOfSession,
  now: Date,
  work: (tx: Transaction) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  return withPresence(kernel, proof, now, (countUse) =>
    actingUserTransaction(kernel.db, proof.session, async (tx) => {
      const done = await work(tx)
      // After the work, so that the same request sent twice is not taken for a copy of the passkey.
      if (done !== undefined) await countUse(tx)
      return done
    }),
  )
}

type Counting = Surroundings & Pick<ServerContext, 'rateLimits'>
type PresenceOfSession = { session: PasskeySession; presence: Presence }

/**
 * Runs what a verified presence authorizes. `work` calls `countUse` in its own transaction on behalf of the session,
 * after it has consumed what the presence is for; it updates the signature counter. Throws `invalid_credential` if the
 * counter went backwards or the passkey was removed, and `rate_limited` if it did so often: then the transaction is
 * rolled back.
 */
export async function withPresence<Result>(
  kernel: Counting,
  { session, presence: { proved } }: PresenceOfSession,
  now: Date,
  work: (countUse: (tx: Transaction) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const regression = errors.invalid_credential()
  try {
    return await work(async (tx) => {
      if (!(await store.updateSignCount(tx, proved, now))) throw regression
    })
  } catch (error) {
    if (error !== regression) throw error
    // The work was rolled back, so the same assertion can be sent again. Each audit event has to count.
    await kernel.rateLimits.count('reauthentications-per-user', ownKey(session, now))
    throw await rejectCounter(kernel, proved, now)
  }
}

/** Returns the error for a counter that could not be updated. */
async function rejectCounter({ db }: Surroundings, proved: VerifiedAssertion, now: Date) {
  // A passkey that was removed in the meantime has no counter to report.
  if (!(await store.findCredential(db, proved.credentialId))) return errors.invalid_credential()
  return recordRegression(db, proved, now)
}

/** Records a signature counter that went backwards. Returns the error for the caller. */
async function recordRegression(db: Database, { userId, credentialId }: VerifiedAssertion, now: Date) {
  const details = { credentialId }
  await recordAuditEvent(db, { action: 'passkey.sign_count_regressed', actor: 'system', userId, details }, now)
  return errors.invalid_credential()
}

/** Finds a passkey of the whole account, and verifies its assertion. */
async function verifyAssertion(
  kernel: Surroundings,
  { credential: sent, challenge, owner, found }: Proof,
): Promise<{ proved: VerifiedAssertion; publicKey: Uint8Array<ArrayBuffer> }> {
  const credential = found ?? (await store.findCredential(kernel.db, sent.id))
  if (!credential || (owner !== undefined && credential.userId !== owner)) throw errors.invalid_credential()
  const proved = await verifyAgainst(kernel, credential, { sent, challenge, isKnown: owner !== undefined })
  return { proved, publicKey: new Uint8Array(credential.publicKey) }
}

/** What the service keeps of a passkey to verify its assertions. */
type VerifyingPasskey = Pick<
  store.Credential,
  'credentialId' | 'userId' | 'userHandle' | 'publicKey' | 'backupEligible'
>

type Sent = {
  sent: AuthenticationResponse
  challenge: string
  /** True if the user was known before, and the passkey is one of theirs. */
  isKnown: boolean
}

/**
 * Verifies an authentication ceremony (WebAuthn §7.2). Where the user chose the credential, the user handle is required
 * and must be the owner's. Where the user is already known, authenticators may leave the handle out. Throws
 * `invalid_credential`.
 */
async function verifyAgainst(
  { config }: Pick<Surroundings, 'config'>,
  credential: VerifyingPasskey,
  { sent, challenge, isKnown }: Sent,
): Promise<VerifiedAssertion> {
  const { authenticatorAttachment: _unused, ...response } = sent
  rejectCrossOrigin(response.response.clientDataJSON, errors.invalid_credential)
  const { userHandle } = response.response
  const mayLackHandle = isKnown && userHandle === undefined
  if (!mayLackHandle && userHandle !== userHandleOf(credential)) throw errors.invalid_credential()

  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: config.authUrl.origin,
    expectedRPID: config.relyingPartyId,
    requireUserVerification: true,
    credential: {
      id: credential.credentialId,
      publicKey: new Uint8Array(credential.publicKey),
      // The library would throw if the counter went backwards. The transaction checks the counter, and the audit log
      // records it.
      counter: 0,
    },
    // The library reports the reason by throwing. Callers only learn that the assertion is invalid.
  }).catch((): { verified: false; authenticationInfo?: undefined } => ({ verified: false }))
  if (!verified || !authenticationInfo) throw errors.invalid_credential()

  const { newCounter: signCount, credentialBackedUp: backedUp, credentialDeviceType } = authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== credential.backupEligible) throw errors.invalid_credential()
  const { userId, credentialId } = credential
  return { userId, credentialId, signCount, backedUp }
}

/** A passkey that a recovery link brought. It opens one identity of its user, not the account. */
export type RecoveredPasskey = VerifyingPasskey & { identityId: IdentityId; holdUntil: Date }

/** The passkeys that recovery links brought. */
export type RecoveredPasskeys = {
  /** Finds one that is valid: its recovery is completed. */
  find: (db: Database, credentialId: string) => Promise<RecoveredPasskey | undefined>
  /** Checks whether one exists, valid or not yet. */
  exists: (db: Database, credentialId: string) => Promise<boolean>
  /** Records its use. Returns undefined if it is not valid any more, or if a counter did not increase. */
  countUse: (tx: Transaction, proved: VerifiedAssertion, now: Date) => Promise<RecoveredPasskey | undefined>
}

type RecoveredServices = { kernel: Pick<ServerContext, 'db' | 'config'>; recoveredPasskeys: RecoveredPasskeys }
type RecoveredProof = {
  passkey: RecoveredPasskey
  credential: AuthenticationResponse
  challenge: string
  /** User that the passkey must belong to, if the user is already known. */
  owner?: UserId
  /** Session whose user the passkey must have authenticated, if there is one. */
  session?: RecoveredSession
}

/**
 * Like `withVerifiedAssertion`, for a recovered passkey. `work` gets the identity to which it is limited. Throws
 * `invalid_credential`, `account_suspended` also for that identity alone, and `unauthorized`.
 */
export async function withRecoveredAssertion<Result extends object>(
  { kernel, recoveredPasskeys }: RecoveredServices,
  { passkey, credential, challenge, owner, session }: RecoveredProof,
  now: Date,
  work: (tx: Transaction, proved: VerifiedAssertion, passkey: RecoveredPasskey) => Promise<Result>,
): Promise<Result> {
  const { db } = kernel
  const isOther = session && (session.userId !== passkey.userId || session.identityId !== passkey.identityId)
  if (isOther || (owner !== undefined && passkey.userId !== owner)) throw errors.invalid_credential()
  const isKnown = session !== undefined || owner !== undefined
  const proved = await verifyAgainst(kernel, passkey, { sent: credential, challenge, isKnown })
  const { userId } = proved
  const done = await transaction(db, async (tx) => {
    await lockActiveUser(tx, userId, now)
    const used = await recoveredPasskeys.countUse(tx, proved, now)
    if (!used) return undefined
    const { identityId } = used
    if (await isSuspendedIdentity(tx, identityId, now)) throw await accountSuspended(tx, { userId, identityId }, now)
    return work(tx, proved, used)
  })
  if (done) return done
  const left = await recoveredPasskeys.find(db, proved.credentialId)
  throw left ? await recordRegression(db, proved, now) : errors.invalid_credential()
}
