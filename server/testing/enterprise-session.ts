import { randomUUID } from 'node:crypto'
import { record } from '#kernel/audit.ts'
import { transaction } from '#kernel/database.ts'
import { openEnterpriseSession } from '#sessions/session.ts'
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
    return openEnterpriseSession(tx, { userId, identityId, organizationId, connectionId }, browser, now())
  })
  return { authorization: `Bearer ${token}` }
}
