import { sql, type ExpressionBuilder } from 'kysely'
import type { ClaimMapping } from '@countersign/protocol/clients/claims'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { replicaOf } from '#platform/database/distributed/engine.ts'
import { readFirst } from '#platform/database/distributed/keys.ts'
import { accessOf } from './access/access-store.ts'
import { deleteEnded, insertEnded } from './deletion/ended-app-store.ts'
import type { Tables } from '#platform/database/tables.ts'

const app = [
  'app.client_id as clientId',
  'app.owner_user_id as ownerUserId',
  'app.owner_identity_id as ownerIdentityId',
  'app.name',
  'app.description',
  'app.icon_url as iconUrl',
  'app.color',
  'app.website_url as websiteUrl',
  'app.privacy_url as privacyUrl',
  'app.terms_url as termsUrl',
  'app.redirect_uris as redirectUris',
  'app.post_logout_redirect_uris as postLogoutRedirectUris',
  'app.allowed_scopes as allowedScopes',
  'app.supports_e2ee as supportsE2ee',
  'app.app_key_recipient_jwk as appKeyRecipientJwk',
  'app.is_public as isPublic',
  'app.disabled_by_operator as disabledByOperator',
  'app.status',
  'app.id_token_signed_response_alg as idTokenSignedResponseAlg',
  'app.access_token_ttl_seconds as accessTokenTtlSeconds',
  'app.refresh_token_ttl_seconds as refreshTokenTtlSeconds',
  'app.require_auth_time as requireAuthTime',
  'app.id_token_claims as idTokenClaims',
  'app.required_claims as requiredClaims',
  'app.organization_access as organizationAccess',
  'app.backchannel_logout_uri as backchannelLogoutUri',
  'app.backchannel_logout_session_required as backchannelLogoutSessionRequired',
  'app.allow_any_loopback_port as allowAnyLoopbackPort',
  'app.groups_claim as groupsClaim',
  'app.metadata_fetched_at as metadataFetchedAt',
  'app.created_at as createdAt',
  'app.updated_at as updatedAt',
] as const

/** Selects the hashes of an app's secrets and, at the same positions, their expiry. */
function secretsOf({ selectFrom }: ExpressionBuilder<Tables, 'app'>) {
  const secrets = selectFrom('app_secret')
    .whereRef('app_secret.client_id', '=', 'app.client_id')
    .orderBy('secret_sha256')
  return [
    sql<Uint8Array[]>`array${secrets.select('secret_sha256')}`.as('secretsSha256'),
    sql<(Date | null)[]>`array${secrets.select('expires_at')}`.as('secretsEndAt'),
  ] as const
}

/** Selects the groups that have roles of an app. */
function roleGroupsOf({ selectFrom }: ExpressionBuilder<Tables, 'app'>) {
  const groupIds = selectFrom('app_role_group')
    .whereRef('app_role_group.client_id', '=', 'app.client_id')
    .select(sql`group_id::text`.as('id'))
    .distinct()
  return sql<string[]>`array${groupIds}`.as('roleGroupIds')
}

/** Selects the mapped claims of an app, in their order. */
function claimsOf({ selectFrom }: ExpressionBuilder<Tables, 'app'>) {
  const mappings = selectFrom('app_claim')
    .whereRef('app_claim.client_id', '=', 'app.client_id')
    .select(sql`coalesce(json_agg(mapping order by position), '[]')`.as('claims'))
  return sql<ClaimMapping[]>`(${mappings})`.as('claims')
}

/** Selects what managers see. A list does without what tokens need: that would be read for each app. */
function selectListed(db: Database | Transaction) {
  return db.selectFrom('app').select(app).select(secretsOf).select(accessOf)
}

function selectApps(db: Database | Transaction) {
  return selectListed(db).select(roleGroupsOf).select(claimsOf)
}

/** Finds an app with the hashes of its secrets, in one statement. */
export function findApp(db: Database | Transaction, clientId: ClientId) {
  return selectApps(db).where('client_id', '=', clientId).executeTakeFirst()
}
export type RegisteredApp = NonNullable<Awaited<ReturnType<typeof findApp>>>
/** An app in a list. */
export type ListedApp = Omit<RegisteredApp, 'roleGroupIds' | 'claims'>

/** Locks an app until the transaction ends. */
export function lockApp(tx: Transaction, clientId: ClientId) {
  return selectApps(tx).where('client_id', '=', clientId).forUpdate().executeTakeFirst()
}

/** Position of an app in the list of all apps. */
export type Position = { createdAt: Date; clientId: ClientId }

