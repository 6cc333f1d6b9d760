import { randomUUID } from 'node:crypto'
import {
  hashKeyEvent,
  identityDigest,
  writeKeyEvent,
  type KeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import type pg from 'pg'
import { sha256 } from '../server/platform/crypto/secret.ts'
import { keyProofsOf, newSigningPair, type SigningPair } from '../server/testing/signer.ts'

/** Entry of the log as the service stores it. */
export type Leaf = {
  identityId: string
  identitySha256: Buffer
  sequence: number
  leaf: string
  sha256: Buffer
  at: Date
}

/** Key pairs in the log: making one costs as much as the two signatures of an entry. */
const pairsMax = 1000
/** One identity of ten replaces its key. */
const rotatedEach = 10
const batchRows = 5000
/** Time between two entries of a busy service. */
const entryMilliseconds = 100

/**
 * Makes the entries of a log: the first keys of identities with the proof of possession, and one identity of ten
 * replaces its key at once. The last of them is due at `until`.
 */
function* makeLeaves(log: string, count: number, until: Date): Generator<Leaf> {
  const pairs = Array.from({ length: pairsMax }, newSigningPair)
  const pairOf = (nth: number) => pairs[nth % pairsMax] ?? newSigningPair()
  for (let made = 0, nth = 0; made < count; nth += 1) {
    const at = (index: number) => new Date(until.getTime() - (count - index) * entryMilliseconds)
    const identityId = randomUUID()
    const first = makeLeaf({ log, identityId, sequence: 1, previous: null }, { to: pairOf(nth) }, at(made++))
    yield first
    if (nth % rotatedEach !== 0 || made === count) continue
    const previous = first.sha256.toString('base64')
    yield makeLeaf({ log, identityId, sequence: 2, previous }, { to: pairOf(nth + 1), from: pairOf(nth) }, at(made++))
  }
}

type Place = { log: string; identityId: string; sequence: number; previous: string | null }

function makeLeaf(
  { log, identityId, sequence, previous }: Place,
  { to, from }: { to: SigningPair; from?: SigningPair },
  at: Date,
): Leaf {
  const event = from ? 'rotated' : 'created'
  const identity = identityDigest(sha256, identityId)
  const proved: KeyEvent = {
    ...{ event, identity, keyVersion: sequence, previous, publicKey: to.publicKey, at: at.toISOString(), link: null },
    ...keyProofsOf({ event, identityId, keyVersion: sequence, previous, to }, { log, ...(from && { from }) }),
  }
  const leaf = writeKeyEvent(proved)
  const hash = Buffer.from(hashKeyEvent(sha256, leaf), 'base64')
  return { identityId, identitySha256: Buffer.from(identity, 'base64'), sequence, leaf, sha256: hash, at }
}

/** Makes the entries of the log older by the time that `count` entries span, so that these can follow. */
export async function ageLeaves(client: pg.Client, count: number): Promise<void> {
  const seconds = (count * entryMilliseconds) / 1000
  await client.query('update transparency_leaf set integrate_at = integrate_at - make_interval(secs => $1)', [seconds])
  await client.query('vacuum analyze transparency_leaf')
}

/** Stores `count` entries without an index, all at once for others. Returns each hundredth, to ask for later. */
export async function insertLeaves(client: pg.Client, { log, count }: { log: string; count: number }): Promise<Leaf[]> {
  const sample: Leaf[] = []
  await client.query('begin')
  for (const batch of batchesOf(makeLeaves(log, count, new Date()))) {
    await client.query(
      `insert into transparency_leaf (identity_sha256, sequence, leaf_data, leaf_sha256, integrate_at)
      select * from unnest($1::bytea[], $2::integer[], $3::text[], $4::bytea[], $5::timestamptz[])`,
      [
        batch.map(({ identitySha256 }) => identitySha256),
        batch.map(({ sequence }) => sequence),
        batch.map(({ leaf }) => leaf),
        batch.map((each) => each.sha256),
        batch.map(({ at }) => at),
      ],
    )
    sample.push(...batch.filter((_, nth) => nth % 100 === 0))
  }
  await client.query('commit')
  return sample
}

/** Returns how many bytes of the database the log takes, with its indexes. */
export async function readLogBytes(client: pg.Client): Promise<number> {
  const tables = `pg_total_relation_size('transparency_leaf') + pg_total_relation_size('transparency_node')`
  const { rows } = await client.query<{ bytes: string }>(`select ${tables} as bytes`)
  return Number(rows[0]?.bytes)
}

function* batchesOf(leaves: Iterable<Leaf>): Generator<Leaf[]> {
  let batch: Leaf[] = []
  for (const leaf of leaves) {
    batch.push(leaf)
    if (batch.length < batchRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
