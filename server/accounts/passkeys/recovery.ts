import { randomUUID } from 'node:crypto'
import type { RegistrationResponse } from '@countersign/protocol/accounts/webauthn'
import { checkRecovery, spendRecovery } from '#accounts/keys/recovery-code.ts'
import { holdPerson } from '#accounts/identities/identity.ts'
import { identityOfHandle } from '#accounts/identities/owner.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Language } from '#platform/outbound/language.ts'
import { refusals } from '#platform/refusal.ts'
import type { Browser } from '#accounts/sessions/session.ts'
import { endSessions, startSession } from '#tokens/families/session.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './browser-binding.ts'
import { beginFlow, finishFlow, type BoundTo } from './flow.ts'
import { creationOptions } from './options.ts'
import { enrolPasskey } from './passkey.ts'
import { tellOfRecovery } from './recovery-mail.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_credential: [401, 'This handle and this recovery code do not belong together.'],
  invalid_flow: [400, 'This recovery code was used or replaced in the meantime.'],
})

/**
 * Begins to recover an account with its code. Refuses `invalid_credential`, alike and in the same time for a wrong code
 * and for a handle that nobody has.
 */
export async function startRecovery(
  { db, config, clock }: Kernel,
  { handle, recoveryAuth, browserSha256 }: { handle: string; recoveryAuth: string } & BoundTo,
) {
  const identity = await identityOfHandle(db, handle)
  const recoverySha256 = await checkRecovery(db, identity?.userId ?? randomUUID(), recoveryAuth)
  if (!identity || !recoverySha256) throw refuse.invalid_credential()
  const { userId } = identity
  const ceremony = { ceremony: 'recover', userId, recoverySha256, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, ceremony, clock())
  const existing = await store.listCredentials(db, userId)
  return { flowId, options: creationOptions(config.relyingPartyId, challenge, identity, existing) }
}

type Finish = { flowId: string; credential: RegistrationResponse; client: FlowClient }

/**
 * Recovers the account, in one transaction: spends the code, enrols the passkey, ends every session there was, and
 * opens one. The keys stay as they are. Refuses `invalid_flow`, `invalid_credential`, `credential_in_use`.
 */
export async function finishRecovery(
  kernel: Kernel,
  finish: Finish,
  { browser, language }: { browser: Browser; language: Language },
) {
  const { db, config, clock } = kernel
  const now = clock()
  const { userId, recoverySha256, challenge } = await finishFlow(db, 'recover', finish, now)
  const made = await verifyAttestation(config, finish.credential, challenge)

  const recovered = await transaction(db, async (tx) => {
    await holdPerson(tx, userId)
    if (!(await spendRecovery(tx, userId, recoverySha256))) throw refuse.invalid_flow()
    await enrolPasskey(tx, userId, made, now)
    const sessionsEnded = await endSessions(tx, { userId, which: 'all' }, now)
    const session = await startSession(tx, { ...made, userId }, browser, now)
    const details = { credentialId: made.credentialId, sessionsEnded }
    await record(tx, { action: 'account.recovered', actor: 'person', userId, details }, now)
    return { ...session, userId }
  })
  await tellOfRecovery(kernel, userId, language)
  return recovered
}
