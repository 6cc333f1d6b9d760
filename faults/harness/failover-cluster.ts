import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from '../../server/testing/service.ts'
import { credentials, type DatabaseNode, startNode } from './database-node.ts'
import { openServers, type Servers } from './servers.ts'

/** The configuration that operators use. */
const deployed = join(import.meta.dirname, '../../deploy/high-availability')
const patroniPath = join(deployed, 'patroni.yml')

const patienceMilliseconds = 90_000
const restMilliseconds = 100

export type FailoverCluster = Awaited<ReturnType<typeof startFailoverCluster>>

/**
 * Starts three PostgreSQL nodes with Patroni, and HAProxy in front of them, as operators configure them. One etcd is
 * enough here, because it never fails; operators have three.
 */
export async function startFailoverCluster() {
  const servers = openServers('failover')
  const password = randomBytes(16).toString('hex')
  const [etcdPort = 0, etcdPeerPort = 0, frontPort = 0] = await freePorts(3)
  const nodes: DatabaseNode[] = []
  const end = async () => {
    servers.end()
    await Promise.all(nodes.map((node) => node.close()))
  }
  try {
    startEtcd(servers, etcdPort, etcdPeerPort)
    for (const name of ['db1', 'db2', 'db3'])
      nodes.push(await startNode(servers, { name, password, etcdPort, patroniPath }))
    startFront(servers, frontPort, nodes)
    await untilWhole(nodes)
  } catch (error) {
    await end()
    throw error
  }
  return {
    /** The maintenance database of the primary, through HAProxy. */
    url: `postgres://postgres:${password}@127.0.0.1:${frontPort}/postgres`,
    /** Waits until a node is the primary, other than a former one. */
    primary: (former?: DatabaseNode) => untilPrimary(nodes.filter((node) => node !== former)),
    /** Waits until both other nodes confirm each commit of the primary. */
    untilWhole: () => untilWhole(nodes),
    switchOver: () =>
      servers.run('patronictl', ['-c', patroniPath, 'switchover', '--force'], {
        PATRONI_ETCD_HOSTS: `127.0.0.1:${etcdPort}`,
        ...credentials(password),
      }),
    [Symbol.asyncDispose]: end,
  }
}

function startEtcd(servers: Servers, port: number, peerPort: number): void {
  const url = `http://127.0.0.1:${port}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const clients = ['--listen-client-urls', url, '--advertise-client-urls', url]
  const peers = ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl]
  const data = servers.makeFolder('etcd')
  servers.start('etcd', [
    '--enable-v2',
    '--data-dir',
    data,
    ...clients,
    ...peers,
    '--initial-cluster',
    `default=${peerUrl}`,
  ])
}

function startFront(servers: Servers, port: number, nodes: DatabaseNode[]): void {
  const text = readFileSync(join(deployed, 'haproxy.cfg'), 'utf8')
    .replace(/(?<=bind 127\.0\.0\.1:)\d+/, String(port))
    .replaceAll(/(?<=^ +server (\w+) ).*/gm, (_, name: string) => {
      const node = nodes.find((each) => each.name === name)
      if (!node) throw new Error(`HAProxy is configured for another node: ${name}`)
      return `127.0.0.1:${node.databasePort} port ${node.patroniPort}`
    })
  const path = join(servers.folder, 'haproxy.cfg')
  writeFileSync(path, text)
  servers.start('haproxy', ['-db', '-f', path])
}

async function untilPrimary(nodes: DatabaseNode[]): Promise<DatabaseNode> {
  return eventually('a primary', async () => (await findNodes(nodes, 'primary'))[0])
}

async function untilWhole(nodes: DatabaseNode[]): Promise<void> {
  await eventually('a primary with two replicas', async () => {
    const replicas = await findNodes(nodes, 'sync')
    return replicas.length === nodes.length - 1
  })
}

async function findNodes(nodes: DatabaseNode[], role: 'primary' | 'sync'): Promise<DatabaseNode[]> {
  const replies = await Promise.all(nodes.map((node) => node.is(role)))
  return nodes.filter((_, index) => replies[index])
}

async function eventually<Result>(what: string, find: () => Promise<Result | false | undefined>): Promise<Result> {
  const expiresAt = performance.now() + patienceMilliseconds
  for (;;) {
    const found = await find()
    if (found) return found
    if (performance.now() > expiresAt) throw new Error(`the cluster never has ${what}`)
    await wait(restMilliseconds)
  }
}
