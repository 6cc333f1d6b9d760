import { type RawBuilder, sql } from 'kysely'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import type { Database, Transaction } from '#platform/database/database.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { changeInParts } from '#platform/module/batches.ts'

/** Identity, source app and resource: the key of an active delegation. */
export type DelegationKey = { identityId: IdentityId; sourceClientId: ClientId; resourceId: string }

const own = [
  'delegation_id as delegationId',
  'delegation_grant.scope',
  'communication_mode as communicationMode',
] as const

/** Locks an active delegation until the transaction ends. */
export function lockActive(tx: Transaction, { identityId, sourceClientId, resourceId }: DelegationKey) {
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

type NewGrant = DelegationKey & { delegationId: string; scope: string[]; communicationMode: CommunicationMode }

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

type ExtendedDelegation = { identityId: IdentityId } & ActiveGrant

/** Updates a delegation whose row this transaction has locked. */
export async function updateGrant(tx: Transaction, widened: ExtendedDelegation, now: Date): Promise<void> {
  await tx
    .updateTable('delegation_grant')
    .set({ scope: widened.scope, communication_mode: widened.communicationMode, updated_at: now })
    .where('identity_id', '=', widened.identityId)
    .where('delegation_id', '=', widened.delegationId)
    .execute()
}

/** Selects delegations with the names of both apps and of the resource; omits those whose app was deleted. */
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

/** Lists all delegations of a user's identities, active ones first, then most recent first. */
export function listOfUser(db: Database, userId: UserId) {
  return selectGrants(db)
    .innerJoin('identity', 'identity.identity_id', 'delegation_grant.identity_id')
    .where('identity.user_id', '=', userId)
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .orderBy('delegation_grant.updated_at', 'desc')
    .orderBy('delegation_id', 'desc')
    .execute()
}

/** Finds the active delegation between an app and a resource. */
export function findActive(db: Database, { identityId, sourceClientId, resourceId }: DelegationKey) {
  return selectGrants(db)
    .where('delegation_grant.identity_id', '=', identityId)
    .where('source_client_id', '=', sourceClientId)
    .where('delegation_grant.resource_id', '=', resourceId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

/** Revokes a delegation of a user's identities; returns undefined if none was active. */
export function revokeOfUser(tx: Transaction, userId: UserId, delegationId: string, now: Date) {
  return tx
    .updateTable('delegation_grant')
    .set({ revoked_at: now, updated_at: now })
    .where('identity_id', 'in', tx.selectFrom('identity').select('identity_id').where('user_id', '=', userId))
    .where('delegation_id', '=', delegationId)
    .where('revoked_at', 'is', null)
    .returning(['identity_id as identityId', 'source_client_id as clientId', 'resource_id as resourceId'])
    .executeTakeFirst()
}

/** Returns the name of the app that offers a resource, or undefined if the app was deleted. */
export async function findTargetName(tx: Transaction, resourceId: string): Promise<string | undefined> {
  const app = await tx
    .selectFrom('app_resource')
    .innerJoin('app', 'app.client_id', 'app_resource.client_id')
    .select('app.name')
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
  return app?.name
}

/** Finds the identity of a delegation, active or not; returns undefined if it is not one of this user's. */
export function findOfUser(db: Database, userId: UserId, delegationId: string) {
  return db
    .selectFrom('delegation_grant')
    .innerJoin('identity', 'identity.identity_id', 'delegation_grant.identity_id')
    .select('delegation_grant.identity_id as identityId')
    .where('identity.user_id', '=', userId)
    .where('delegation_id', '=', delegationId)
    .executeTakeFirst()
}

/** Revokes the delegations from and to an app for an identity; returns how many there were. */
export async function revokeOfApps(
  tx: Transaction,
  identityId: IdentityId,
  clientIds: ClientId[],
  now: Date,
): Promise<number> {
  const ofApps = (column: string) => sql<boolean>`${sql.ref(column)} = any(${clientIds}::text[])`
  const resources = tx.selectFrom('app_resource').select('resource_id').where(ofApps('client_id'))
  const { numUpdatedRows } = await tx
    .updateTable('delegation_grant')
    .set({ revoked_at: now, updated_at: now })
    .where('identity_id', '=', identityId)
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([ofApps('source_client_id'), eb('resource_id', 'in', resources)]))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Revokes the delegations at resources of deleted apps, for the identities from one to another in their order. */
export async function revokeAtMissing(
  tx: Transaction,
  { from, to }: { from: IdentityId; to: IdentityId },
  now: Date,
): Promise<void> {
  const isMeant = sql<boolean>`identity_id >= ${from} and identity_id <= ${to} and revoked_at is null`
  const active = tx.selectFrom('delegation_grant').select('resource_id').distinct().where(isMeant)
  const named = (await active.execute()).map((each) => each.resource_id)
  if (named.length === 0) return
  const resources = tx.selectFrom('app_resource').select('resource_id').where('resource_id', 'in', named)
  const present = new Set((await resources.execute()).map((each) => each.resource_id))
  const missing = named.filter((resourceId) => !present.has(resourceId))
  if (missing.length === 0) return
  await tx
    .updateTable('delegation_grant')
    .set({ revoked_at: now, updated_at: now })
    .where(isMeant)
    .where('resource_id', 'in', missing)
    .execute()
}

/** Revokes all active delegations of identities, in statements of limited size. */
export async function revokeOfIdentities(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  const active = sql<boolean>`revoked_at is null`
  await changeGrants(tx, { identityIds, which: active }, (identityId, delegationIds) =>
    tx
      .updateTable('delegation_grant')
      .set({ revoked_at: now, updated_at: now })
      .where('identity_id', '=', identityId)
      .where(isListed(delegationIds))
      .where('revoked_at', 'is', null)
      .execute(),
  )
}

/**
 * Deletes all delegations of identities, in statements of limited size. The cleanup deletes their uses, which no query
 * finds any more.
 */
export async function deleteGrants(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await changeGrants(tx, { identityIds, which: sql<boolean>`true` }, (identityId, delegationIds) =>
    tx
      .with('gone', (query) =>
        query
          .deleteFrom('delegation_grant')
          .where('identity_id', '=', identityId)
          .where(isListed(delegationIds))
          .returning('identity_id'),
      )
      .insertInto('delegation_former_identity')
      .columns(['identity_id'])
      .expression((query) => query.selectFrom('gone').select('identity_id').distinct())
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}

const isListed = (delegationIds: string[]) =>
  sql<boolean>`${plannedForValues} delegation_id = any(${delegationIds}::uuid[])`

type GrantsOf = { identityIds: IdentityId[]; which: RawBuilder<boolean> }

async function changeGrants(
  tx: Transaction,
  { identityIds, which }: GrantsOf,
  change: (identityId: IdentityId, delegationIds: string[]) => Promise<unknown>,
): Promise<void> {
  for (const identityId of identityIds)
    await changeInParts<string>(
      async (count, after) => {
        const rows = await tx
          .selectFrom('delegation_grant')
          .select('delegation_id as delegationId')
          .where('identity_id', '=', identityId)
          .where(which)
          .$if(after !== undefined, (query) => query.where('delegation_id', '>', after ?? ''))
          .orderBy('delegation_id')
          .limit(count)
          .execute()
        return rows.map(({ delegationId }) => delegationId)
      },
      (delegationIds) => change(identityId, delegationIds),
    )
}

/**
 * Records a use of an active delegation and returns it; its row stays locked until the transaction ends. Of concurrent
 * exchanges, the latest remains the last use.
 */
export function recordDelegationUse(
  tx: Transaction,
  { identityId, sourceClientId, resourceId }: DelegationKey,
  now: Date,
) {
  return tx
    .updateTable('delegation_grant')
    .set(({ eb, fn }) => ({
      last_used_at: fn('greatest', ['last_used_at', eb.val(now)]),
      unaudited_use_count: eb('unaudited_use_count', '+', 1),
    }))
    .where('identity_id', '=', identityId)
    .where('source_client_id', '=', sourceClientId)
    .where('resource_id', '=', resourceId)
    .where('revoked_at', 'is', null)
    .returning(own)
    .returning(['unaudited_use_count as unauditedUseCount', 'use_audited_at as useAuditedAt'])
    .executeTakeFirst()
}

/** Restarts the count of uses that are not in the audit log yet. */
export async function markUseAudited(
  tx: Transaction,
  { identityId, delegationId }: Pick<Named, 'identityId' | 'delegationId'>,
  now: Date,
) {
  await tx
    .updateTable('delegation_grant')
    .set({ unaudited_use_count: 0, use_audited_at: now })
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .execute()
}

type Named = { identityId: IdentityId; delegationId: string; sourceClientId: ClientId; audience: string }

/** Finds an active delegation between active apps at an active resource, by the claims of a token. */
export function findUsableDelegation(db: Database, { identityId, delegationId, sourceClientId, audience }: Named) {
  return db
    .selectFrom('delegation_grant')
    .innerJoin('app as source', 'source.client_id', 'source_client_id')
    .innerJoin('app_resource', 'app_resource.resource_id', 'delegation_grant.resource_id')
    .innerJoin('app as target', 'target.client_id', 'app_resource.client_id')
    .select('app_resource.client_id as ownerClientId')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .where('source_client_id', '=', sourceClientId)
    .where('audience', '=', audience)
    .where('revoked_at', 'is', null)
    .where('app_resource.status', '=', 'active')
    .where('source.status', '=', 'active')
    .where('target.status', '=', 'active')
    .executeTakeFirst()
}

/** Deletes delegations that were revoked before an instant, once their uses are deleted. */
export async function deleteRevoked(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('delegation_grant')
    .select(['identity_id', 'delegation_id'])
    .where('revoked_at', '<=', before)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('delegation_usage')
            .whereRef('delegation_usage.identity_id', '=', 'delegation_grant.identity_id')
            .whereRef('delegation_usage.delegation_id', '=', 'delegation_grant.delegation_id'),
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
