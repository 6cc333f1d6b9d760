import { limits } from '@countersign/protocol/formats/limits'
import type { PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { Passkey, RegistrationResponse } from '@countersign/protocol/accounts/passkeys'
import { addKeyWrap } from '#accounts/keys/key-wrap.ts'
import { actingUserTransaction, listIdentities } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type PasskeySession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './ceremony.ts'
import { type BoundTo, beginFlow, consumeFlow, creationOptions } from './ceremony.ts'
import { createPasskey, listPasskeys, type RegisteringBrowser } from './passkey.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_credential: [401, 'This registration was started by another account. Start again.'],
  invalid_request: [400, 'The key wrap does not belong to the passkey being added.'],
  unauthorized: [401, 'This account has been deleted.'],
  too_many_passkeys: [409, 'An account can have at most 20 passkeys. Remove one first.'],
})

/** Starts adding a passkey. Throws `reauthentication_required`, `too_many_passkeys` or `unauthorized`. */
export async function startAddPasskey(
  { db, config, clock }: ServerContext,
  session: PasskeySession,
  { browserSha256 }: BoundTo,
) {
  const now = clock()
  requireRecentAuthentication(session, now)
  const { userId } = session
  const existing = await store.listCredentials(db, userId)
  if (existing.length >= limits.passkeysPerUserMax) throw errors.too_many_passkeys()
  const [identity] = await listIdentities(db, userId)
  // The account was deleted after the session was read.
  if (!identity) throw errors.unauthorized()
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'add_passkey', userId, browserSha256 }, now)
  return { flowId, options: creationOptions(config, challenge, { userId, ...identity }, existing) }
}

type Finish = {
  flowId: string
  credential: RegistrationResponse
  keyWrap?: PasskeyWrap
  client: FlowClient
  browser: RegisteringBrowser
}

/**
 * Adds the passkey, with the wrap that lets it unlock the user's keys. Throws `reauthentication_required`,
 * `unauthorized` if the session has ended in the meantime, `invalid_flow`, `invalid_credential`, `invalid_request`,
 * `credential_in_use` or `too_many_passkeys`.
 */
export async function finishAddPasskey(
  kernel: ServerContext,
  session: PasskeySession,
  finish: Finish,
): Promise<Passkey> {
  const { db, config, clock } = kernel
  const now = clock()
  requireRecentAuthentication(session, now)
  const { userId } = session
  const { credential, keyWrap, browser } = finish
  if (keyWrap && keyWrap.credentialId !== credential.id) throw errors.invalid_request()
  const flow = await consumeFlow(db, 'add_passkey', finish, now)
  if (flow.userId !== userId) throw errors.invalid_credential()
  const made = await verifyAttestation(config, credential, flow.challenge)

  return actingUserTransaction(db, session, async (tx) => {
    await createPasskey(tx, { ...made, userId, browser }, now)
    if (keyWrap) await addKeyWrap(tx, userId, keyWrap, now)
    const passkeys = await listPasskeys(tx, userId)
    const added = passkeys.find(({ credentialId }) => credentialId === made.credentialId)
    if (!added || passkeys.length > limits.passkeysPerUserMax) throw errors.too_many_passkeys()
    const details = { credentialId: made.credentialId }
    await recordAuditEvent(tx, { action: 'passkey.added', actor: 'user', userId, details }, now)
    return added
  })
}
