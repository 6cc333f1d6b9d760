import type { RegistrationResponse } from '@countersign/protocol/accounts/passkeys'
import type { UserId } from '@countersign/protocol/ids'
import { findIdentity } from '#accounts/identities/identity.ts'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { verifyAttestation } from '#accounts/passkeys/attestation.ts'
import { beginFlow, type BoundTo, consumeFlow, creationOptions, type FlowClient } from '#accounts/passkeys/ceremony.ts'
import { passkeyExists, passkeyName, type RegisteringBrowser } from '#accounts/passkeys/passkey.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { isUniqueViolation, type Transaction, transaction } from '#platform/database/database.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { complete } from './completion.ts'
import { notifyOfCompletion, recoveryAddressOf } from './notice.ts'
import { redeemLink } from './passkey-store.ts'
import * as store from './store.ts'
import type { RecoveryLinkRow } from './store.ts'

const errors = defineErrors({
  recovery_link_used: [410, 'The recovery link has expired, was used or was cancelled. Ask the operator for another.'],
  recovery_locked: [423, 'A recovery of this account was stopped. Try again later.'],
  credential_in_use: [409, 'This passkey already belongs to an account.'],
})

/**
 * Starts to use a recovery link. The options name no passkey of the account, and the authenticator replaces none: its
 * user is a random one. Throws `recovery_link_used` and `recovery_locked`.
 */
export async function startRedemption(
  { db, config, clock }: ServerContext,
  { token, browserSha256 }: { token: string } & BoundTo,
) {
  const now = clock()
  const { link, identity } = await transaction(db, (tx) => requireRedeemable(tx, sha256(token), now))
  const { userId, recoveryLinkId } = link
  const userHandle = randomBytes(32)
  const ceremony = { ceremony: 'redeem', userId, recoveryLinkId, userHandle, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, ceremony, now)
  const { handle } = identity
  return { flowId, handle, options: creationOptions(config, challenge, { ...identity, userId, userHandle }) }
}

type Finish = { token: string; flowId: string; credential: RegistrationResponse; client: FlowClient }

/**
 * Uses a recovery link with a new passkey, which becomes valid after the cooling-off. Nothing else changes until then.
 * Throws `recovery_link_used`, `recovery_locked`, `invalid_flow`, `invalid_credential` and `credential_in_use`.
 */
export async function finishRedemption(
  { kernel, lifecycle }: { kernel: ServerContext; lifecycle: Lifecycle },
  { token, ...finish }: Finish,
  browser: RegisteringBrowser,
): Promise<{ validFrom: Date }> {
  const { db, config, clock } = kernel
  const now = clock()
  const flow = await consumeFlow(db, 'redeem', finish, now)
  const { userId, recoveryLinkId, userHandle } = flow
  const { kind, product, ...made } = await verifyAttestation(config, finish.credential, flow.challenge)
  const passkey = { ...made, userHandle, name: passkeyName({ kind, product }, browser, now) }
  const validFrom = addSeconds(now, config.recoveryCoolingOffHours * 3600)
  const isValidNow = await transaction(db, async (tx) => {
    const { link } = await requireRedeemable(tx, sha256(token), now)
    if (link.recoveryLinkId !== recoveryLinkId) throw errors.recovery_link_used()
    if (await passkeyExists(tx, passkey.credentialId)) throw errors.credential_in_use()
    const key = { userId, recoveryLinkId, tokenSha256: sha256(token) }
    if (!(await redeem(tx, key, { passkey, completesAt: validFrom }, now))) throw errors.recovery_link_used()
    const details = { recoveryLinkId, device: browser.userAgent ?? '', validFrom: validFrom.toISOString() }
    const { identityId } = link
    const event = { action: 'recovery_link.redeemed', actor: 'user', userId, identityId, details } as const
    await recordAuditEvent(tx, event, now)
    return validFrom <= now && complete(tx, lifecycle, { userId, recoveryLinkId, identityId }, now)
  })
  if (isValidNow) await notifyOfCompletion(kernel, userId)
  return { validFrom }
}

async function redeem(...[tx, key, made, now]: Parameters<typeof redeemLink>): Promise<boolean> {
  return redeemLink(tx, key, made, now).catch((error: unknown) => {
    throw isUniqueViolation(error, 'recovery_link_by_credential') ? errors.credential_in_use() : error
  })
}

/**
 * Locks the account of a link that can be redeemed now. It cannot if its address changed since it was mailed. Only who
 * has the link learns that the account is locked. Throws `recovery_link_used` and `recovery_locked`.
 */
async function requireRedeemable(tx: Transaction, tokenSha256: Uint8Array, now: Date) {
  const found = await store.findLinkBySecret(tx, 'token_sha256', tokenSha256)
  if (!found || !(await lockAccountOfIdentity(tx, found.identityId))) throw errors.recovery_link_used()
  const link = await store.findLink(tx, found)
  const identity = await findIdentity(tx, found.identityId)
  if (!link || !identity || !isRedeemable(link, now)) throw errors.recovery_link_used()
  if (recoveryAddressOf(identity, link.issuedAt) === null) throw errors.recovery_link_used()
  await requireUnlocked(tx, link.userId, now)
  return { link, identity }
}

async function requireUnlocked(tx: Transaction, userId: UserId, now: Date): Promise<void> {
  const lockedUntil = await store.findLock(tx, userId, now)
  if (lockedUntil) throw errors.recovery_locked({ fields: { lockedUntil: lockedUntil.toISOString() } })
}

function isRedeemable({ state, expiresAt }: RecoveryLinkRow, now: Date): boolean {
  return state === 'issued' && now < expiresAt
}
