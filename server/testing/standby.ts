import { setTimeout as pass } from 'node:timers/promises'
import { openStorage, type Storage } from '#platform/database/database.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { type Cluster, startPostgres } from '../../tools/postgres.ts'
import { failing } from './migrated-database.ts'
import { query } from './query.ts'

/**
 * Starts a PostgreSQL server of a test's own, and opens a migrated database that belongs to an ordinary role. It ends
 * with the storage.
 */
export async function openPrimary(): Promise<{ cluster: Cluster; storage: Storage }> {
  const cluster = await startPostgres()
  await ask(cluster, `create role countersign login password '${servicePassword}'`)
  await ask(cluster, 'create database countersign owner countersign')
  // Without it, a standby gets a commit up to a second later.
  await ask(cluster, 'alter role countersign set synchronous_commit = on')
  const storage = await openDatabaseOf(cluster)
  return {
    cluster,
    storage: {
      ...storage,
      async close() {
        await storage.close()
        await cluster[Symbol.asyncDispose]()
      },
    },
  }
}

const servicePassword = 'a-password-of-the-service'

/** Returns the URL of the database on a server, or on a standby of it, for the role of the service. */
export function serviceUrlOf({ url }: Pick<Cluster, 'url'>, database = 'countersign'): string {
  const changed = { username: 'countersign', password: servicePassword, pathname: `/${database}` }
  return Object.assign(new URL(url), changed).href
}

/** Opens the database of a server, which may end before. */
export function openDatabaseOf(cluster: Pick<Cluster, 'url'>): Promise<Storage> {
  return openStorage({
    url: new Secret(serviceUrlOf(cluster)),
    directory: '',
    connections: 12,
    statementNames: true,
    listeners: failing,
    onConnectionError: () => {},
    onWaiting: () => {},
  })
}

/** Runs one statement on a server, and returns its rows. */
export function ask<Row extends object>({ url }: Pick<Cluster, 'url'>, statement: string): Promise<Row[]> {
  return query(url, statement)
}

/** Lets a standby lag from now on. Returns the function that lets it catch up. */
export async function pauseReplay(standby: Cluster): Promise<() => Promise<void>> {
  await ask(standby, 'select pg_wal_replay_pause()')
  const state = 'select pg_get_wal_replay_pause_state() as state'
  // No event of the server reports it.
  while ((await ask<{ state: string }>(standby, state))[0]?.state !== 'paused') await pass(10)
  return async () => void (await ask(standby, 'select pg_wal_replay_resume()'))
}
