import type { Database, Transaction } from '#kernel/database.ts'

type Named = { sessionId: string; organizationId: string; connectionId: string; identityId: string }

export async function upsertEnterpriseSso(tx: Transaction, named: Named, now: Date): Promise<void> {
  const said = { connection_id: named.connectionId, identity_id: named.identityId, authenticated_at: now }
  await tx
    .insertInto('session_enterprise_sso')
    .values({ session_id: named.sessionId, organization_id: named.organizationId, ...said })
    .onConflict((conflict) => conflict.columns(['session_id', 'organization_id']).doUpdateSet(said))
    .execute()
}

export function findEnterpriseSso(db: Database, sessionId: string, organizationId: string) {
  return db
    .selectFrom('session_enterprise_sso')
    .select(['connection_id as connectionId', 'identity_id as identityId', 'authenticated_at as authenticatedAt'])
    .where('session_id', '=', sessionId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** Notes that a session is in an organization without its provider; false where that was noted after `since`. */
export async function upsertWithoutSso(
  tx: Transaction,
  { sessionId, organizationId, since }: { sessionId: string; organizationId: string; since: Date },
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('session_without_sso')
    .values({ session_id: sessionId, organization_id: organizationId, noted_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'organization_id'])
        .doUpdateSet({ noted_at: now })
        .where('session_without_sso.noted_at', '<=', since),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function listOrganizationsOfSession(
  db: Database,
  { sessionId, identityId }: { sessionId: string; identityId: string },
  since: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom('session_enterprise_sso')
    .select('organization_id as organizationId')
    .where('session_id', '=', sessionId)
    .where('identity_id', '=', identityId)
    .where('authenticated_at', '>', since)
    .execute()
  return rows.map(({ organizationId }) => organizationId)
}

export async function moveEnterpriseSso(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  const ofTheSame = tx
    .selectFrom('session')
    .select('session_id')
    .where('session_id', '=', earlier.sessionId)
    .where('token_sha256', '=', earlier.tokenSha256)
    .where('user_id', '=', later.userId)
  await tx
    .updateTable('session_enterprise_sso')
    .set({ session_id: later.sessionId })
    .where('session_id', 'in', ofTheSame)
    .execute()
}

/** What a provider has said: for an organization, by one of its connections, of some identities. */
export type EnterpriseSsoOf = { organizationId: string; connectionId?: string; identityIds?: string[] }

/** The ids of the sessions that stand on nothing else, for another statement. */
export function selectEnterpriseSessions(
  tx: Transaction,
  { organizationId, connectionId, identityIds }: EnterpriseSsoOf,
) {
  return tx
    .selectFrom('session_enterprise_sso as said')
    .innerJoin('session as opened', 'opened.session_id', 'said.session_id')
    .select('said.session_id')
    .where('organization_id', '=', organizationId)
    .where('opened.identity_id', 'is not', null)
    .$if(connectionId !== undefined, (some) => some.where('connection_id', '=', connectionId ?? ''))
    .$if(identityIds !== undefined, (some) => some.where('said.identity_id', 'in', identityIds ?? []))
}

/** Deletes it, with the sessions that stand on nothing else, and answers these. */
export async function deleteEnterpriseSso(
  tx: Transaction,
  { organizationId, connectionId, identityIds }: EnterpriseSsoOf,
): Promise<{ sessionId: string; identityId: string }[]> {
  const taken = await tx
    .deleteFrom('session_enterprise_sso')
    .where('organization_id', '=', organizationId)
    .$if(connectionId !== undefined, (some) => some.where('connection_id', '=', connectionId ?? ''))
    .$if(identityIds !== undefined, (some) => some.where('identity_id', 'in', identityIds ?? []))
    .returning(['session_id as sessionId', 'identity_id as identityId'])
    .execute()
  if (taken.length === 0) return []
  const ended = await tx
    .deleteFrom('session')
    .where(
      'session_id',
      'in',
      taken.map(({ sessionId }) => sessionId),
    )
    .where('identity_id', 'is not', null)
    .returning('session_id as sessionId')
    .execute()
  const gone = new Set(ended.map(({ sessionId }) => sessionId))
  return taken.filter(({ sessionId }) => gone.has(sessionId))
}

export async function deleteSessionsOfIdentities(
  tx: Transaction,
  userId: string,
  identityIds: string[],
): Promise<void> {
  await tx.deleteFrom('session').where('user_id', '=', userId).where('identity_id', 'in', identityIds).execute()
  await tx.deleteFrom('session_enterprise_sso').where('identity_id', 'in', identityIds).execute()
}
