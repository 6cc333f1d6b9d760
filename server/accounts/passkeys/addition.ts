import { limits } from '@countersign/protocol/formats/limits'
import type { PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { RegistrationResponse } from '@countersign/protocol/accounts/webauthn'
import { addKeyWrap } from '#accounts/keys/key-wrap.ts'
import { actingPersonTransaction, listIdentities } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './browser-binding.ts'
import { beginFlow, finishFlow, type BoundTo } from './flow.ts'
import { creationOptions } from './options.ts'
import { enrolPasskey, listPasskeys } from './passkey.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_credential: [401, 'This passkey was begun by somebody else. Start again.'],
  invalid_request: [400, 'The key wrap is not of the passkey that is added.'],
  unauthorized: [401, 'This account has been deleted.'],
  too_many_passkeys: [409, 'An account has at most twenty passkeys. Remove one first.'],
})

/** Begins to add a passkey. Refuses `reauthentication_required`, `too_many_passkeys`, `unauthorized`. */
export async function startAddition({ db, config, clock }: Kernel, session: Session, { browserSha256 }: BoundTo) {
  const now = clock()
  requireFresh(session, now)
  const { userId } = session
  const existing = await store.listCredentials(db, userId)
  if (existing.length >= limits.passkeysPerUserMax) throw refuse.too_many_passkeys()
  const [identity] = await listIdentities(db, userId)
  // Deleted since the session was read.
  if (!identity) throw refuse.unauthorized()
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'add passkey', userId, browserSha256 }, now)
  return { flowId, options: creationOptions(config.relyingPartyId, challenge, { userId, ...identity }, existing) }
}

type Finish = { flowId: string; credential: RegistrationResponse; keyWrap?: PasskeyWrap; client: FlowClient }

/**
 * Adds the passkey, with the wrap that lets it open the person's keys. Refuses `reauthentication_required`,
 * `unauthorized` where the session has ended meanwhile, `invalid_flow`, `invalid_credential`, `invalid_request`,
 * `credential_in_use`, `too_many_passkeys`.
 */
export async function finishAddition(kernel: Kernel, session: Session, finish: Finish): Promise<Passkey> {
  const { db, config, clock } = kernel
  const now = clock()
  requireFresh(session, now)
  const { userId } = session
  const { credential, keyWrap } = finish
  if (keyWrap && keyWrap.credentialId !== credential.id) throw refuse.invalid_request()
  const flow = await finishFlow(db, 'add passkey', finish, now)
  if (flow.userId !== userId) throw refuse.invalid_credential()
  const made = await verifyAttestation(config, credential, flow.challenge)

  return actingPersonTransaction(db, session, async (tx) => {
    await enrolPasskey(tx, userId, made, now)
    if (keyWrap) await addKeyWrap(tx, userId, keyWrap, now)
    const passkeys = await listPasskeys(tx, userId)
    const added = passkeys.find(({ credentialId }) => credentialId === made.credentialId)
    if (!added || passkeys.length > limits.passkeysPerUserMax) throw refuse.too_many_passkeys()
    const details = { credentialId: made.credentialId }
    await record(tx, { action: 'passkey.added', actor: 'person', userId, details }, now)
    return added
  })
}
