import { randomUUID } from 'node:crypto'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Transaction } from '#platform/database/database.ts'
import { confirmSso } from '#organizations/membership/sso-confirmation.ts'
import { noteEnterpriseSso } from '#accounts/sessions/sso-session.ts'
import { startEnterpriseSession } from '#tokens/families/session.ts'
import type { Person, World } from './world.ts'

type Named = { organizationId?: string; connectionId?: string; identityId?: string }

/** Signs a person in as the provider of an organization does, without a passkey; answers the headers of the session. */
export async function signInByOrganization(
  { db, now }: World,
  { userId, ...person }: Person,
  { organizationId = randomUUID(), connectionId = randomUUID(), identityId = person.identityId }: Named = {},
) {
  const browser = { userAgent: undefined, earlierToken: undefined }
  const { token } = await transaction(db, async (tx) => {
    await record(tx, { action: 'session.started', actor: 'person', userId, identityId }, now())
    await confirm(tx, { organizationId, connectionId, identityId }, now())
    return startEnterpriseSession(tx, { userId, identityId, organizationId, connectionId }, browser, now())
  })
  return { authorization: `Bearer ${token}` }
}

type Confirmed = { organizationId: string; connectionId: string; identityId: string }

/** Confirms a connection as an owner does, of an organization that there is. */
async function confirm(tx: Transaction, confirmed: Confirmed, now: Date): Promise<void> {
  const { organizationId } = confirmed
  const found = await tx
    .selectFrom('organization')
    .select('name')
    .where('organization_id', '=', organizationId)
    .execute()
  if (found.length > 0) await confirmSso(tx, confirmed, now)
}

/** Notes on the first session of a person that the provider of an organization has named them, beside their passkey. */
export async function nameBy(
  { db, now }: World,
  { userId, identityId }: Person,
  named: { organizationId: string; connectionId: string },
): Promise<void> {
  const sessions = db.selectFrom('session').select('session_id').where('user_id', '=', userId)
  const { session_id: sessionId } = await sessions.orderBy('created_at').executeTakeFirstOrThrow()
  await transaction(db, async (tx) => {
    await noteEnterpriseSso(tx, { ...named, sessionId, identityId }, now())
    await confirm(tx, { ...named, identityId }, now())
  })
}
