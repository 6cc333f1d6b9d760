import { randomUUIDv7 } from 'node:crypto'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type {
  RegistrationFinish,
  RegistrationFinished,
  RegistrationStart,
  RegistrationStarted,
} from '@countersign/protocol/accounts/passkeys'
import { type IdentityId, type UserId, asId } from '@countersign/protocol/ids'
import { parseEncryptionPublicKey, storeEncryptionKey } from '#accounts/keys/encryption-key.ts'
import { storeKeyWraps, validateKeyWraps } from '#accounts/keys/key-wrap.ts'
import { storeRecoveryCode } from '#accounts/keys/recovery-code.ts'
import { storeFirstSelfRecord } from '#accounts/keys/self-record.ts'
import { requireAvailableHandle, requireUnbrandedHandle } from '#accounts/identities/handle.ts'
import { createUser, generateIdentityId, validateIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { SessionTokens } from '#accounts/sessions/cookie.ts'
import { type ClientBrowser, deviceOf } from '#accounts/sessions/session.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import type { RegistrationPart } from '#platform/module/define-module.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './ceremony.ts'
import { type BoundTo, beginFlow, consumeFlow, creationOptions } from './ceremony.ts'
import { createPasskey, type RegisteringBrowser } from './passkey.ts'

/**
 * Starts the registration of an account. Returns its IDs, so that the browser can bind its ciphertexts to them. An
 * invitation may be for an identity that an operator has added: it has its ID already.
 */
export async function startRegistration(
  { kernel, registrationParts }: Pick<RegistrationServices, 'kernel' | 'registrationParts'>,
  { browserSha256, ...start }: RegistrationStart & BoundTo,
): Promise<RegistrationStarted> {
  const { db, config, clock } = kernel
  const { handle, displayName } = start
  validateIdentity({ handle, displayName })
  const now = clock()
  const fields: Partial<RegistrationStarted> = {}
  for (const { started } of registrationParts) Object.assign(fields, await started(kernel, start))
  const invited = await findInvitedIdentity({ kernel, registrationParts }, start)
  const identityId = invited ?? generateIdentityId()
  await requireUnbrandedHandle(db, config, { handle, identityId })
  await requireAvailableHandle(db, { handle, identityId }, now)
  const userId = asId<UserId>(randomUUIDv7())
  const person = { userId, identityId, handle, displayName }
  const flow = { ceremony: 'register', ...person, isInvited: invited !== undefined, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, flow, now)
  const options = creationOptions(config, challenge, person)
  return { flowId, options, userId, identityId, ...fields }
}

async function findInvitedIdentity(
  { kernel, registrationParts }: Pick<RegistrationServices, 'kernel' | 'registrationParts'>,
  start: RegistrationStart,
): Promise<IdentityId | undefined> {
  for (const { invited } of registrationParts) {
    const found = await invited?.(kernel, start)
    if (found) return found
  }
  return undefined
}

export type Registered = SessionTokens & {
  expiresAt: Date
  userId: UserId
  identity: Identity
  fields: Partial<RegistrationFinished>
}

export type RegistrationServices = {
  kernel: ServerContext
  sessions: SessionLifecycle
  registrationParts: readonly RegistrationPart[]
}

/**
 * Creates an account with all its initial data in one transaction. Throws `invalid_flow`, `invalid_credential`,
 * `credential_in_use`, `handle_taken`, `invalid_public_key`, `key_in_use` or `invalid_request`.
 */
export async function finishRegistration(
  { kernel, sessions, registrationParts }: RegistrationServices,
  finish: RegistrationFinish & { client: FlowClient },
  { language, ...browser }: ClientBrowser & RegisteringBrowser,
): Promise<Registered> {
  const { db, config, clock } = kernel
  const now = clock()
  const { keyWraps = [], recoveryAuth, encryptionKey, selfRecord } = finish
  validateKeyWraps(keyWraps)
  const parts = registrationParts.map(({ finished }) => finished(kernel, finish))
  const encryption = encryptionKey && { ...encryptionKey, publicKey: parseEncryptionPublicKey(encryptionKey) }
  const flow = await consumeFlow(db, 'register', finish, now)
  const credential = await verifyAttestation(config, finish.credential, flow.challenge)
  const { userId, identityId, isInvited } = flow

  return transaction(db, async (tx) => {
    const identity = await createUser(tx, flow, now)
    await createPasskey(tx, { ...credential, userId, browser: { ...browser, language } }, now)
    storeKeyWraps(tx, userId, keyWraps, now)
    if (recoveryAuth) await storeRecoveryCode(tx, userId, recoveryAuth, now)
    if (selfRecord) await storeFirstSelfRecord(tx, userId, selfRecord, now)
    const fields: Partial<RegistrationFinished> = {}
    for (const store of parts) Object.assign(fields, await store?.(tx, { identityId, isInvited }, now))
    if (encryption) await storeEncryptionKey(tx, { ...encryption, identityId }, now)
    const session = await sessions.start(tx, { ...credential, userId }, browser, now)
    const details = { device: deviceOf(browser) }
    await recordAuditEvent(tx, { action: 'account.created', actor: 'user', userId, identityId, details }, now)
    return { ...session, userId, identity, fields }
  })
}
