import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { isUuid, newToken, readToken } from '#platform/crypto/token-format.ts'
import { actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import { holdOrganization } from '#organizations/members/sso-members.ts'
import { requireConnection, type AskingForOne } from '#sso/connections/connection.ts'
import { tellConnection } from '#sso/connections/connection-view.ts'
import * as store from './store.ts'

export type { Provisioning } from './store.ts'

const refuse = refusals({
  unauthorized: [401, 'Send the token of this connection as a bearer token.'],
  scim_token_not_found: [404, 'This connection has no such token.'],
  provisioning_in_use: [
    409,
    'People were named to this connection already, and are known by something else. Remove the token first.',
  ],
})

/**
 * Makes the token with which a directory says who may come by a connection; an earlier one ends. Whoever holds it can
 * end memberships, of owners too, so an owner hands it out. Refuses as `requireMember` and `recordAct` do, and
 * `reauthentication_required`, `connection_not_found`, `provisioning_in_use`.
 */
export async function createScimToken(
  kernel: Kernel,
  asking: AskingForOne,
  subjectBy: 'externalId' | 'email',
  now: Date,
): Promise<{ token: string; connection: SsoConnection }> {
  const { organizationId, connectionId } = asking
  const token = newToken('provisioning')
  const connection = await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_org', now)
    requireFreshToAct(asking, now)
    await requireConnection(tx, asking)
    const named = { connectionId, organizationId, subjectBy, tokenSha256: sha256(token) }
    if (!(await store.setToken(tx, named, now))) throw refuse.provisioning_in_use()
    const act = { action: 'sso.scim_token_created', details: { connectionId, subjectBy } } as const
    await recordAct(tx, { asking, acting }, act, now)
    return tellConnection(kernel, await requireConnection(tx, asking), acting.organization)
  })
  return { token, connection }
}

/**
 * Ends the word of a directory, and forgets whom it has named; who is a member stays one. Refuses as `requireMember`
 * and `recordAct` do, and `reauthentication_required`, `connection_not_found`, `scim_token_not_found`.
 */
export async function deleteScimToken(kernel: Kernel, asking: AskingForOne, now: Date): Promise<void> {
  const { connectionId } = asking
  await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireFreshToAct(asking, now)
    await requireConnection(tx, asking)
    if (!(await store.deleteProvisioning(tx, connectionId))) throw refuse.scim_token_not_found()
    const act = { action: 'sso.scim_token_removed', details: { connectionId } } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}

/** Who says to be the directory of a connection. */
type Claiming = { connectionId: string; token: string | undefined; address: string }

/**
 * For which connection a directory speaks. Refuses `unauthorized` alike whatever is wrong, and `rate_limited`. The
 * directories of many organizations ask from the same addresses, those of whoever runs them: wrong tokens from there
 * keep no right one out.
 */
export async function requireDirectory(
  kernel: Pick<Kernel, 'db' | 'rateLimits'>,
  claiming: Claiming,
): Promise<store.Provisioning> {
  const found = await proveDirectory(kernel, claiming)
  await kernel.rateLimits.count('provisioning of a connection', claiming.connectionId)
  return found
}

/** The same, of a request that has been counted. */
export async function proveDirectory(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  { connectionId, token = '', address }: Claiming,
): Promise<store.Provisioning> {
  const isSound = isUuid(connectionId) && readToken('provisioning', token, 0) !== undefined
  const found = isSound ? await store.findProvisioning(db, connectionId) : undefined
  if (found && equalBytes(found.tokenSha256, sha256(token))) return found
  await rateLimits.count('failed provisioning', address)
  throw unauthorized()
}

/**
 * Keeps an organization as it is, with its members and whom its directory has named, until the transaction ends.
 * Refuses `unauthorized` where the token has ended meanwhile.
 */
export async function holdDirectory(tx: Transaction, asking: store.Provisioning): Promise<store.Provisioning> {
  const { connectionId, organizationId, tokenSha256 } = asking
  await holdOrganization(tx, organizationId)
  const found = await store.findProvisioning(tx, connectionId)
  if (!found || !equalBytes(found.tokenSha256, tokenSha256)) throw unauthorized()
  return found
}

function unauthorized() {
  return refuse.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })
}
