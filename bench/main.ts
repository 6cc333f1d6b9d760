/**
 * `npm run bench`: what a request costs the server in processor time, beside two other providers in the same run.
 * `--rounds` and `--requests` set how long it measures, `--alone` leaves the others out, `--write` writes what it found
 * to docs/benchmarks.md. `--against <folder>` instead compares with another version: a checkout of it, ready to run.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres, type Cluster } from '../tools/postgres.ts'
import type { Contender } from './contender.ts'
import { startCountersign } from './countersign.ts'
import { compareSigning } from './signing.ts'
import { medianOf, mediansOf, runRound, waitsOf, type Round } from './figures.ts'
import { drip } from './load.ts'
import { startPeer } from './peer.ts'
import { residentMegabytes } from './processor-time.ts'
import { reportOf, type Result } from './report.ts'
import { describeVersions } from './versions.ts'
import { writeReport } from './write-report.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '2000' },
    alone: { type: 'boolean', default: false },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const requests = Number(values.requests)
/** Those that every version has: an unknown one stops the start. */
const limitsOfOther = ['signature-verification']
/** Of so many more, the slowest hundredth says something. */
const pacedFactor = 2

await using cluster = await startPostgres({ durable: true })
await using started = new AsyncDisposableStack()
const ours = started.use(await startCountersign(await newDatabase(cluster, 'countersign')))
const contenders = [ours, ...(await startOthers())]
for (const other of contenders.slice(1)) started.use(other)

const rounds = await compete()
if (values.against === undefined) await reportOnPeers()
else console.log(`\n${describeVersions(...versionsIn([...rounds.values()]))}`)

async function reportOnPeers(): Promise<void> {
  const results = resultsOf(rounds)
  const paced = await halfLoad(results)
  const signing = await compareSigning(ours, Number(values.rounds), requests, cluster.pid)
  const report = [reportOf(results), paced, signing].join('\n\n')
  console.log(`\n${report}`)
  if (values.write) writeReport(results, report)
}

/** The rounds of the other version, and ours. */
function versionsIn([present = [], former = []]: Round[][]): [former: Round[], present: Round[]] {
  return [former, present]
}

async function startOthers(): Promise<Contender[]> {
  const { against, alone } = values
  if (against !== undefined) {
    const database = await newDatabase(cluster, 'countersign_other')
    return [
      {
        ...(await startCountersign(database, { root: resolve(against), reached: limitsOfOther })),
        name: 'other version',
      },
    ]
  }
  return alone ? [] : startPeers(cluster)
}

async function startPeers(durable: Cluster): Promise<Contender[]> {
  installPeers()
  return [
    await startPeer('oidc-provider', 'oidc-provider.ts', {}),
    await startPeer('better-auth', 'better-auth.ts', { DATABASE_URL: await newDatabase(durable, 'better_auth') }),
  ]
}

/** Runs all rounds, the contenders one after another in each; the first round warms them up and does not count. */
async function compete(): Promise<Map<Contender, Round[]>> {
  const rounds = new Map<Contender, Round[]>(contenders.map((contender) => [contender, []]))
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const contender of contenders) {
      const measured = await runRound(contender, requests, cluster.pid)
      console.log(`round ${round} ${contender.name}: ${briefly(measured)}`)
      if (round > 0) rounds.get(contender)?.push(measured)
    }
  return rounds
}

function resultsOf(measuredOf: Map<Contender, Round[]>): Result[] {
  return [...measuredOf].map(([contender, measured]) => ({
    name: contender.name,
    medians: mediansOf(measured),
    megabytes: residentMegabytes(contender.pid),
  }))
}

/** How long a client of ours waits for a code grant at half the load that we can bear: medians of the rounds. */
async function halfLoad(results: Result[]): Promise<string> {
  const perSecond = (results[0]?.medians['code grant'].perSecond ?? 0) / 2
  const rounds: ReturnType<typeof waitsOf>[] = []
  for (let round = 0; round < Number(values.rounds); round += 1)
    rounds.push(waitsOf(await drip(await ours.codeGrants(requests * pacedFactor), perSecond)))
  const [p50, p99] = [medianOf(rounds.map((round) => round.p50)), medianOf(rounds.map((round) => round.p99))]
  const waits = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return `At half of that load, ${perSecond.toFixed(0)} code grants a second: ${waits}.`
}

function briefly(round: Round): string {
  return Object.entries(round)
    .map(([name, { microseconds }]) => `${name} ${microseconds.toFixed(0)}`)
    .join(', ')
}

/** The others stand on packages of their own, which the product does not install. */
function installPeers(): void {
  const folder = join(import.meta.dirname, 'peers')
  if (existsSync(join(folder, 'node_modules'))) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--workspaces=false'], { cwd: folder, stdio: 'inherit' })
}

async function newDatabase({ url }: Cluster, name: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
