import { withoutTrailingSlash } from '@countersign/protocol/formats/scope'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

const resource = [
  'app_resource.resource_id as resourceId',
  'app_resource.resource_key as resourceKey',
  'app_resource.display_name as displayName',
  'app_resource.description',
  'app_resource.scopes',
  'app_resource.scope_descriptions as scopeDescriptions',
  'app_resource.audience',
] as const

const registered = [
  ...resource,
  'app_resource.client_id as clientId',
  'app_resource.status',
  'app_resource.disabled_by_operator as disabledByOperator',
  'app_resource.created_at as createdAt',
  'app_resource.updated_at as updatedAt',
] as const

/** Finds an active resource of an active app by its key or its audience. */
export function findActive(db: Database | Transaction, named: string) {
  return (
    db
      .selectFrom('app_resource')
      .innerJoin('app', 'app.client_id', 'app_resource.client_id')
      .select(resource)
      .select([
        'app.client_id as ownerClientId',
        'app.name as ownerName',
        'app.description as ownerDescription',
        'app.icon_url as ownerIconUrl',
        'app.website_url as ownerWebsiteUrl',
      ])
      .where('app_resource.status', '=', 'active')
      .where('app.status', '=', 'active')
      .where(({ eb, or }) =>
        or([eb('resource_key', '=', named), eb(sql`rtrim(audience, '/')`, '=', withoutTrailingSlash(named))]),
      )
      // A metadata document client may have become known after the resource. It could mistake an access token for an ID
      // token.
      .where(({ exists, not, selectFrom }) =>
        not(
          exists(
            selectFrom('app as named')
              .select('named.client_id')
              .where(sql<boolean>`named.client_id in (
              app_resource.audience, rtrim(app_resource.audience, '/'), rtrim(app_resource.audience, '/') || '/'
            )`)
              .whereRef('named.client_id', '<>', 'app_resource.client_id'),
          ),
        ),
      )
      .executeTakeFirst()
  )
}
export type ActiveResource = NonNullable<Awaited<ReturnType<typeof findActive>>>

export function findResource(db: Database, resourceKey: string) {
  return db.selectFrom('app_resource').select(registered).where('resource_key', '=', resourceKey).executeTakeFirst()
}
export type RegisteredResource = NonNullable<Awaited<ReturnType<typeof findResource>>>

/** Lists the resources of an app, oldest first. */
export function listResources(db: Database | Transaction, clientId: ClientId) {
  return db
    .selectFrom('app_resource')
    .select(registered)
    .where('client_id', '=', clientId)
    .orderBy('created_at')
    .orderBy('resource_key')
    .execute()
}

/** Locks a resource of an app until the transaction ends. */
export function lockResource(tx: Transaction, clientId: ClientId, resourceKey: string) {
  return tx
    .selectFrom('app_resource')
    .select(registered)
    .where('resource_key', '=', resourceKey)
    .where('client_id', '=', clientId)
    .forUpdate()
    .executeTakeFirst()
}

export async function countResourcesOf(tx: Transaction, clientId: ClientId): Promise<number> {
  const { count } = await tx
    .selectFrom('app_resource')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertResource(tx: Transaction, inserted: RegisteredResource): Promise<void> {
  await tx.insertInto('app_resource').values(valuesOf(inserted)).execute()
}

/** Inserts a resource. Returns false if its key or its audience is in use. */
export async function insertFreeResource(tx: Transaction, inserted: RegisteredResource): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('app_resource')
    .values(valuesOf(inserted))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

function valuesOf(inserted: RegisteredResource) {
  return {
    ...settingsOf(inserted),
    resource_key: inserted.resourceKey,
    resource_id: inserted.resourceId,
    client_id: inserted.clientId,
    created_at: inserted.createdAt,
  }
}

/** Updates all settings of a resource. */
export async function updateResource(tx: Transaction, changed: RegisteredResource): Promise<void> {
  await tx
    .updateTable('app_resource')
    .set(settingsOf(changed))
    .where('resource_key', '=', changed.resourceKey)
    .where('client_id', '=', changed.clientId)
    .execute()
}

function settingsOf(given: RegisteredResource) {
  return {
    display_name: given.displayName,
    description: given.description,
    scopes: given.scopes,
    scope_descriptions: given.scopeDescriptions,
    audience: given.audience,
    status: given.status,
    disabled_by_operator: given.disabledByOperator,
    updated_at: given.updatedAt,
  }
}

/** Checks whether an audience is the client ID of another app, with or without a trailing slash. */
export async function isClientIdOfOther(tx: Transaction, { audience, clientId }: OfApp): Promise<boolean> {
  const name = withoutTrailingSlash(audience)
  const other = await tx
    .selectFrom('app')
    .select('client_id')
    .where('client_id', 'in', [audience, name, `${name}/`].map(asId<ClientId>))
    .where('client_id', '<>', clientId)
    .executeTakeFirst()
  return other !== undefined
}
type OfApp = Pick<RegisteredResource, 'audience' | 'clientId'>

/**
 * Holds the names of resources that the operator has disabled, for apps that are being deleted. The caller has locked
 * the apps.
 */
export async function holdResources(tx: Transaction, clientIds: ClientId[]): Promise<void> {
  await tx
    .insertInto('app_held_resource')
    .columns(['resource_key', 'audience'])
    .expression((query) =>
      query
        .selectFrom('app_resource')
        .innerJoin('app', 'app.client_id', 'app_resource.client_id')
        .select(['resource_key', sql<string>`rtrim(audience, '/')`.as('audience')])
        .where('app.client_id', 'in', clientIds)
        .where(({ eb, or }) =>
          or([eb('app_resource.disabled_by_operator', '=', true), eb('app.disabled_by_operator', '=', true)]),
        ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

type Names = Pick<RegisteredResource, 'resourceKey' | 'audience'>

/** Checks whether a key or an audience belonged to a held resource of a deleted app. */
export async function isHeldName(tx: Transaction, { resourceKey, audience }: Names): Promise<boolean> {
  const held = await tx
    .selectFrom('app_held_resource')
    .select('resource_key')
    .where(({ eb, or }) =>
      or([eb('resource_key', '=', resourceKey), eb('audience', '=', withoutTrailingSlash(audience))]),
    )
    .executeTakeFirst()
  return held !== undefined
}

export async function releaseName(tx: Transaction, { resourceKey, audience }: Names): Promise<void> {
  await tx
    .deleteFrom('app_held_resource')
    .where(({ eb, or }) =>
      or([eb('resource_key', '=', resourceKey), eb('audience', '=', withoutTrailingSlash(audience))]),
    )
    .execute()
}
