import type { KeyEventKind } from '@countersign/protocol/formats/signing/key-event'
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

/** Keeps the log where there is none: of several that are offered, the first is everyone's. */
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
      root: log.root,
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
  'root',
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

/** The log, and whether there are leaves that are due and have no place in it yet. */
export function readLog(db: Database, now: Date) {
  return db
    .selectFrom('transparency_log')
    .select(columns)
    .select(({ eb, fn, selectFrom }) =>
      // By the first of them: where the database believes that most have no place, it would look through all for one.
      fn
        .coalesce(
          eb(
            selectFrom('transparency_leaf').select('due_at').where('leaf_index', 'is', null).orderBy('due_at').limit(1),
            '<=',
            now,
          ),
          eb.lit(false),
        )
        .as('isBehind'),
    )
    .executeTakeFirstOrThrow()
}

/** The log, held until the end of the transaction: whoever appends does so alone. */
export function holdLog(tx: Transaction) {
  return tx.selectFrom('transparency_log').select(columns).forUpdate().executeTakeFirstOrThrow()
}

export type Head = { size: number; root: Uint8Array; checkpoint: string }

export async function advanceLog(tx: Transaction, head: Head): Promise<void> {
  await tx.updateTable('transparency_log').set(head).where('size', '<', head.size).execute()
}

type NewLeaf = {
  identitySha256: Uint8Array
  keyVersion: number
  event: KeyEventKind
  leaf: string
  leafSha256: Uint8Array
  dueAt: Date
}

/** Adds a leaf, due no earlier than those of the same identity before it. */
export async function insertLeaf(tx: Transaction, leaf: NewLeaf): Promise<void> {
  await sql`
    insert into transparency_leaf (identity_sha256, key_version, event, leaf, leaf_sha256, due_at)
    select ${leaf.identitySha256}::bytea, ${leaf.keyVersion}::integer, ${leaf.event}, ${leaf.leaf},
      ${leaf.leafSha256}::bytea, greatest(${leaf.dueAt}::timestamptz, max(due_at))
    from transparency_leaf where identity_sha256 = ${leaf.identitySha256}::bytea`.execute(tx)
}

/** Leaves that are due and have no place, in the order in which they get theirs. */
export async function listDue(tx: Transaction, now: Date, count: number): Promise<Uint8Array[]> {
  // Of those that are due at the same time all are read, for one of them may have to come after another.
  const { rows } = await sql<{ leafSha256: Uint8Array }>`
    select leaf_sha256 as "leafSha256" from (
      select leaf_sha256, due_at, key_version, event from transparency_leaf
      where leaf_index is null and due_at <= ${now}
      order by due_at fetch first ${sql.lit(count)} rows with ties
    ) due
    order by due_at, key_version, event = 'removed' limit ${count}`.execute(tx)
  return rows.map(({ leafSha256 }) => leafSha256)
}

/** Gives leaves their places, from `start` on. */
export async function placeLeaves(tx: Transaction, start: number, leafHashes: Uint8Array[]): Promise<void> {
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

export type Place = Pick<Subtree, 'level' | 'index'>

export async function readNodes(db: Database | Transaction, places: Place[]): Promise<Subtree[]> {
  const [levels, indexes] = [places.map(({ level }) => level), places.map(({ index }) => index)]
  const { rows } = await sql<Subtree>`
    select level, node_index as index, hash from transparency_node
    where (level, node_index) in (select * from unnest(${levels}::smallint[], ${indexes}::integer[]))`.execute(db)
  return rows
}

/** Leaves by their places, `count` from `start` on. */
export function listLeaves(db: Database, start: number, count: number) {
  return placed(db)
    .where('leaf_index', '>=', start)
    .where('leaf_index', '<', start + count)
    .orderBy('leaf_index')
    .execute()
}

type Places = { start: number; end: number; count: number }

/** The first `count` leaves of an identity from the place `start` on, before `end`. */
export function listLeavesOfIdentity(db: Database, identitySha256: Uint8Array, { start, end, count }: Places) {
  return placed(db)
    .where('identity_sha256', '=', identitySha256)
    .where('leaf_index', '>=', start)
    .where('leaf_index', '<', end)
    .orderBy('leaf_index')
    .limit(count)
    .execute()
}

/** The leaf by which an identity got a key. */
export function findLeafOfKey(db: Database, identitySha256: Uint8Array, keyVersion: number) {
  return placed(db)
    .where('identity_sha256', '=', identitySha256)
    .where('key_version', '=', keyVersion)
    .where('event', '<>', 'removed')
    .executeTakeFirst()
}

export function findLeafByHash(db: Database, leafSha256: Uint8Array) {
  return placed(db).where('leaf_sha256', '=', leafSha256).executeTakeFirst()
}

function placed(db: Database) {
  return db
    .selectFrom('transparency_leaf')
    .select(['leaf_index as index', 'leaf', 'leaf_sha256 as leafHash'])
    .where('leaf_index', 'is not', null)
    .$narrowType<{ index: number }>()
}
