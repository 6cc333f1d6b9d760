import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Acting } from '#accounts/sessions/session.ts'

/** Who may act at what: the three that an active grant is found by. */
export type Parties = { identityId: string; sourceClientId: string; resourceId: string }

const own = [
  'delegation_id as delegationId',
  'delegation_grant.scope',
  'communication_mode as communicationMode',
] as const

/** What an app may do at a resource, which nobody else changes until the transaction ends. */
export function lockActive(tx: Transaction, { identityId, sourceClientId, resourceId }: Parties) {
  return tx
    .selectFrom('delegation_grant')
    .select(own)
    .where('identity_id', '=', identityId)
    .where('source_client_id', '=', sourceClientId)
    .where('resource_id', '=', resourceId)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}
export type ActiveGrant = NonNullable<Awaited<ReturnType<typeof lockActive>>>

type NewGrant = Parties & { delegationId: string; scope: string[]; communicationMode: CommunicationMode }

export async function insertGrant(tx: Transaction, granted: NewGrant, now: Date): Promise<void> {
  await tx
    .insertInto('delegation_grant')
    .values({
      identity_id: granted.identityId,
      delegation_id: granted.delegationId,
      source_client_id: granted.sourceClientId,
      resource_id: granted.resourceId,
      scope: granted.scope,
      communication_mode: granted.communicationMode,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

type Widened = { identityId: string } & ActiveGrant

/** Sets what a grant allows, whose row this transaction has locked. */
export async function updateGrant(tx: Transaction, widened: Widened, now: Date): Promise<void> {
  await tx
    .updateTable('delegation_grant')
    .set({ scope: widened.scope, communication_mode: widened.communicationMode, updated_at: now })
    .where('identity_id', '=', widened.identityId)
    .where('delegation_id', '=', widened.delegationId)
    .execute()
}

/** Grants with the names of both apps, and of the resource; one whose app is gone is of no interest. */
function selectGrants(db: Database) {
  return db
    .selectFrom('delegation_grant')
    .innerJoin('app as source', 'source.client_id', 'source_client_id')
    .innerJoin('app_resource', 'app_resource.resource_id', 'delegation_grant.resource_id')
    .innerJoin('app as target', 'target.client_id', 'app_resource.client_id')
    .select(own)
    .select([
      'delegation_grant.identity_id as identityId',
      'source.client_id as sourceClientId',
      'source.name as sourceName',
      'source.icon_url as sourceIconUrl',
      'source.website_url as sourceWebsiteUrl',
      'app_resource.resource_key as resourceKey',
      'app_resource.display_name as resourceName',
      'app_resource.audience',
      'app_resource.scopes as resourceScopes',
      'app_resource.scope_descriptions as resourceScopeDescriptions',
      'target.client_id as targetClientId',
      'target.name as targetName',
      'delegation_grant.created_at as createdAt',
      'delegation_grant.updated_at as updatedAt',
      'revoked_at as revokedAt',
      'last_used_at as lastUsedAt',
    ])
}
export type GrantWithNames = Awaited<ReturnType<typeof listOfUser>>[number]

/** Every grant of a person's identities, those in force first, the latest first. */
export function listOfUser(db: Database, { userId, identityId }: Acting) {
  return selectGrants(db)
    .innerJoin('identity', 'identity.identity_id', 'delegation_grant.identity_id')
    .where('identity.user_id', '=', userId)
    .$if(identityId !== null, (only) => only.where('identity.identity_id', '=', identityId))
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .orderBy('delegation_grant.updated_at', 'desc')
    .orderBy('delegation_id', 'desc')
    .execute()
}

/** The grant in force between an app and a resource. */
export function findActive(db: Database, { identityId, sourceClientId, resourceId }: Parties) {
  return selectGrants(db)
    .where('delegation_grant.identity_id', '=', identityId)
    .where('source_client_id', '=', sourceClientId)
    .where('delegation_grant.resource_id', '=', resourceId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

/** Revokes a grant of a person's identities; undefined where none was active. */
export function revokeOfUser(tx: Transaction, { userId, identityId }: Acting, delegationId: string, now: Date) {
  return tx
    .updateTable('delegation_grant')
    .set({ revoked_at: now, updated_at: now })
    .where('identity_id', 'in', tx.selectFrom('identity').select('identity_id').where('user_id', '=', userId))
    .$if(identityId !== null, (only) => only.where('identity_id', '=', identityId))
    .where('delegation_id', '=', delegationId)
    .where('revoked_at', 'is', null)
    .returning(['identity_id as identityId', 'source_client_id as clientId', 'resource_id as resourceId'])
    .executeTakeFirst()
}

/** Whose a grant is, in force or not; undefined where it is none of the person's. */
export function findOfUser(db: Database, { userId, identityId }: Acting, delegationId: string) {
  return db
    .selectFrom('delegation_grant')
    .innerJoin('identity', 'identity.identity_id', 'delegation_grant.identity_id')
    .select('delegation_grant.identity_id as identityId')
    .where('identity.user_id', '=', userId)
    .$if(identityId !== null, (only) => only.where('identity.identity_id', '=', identityId))
    .where('delegation_id', '=', delegationId)
    .executeTakeFirst()
}

/** Revokes what an app may do as an identity, and what others may do at it; says how many grants that were. */
export async function revokeOfApp(tx: Transaction, identityId: string, clientId: string, now: Date): Promise<number> {
  const resources = tx.selectFrom('app_resource').select('resource_id').where('client_id', '=', clientId)
  const { numUpdatedRows } = await tx
    .updateTable('delegation_grant')
    .set({ revoked_at: now, updated_at: now })
    .where('identity_id', '=', identityId)
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('source_client_id', '=', clientId), eb('resource_id', 'in', resources)]))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes all grants of identities, and leaves their uses, which nothing finds any more, to the sweep. */
export async function deleteGrants(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx
    .with('gone', (query) =>
      query.deleteFrom('delegation_grant').where('identity_id', 'in', identityIds).returning('identity_id'),
    )
    .insertInto('delegation_former_identity')
    .columns(['identity_id'])
    .expression((query) => query.selectFrom('gone').select('identity_id').distinct())
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Notes that a grant in force is used, and answers it; its row is locked until the transaction ends. Of exchanges that
 * overtake each other, the latest stays the last use.
 */
export function useActive(tx: Transaction, { identityId, sourceClientId, resourceId }: Parties, now: Date) {
  return tx
    .updateTable('delegation_grant')
    .set(({ eb, fn }) => ({
      last_used_at: fn('greatest', ['last_used_at', eb.val(now)]),
      unrecorded_uses: eb('unrecorded_uses', '+', 1),
    }))
    .where('identity_id', '=', identityId)
    .where('source_client_id', '=', sourceClientId)
    .where('resource_id', '=', resourceId)
    .where('revoked_at', 'is', null)
    .returning(own)
    .returning(['unrecorded_uses as unrecordedUses', 'recorded_at as recordedAt'])
    .executeTakeFirst()
}

/** Begins to count anew what the trail has not been told. */
export async function markRecorded(
  tx: Transaction,
  { identityId, delegationId }: Pick<Named, 'identityId' | 'delegationId'>,
  now: Date,
) {
  await tx
    .updateTable('delegation_grant')
    .set({ unrecorded_uses: 0, recorded_at: now })
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .execute()
}

type Named = { identityId: string; delegationId: string; sourceClientId: string; audience: string }

/** A grant in force between apps that are active, at a resource that is: by what a token of it says. */
export function findLive(db: Database, { identityId, delegationId, sourceClientId, audience }: Named) {
  return db
    .selectFrom('delegation_grant')
    .innerJoin('app as source', 'source.client_id', 'source_client_id')
    .innerJoin('app_resource', 'app_resource.resource_id', 'delegation_grant.resource_id')
    .select('app_resource.client_id as ownerClientId')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .where('source_client_id', '=', sourceClientId)
    .where('audience', '=', audience)
    .where('revoked_at', 'is', null)
    .where('app_resource.status', '=', 'active')
    .where('source.status', '=', 'active')
    .executeTakeFirst()
}

/** Deletes grants that were revoked before an instant, once their uses are gone. */
export async function deleteRevoked(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('delegation_grant')
    .select(['identity_id', 'delegation_id'])
    .where('revoked_at', '<=', before)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('delegation_use')
            .whereRef('delegation_use.identity_id', '=', 'delegation_grant.identity_id')
            .whereRef('delegation_use.delegation_id', '=', 'delegation_grant.delegation_id'),
        ),
      ),
    )
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('delegation_grant')
    .where(({ eb, refTuple }) =>
      eb(refTuple('identity_id', 'delegation_id'), 'in', old.$asTuple('identity_id', 'delegation_id')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
