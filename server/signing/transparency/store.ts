import type { Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewLog = {
  origin: string
  publicKey: Uint8Array
  sealedPrivateKey: string
  root: Uint8Array
  checkpoint: string
}

/** Inserts the log if there is none; of concurrent inserts, the first wins for all processes. */
export async function insertLog(db: Database, log: NewLog, now: Date): Promise<void> {
  await db
    .insertInto('transparency_log')
    .values({
      log: 0,
      origin: log.origin,
      public_key: log.publicKey,
      sealed_private_key: log.sealedPrivateKey,
      created_at: now,
      size: 0,
      root_hash: log.root,
      checkpoint: log.checkpoint,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const columns = [
  'origin',
  'public_key as publicKey',
  'sealed_private_key as sealedPrivateKey',
  'size',
  'root_hash as root',
  'checkpoint',
  'created_at as createdAt',
] as const

export function findLog(db: Database | Transaction) {
  return db.selectFrom('transparency_log').select(columns).executeTakeFirst()
}

export async function replaceSealed(db: Database, sealed: string, anew: string): Promise<void> {
  await db
    .updateTable('transparency_log')
    .set({ sealed_private_key: anew })
    .where('sealed_private_key', '=', sealed)
    .execute()
}

/**
 * Instant from which leaves are due lately: ten minutes before the last leaf with an index was due. Clocks of processes
 * differ by less, and no transaction takes as long.
 *
 * The index of pending leaves keeps entries of all that were pending since the last vacuum, which may be a fifth of the
 * log. Without this bound, each reader of the head would pass all of them.
 */
const latelyFrom = sql`coalesce((
  select placed.integrate_at - interval '10 minutes' from transparency_leaf placed
  where placed.leaf_index = (select size - 1 from transparency_log)
), '-infinity')`

/** Returns the log, and whether there are leaves without an index that are due lately. */
export function getTreeHead(db: Database, now: Date) {
  return db
    .selectFrom('transparency_log')
    .select(columns)
    .select(({ eb, fn, selectFrom }) =>
      // Through the first due leaf: if the planner expects most leaves to lack an index, it would scan all of them for
      // one.
      fn
        .coalesce(
          eb(
            selectFrom('transparency_leaf')
              .select('integrate_at')
              .where('leaf_index', 'is', null)
              .where(sql<boolean>`integrate_at >= ${latelyFrom}`)
              .orderBy('integrate_at')
              .limit(1),
            '<=',
            now,
          ),
          eb.lit(false),
        )
        .as('isBehind'),
    )
    .executeTakeFirstOrThrow()
}

/** Locks the log until the end of the transaction, so that only one process appends. */
export function lockLog(tx: Transaction) {
  return tx.selectFrom('transparency_log').select(columns).forUpdate().executeTakeFirstOrThrow()
}

export type TreeHead = { size: number; root: Uint8Array; checkpoint: string }

export async function publishCheckpoint(tx: Transaction, head: TreeHead): Promise<void> {
  await tx
    .updateTable('transparency_log')
    .set({ size: head.size, root_hash: head.root, checkpoint: head.checkpoint })
    .where('size', '<', head.size)
    .execute()
}

/** Returns the last leaf of an identity, in or before the tree. */
export function findLastLeaf(db: Database | Transaction, identitySha256: Uint8Array) {
  return db
    .selectFrom('transparency_leaf')
    .select(['sequence', 'leaf_data as leaf'])
    .where('identity_sha256', '=', identitySha256)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
}

type NewLeaf = {
  identitySha256: Uint8Array
  sequence: number
  leaf: string
  leafSha256: Uint8Array
  integrateAt: Date
}

/** Inserts a leaf, due no earlier than earlier leaves of the same identity. */
export async function insertLeaf(tx: Transaction, leaf: NewLeaf): Promise<void> {
  await sql`
    insert into transparency_leaf (identity_sha256, sequence, leaf_data, leaf_sha256, integrate_at)
    select ${leaf.identitySha256}::bytea, ${leaf.sequence}::integer, ${leaf.leaf}, ${leaf.leafSha256}::bytea,
      greatest(${leaf.integrateAt}::timestamptz, max(integrate_at))
    from transparency_leaf where identity_sha256 = ${leaf.identitySha256}::bytea`.execute(tx)
}

/** Which due leaves get an index: all, or those due lately that follow no earlier one. */
export type Due = 'ever' | 'lately'

const conditions = {
  ever: sql`true`,
  // A leaf never precedes an earlier one of its identity.
  lately: sql`integrate_at >= ${latelyFrom} and not exists (
    select from transparency_leaf earlier
    where earlier.identity_sha256 = transparency_leaf.identity_sha256
      and earlier.sequence < transparency_leaf.sequence
      and earlier.leaf_index is null and earlier.integrate_at < ${latelyFrom}
  )`,
}

/** Lists due leaves without an index, in the order in which they get one. */
export async function listPendingLeaves(tx: Transaction, due: Due, now: Date, count: number): Promise<Uint8Array[]> {
  // Reads all leaves due at the same time, because one of them may have to follow another.
  const { rows } = await sql<{ leafSha256: Uint8Array }>`
    select leaf_sha256 as "leafSha256" from (
      select leaf_sha256, integrate_at, sequence from transparency_leaf
      where leaf_index is null and integrate_at <= ${now} and ${conditions[due]}
      order by integrate_at fetch first ${sql.lit(count)} rows with ties
    ) due
    order by integrate_at, sequence limit ${count}`.execute(tx)
  return rows.map(({ leafSha256 }) => leafSha256)
}

/** Assigns indexes to leaves, from `start` on. */
export async function assignLeafIndexes(tx: Transaction, start: number, leafHashes: Uint8Array[]): Promise<void> {
  await sql`
    update transparency_leaf set leaf_index = ${start}::integer + placed.nth::integer - 1
    from unnest(${leafHashes}::bytea[]) with ordinality as placed (leaf_sha256, nth)
    where transparency_leaf.leaf_sha256 = placed.leaf_sha256 and leaf_index is null`.execute(tx)
}

export async function insertNodes(tx: Transaction, nodes: Subtree[]): Promise<void> {
  await tx
    .insertInto('transparency_node')
    .values(nodes.map(({ level, index, hash }) => ({ level, node_index: index, hash })))
    .execute()
}

export type NodeId = Pick<Subtree, 'level' | 'index'>

export async function findNodes(db: Database | Transaction, places: NodeId[]): Promise<Subtree[]> {
  const [levels, indexes] = [places.map(({ level }) => level), places.map(({ index }) => index)]
  const { rows } = await sql<Subtree>`
    select level, node_index as index, hash from transparency_node
    where (level, node_index) in (select * from unnest(${levels}::smallint[], ${indexes}::integer[]))`.execute(db)
  return rows
}

/** Lists `count` leaves by index, from `start` on. */
export function listLeaves(db: Database, start: number, count: number) {
  return placed(db)
    .where('leaf_index', '>=', start)
    .where('leaf_index', '<', start + count)
    .orderBy('leaf_index')
    .execute()
}

type Places = { start: number; end: number; count: number }

/** Lists the first `count` leaves of an identity from the index `start` on, before `end`. */
export async function listLeavesOfIdentity(
  db: Database,
  identitySha256: Uint8Array,
  { start, end, count }: Places,
): Promise<PlacedLeaf[]> {
  // First all leaves of the identity, of which there are a few hundred: with statistics from a time when the log was
  // small, the planner would pass all leaves of the log between the two indexes.
  const { rows } = await sql<PlacedLeaf>`
    select leaf_index as index, leaf_data as leaf, leaf_sha256 as "leafHash" from (
      select sequence, leaf_index, leaf_data, leaf_sha256 from transparency_leaf
      where identity_sha256 = ${identitySha256}::bytea offset 0
    ) own
    where leaf_index >= ${start} and leaf_index < ${end}
    order by sequence limit ${count}`.execute(db)
  return rows
}

/** Lists `count` leaves of one chain before `end`, those after the first `after` of them. */
export function listLeavesInOrder(
  db: Database,
  identitySha256: Uint8Array,
  { after, end, count }: { after: number; end: number; count: number },
): Promise<PlacedLeaf[]> {
  return placed(db)
    .where('identity_sha256', '=', identitySha256)
    .where('sequence', '>', after)
    .where('leaf_index', '<', end)
    .orderBy('sequence')
    .limit(count)
    .execute()
}

type PlacedLeaf = { index: number; leaf: string; leafHash: Uint8Array }

export function findLeafByHash(db: Database, leafSha256: Uint8Array) {
  return placed(db).where('leaf_sha256', '=', leafSha256).executeTakeFirst()
}

function placed(db: Database) {
  return db
    .selectFrom('transparency_leaf')
    .select(['leaf_index as index', 'leaf_data as leaf', 'leaf_sha256 as leafHash'])
    .where('leaf_index', 'is not', null)
    .$narrowType<{ index: number }>()
}
