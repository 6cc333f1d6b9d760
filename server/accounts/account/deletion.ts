import { deleteAppsOf } from '#clients/registration/app.ts'
import { forgetConsents } from '#oauth/consents/consent.ts'
import { forgetIdentityKeys } from '#accounts/keys/encryption-key.ts'
import { forgetPersonKeys } from '#accounts/keys/key-wrap.ts'
import {
  actingPersonTransaction,
  removeIdentity,
  removePerson,
  requireOwnIdentity,
} from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { leaveOrganizations } from '#organizations/members/departure.ts'
import { forgetPasskeys } from '#accounts/passkeys/passkey.ts'
import { forgetContinuations } from '#oauth/fedcm/continuation.ts'
import { forgetNamedIdentities } from '#accounts/sessions/ending.ts'
import { queueLogouts } from '#accounts/sessions/logout.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import { forgetSigningKeys } from '#signing/keys/key.ts'
import { forgetOrganizationSignatures } from '#signing/requests/organization-request.ts'
import { forgetRequests } from '#signing/requests/request.ts'
import { forgetLinks } from '#sso/sign-in/arrival.ts'
import { forgetTokens } from '#tokens/families/family.ts'
import { endSessions } from '#tokens/families/session.ts'

const refuse = refusals({
  owns_apps: [409, 'Delete the apps that you have registered first, or let them go with the account: apps=delete.'],
})

/**
 * Deletes one of a person's identities, and everything that was its own; its handle stays reserved, and the trail keeps
 * its id alone. Refuses `identity_not_found`, `reauthentication_required`, `last_identity`,
 * `last_owner`, `rate_limited`.
 */
export async function deleteIdentity(
  { db, rateLimits }: Kernel,
  session: Session,
  identityId: string,
  now: Date,
): Promise<void> {
  const { userId } = session
  await requireOwnIdentity(db, session, identityId)
  requireFresh(session, now)
  // The handle is kept from everybody else for months: whoever creates and deletes in turn would keep them all.
  await rateLimits.count('reserved handle of a person', ownKey(session, now))
  await actingPersonTransaction(db, session, async (tx) => {
    await removeIdentity(tx, session, identityId, now)
    await leaveOrganizations(tx, { userId, identityIds: [identityId] }, now)
    await forgetIdentities(tx, [identityId], now)
    await endSessions(tx, { userId, which: 'of identities', identityIds: [identityId] }, now)
    await forgetNamedIdentities(tx, [identityId])
    await record(tx, { action: 'identity.deleted', actor: 'person', userId, identityId }, now)
  })
}

/**
 * Deletes a person with all that they have, at once. The trail keeps ids that nothing leads to any more. Other people
 * sign in to the apps that they have registered, so these go only where that was asked for; answers which have gone.
 * Refuses `reauthentication_required`, `last_owner`, and `owns_apps`, which names them.
 */
export async function deleteAccount(
  { db }: Kernel,
  session: Session,
  { withApps }: { withApps: boolean },
  now: Date,
): Promise<string[]> {
  requireFresh(session, now)
  const { userId } = session
  return actingPersonTransaction(db, session, async (tx) => {
    const identityIds = await removePerson(tx, userId, now)
    const apps = await deleteAppsOf(tx, userId, now)
    if (apps.length > 0 && !withApps) throw refuse.owns_apps({ fields: { apps: apps.map(({ name }) => name) } })

    await leaveOrganizations(tx, { userId, identityIds }, now)
    await forgetIdentities(tx, identityIds, now)
    await forgetPersonKeys(tx, userId)
    // A sign-in under way holds its passkey until its session is there to be seen.
    await forgetPasskeys(tx, userId)
    await endSessions(tx, { userId, which: 'all' }, now)
    await forgetNamedIdentities(tx, identityIds)
    await forgetContinuations(tx, userId)
    await record(tx, { action: 'account.deleted', actor: 'person', userId }, now)
    return apps.map(({ clientId }) => clientId)
  })
}

/** What an identity has in the other rooms. */
async function forgetIdentities(tx: Transaction, identityIds: string[], now: Date): Promise<void> {
  await queueLogouts(tx, { identityIds }, now)
  await forgetTokens(tx, identityIds)
  await forgetLinks(tx, identityIds)
  await forgetConsents(tx, identityIds)
  await forgetRequests(tx, identityIds)
  await forgetOrganizationSignatures(tx, identityIds)
  await forgetSigningKeys(tx, identityIds, now)
  await forgetIdentityKeys(tx, identityIds)
}