/** Lists the newest `count` apps, of all or of those before a position. */
export function listApps(db: Database, { before, count }: { before: Position | undefined; count: number }) {
  const { createdAt, clientId } = before ?? {}
  return selectListed(db)
    .$if(before !== undefined, (older) =>
      older.where(sql<boolean>`(created_at, client_id) < (${createdAt}::timestamptz, ${clientId})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('client_id', 'desc')
    .limit(count)
    .execute()
}

/** Lists `count` apps that the operator registered, by client ID, those after another one, with all that they have. */
export function listOperatorApps(db: Database, { after, count }: { after: ClientId | undefined; count: number }) {
  return selectApps(db)
    .where('owner_user_id', 'is', null)
    .where('metadata_fetched_at', 'is', null)
    .$if(after !== undefined, (some) => some.where('client_id', '>', after ?? null))
    .orderBy('client_id')
    .limit(count)
    .execute()
}

/** Lists the apps that a user has registered, newest first. */
export function listAppsOf(db: Database, ownerUserId: UserId) {
  return selectListed(db)
    .where('owner_user_id', '=', ownerUserId)
    .orderBy('created_at', 'desc')
    .orderBy('client_id')
    .execute()
}

export async function countAppsOf(tx: Transaction, ownerUserId: UserId): Promise<number> {
  const { count } = await tx
    .selectFrom('app')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('owner_user_id', '=', ownerUserId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Finds an origin if any app has a redirect URI there. */
export function findOrigin(db: Database, origin: string) {
  return db.selectFrom('app_origin').select('origin').where('origin', '=', origin).limit(1).executeTakeFirst()
}

/** Inserts an app, with the users of a deleted one that had its client ID. Returns false if the client ID is in use. */
export async function insertApp(tx: Transaction, inserted: RegisteredApp): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('app')
    .values({
      ...settingsOf(inserted),
      client_id: inserted.clientId,
      owner_user_id: inserted.ownerUserId,
      owner_identity_id: inserted.ownerIdentityId,
      is_public: inserted.isPublic,
      metadata_fetched_at: inserted.metadataFetchedAt,
      created_at: inserted.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 1n) await deleteEnded(tx, [inserted.clientId])
  return numInsertedOrUpdatedRows === 1n
}

/** Updates all settings of an app. */
export async function updateApp(tx: Transaction, changed: RegisteredApp): Promise<void> {
  await tx.updateTable('app').set(settingsOf(changed)).where('client_id', '=', changed.clientId).execute()
}

/** Updates an app from its metadata document. Returns false if the app is disabled or does not exist. */
export async function updateMetadataDocumentClient(tx: Transaction, described: RegisteredApp): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('app')
    .set({
      name: described.name,
      redirect_uris: described.redirectUris,
      metadata_fetched_at: described.metadataFetchedAt,
      updated_at: described.updatedAt,
    })
    .where('client_id', '=', described.clientId)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Locks an active app against deletion until the transaction ends. Returns false if there is none. */
export async function lockActiveAppShared(tx: Transaction, clientId: ClientId): Promise<boolean> {
  const { rows } = await sql`
    select client_id from ${replicaOf(tx, 'app')}
    where client_id = ${clientId} and status = 'active' for key share`.execute(tx)
  return rows.length === 1
}

/**
 * Deletes and returns metadata document clients that were last read before an instant and that no user has connected.
 * The age is checked again on the deleted row, because a concurrent consent may have updated it.
 */
export function deleteUnusedMetadataDocumentClients(tx: Transaction, readBefore: Date, batch: number) {
  const ofUnread = sql`
    select distinct client_id from authorization_consent join app using (client_id)
    where client_id like 'http%' and metadata_fetched_at < ${readBefore}`
  const unused = tx
    .selectFrom('app')
    .select('client_id')
    .where('metadata_fetched_at', '<', readBefore)
    .where('status', '=', 'active')
    // Otherwise the next sign-in would create it again, open to everyone.
    .where('access_mode', '=', 'everyone')
    .where(
      // Repeats the predicate of the index that makes this fast.
      sql<boolean>`not exists (
        select from ${readFirst(tx, 'authorization_consent', ofUnread)} consent
        where consent.client_id = app.client_id and consent.client_id like 'http%'
      )`,
    )
    .limit(batch)
  return (
    tx
      .deleteFrom('app')
      .where('client_id', 'in', unused)
      .where('metadata_fetched_at', '<', readBefore)
      .where('status', '=', 'active')
      // Otherwise the next sign-in would create it again, open to everyone.
      .where('access_mode', '=', 'everyone')
      .returning('client_id as clientId')
      .execute()
  )
}

/** Deletes an app with its secrets and origins. Returns false if there was none. */
export async function deleteApp(tx: Transaction, clientId: ClientId, now: Date): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('app').where('client_id', '=', clientId).executeTakeFirstOrThrow()
  if (numDeletedRows === 1n) await insertEnded(tx, [clientId], now)
  return numDeletedRows === 1n
}

/** Locks the apps of a user until the transaction ends. */
export async function lockAppsOf(tx: Transaction, ownerUserId: UserId): Promise<ClientId[]> {
  const rows = await tx
    .selectFrom('app')
    .select('client_id')
    .where('owner_user_id', '=', ownerUserId)
    .forUpdate()
    .execute()
  return rows.map((row) => row.client_id)
}

/** Removes identities of a user as the owner that is shown of their apps. Returns these apps. */
export function removeOwnerIdentities(tx: Transaction, ownerUserId: UserId, identityIds: IdentityId[]) {
  return tx
    .updateTable('app')
    .set({ owner_identity_id: null })
    .where('owner_user_id', '=', ownerUserId)
    .where('owner_identity_id', 'in', identityIds)
    .returning('client_id as clientId')
    .execute()
}

/** Deletes and returns the apps of a user, with their secrets and origins. */
export async function deleteAppsOfUser(tx: Transaction, ownerUserId: UserId, now: Date) {
  const ofUser = tx.deleteFrom('app').where('owner_user_id', '=', ownerUserId)
  const gone = await ofUser.returning(['client_id as clientId', 'name']).execute()
  const clientIds = gone.map(({ clientId }) => clientId)
  await insertEnded(tx, clientIds, now)
  return gone
}

export async function insertSecrets(
  tx: Transaction,
  { clientId, secretsSha256, createdAt }: Pick<RegisteredApp, 'clientId' | 'secretsSha256' | 'createdAt'>,
): Promise<void> {
  if (secretsSha256.length === 0) return
  const rows = secretsSha256.map((hash) => ({ client_id: clientId, secret_sha256: hash, created_at: createdAt }))
  await tx.insertInto('app_secret').values(rows).execute()
}

/** Sets the expiry of an app's secrets, except those that expire sooner. */
export async function expireSecrets(tx: Transaction, clientId: ClientId, end: Date): Promise<void> {
  await tx
    .updateTable('app_secret')
    .set({ expires_at: end })
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', end)]))
    .execute()
}

/** Deletes the expired secrets of an app. */
export async function deleteSecretsOf(tx: Transaction, clientId: ClientId, now: Date): Promise<void> {
  await tx.deleteFrom('app_secret').where('client_id', '=', clientId).where('expires_at', '<=', now).execute()
}

export async function deleteExpiredSecrets(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db
    .selectFrom('app_secret')
    .select(['client_id', 'secret_sha256'])
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('app_secret')
    .where(({ eb, refTuple }) =>
      eb(refTuple('client_id', 'secret_sha256'), 'in', ended.$asTuple('client_id', 'secret_sha256')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export async function replaceOrigins(tx: Transaction, clientId: ClientId, origins: string[]): Promise<void> {
  await tx.deleteFrom('app_origin').where('client_id', '=', clientId).execute()
  if (origins.length === 0) return
  await tx
    .insertInto('app_origin')
    .values(origins.map((origin) => ({ origin, client_id: clientId })))
    .execute()
}

function settingsOf(given: RegisteredApp) {
  return {
    name: given.name,
    description: given.description,
    icon_url: given.iconUrl,
    color: given.color,
    website_url: given.websiteUrl,
    privacy_url: given.privacyUrl,
    terms_url: given.termsUrl,
    redirect_uris: given.redirectUris,
    post_logout_redirect_uris: given.postLogoutRedirectUris,
    allowed_scopes: given.allowedScopes,
    supports_e2ee: given.supportsE2ee,
    app_key_recipient_jwk: given.appKeyRecipientJwk,
    status: given.status,
    disabled_by_operator: given.disabledByOperator,
    id_token_signed_response_alg: given.idTokenSignedResponseAlg,
    access_token_ttl_seconds: given.accessTokenTtlSeconds,
    refresh_token_ttl_seconds: given.refreshTokenTtlSeconds,
    require_auth_time: given.requireAuthTime,
    id_token_claims: given.idTokenClaims,
    required_claims: given.requiredClaims,
    organization_access: given.organizationAccess,
    backchannel_logout_uri: given.backchannelLogoutUri,
    backchannel_logout_session_required: given.backchannelLogoutSessionRequired,
    allow_any_loopback_port: given.allowAnyLoopbackPort,
    access_mode: given.access.mode,
    access_contact: given.access.contact,
    access_organization_ids: given.access.organizations.map(({ organizationId }) => organizationId),
    groups_claim: given.groupsClaim,
    updated_at: given.updatedAt,
  }
}
