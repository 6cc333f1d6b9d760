import type { UserId } from '@countersign/protocol/ids'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { verifyRecoveryCode } from '#accounts/keys/recovery-code.ts'
import type { RecoveredPasskeys } from '#accounts/passkeys/assertion.ts'
import { adoptPasskey } from '#accounts/passkeys/passkey.ts'
import { provingPasskey, removeLimitOf } from '#accounts/sessions/proof.ts'
import { type PasskeySession, type RecoveredSession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as passkeyStore from './passkey-store.ts'

const errors = defineErrors({
  invalid_credential: [401, 'Wrong recovery code.'],
  recovery_link_not_found: [404, 'No completed recovery has this ID, or its passkey is one of the account already.'],
  state_changed: [409, 'The passkey of this session is one of the account already.'],
})

/**
 * Makes the passkey of a recovery one of the account, on behalf of a session that another passkey opened. Throws
 * `reauthentication_required`, `recovery_link_not_found` and `too_many_passkeys`.
 */
export async function acceptRecovery(
  db: Database,
  { session, recoveryLinkId }: { session: PasskeySession; recoveryLinkId: string },
  now: Date,
): Promise<void> {
  requireRecentAuthentication(session, now)
  const { userId } = session
  await actingUserTransaction(db, session, async (tx) => {
    const adopted = await adopt(tx, { userId, recoveryLinkId }, now)
    if (!adopted) throw errors.recovery_link_not_found()
    await recordAccepted(tx, { ...adopted, by: 'session' }, now)
  })
}

/**
 * Makes the passkey of a limited session one of the account, if its user knows the recovery code, which stays in
 * effect. Throws `state_changed`, `invalid_credential` and `too_many_passkeys`.
 */
export async function liftLimit(
  db: Database,
  { session, recoveryAuth }: { session: PasskeySession | RecoveredSession; recoveryAuth: string },
  now: Date,
): Promise<void> {
  if (session.authMethod === 'passkey') throw errors.state_changed()
  const { userId, sessionId } = session
  await actingUserTransaction(db, session, async (tx) => {
    if (!(await verifyRecoveryCode(tx, userId, recoveryAuth))) throw errors.invalid_credential()
    const credentialId = await provingPasskey(tx, sessionId)
    const adopted = credentialId === undefined ? undefined : await adopt(tx, { userId, credentialId }, now)
    if (!adopted) throw errors.state_changed()
    await recordAccepted(tx, { ...adopted, by: 'recovery_code' }, now)
  })
}

type Adopting = { userId: UserId } & ({ recoveryLinkId: string } | { credentialId: string })

/**
 * Makes the passkey of a recovery one of the account, which the transaction has locked, and lifts the limit of its
 * sessions. Returns undefined if there is none. Throws `too_many_passkeys`.
 */
export async function adopt(tx: Transaction, adopting: Adopting, now: Date) {
  const taken = await passkeyStore.takePasskey(tx, adopting)
  const passkey = taken && toPasskey(taken)
  if (!passkey) return undefined
  await adoptPasskey(tx, passkey, now)
  const { userId, credentialId } = passkey
  await removeLimitOf(tx, { userId, credentialId })
  const { identityId, recoveryLinkId } = taken
  return { userId, identityId, recoveryLinkId, credentialId }
}

type Taken = NonNullable<Awaited<ReturnType<typeof passkeyStore.takePasskey>>>

/** The constraints of the table guarantee that a link has all columns of a passkey or none. */
function toPasskey({ recoveryLinkId: _link, identityId: _identity, holdUntil: _hold, ...taken }: Taken) {
  const { credentialId, userHandle, publicKey, signCount, backupEligible, backedUp, transports, name, userId } = taken
  if (!credentialId || !userHandle || !publicKey || signCount === null || backupEligible === null) return undefined
  if (backedUp === null || !transports || name === null) return undefined
  const counts = { signCount: Number(signCount), backupEligible, backedUp }
  return { userId, credentialId, userHandle, publicKey, transports, name, ...counts }
}

type Accepted = NonNullable<Awaited<ReturnType<typeof adopt>>> & { by: 'session' | 'recovery_code' }

async function recordAccepted(
  tx: Transaction,
  { userId, identityId, recoveryLinkId, by }: Accepted,
  now: Date,
): Promise<void> {
  const details = { recoveryLinkId, by }
  await recordAuditEvent(tx, { action: 'recovery_link.accepted', actor: 'user', userId, identityId, details }, now)
}

type Found = Awaited<ReturnType<typeof passkeyStore.findPasskey>>

/** The valid passkeys of recoveries, for the sign-in. */
export const recoveredPasskeys: RecoveredPasskeys = {
  find: async (db, credentialId) => toRecovered(await passkeyStore.findPasskey(db, credentialId)),
  exists: passkeyStore.hasPasskey,
  countUse: async (tx, proved, now) => toRecovered(await passkeyStore.countUse(tx, proved, now)),
}

function toRecovered(found: Found) {
  if (!found) return undefined
  const { userId, identityId, holdUntil, credentialId, userHandle, publicKey, backupEligible } = found
  if (!holdUntil || !credentialId || !userHandle || !publicKey || backupEligible === null) return undefined
  return { userId, identityId, holdUntil, credentialId, userHandle, publicKey, backupEligible }
}
