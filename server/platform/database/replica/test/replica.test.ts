import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Secret } from '#platform/crypto/secret.ts'
import { openTestStorage } from '#testing/database.ts'
import { ask, openDatabaseOf, openPrimary, pauseReplay, serviceUrlOf } from '#testing/standby.ts'
import { type Cluster, startCopy, startStandby } from '../../../../../tools/postgres.ts'
import { type Database, snapshot, type Storage } from '../../database.ts'
import { openLargeReads, type Read } from '../replica.ts'

async function isReplica(db: Database): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select pg_is_in_recovery() as found`.execute(db)
  return rows[0]?.found === true
}

test('STO-50 without a replica, large reads are of the database itself', async (t) => {
  const storage = await openTestStorage()
  t.after(() => storage.close())
  const reads = openLargeReads({ url: undefined, storage, onObstacle: assert.fail })
  assert.deepEqual([await reads.begin()(isReplica), await reads.readAlone(isReplica)], [false, false])
})

if (process.env['TEST_DATABASE_URL'] !== undefined) {
  let primary: Cluster
  let storage: Storage
  let standby: Cluster
  before(async () => {
    const opened = await openPrimary()
    primary = opened.cluster
    storage = opened.storage
    await sql`create table written (number integer)`.execute(storage.db)
    standby = await startStandby(primary, ['max_standby_streaming_delay=0'])
  })
  after(async () => {
    await standby[Symbol.asyncDispose]()
    await storage.close()
  })

  /** Opens large reads over a replica, which is tried each time, and notes what keeps them from it. */
  function open(t: TestContext, url: string, { of = storage, patienceMilliseconds = 20_000 } = {}) {
    const obstacles: (string | undefined)[] = []
    const onObstacle = (reason: string | undefined) => void obstacles.push(reason)
    const reading = { url: new Secret(url), storage: of, onObstacle }
    const reads = openLargeReads({ ...reading, patienceMilliseconds, restMilliseconds: 0 })
    t.after(() => reads.close())
    const read: Read = (work) => reads.begin()(work)
    return { ...reads, read, obstacles }
  }

  let last = 0
  /** Writes a row that no read has seen, and returns what reads where it was read, if it is there. */
  async function write(to: Storage = storage) {
    const number = ++last
    await sql`insert into written values (${number})`.execute(to.db)
    return async (db: Database): Promise<string> => {
      const { rows } = await sql`select from written where number = ${number}`.execute(db)
      if (rows.length === 0) return 'stale'
      return (await isReplica(db)) ? 'replica' : 'primary'
    }
  }

  test('STO-50 STO-51 large reads are of a replica that has all that was committed before them', async (t) => {
    const { read, readAlone, obstacles } = open(t, serviceUrlOf(standby))
    for (let round = 0; round < 20; round += 1) assert.equal(await read(await write()), 'replica')
    assert.equal(await readAlone(await write()), 'replica')
    const findLast = await write()
    const many = await Promise.all(Array.from({ length: 10 }, () => read(findLast)))
    assert.deepEqual(new Set(many), new Set(['replica']))
    assert.deepEqual(obstacles, [])
  })

  test('STO-51 a replica that lags is not read, until it has caught up', async (t) => {
    const { read, readAlone, obstacles } = open(t, serviceUrlOf(standby), { patienceMilliseconds: 1000 })
    const catchUp = await pauseReplay(standby)
    t.after(catchUp)
    assert.equal(await read(await write()), 'primary')
    assert.equal(await readAlone(await write()), 'primary')
    assert.deepEqual(obstacles, ['it is behind the primary'])
    await catchUp()
    const find = await write()
    assert.equal(await open(t, serviceUrlOf(standby)).read(find), 'replica')
    assert.equal(await read(find), 'replica')
    assert.deepEqual(obstacles, ['it is behind the primary', undefined])
  })

  test('STO-51 the reads of a series see what was committed before the first one, and wait for no more', async (t) => {
    const { begin, obstacles } = open(t, serviceUrlOf(standby))
    const read = begin()
    assert.equal(await read(await write()), 'replica')
    t.after(await pauseReplay(standby))
    await write()
    assert.equal(await read(isReplica), true)
    assert.deepEqual(obstacles, [])
  })

  test('STO-50 a primary that does not tell its position is read', async (t) => {
    const { read, readAlone, obstacles } = open(t, serviceUrlOf(standby))
    const ofDatabase = { url: Object.assign(new URL(primary.url), { pathname: 'countersign' }).href }
    await ask(ofDatabase, 'revoke execute on function pg_walfile_name from public')
    t.after(() => ask(ofDatabase, 'grant execute on function pg_walfile_name to public'))
    assert.equal(await read(await write()), 'primary')
    assert.equal(await readAlone(await write()), 'primary')
    assert.deepEqual(obstacles, ['42501'])
  })

  test('STO-52 a replica that is away, or stops during a read, costs no read', async (t) => {
    const { read, readAlone, obstacles } = open(t, serviceUrlOf(standby))
    t.after(() => standby.start())
    const find = await write()
    const found = await readAlone(async (db) => {
      if (await isReplica(db)) await standby.stop()
      return find(db)
    })
    assert.equal(found, 'primary')
    assert.equal(await read(await write()), 'primary')
    assert.equal(obstacles.at(-1), 'ECONNREFUSED')
  })

  test('STO-52 a read that recovery cancels runs again on the primary', async (t) => {
    const { read, obstacles } = open(t, serviceUrlOf(standby))
    const find = await write()
    const found = await read((db) =>
      snapshot(db, async (tx) => {
        const place = await find(tx)
        if (place === 'primary') return place
        // Its lock conflicts with this transaction as soon as the replica replays it.
        await sql`alter table written add column another integer`.execute(storage.db)
        await sql`select pg_sleep(4)`.execute(tx)
        return place
      }),
    )
    assert.deepEqual([found, obstacles], ['primary', ['40001']])
  })

  test('STO-52 work that has begun to write its output elsewhere is not run again', async (t) => {
    const { readAlone, obstacles } = open(t, serviceUrlOf(standby))
    let runs = 0
    const reading = readAlone(async (_db, begin) => {
      runs += 1
      begin()
      throw new Error('the client has left')
    })
    await assert.rejects(reading, /the client has left/)
    assert.deepEqual([runs, obstacles], [1, []])
  })

  test('STO-53 neither a primary nor a standby of another database is read', async (t) => {
    const other = await openPrimary()
    t.after(() => other.storage.close())
    await using standbyOfOther = await startStandby(other.cluster)
    await ask(primary, 'create database other')
    assert.equal(await open(t, serviceUrlOf(standby)).read(await write()), 'replica')
    await using withoutFeedback = await startStandby(primary, ['hot_standby_feedback=off'])
    const wrong: [url: string, reason: string | RegExp][] = [
      [serviceUrlOf(primary), /^it is no standby$/],
      [serviceUrlOf(standbyOfOther), /^it is a standby of another database$/],
      [serviceUrlOf(standby, 'other'), /^42P01$/],
      [serviceUrlOf(withoutFeedback), /^hot_standby_feedback is off$/],
      [serviceUrlOf(standby, 'nowhere'), /^3D000$/],
      [serviceUrlOf(standby).replace(/:[^:@]+@/, ':wrong@'), /^28P01$/],
    ]
    for (const [url, reason] of wrong) {
      const { read, readAlone, obstacles } = open(t, url)
      assert.equal(await read(await write()), 'primary')
      assert.equal(await readAlone(await write()), 'primary')
      assert.equal(obstacles.length, 1)
      assert.match(obstacles[0] ?? '', new RegExp(reason))
    }
  })

  test('STO-53 after a failover, a standby that has not followed is not read, although it is ahead', async (t) => {
    await using promoted = await startStandby(primary)
    await ask(promoted, 'select pg_promote()')
    // The former primary continues, and its standby follows it.
    await sql`insert into written select -1 from generate_series(1, 50000)`.execute(storage.db)
    const own = open(t, serviceUrlOf(standby))
    assert.deepEqual([await own.read(await write()), own.obstacles], ['replica', []])

    const next = await openDatabaseOf(promoted)
    t.after(() => next.close())
    const stayed = open(t, serviceUrlOf(standby), { of: next })
    const [end] = await ask<{ lsn: string }>(promoted, 'select pg_current_wal_insert_lsn()::text as lsn')
    const [ahead] = await ask<{ is: boolean }>(standby, `select pg_last_wal_replay_lsn() > '${end?.lsn}' as is`)
    assert.equal(ahead?.is, true)
    assert.equal(await stayed.read(await write(next)), 'primary')
    assert.deepEqual(stayed.obstacles, ['it has not followed the primary to its timeline'])

    const former = open(t, serviceUrlOf(promoted))
    assert.equal(await former.read(await write()), 'primary')
    assert.deepEqual(former.obstacles, ['it is no standby'])
    await using following = await startStandby(promoted)
    assert.equal(await open(t, serviceUrlOf(following), { of: next }).read(await write(next)), 'replica')
  })

  test('STO-53 a replica that has more than a primary which was set back to an earlier copy is not read', async (t) => {
    await using copy = await startCopy(primary)
    await sql`insert into written select -1 from generate_series(1, 1000)`.execute(storage.db)
    const own = open(t, serviceUrlOf(standby))
    assert.deepEqual([await own.read(await write()), own.obstacles], ['replica', []])
    const setBack = await openDatabaseOf(copy)
    t.after(() => setBack.close())
    const { read, obstacles } = open(t, serviceUrlOf(standby), { of: setBack })
    assert.equal(await read(await write(setBack)), 'primary')
    assert.deepEqual(obstacles, ['it has what the primary does not have'])
  })
}
