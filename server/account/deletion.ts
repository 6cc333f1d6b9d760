import { forgetConsents } from '#authorizations/authorization.ts'
import { forgetIdentityKeys } from '#encryption/identity-key.ts'
import { forgetPersonKeys } from '#encryption/key-wrap.ts'
import { removeIdentity, removePerson, requireOwnIdentity } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import { transaction, type Transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { forgetPasskeys } from '#passkeys/passkey.ts'
import { endOtherSessions, requireFresh, type Session } from '#sessions/session.ts'
import { forgetSigningKeys } from '#signing/key.ts'
import { forgetTokens } from '#tokens/lineage.ts'

/**
 * Deletes one of a person's identities, and everything that was its own; its handle stays reserved, and the trail keeps
 * its id alone. Refuses `identity_not_found`, `reauthentication_required`, `last_identity`.
 */
export async function deleteIdentity({ db }: Kernel, session: Session, identityId: string, now: Date): Promise<void> {
  const { userId } = session
  await requireOwnIdentity(db, userId, identityId)
  requireFresh(session, now)
  await transaction(db, async (tx) => {
    await removeIdentity(tx, userId, identityId, now)
    await forgetIdentities(tx, [identityId])
    await record(tx, { action: 'identity.deleted', actor: 'person', userId, identityId }, now)
  })
}

/**
 * Deletes a person with all that they have, at once. The trail keeps ids that nothing leads to any more. Refuses
 * `reauthentication_required`.
 */
export async function deleteAccount({ db }: Kernel, session: Session, now: Date): Promise<void> {
  requireFresh(session, now)
  const { userId } = session
  await transaction(db, async (tx) => {
    await forgetIdentities(tx, await removePerson(tx, userId, now))
    await forgetPersonKeys(tx, userId)
    // A sign-in under way holds its passkey until its session is there to be seen.
    await forgetPasskeys(tx, userId)
    await endOtherSessions(tx, userId)
    await record(tx, { action: 'account.deleted', actor: 'person', userId }, now)
  })
}

/** What an identity has in the other rooms. */
async function forgetIdentities(tx: Transaction, identityIds: string[]): Promise<void> {
  await forgetTokens(tx, identityIds)
  await forgetConsents(tx, identityIds)
  await forgetSigningKeys(tx, identityIds)
  await forgetIdentityKeys(tx, identityIds)
}
