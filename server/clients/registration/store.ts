import { sql, type ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'

const app = [
  'app.client_id as clientId',
  'app.owner_user_id as ownerUserId',
  'app.name',
  'app.description',
  'app.icon_url as iconUrl',
  'app.website_url as websiteUrl',
  'app.privacy_url as privacyUrl',
  'app.terms_url as termsUrl',
  'app.redirect_uris as redirectUris',
  'app.post_logout_redirect_uris as postLogoutRedirectUris',
  'app.allowed_scopes as allowedScopes',
  'app.supports_e2ee as supportsE2ee',
  'app.is_public as isPublic',
  'app.is_held as isHeld',
  'app.status',
  'app.id_token_algorithm as idTokenAlgorithm',
  'app.access_token_seconds as accessTokenSeconds',
  'app.refresh_token_seconds as refreshTokenSeconds',
  'app.require_auth_time as requireAuthTime',
  'app.id_token_claims as idTokenClaims',
  'app.required_claims as requiredClaims',
  'app.organization_access as organizationAccess',
  'app.backchannel_logout_uri as backchannelLogoutUri',
  'app.backchannel_logout_session_required as backchannelLogoutSessionRequired',
  'app.allow_any_loopback_port as allowAnyLoopbackPort',
  'app.document_read_at as documentReadAt',
  'app.created_at as createdAt',
  'app.updated_at as updatedAt',
] as const

/** The hashes of an app's secrets and, at the same places, when each ends. */
function secretsOf({ selectFrom }: ExpressionBuilder<Tables, 'app'>) {
  const secrets = selectFrom('app_secret')
    .whereRef('app_secret.client_id', '=', 'app.client_id')
    .orderBy('secret_sha256')
  return [
    sql<Uint8Array[]>`array${secrets.select('secret_sha256')}`.as('secretsSha256'),
    sql<(Date | null)[]>`array${secrets.select('expires_at')}`.as('secretsEndAt'),
  ] as const
}

function selectApps(db: Database | Transaction) {
  return db.selectFrom('app').select(app).select(secretsOf)
}

/** An app with the hashes of its secrets, in one statement. */
export function findApp(db: Database, clientId: string) {
  return selectApps(db).where('client_id', '=', clientId).executeTakeFirst()
}
export type RegisteredApp = NonNullable<Awaited<ReturnType<typeof findApp>>>

/** An app that nobody else changes until the transaction ends. */
export function lockApp(tx: Transaction, clientId: string) {
  return selectApps(tx).where('client_id', '=', clientId).forUpdate().executeTakeFirst()
}

/** Where an app stands among all of them. */
export type Position = { createdAt: Date; clientId: string }

/** The newest apps: `count` of all, or of those before a position. */
export function listApps(db: Database, { before, count }: { before: Position | undefined; count: number }) {
  const { createdAt, clientId } = before ?? {}
  return selectApps(db)
    .$if(before !== undefined, (older) =>
      older.where(sql<boolean>`(created_at, client_id) < (${createdAt}::timestamptz, ${clientId})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('client_id', 'desc')
    .limit(count)
    .execute()
}

/** The apps that a person has registered, the newest first. */
export function listAppsOf(db: Database, ownerUserId: string) {
  return selectApps(db)
    .where('owner_user_id', '=', ownerUserId)
    .orderBy('created_at', 'desc')
    .orderBy('client_id')
    .execute()
}

export async function countAppsOf(tx: Transaction, ownerUserId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('app')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('owner_user_id', '=', ownerUserId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** An origin, where some app has a redirect URI there. */
export function findOrigin(db: Database, origin: string) {
  return db.selectFrom('app_origin').select('origin').where('origin', '=', origin).limit(1).executeTakeFirst()
}

/** Inserts an app; false where its client id is taken. */
export async function insertApp(tx: Transaction, inserted: RegisteredApp): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('app')
    .values({
      ...settingsOf(inserted),
      client_id: inserted.clientId,
      owner_user_id: inserted.ownerUserId,
      is_public: inserted.isPublic,
      document_read_at: inserted.documentReadAt,
      created_at: inserted.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Writes the settings of an app anew. */
export async function updateApp(tx: Transaction, changed: RegisteredApp): Promise<void> {
  await tx.updateTable('app').set(settingsOf(changed)).where('client_id', '=', changed.clientId).execute()
}

/** Writes what a document says of its app, unless the app is disabled; false where it is, or where there is none. */
export async function updateDescribed(tx: Transaction, described: RegisteredApp): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('app')
    .set({
      name: described.name,
      redirect_uris: described.redirectUris,
      document_read_at: described.documentReadAt,
      updated_at: described.updatedAt,
    })
    .where('client_id', '=', described.clientId)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Keeps an app that is active from being deleted until the transaction ends; false where there is none. */
export async function holdActiveApp(tx: Transaction, clientId: string): Promise<boolean> {
  const held = await tx
    .selectFrom('app')
    .select('client_id')
    .where('client_id', '=', clientId)
    .where('status', '=', 'active')
    .forKeyShare()
    .executeTakeFirst()
  return held !== undefined
}

/**
 * Deletes apps whose documents were last read before an instant, and that nobody has connected. The age is asked again
 * of the row that is deleted: a consent given meanwhile has made it young. Answers which those were.
 */
export function deleteUnusedDescribed(tx: Transaction, readBefore: Date, batch: number) {
  const unused = tx
    .selectFrom('app')
    .select('client_id')
    .where('document_read_at', '<', readBefore)
    .where('status', '=', 'active')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('authorization_consent')
            .select('authorization_consent.client_id')
            .whereRef('authorization_consent.client_id', '=', 'app.client_id')
            // As the index says it that makes this quick.
            .where('authorization_consent.client_id', 'like', 'http%'),
        ),
      ),
    )
    .limit(batch)
  return tx
    .deleteFrom('app')
    .where('client_id', 'in', unused)
    .where('document_read_at', '<', readBefore)
    .where('status', '=', 'active')
    .returning('client_id as clientId')
    .execute()
}

/** Deletes an app, and with it its secrets and origins; false where there was none. */
export async function removeApp(tx: Transaction, clientId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('app').where('client_id', '=', clientId).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** The apps of a person, which nobody else changes until the transaction ends. */
export async function lockAppsOf(tx: Transaction, ownerUserId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('app')
    .select('client_id')
    .where('owner_user_id', '=', ownerUserId)
    .forUpdate()
    .execute()
  return rows.map((row) => row.client_id)
}

/** Deletes the apps of a person, and with them their secrets and origins; answers which those were. */
export function removeAppsOf(tx: Transaction, ownerUserId: string) {
  return tx
    .deleteFrom('app')
    .where('owner_user_id', '=', ownerUserId)
    .returning(['client_id as clientId', 'name'])
    .execute()
}

export async function insertSecrets(
  tx: Transaction,
  { clientId, secretsSha256, createdAt }: Pick<RegisteredApp, 'clientId' | 'secretsSha256' | 'createdAt'>,
): Promise<void> {
  if (secretsSha256.length === 0) return
  const rows = secretsSha256.map((hash) => ({ client_id: clientId, secret_sha256: hash, created_at: createdAt }))
  await tx.insertInto('app_secret').values(rows).execute()
}

/** Lets the secrets of an app end at an instant; those that end sooner do. */
export async function endSecrets(tx: Transaction, clientId: string, end: Date): Promise<void> {
  await tx
    .updateTable('app_secret')
    .set({ expires_at: end })
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', end)]))
    .execute()
}

/** Deletes the secrets of an app that have ended. */
export async function deleteSecretsOf(tx: Transaction, clientId: string, now: Date): Promise<void> {
  await tx.deleteFrom('app_secret').where('client_id', '=', clientId).where('expires_at', '<=', now).execute()
}

export async function deleteEndedSecrets(db: Database, now: Date, batch: number): Promise<number> {
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

export async function replaceOrigins(tx: Transaction, clientId: string, origins: string[]): Promise<void> {
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
    website_url: given.websiteUrl,
    privacy_url: given.privacyUrl,
    terms_url: given.termsUrl,
    redirect_uris: given.redirectUris,
    post_logout_redirect_uris: given.postLogoutRedirectUris,
    allowed_scopes: given.allowedScopes,
    supports_e2ee: given.supportsE2ee,
    status: given.status,
    is_held: given.isHeld,
    id_token_algorithm: given.idTokenAlgorithm,
    access_token_seconds: given.accessTokenSeconds,
    refresh_token_seconds: given.refreshTokenSeconds,
    require_auth_time: given.requireAuthTime,
    id_token_claims: given.idTokenClaims,
    required_claims: given.requiredClaims,
    organization_access: given.organizationAccess,
    backchannel_logout_uri: given.backchannelLogoutUri,
    backchannel_logout_session_required: given.backchannelLogoutSessionRequired,
    allow_any_loopback_port: given.allowAnyLoopbackPort,
    updated_at: given.updatedAt,
  }
}
