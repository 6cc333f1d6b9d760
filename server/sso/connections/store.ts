import { sql } from 'kysely'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { GroupRule } from '@countersign/protocol/organizations/sso'
import { rulesOf } from './group-rule-store.ts'
import { isSealedOtherwise } from '#platform/database/sealed.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Database, Transaction } from '#platform/database/database.ts'

const connection = [
  'sso_connection.connection_id as connectionId',
  'sso_connection.organization_id as organizationId',
  'name',
  'settings',
  'sealed_secret as sealedSecret',
  'enabled',
  'domains',
  'tested_at as testedAt',
  'sso_connection.created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type ConnectionRow = NonNullable<Awaited<ReturnType<typeof findConnection>>>

/** Selects connections with their SCIM state and published encryption key. */
function connections(db: Database) {
  return db
    .selectFrom('sso_connection')
    .leftJoin('sso_scim_directory', 'sso_scim_directory.connection_id', 'sso_connection.connection_id')
    .leftJoin('sso_encryption_key', (join) =>
      join.onRef('sso_encryption_key.connection_id', '=', 'sso_connection.connection_id').on('expires_at', 'is', null),
    )
    .leftJoin('organization_sso_confirmation as confirmation', (join) =>
      join
        .onRef('confirmation.organization_id', '=', 'sso_connection.organization_id')
        .onRef('confirmation.connection_id', '=', 'sso_connection.connection_id'),
    )
    .select(connection)
    .select(['subject_by as subjectBy', 'token_created_at as tokenCreatedAt', 'certificate as encryptionCertificate'])
    .select('confirmed_at as confirmedAt')
}

/** Selects connections with their rules for groups, as those who manage them see them. */
function ruledConnections(db: Database) {
  return connections(db).select(sql<GroupRule[]>`${rulesOf(sql.ref('sso_connection.connection_id'))}`.as('groupRules'))
}

export function findConnection(db: Database, connectionId: string) {
  return connections(db).where('sso_connection.connection_id', '=', connectionId).executeTakeFirst()
}

export function findRuledConnection(db: Database, connectionId: string) {
  return ruledConnections(db).where('sso_connection.connection_id', '=', connectionId).executeTakeFirst()
}

/** Lists the connections of an organization, oldest first. */
export function listConnections(db: Database, organizationId: OrganizationId) {
  return connections(db)
    .where('sso_connection.organization_id', '=', organizationId)
    .orderBy('sso_connection.created_at')
    .orderBy('sso_connection.connection_id')
    .execute()
}

/** Lists the connections of an organization with their rules, oldest first. */
export function listRuledConnections(db: Database, organizationId: OrganizationId) {
  return ruledConnections(db)
    .where('sso_connection.organization_id', '=', organizationId)
    .orderBy('sso_connection.created_at')
    .orderBy('sso_connection.connection_id')
    .execute()
}

/** Stored fields of a connection. */
type Stated = Omit<ConnectionRow, 'subjectBy' | 'tokenCreatedAt' | 'encryptionCertificate' | 'confirmedAt'>

export async function insertConnection(tx: Transaction, inserted: Stated): Promise<void> {
  await tx
    .insertInto('sso_connection')
    .values({
      ...settingsOf(inserted),
      connection_id: inserted.connectionId,
      organization_id: inserted.organizationId,
      created_at: inserted.createdAt,
    })
    .execute()
}

export async function updateConnection(tx: Transaction, changed: Stated): Promise<void> {
  await tx
    .updateTable('sso_connection')
    .set(settingsOf(changed))
    .where('connection_id', '=', changed.connectionId)
    .execute()
}

/** Fields of a connection that can change. */
function settingsOf({ name, settings, sealedSecret, enabled, domains, testedAt, updatedAt }: Stated) {
  const stated = { name, settings: JSON.stringify(settings), enabled, domains }
  return { ...stated, sealed_secret: sealedSecret, tested_at: testedAt, updated_at: updatedAt }
}

/** Records a successful test. Returns undefined if the connection was deleted. */
export function setTested(tx: Transaction, connectionId: string, now: Date) {
  return tx
    .updateTable('sso_connection')
    .set({ tested_at: now })
    .where('connection_id', '=', connectionId)
    .returning('connection_id')
    .executeTakeFirst()
}

export async function deleteConnection(tx: Transaction, connectionId: string): Promise<void> {
  await tx.deleteFrom('sso_connection').where('connection_id', '=', connectionId).execute()
}

/** Lists the client secrets that are not sealed under the current root key. */
export function listSealedSecrets(db: Database, keyring: Keyring) {
  return db
    .selectFrom('sso_connection')
    .select(['connection_id as connectionId'])
    .select(({ ref }) => ref('sealed_secret').$notNull().as('sealedSecret'))
    .where('sealed_secret', 'is not', null)
    .where(isSealedOtherwise('sealed_secret', keyring))
    .execute()
}

/** Replaces a sealed secret if it is unchanged. */
export async function replaceSealed(db: Database, connectionId: string, earlier: string, sealed: string) {
  await db
    .updateTable('sso_connection')
    .set({ sealed_secret: sealed })
    .where('connection_id', '=', connectionId)
    .where('sealed_secret', '=', earlier)
    .execute()
}
