import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { ClientId, IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { sql, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { sendAhead } from '#platform/database/pipeline.ts'

type NewConsent = {
  identityId: IdentityId
  clientId: ClientId
  authorizationId: string
  scope: string[]
  organizationId: OrganizationId | undefined
}
type Chosen = { chosen: OrganizationAccess | null; unlessRecorded: OrganizationAccess | null }

/** Inserts the consent, or records that it was used again, and adds its scopes and organization to those it has. */
export function upsertConsent(tx: Transaction, consent: NewConsent & Chosen, now: Date): void {
  const recorded = tx
    .insertInto('authorization_consent')
    .values({
      identity_id: consent.identityId,
      client_id: consent.clientId,
      authorization_id: consent.authorizationId,
      scope: consent.scope,
      organization_access: consent.chosen ?? consent.unlessRecorded,
      organization_ids: consent.organizationId === undefined ? [] : [consent.organizationId],
      created_at: now,
      last_authorized_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['identity_id', 'client_id']).doUpdateSet(({ fn, val, ref }) => ({
        last_authorized_at: now,
        scope: withAdded(tx, consent.scope),
        organization_access:
          consent.chosen ?? fn.coalesce(ref('authorization_consent.organization_access'), val(consent.unlessRecorded)),
        ...(consent.organizationId !== undefined && { organization_ids: withOrganization(consent.organizationId) }),
      })),
    )
  sendAhead(tx, recorded)
}

/** Adds scopes that the consent does not have yet. A distributed database takes no subquery here. */
function withAdded(tx: Transaction, added: string[]): RawBuilder<string[]> {
  const scope = sql`authorization_consent.scope`
  if (!isDistributed(tx))
    return sql`${scope} || array(select added from unnest(excluded.scope) as added where added <> all (${scope}))`
  const unlessPresent = added.map(
    (each) => sql`case when ${each} = any(${scope}) then '{}' else array[${each}::text] end`,
  )
  return sql.join([scope, ...unlessPresent], sql` || `)
}

function withOrganization(added: OrganizationId): RawBuilder<string[]> {
  const known = sql`authorization_consent.organization_ids`
  return sql`case when ${added}::uuid = any(${known}) then ${known} else ${known} || ${added}::uuid end`
}

/** Locks a consent until the end of the transaction; returns false if there is none. */
export async function lockConsent(tx: Transaction, identityId: IdentityId, clientId: ClientId): Promise<boolean> {
  const consent = await tx
    .selectFrom('authorization_consent')
    .select('authorization_id')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .forUpdate()
    .executeTakeFirst()
  return consent !== undefined
}

function consents(db: Database) {
  return db
    .selectFrom('authorization_consent')
    .innerJoin('app', 'app.client_id', 'authorization_consent.client_id')
    .select([
      'authorization_id as authorizationId',
      'authorization_consent.client_id as clientId',
      'app.name as appName',
      'app.icon_url as appIconUrl',
      'app.website_url as appWebsiteUrl',
      'authorization_consent.identity_id as identityId',
      'scope',
      'authorization_consent.organization_access as organizationAccess',
      'authorization_consent.created_at as createdAt',
      'last_authorized_at as lastAuthorizedAt',
    ])
}

export type Consent = NonNullable<Awaited<ReturnType<typeof findConsent>>>

export function findConsent(db: Database, identityId: IdentityId, clientId: ClientId) {
  return consents(db)
    .where('authorization_consent.identity_id', '=', identityId)
    .where('authorization_consent.client_id', '=', clientId)
    .executeTakeFirst()
}

/** Returns the scopes that an identity has granted an app, or undefined without a consent. */
export async function findConsentedScope(
  db: Database,
  identityId: IdentityId,
  clientId: ClientId,
): Promise<string[] | undefined> {
  const consent = await db
    .selectFrom('authorization_consent')
    .select('scope')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return consent?.scope
}

/**
 * Returns what an identity has granted an app with its passkey: the scopes, and the organizations for which it was.
 * Undefined without a consent.
 */
export function findConsentedUse(db: Database, identityId: IdentityId, clientId: ClientId) {
  return db
    .selectFrom('authorization_consent')
    .select(['scope', 'organization_ids as organizationIds'])
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
}

export function listConsentsOfUser(db: Database, userId: UserId) {
  return consents(db)
    .innerJoin('identity', 'identity.identity_id', 'authorization_consent.identity_id')
    .where('identity.user_id', '=', userId)
    .orderBy('last_authorized_at', 'desc')
    .execute()
}

export function listConsentsOfIdentity(db: Database, identityId: IdentityId) {
  return consents(db)
    .where('authorization_consent.identity_id', '=', identityId)
    .orderBy('last_authorized_at', 'desc')
    .execute()
}

/** Deletes a consent if it belongs to one of this user's identities. */
export function deleteConsentOfUser(tx: Transaction, userId: UserId, authorizationId: string) {
  const own = tx.selectFrom('identity').select('identity_id').where('user_id', '=', userId)
  return tx
    .deleteFrom('authorization_consent')
    .where('identity_id', 'in', own)
    .where('authorization_id', '=', authorizationId)
    .returning(['identity_id as identityId', 'client_id as clientId'])
    .executeTakeFirst()
}

/** Deletes a consent; returns false if there was none. */
export async function deleteConsent(tx: Transaction, identityId: IdentityId, clientId: ClientId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('authorization_consent')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes up to `count` consents of an identity that were first given at an instant or later. Returns their apps. */
export async function deleteConsentsSince(
  tx: Transaction,
  { identityId, since }: { identityId: IdentityId; since: Date },
  count: number,
): Promise<ClientId[]> {
  const recent = tx
    .selectFrom('authorization_consent')
    .select('client_id')
    .where('identity_id', '=', identityId)
    .where('created_at', '>=', since)
    .limit(sql.lit(count))
  const deleted = await tx
    .deleteFrom('authorization_consent')
    .where('identity_id', '=', identityId)
    .where('client_id', 'in', recent)
    .returning('client_id as clientId')
    .execute()
  return deleted.map(({ clientId }) => clientId)
}

/** How many consents the cleanup reads at once. */
const examinedAtOnce = 500

/** Lists the next consents of all identities after a position, in their order. */
export function listConsentsAfter(tx: Transaction, after: { identityId: IdentityId; clientId: ClientId }) {
  return tx
    .selectFrom('authorization_consent')
    .select(['identity_id as identityId', 'client_id as clientId'])
    .where(sql<boolean>`(identity_id, client_id) > (${after.identityId}::uuid, ${after.clientId}::text)`)
    .orderBy('identity_id')
    .orderBy('client_id')
    .limit(sql.lit(examinedAtOnce))
    .execute()
}

/** Lists the apps to which identities have granted scopes. */
export async function listConsentedClients(db: Database, identityIds: IdentityId[]) {
  if (identityIds.length === 0) return []
  return db
    .selectFrom('authorization_consent')
    .select(['identity_id as identityId', 'client_id as clientId'])
    .where('identity_id', 'in', identityIds)
    .where(sql<boolean>`cardinality(scope) > 0`)
    .orderBy('last_authorized_at', 'desc')
    .execute()
}

/** Lists those of the identities that have granted an app anything, even without scopes. */
export async function listConsentedIdentities(
  db: Database,
  identityIds: IdentityId[],
  clientId: ClientId,
): Promise<IdentityId[]> {
  if (identityIds.length === 0) return []
  const rows = await db
    .selectFrom('authorization_consent')
    .select('identity_id as identityId')
    .where('identity_id', 'in', identityIds)
    .where('client_id', '=', clientId)
    .execute()
  return rows.map(({ identityId }) => identityId)
}

export async function deleteConsents(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('authorization_consent').where('identity_id', 'in', identityIds).execute()
}

export type Family = Awaited<ReturnType<typeof listTokenFamilies>>[number]

type Page = { after?: string | undefined; count: number }

/** ID that sorts before every token family. */
const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Lists the stored token families that result from the consents of an identity: `count` of them, after the family
 * `after`.
 */
export function listTokenFamilies(db: Database, identityId: IdentityId, { after = firstId, count }: Page) {
  return db
    .selectFrom('token_family')
    .select([
      'family_id as familyId',
      'client_id as clientId',
      'scope',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
    ])
    .where('identity_id', '=', identityId)
    .where('family_id', '>', after)
    .orderBy('family_id')
    .limit(count)
    .execute()
}
