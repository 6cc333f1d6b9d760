import { hash, randomUUID } from 'node:crypto'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction, type Transaction } from '#platform/database/database.ts'
import { confirmSso } from '#organizations/membership/sso-confirmation.ts'
import { recordSsoAuthentication } from '#accounts/sessions/sso-session.ts'
import { startEnterpriseSession } from '#tokens/families/session.ts'
import type { Person, TestWorld } from './world.ts'

type Named = { organizationId?: OrganizationId; connectionId?: string; identityId?: IdentityId }

/** Signs a user in with SSO, without a passkey; returns the headers of the session. */
export async function signInByOrganization(
  { db, now }: TestWorld,
  { userId, ...person }: Person,
  {
    organizationId = asId<OrganizationId>(randomUUID()),
    connectionId = randomUUID(),
    identityId = person.identityId,
  }: Named = {},
) {
  const browser = { userAgent: undefined, earlierToken: undefined }
  const { token } = await transaction(db, async (tx) => {
    await recordAuditEvent(tx, { action: 'session.created', actor: 'user', userId, identityId }, now())
    await confirm(tx, { organizationId, connectionId, identityId }, now())
    return startEnterpriseSession(tx, { userId, identityId, organizationId, connectionId }, browser, now())
  })
  return { authorization: `Bearer ${token}` }
}

type Confirmed = { organizationId: OrganizationId; connectionId: string; identityId: IdentityId }

/** Confirms a connection of an existing organization, like its owner. */
async function confirm(tx: Transaction, confirmed: Confirmed, now: Date): Promise<void> {
  const { organizationId } = confirmed
  const found = await tx
    .selectFrom('organization')
    .select('name')
    .where('organization_id', '=', organizationId)
    .execute()
  if (found.length > 0) await confirmSso(tx, confirmed, now)
}

/**
 * Records in a user's first session that the identity provider of an organization has authenticated them, in addition
 * to their passkey.
 */
export async function nameBy(
  { db, now }: TestWorld,
  { identityId, sessionToken }: Person,
  named: { organizationId: OrganizationId; connectionId: string },
): Promise<void> {
  const tokenSha256 = hash('sha256', sessionToken, 'buffer')
  const own = db.selectFrom('session').select('session_id as sessionId').where('token_sha256', '=', tokenSha256)
  const { sessionId } = await own.executeTakeFirstOrThrow()
  await transaction(db, async (tx) => {
    await recordSsoAuthentication(tx, { ...named, sessionId, identityId }, now())
    await confirm(tx, { ...named, identityId }, now())
  })
}
