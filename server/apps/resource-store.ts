import { sql } from 'kysely'
import type { Database, Transaction } from '#kernel/database.ts'

/** A resource that is active, of an app that is, by its key or its audience. */
export function findActive(db: Database | Transaction, named: string) {
  return db
    .selectFrom('app_resource')
    .innerJoin('app', 'app.client_id', 'app_resource.client_id')
    .select([
      'app_resource.resource_id as resourceId',
      'app_resource.resource_key as resourceKey',
      'app_resource.display_name as displayName',
      'app_resource.description',
      'app_resource.scopes',
      'app_resource.scope_descriptions as scopeDescriptions',
      'app_resource.audience',
      'app.client_id as ownerClientId',
      'app.name as ownerName',
      'app.description as ownerDescription',
      'app.icon_url as ownerIconUrl',
      'app.website_url as ownerWebsiteUrl',
    ])
    .where('app_resource.status', '=', 'active')
    .where('app.status', '=', 'active')
    .where(({ eb, or }) => or([eb('resource_key', '=', named), eb(sql`rtrim(audience, '/')`, '=', trimmed(named))]))
    .executeTakeFirst()
}
export type ActiveResource = NonNullable<Awaited<ReturnType<typeof findActive>>>

function trimmed(audience: string): string {
  return audience.replace(/\/+$/, '')
}
