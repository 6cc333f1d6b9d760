import type { FederatedAccount } from '@countersign/protocol/oauth/fedcm'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { disconnectForApp, listConnected, listConnectedIdentities } from '#oauth/consents/consent.ts'
import { listActing } from '#accounts/identities/identity.ts'
import type { Database } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from '#accounts/sessions/session.ts'

const refuse = refusals({ access_denied: [403, 'This is not one of the identities of this browser.'] })

/** The identities that a browser may offer an app, each with the apps that it knows already. */
export async function listAccounts(db: Database, session: Session): Promise<FederatedAccount[]> {
  const identities = await listActing(db, session)
  const ids = identities.map(({ identityId }) => identityId)
  const connected = await listConnected(db, ids)
  return identities.map((identity) => ({
    ...toAccount(identity),
    approved_clients: connected.filter((each) => each.identityId === identity.identityId).map((each) => each.clientId),
  }))
}

/** The identity of an account that the browser names. Refuses `access_denied`. */
export async function requireAccount(db: Database, session: Session, accountId: string): Promise<Identity> {
  const identity = (await listActing(db, session)).find(({ identityId }) => identityId === accountId)
  if (!identity) throw refuse.access_denied()
  return identity
}

/**
 * Disconnects an app from the identity that it names as it knows it, and answers which that is. Refuses `access_denied`
 * after the same steps for an identity that has not connected the app and for none, so that no app learns by guessing
 * who is there.
 */
export async function disconnectHinted(
  db: Database,
  session: Session,
  { clientId, hint }: { clientId: string; hint: string },
  now: Date,
): Promise<string> {
  const identities = await listActing(db, session)
  const ids = identities.map(({ identityId }) => identityId)
  const connected = await listConnectedIdentities(db, ids, clientId)
  const known = identities.filter(({ identityId }) => connected.includes(identityId))
  const hinted = known.find((each) => each.identityId === hint || hintsOf(each).includes(hint))
  if (!hinted) throw refuse.access_denied()
  const { identityId } = hinted
  if (!(await disconnectForApp(db, session, { identityId, clientId }, now))) throw refuse.access_denied()
  return identityId
}

/** A name has no parts that a program could tell: the given one is all of it. */
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
