/**
 * `node bench/log.ts`: measures the log of signing keys at two sizes (`--sizes 100000,1000000`), in one run: appending
 * a key, giving an entry its index, reading the head, proofs, and `countersign log watch`. The entries up to each size
 * are made and stored by this program, and get their indexes from the service.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../tools/postgres.ts'
import { keyProofsOf, newSigningPair } from '../server/testing/signer.ts'
import { callerOf, register, startCountersign } from './countersign.ts'
import { fieldsOf } from './implementation.ts'
import { ageLeaves, insertLeaves, readLogBytes, type Leaf } from './leaves.ts'
import type { Call } from './load.ts'
import { measure } from './measurements.ts'
import { usageOf } from './program-usage.ts'
import { processorMicroseconds, processorMicrosecondsOfFamily, residentMegabytes } from './processor-time.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    requests: { type: 'string', default: '2000' },
  },
})
const sizes = values.sizes.split(',').map(Number)
const requests = Number(values.requests)
/** People who make a key at each size. */
const people = 100
/** Entries that a later run of `log watch` finds. */
const addedLater = 1000
/** The rate limits that the load would reach. */
const reached = ['metadata', 'register-start', 'changes-per-user']

await using cluster = await startPostgres({ durable: true })
await using service = await startCountersign(cluster.url, { reached })
const call = callerOf(service.baseUrl)
const log = String((await readJson('jwks'))['origin'])
const folder = await mkdtemp(join(tmpdir(), 'countersign-log-'))
const client = new pg.Client({ connectionString: cluster.url })
await client.connect()
const columns: Record<string, string>[] = []
const began = performance.now()
let created = 0
for (const size of sizes) columns.push(await measureAt(size))
await client.end()
await rm(folder, { recursive: true })
printTable()

/** Lets the log grow to a size, and measures it there. */
async function measureAt(size: number): Promise<Record<string, string>> {
  const before = await readSize()
  await ageLeaves(client, size - before)
  const leaves = await insertLeaves(client, { log, count: size - before })
  report(`${size}: stored`)
  const placed = await place(size)
  report(`${size}: placed`)
  const read = await measureReading(size, leaves)
  const appended = await measureKeys()
  report(`${size}: read and appended`)
  const state = join(folder, `state-${size}`)
  const first = await watch(state)
  const { size: stateBytes } = await stat(state)
  report(`${size}: watched`)
  const grown = await readSize()
  await insertLeaves(client, { log, count: addedLater })
  await place(grown + addedLater)
  const next = await watch(state)
  return {
    'index of an entry': perEntry(placed),
    ...read,
    'a new key': appended,
    'first `log watch`, s': first.seconds.toFixed(1),
    'the same, µs per entry': ((first.seconds * 1e6) / grown).toFixed(0),
    'the same, peak MB': first.megabytes.toFixed(0),
    'state, bytes per entry': (stateBytes / grown).toFixed(0),
    [`\`log watch\` of ${addedLater} more, s`]: next.seconds.toFixed(1),
    'the same, MB': next.megabytes.toFixed(0),
    'database, bytes per entry': ((await readLogBytes(client)) / (grown + addedLater)).toFixed(0),
    'memory of the server, MB': residentMegabytes(service.pid).toFixed(0),
  }
}

type Cost = { server: number; database: number }

function perEntry({ server, database }: Cost): string {
  return `${server.toFixed(0)} + ${database.toFixed(0)}`
}

/** Reads the head until all entries have an index: each reader gives it to a batch. Returns the cost of an entry. */
async function place(size: number): Promise<Cost> {
  const start = await readSize()
  const used = () => ({
    server: processorMicroseconds(service.pid),
    database: processorMicrosecondsOfFamily(cluster.pid),
  })
  const before = used()
  for (let reached = start; reached < size;) {
    reached = await readSize()
    if (reached > size) throw new Error(`the log has ${reached} entries instead of ${size}`)
  }
  const after = used()
  const entries = size - start
  return { server: (after.server - before.server) / entries, database: (after.database - before.database) / entries }
}

async function measureReading(size: number, leaves: Leaf[]): Promise<Record<string, string>> {
  const some = (path: (leaf: Leaf, nth: number) => string) =>
    Array.from({ length: requests }, (_, nth) => {
      const leaf = leaves[Math.floor((nth * leaves.length) / requests)]
      if (!leaf) throw new Error('there are no entries')
      return get(path(leaf, nth))
    })
  return {
    head: await costOf(some(() => 'checkpoint')),
    'proof of inclusion': await costOf(
      some((leaf) => `inclusion?leafHash=${encodeURIComponent(leaf.sha256.toString('base64'))}`),
    ),
    'proof of consistency': await costOf(
      some((_, nth) => `consistency?from=${Math.floor(((nth + 1) * size) / requests)}&to=${size}`),
    ),
    'entries of an identity': await costOf(some(({ identityId }) => `identities/${identityId}`)),
    '256 entries': await costOf(
      some((_, nth) => `leaves?start=${Math.floor((nth * (size - 256)) / requests)}&count=256`),
    ),
  }
}

/** Measures what the log adds to a new key: the request that makes one. */
async function measureKeys(): Promise<string> {
  const calls: Call[] = []
  for (let nth = 0; nth < people; nth += 1) {
    const { identityId, sessionToken } = await register(call, service.authUrl, `ada-${created++}`)
    const to = newSigningPair()
    const event = { event: 'created', identityId, keyVersion: 1, previous: null, to } as const
    calls.push({
      method: 'POST',
      url: `${service.baseUrl}/api/signing/keys/${identityId}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${sessionToken}` },
      body: JSON.stringify({
        publicKey: to.publicKey,
        encryptedPrivateKey: 'a.b.c.d.e',
        ...keyProofsOf(event, { log }),
      }),
    })
  }
  return costOf(calls, 201)
}

async function costOf(calls: Call[], expected = 200): Promise<string> {
  const { answers, figure } = await measure(calls, service.pid, cluster.pid)
  const failed = answers.find(({ status }) => status !== expected)
  if (failed) throw new Error(`unexpected response ${failed.status} ${failed.body}`)
  return perEntry({ server: figure.microseconds, database: figure.databaseMicroseconds })
}

/** Runs `countersign log watch`, and returns its processor time and its peak memory. */
function watch(state: string): Promise<{ seconds: number; megabytes: number }> {
  const program = join(import.meta.dirname, '../cli/main.ts')
  return usageOf([program, 'log', 'watch', '--state', state], { BASE_URL: service.baseUrl })
}

function get(path: string): Call {
  return { method: 'GET', url: `${service.baseUrl}/api/transparency/${path}` }
}

async function readSize(): Promise<number> {
  const answer = await fetch(get('checkpoint').url)
  if (!answer.ok) throw new Error(`unexpected response ${answer.status}`)
  return Number((await answer.text()).split('\n')[1])
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  return fieldsOf(await (await fetch(get(path).url)).text())
}

/** The run takes many minutes: says what it has done. */
function report(what: string): void {
  console.error(`${((performance.now() - began) / 1000).toFixed(0)} s  ${what}`)
}

function printTable(): void {
  console.log(`| entries | ${sizes.map((size) => size.toLocaleString('en')).join(' | ')} |`)
  console.log(`| --- |${sizes.map(() => ' ---: |').join('')}`)
  for (const name of Object.keys(columns[0] ?? {}))
    console.log(`| ${name} | ${columns.map((column) => column[name] ?? '').join(' | ')} |`)
}
