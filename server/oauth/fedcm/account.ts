import type { FedcmAccount } from '@countersign/protocol/oauth/fedcm'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { disconnectForApp, listConnectedClientIds, listConnectedIdentities } from '#oauth/consents/consent.ts'
import { listIdentitiesOfSession } from '#accounts/identities/identity.ts'
import type { Database } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'

const errors = defineErrors({
  access_denied: [403, "account_id is not an identity of this browser's session."],
  unauthorized: [401, 'All identities of this browser are suspended.'],
})

/**
 * Lists the identities that a browser may offer to an app, each with the apps that it has connected. Throws
 * `unauthorized` if there are none: a browser accepts no empty list (FedCM §3.3).
 */
export async function listAccounts(db: Database, session: PasskeySession, now: Date): Promise<FedcmAccount[]> {
  const identities = await listIdentitiesOfSession(db, session, now)
  if (identities.length === 0) throw errors.unauthorized({ headers: { 'set-login': 'logged-out' } })
  const ids = identities.map(({ identityId }) => identityId)
  const connected = await listConnectedClientIds(db, ids)
  return identities.map((identity) => ({
    ...toAccount(identity),
    approved_clients: connected.filter((each) => each.identityId === identity.identityId).map((each) => each.clientId),
  }))
}

/** Returns the identity of the account that the browser names. Throws `access_denied`. */
export async function requireFedcmAccount(
  db: Database,
  session: PasskeySession,
  accountId: string,
  now: Date,
): Promise<Identity> {
  const identities = await listIdentitiesOfSession(db, session, now)
  const identity = identities.find(({ identityId }) => identityId === accountId)
  if (!identity) throw errors.access_denied()
  return identity
}

/**
 * Disconnects an app from the identity of its account hint, and returns that identity.
 *
 * Throws `access_denied` after the same steps for an unknown identity and for one that has not connected the app, so
 * that no app can probe for identities.
 */
export async function disconnectByAccountHint(
  db: Database,
  session: PasskeySession,
  { clientId, hint }: { clientId: ClientId; hint: string },
  now: Date,
): Promise<IdentityId> {
  const identities = await listIdentitiesOfSession(db, session, now)
  const ids = identities.map(({ identityId }) => identityId)
  const connected = await listConnectedIdentities(db, ids, clientId)
  const known = identities.filter(({ identityId }) => connected.includes(identityId))
  const hinted = known.find((each) => each.identityId === hint || hintsOf(each).includes(hint))
  if (!hinted) throw errors.access_denied()
  const { identityId } = hinted
  if (!(await disconnectForApp(db, session, { identityId, clientId }, now))) throw errors.access_denied()
  return identityId
}

/**
 * Maps an identity to a FedCM account. A display name has no parts that code could tell apart, so `given_name` is the
 * whole name.
 */
function toAccount(identity: Identity) {
  const { identityId, displayName, handle, avatarUrl } = identity
  const email = addressOf(identity)
  return {
    id: identityId,
    name: displayName,
    given_name: displayName,
    username: handle,
    ...(email !== undefined && { email }),
    ...(avatarUrl !== null && { picture: avatarUrl }),
    login_hints: hintsOf(identity),
    domain_hints: email === undefined ? [] : [email.slice(email.lastIndexOf('@') + 1)],
  }
}

function hintsOf(identity: Identity): string[] {
  const email = addressOf(identity)
  return email === undefined ? [identity.handle] : [identity.handle, email]
}

function addressOf({ email, emailVerified }: Identity): string | undefined {
  return emailVerified && email !== null ? email : undefined
}
