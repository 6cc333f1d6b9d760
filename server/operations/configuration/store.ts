import type { ClientId, OrganizationId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** An object as a source manages it. One of the IDs is set. */
export type Managed = {
  kind: 'group' | 'app' | 'invitation' | 'organization' | 'sink'
  key: string
  source: string
  groupId?: string
  clientId?: ClientId
  invitationId?: string
  organizationId?: OrganizationId
  sinkId?: string
}

const managed = [
  'object_key as key',
  'managed_by as source',
  'group_id as groupId',
  'client_id as clientId',
  'invitation_id as invitationId',
  'organization_id as organizationId',
  'sink_id as sinkId',
  'delete_at as deleteAt',
] as const

export type ManagedRow = Awaited<ReturnType<typeof listObjects>>[number]

/** Lists what a source manages of a kind, by key. */
export function listObjects(db: Database | Transaction, source: string, kind: Managed['kind']) {
  return db
    .selectFrom('configuration_object')
    .select(managed)
    .where('managed_by', '=', source)
    .where('object_kind', '=', kind)
    .orderBy('object_key')
    .execute()
}

/** Finds who manages groups. */
export function findByGroup(tx: Transaction, groupIds: string[]): Promise<ManagedRow[]> {
  if (groupIds.length === 0) return Promise.resolve([])
  return tx.selectFrom('configuration_object').select(managed).where('group_id', 'in', groupIds).execute()
}

/** Lists who manages sinks. */
export function listSinks(tx: Transaction): Promise<ManagedRow[]> {
  return tx.selectFrom('configuration_object').select(managed).where('sink_id', 'is not', null).execute()
}

/** Finds who manages organizations. */
export function findByOrganization(tx: Transaction, organizationIds: OrganizationId[]): Promise<ManagedRow[]> {
  if (organizationIds.length === 0) return Promise.resolve([])
  return tx.selectFrom('configuration_object').select(managed).where('organization_id', 'in', organizationIds).execute()
}

/** Lists up to `count` organizations that a source manages, or any, by their present slugs. */
export function listOrganizations(db: Database, source: string | undefined, count: number) {
  const all = db
    .selectFrom('configuration_object')
    .innerJoin('organization', 'organization.organization_id', 'configuration_object.organization_id')
    .select(['slug', 'status'])
    .orderBy('slug')
    .limit(count)
  return (source === undefined ? all : all.where('managed_by', '=', source)).execute()
}

/** Finds who manages an app. */
export function findByApp(tx: Transaction, clientId: ClientId) {
  return tx
    .selectFrom('configuration_object')
    .select(managed)
    .where('client_id', '=', clientId)
    .forUpdate()
    .executeTakeFirst()
}

/** Finds which addresses were invited, by any source. */
export function findInvited(db: Database | Transaction, keys: string[]): Promise<ManagedRow[]> {
  if (keys.length === 0) return Promise.resolve([])
  return db
    .selectFrom('configuration_object')
    .select(managed)
    .where('object_kind', '=', 'invitation')
    .where('object_key', 'in', keys)
    .execute()
}

/**
 * Makes a source the one that manages an object, and no longer another one. It is not to be deleted. Returns false if
 * another transaction did the same meanwhile.
 */
export async function claim(tx: Transaction, row: Managed): Promise<boolean> {
  const { kind, key, source } = row
  const { groupId = null, clientId = null, invitationId = null, organizationId = null, sinkId = null } = row
  await sql`
    delete from configuration_object
    where group_id = ${groupId}::uuid or client_id = ${clientId} or invitation_id = ${invitationId}::uuid
      or organization_id = ${organizationId}::uuid or sink_id = ${sinkId}::uuid
      or (object_kind = ${kind} and object_key = ${key}
        and (managed_by = ${source} or object_kind = 'invitation'))`.execute(tx)
  return claimNew(tx, row)
}

/** The same for an object that no source has managed. Returns false if another transaction was first. */
export async function claimNew(tx: Transaction, row: Managed): Promise<boolean> {
  const { kind, key, source } = row
  const { groupId = null, clientId = null, invitationId = null, organizationId = null, sinkId = null } = row
  const { numAffectedRows } = await sql`
    insert into configuration_object
      (object_kind, object_key, managed_by, group_id, client_id, invitation_id, organization_id, sink_id)
    values
      (${kind}, ${key}, ${source}, ${groupId}::uuid, ${clientId}, ${invitationId}::uuid, ${organizationId}::uuid,
        ${sinkId}::uuid)
    on conflict do nothing`.execute(tx)
  return numAffectedRows === 1n
}

/** Finds those invitations among objects that were neither used nor have expired. */
export async function listPending(tx: Transaction, objects: ManagedRow[], now: Date) {
  const ids = objects.flatMap(({ invitationId }) => invitationId ?? [])
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('invitation')
    .innerJoin('configuration_object', 'configuration_object.invitation_id', 'invitation.invitation_id')
    .select(['invitation.invitation_id as invitationId', 'email', 'object_key as key'])
    .where('invitation.invitation_id', 'in', ids)
    .where('use_count', '=', 0)
    .where('expires_at', '>', now)
    .orderBy('email')
    .execute()
  return rows
}

type Key = Pick<Managed, 'source' | 'kind' | 'key'>

/** Forgets that a source manages an object. */
export async function release(tx: Transaction, { source, kind, key }: Key): Promise<void> {
  await tx
    .deleteFrom('configuration_object')
    .where('managed_by', '=', source)
    .where('object_kind', '=', kind)
    .where('object_key', '=', key)
    .execute()
}

/** Sets when an app or a sink is deleted, or that it is not. */
export async function setDeletion(tx: Transaction, { source, kind, key }: Key, deleteAt: Date | null): Promise<void> {
  await tx
    .updateTable('configuration_object')
    .set({ delete_at: deleteAt })
    .where('managed_by', '=', source)
    .where('object_kind', '=', kind)
    .where('object_key', '=', key)
    .execute()
}

export type Due = Pick<ManagedRow, 'key' | 'source' | 'clientId' | 'sinkId'>

/** Lists up to `count` apps and sinks whose deletion is due. */
export function listDue(db: Database, now: Date, count: number): Promise<Due[]> {
  return db
    .selectFrom('configuration_object')
    .select(managed)
    .where('delete_at', '<=', now)
    .orderBy('delete_at')
    .limit(count)
    .execute()
}

/** Locks the deletion of an app or a sink, if it is due. */
export function lockDue(tx: Transaction, { source, kind, key }: Key, now: Date) {
  return tx
    .selectFrom('configuration_object')
    .select('delete_at as deleteAt')
    .where('managed_by', '=', source)
    .where('object_kind', '=', kind)
    .where('object_key', '=', key)
    .where('delete_at', '<=', now)
    .forUpdate()
    .executeTakeFirst()
}
