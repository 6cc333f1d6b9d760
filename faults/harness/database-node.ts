import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../server/testing/service.ts'
import { newestInstallation } from '../../tools/postgres.ts'
import { openForwarder } from './forwarder.ts'
import { childrenOf } from './process.ts'
import type { Servers } from './servers.ts'

export type DatabaseNode = Awaited<ReturnType<typeof startNode>>

/** Programs of PostgreSQL that Patroni runs. */
const programs = ['initdb', 'pg_ctl', 'pg_controldata', 'pg_basebackup', 'pg_rewind']

type NodeOptions = {
  name: string
  password: string
  etcdPort: number
  /** Path of the part of Patroni's configuration that all nodes share. */
  patroniPath: string
}

/** The users of a node, for Patroni and its commands. */
export function credentials(password: string) {
  return {
    PATRONI_RESTAPI_USERNAME: 'patroni',
    PATRONI_RESTAPI_PASSWORD: password,
    PATRONI_SUPERUSER_USERNAME: 'postgres',
    PATRONI_SUPERUSER_PASSWORD: password,
    PATRONI_REPLICATION_USERNAME: 'replicator',
    PATRONI_REPLICATION_PASSWORD: password,
  }
}

/**
 * Starts a node: Patroni and its PostgreSQL. Others reach both, and Patroni reaches etcd, over forwarders, so that the
 * node can be isolated.
 */
export async function startNode(servers: Servers, { name, password, etcdPort, patroniPath }: NodeOptions) {
  const [port = 0, patroniPort = 0] = await freePorts(2)
  const [toDatabase, toPatroni, toEtcd] = await Promise.all([port, patroniPort, etcdPort].map(openForwarder))
  if (!toDatabase || !toPatroni || !toEtcd) throw new Error('a forwarder is missing')
  const links = [toDatabase, toPatroni, toEtcd]
  const folder = servers.makeFolder(name)
  const data = join(folder, 'data')
  // Patroni merges the files of a folder. A package of PostgreSQL may have a folder for sockets that others own.
  const own = { postgresql: { parameters: { unix_socket_directories: folder } } }
  writeFileSync(join(folder, '1.yml'), readFileSync(patroniPath))
  writeFileSync(join(folder, '2.yml'), JSON.stringify(own))
  const environment = {
    PATRONI_NAME: name,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${patroniPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${toPatroni.port}`,
    // As a proxy, or Patroni would ask etcd for its addresses and use these.
    PATRONI_ETCD_PROXY: `http://127.0.0.1:${toEtcd.port}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${toDatabase.port}`,
    PATRONI_POSTGRESQL_BIN_DIR: newestInstallation(programs),
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_PGPASS: join(folder, 'pgpass'),
    ...credentials(password),
  }
  const launch = () => servers.start('patroni', [folder], environment)
  let patroni = launch()
  const signal = (name: NodeJS.Signals) => {
    // Patroni first: it would act on what happens to its PostgreSQL.
    patroni.kill(name)
    for (const pid of serversIn(data)) sendSignal(pid, name)
  }
  servers.atEnd(() => signal('SIGKILL'))

  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  return {
    name,
    /** Leads to this node, also while it is isolated. */
    url,
    databasePort: toDatabase.port,
    patroniPort: toPatroni.port,
    /** Asks Patroni if this node has a role, as HAProxy does. */
    async is(role: 'primary' | 'sync'): Promise<boolean> {
      const url = `http://127.0.0.1:${patroniPort}/${role}`
      const reply = await fetch(url, { signal: AbortSignal.timeout(500) }).catch(() => undefined)
      await reply?.body?.cancel()
      return reply?.status === 200
    },
    /** Kills Patroni and PostgreSQL, as the failure of a machine would. */
    kill: () => signal('SIGKILL'),
    start: () => void (patroni = launch()),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    isolate: () => links.forEach((link) => link.stop()),
    reconnect: () => links.forEach((link) => link.passOn()),
    close: () => Promise.all(links.map((link) => link.close())),
  }
}

/** Returns the processes of the PostgreSQL with this data, beginning with their parent. */
function serversIn(data: string): number[] {
  const file = join(data, 'postmaster.pid')
  const [pid = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const command = join('/proc', pid, 'cmdline')
  // After a kill the file remains, and its process ID may be that of another process.
  if (pid === '' || !existsSync(command) || !readFileSync(command, 'utf8').includes(data)) return []
  return [Number(pid), ...childrenOf(Number(pid))]
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    const hasEnded = error instanceof Error && 'code' in error && error.code === 'ESRCH'
    if (!hasEnded) throw error
  }
}
