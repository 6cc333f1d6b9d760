import { randomUUID, randomUUIDv7 } from 'node:crypto'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { RegistrationFinish, RegistrationStarted } from '@countersign/protocol/accounts/passkeys'
import { enrolEncryptionKey, readEncryptionKey } from '#accounts/keys/encryption-key.ts'
import { keepKeyWraps, requireCoherent } from '#accounts/keys/key-wrap.ts'
import { keepRecovery } from '#accounts/keys/recovery-code.ts'
import { requireFreeHandle } from '#accounts/identities/handle.ts'
import { beginPerson, requireFitting } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { SessionTokens } from '#accounts/sessions/cookie.ts'
import { deviceOf, type Browser } from '#accounts/sessions/session.ts'
import { enrolFirstKey, readPublicKey } from '#signing/keys/key.ts'
import { startSession } from '#tokens/families/session.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './browser-binding.ts'
import { beginFlow, finishFlow, type BoundTo } from './flow.ts'
import { creationOptions } from './options.ts'
import { enrolPasskey } from './passkey.ts'

/** Begins an account. Its ids are told now, so that the browser can bind what it encrypts to them. */
export async function startRegistration(
  { db, config, clock }: Kernel,
  { handle, displayName, browserSha256 }: { handle: string; displayName: string } & BoundTo,
): Promise<RegistrationStarted> {
  requireFitting({ handle, displayName })
  const now = clock()
  await requireFreeHandle(db, handle, now)
  const [userId, identityId] = [randomUUIDv7(), randomUUID()]
  const person = { userId, identityId, handle, displayName }
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'register', ...person, browserSha256 }, now)
  return { flowId, options: creationOptions(config.relyingPartyId, challenge, person), userId, identityId }
}

export type Registered = SessionTokens & { expiresAt: Date; userId: string; identity: Identity }

/**
 * Completes an account, in one transaction with everything that it begins. Refuses `invalid_flow`,
 * `invalid_credential`, `credential_in_use`, `handle_taken`, `invalid_public_key`, `key_in_use`, `invalid_request`.
 */
export async function finishRegistration(
  { db, config, clock }: Kernel,
  finish: RegistrationFinish & { client: FlowClient },
  browser: Browser,
): Promise<Registered> {
  const now = clock()
  const { keyWraps = [], recoveryAuth, signingKey, encryptionKey } = finish
  requireCoherent(keyWraps)
  const signing = signingKey && { ...signingKey, publicKey: readPublicKey(signingKey) }
  const encryption = encryptionKey && { ...encryptionKey, publicKey: readEncryptionKey(encryptionKey) }
  const flow = await finishFlow(db, 'register', finish, now)
  const credential = await verifyAttestation(config, finish.credential, flow.challenge)
  const { userId, identityId } = flow

  return transaction(db, async (tx) => {
    const identity = await beginPerson(tx, flow, now)
    await enrolPasskey(tx, userId, credential, now)
    await keepKeyWraps(tx, userId, keyWraps, now)
    if (recoveryAuth) await keepRecovery(tx, userId, recoveryAuth, now)
    if (signing) await enrolFirstKey(tx, { ...signing, identityId }, now)
    if (encryption) await enrolEncryptionKey(tx, { ...encryption, identityId }, now)
    const session = await startSession(tx, { ...credential, userId }, browser, now)
    const details = { device: deviceOf(browser) }
    await record(tx, { action: 'account.registered', actor: 'person', userId, identityId, details }, now)
    return { ...session, userId, identity }
  })
}
