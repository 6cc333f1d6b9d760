/**
 * `npm run bench`: measures the server's processor time per request, and that of other providers in the same run.
 * `--rounds` and `--requests` set the duration, `--alone` omits the others, `--write` writes the results to
 * docs/benchmarks.md. `--against <folder>` instead compares with another version: a checkout of it, ready to run.
 * `--reached a,b` names the rate limits that the load would reach there, if they have other names.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../tools/postgres.ts'
import type { Implementation } from './implementation.ts'
import { startCountersign } from './countersign.ts'
import { compareSigning } from './signing.ts'
import { inTurn, medianOf, mediansOf, runRound, waitsOf, type Round } from './measurements.ts'
import { sendSlowly } from './load.ts'
import { newDatabase, startPeers } from './peer.ts'
import { residentMegabytes } from './processor-time.ts'
import { reportOf, type Result } from './report.ts'
import { describeVersions } from './versions.ts'
import { writeReport } from './write-report.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    requests: { type: 'string', default: '2000' },
    alone: { type: 'boolean', default: false },
    against: { type: 'string' },
    reached: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const requests = Number(values.requests)
/** The least number of rounds where no other is given. */
const usualRounds = 6
/** The number of requests at which the slowest hundredth is meaningful. */
const pacedFactor = 2

await using cluster = await startPostgres({ durable: true })
await using started = new AsyncDisposableStack()
const ours = started.use(await startCountersign(await newDatabase(cluster, 'countersign')))
const implementations = [ours, ...(await startOthers())]
for (const other of implementations.slice(1)) started.use(other)

const turns = implementations.length
const roundCount = Number(values.rounds ?? Math.ceil(usualRounds / turns) * turns)
if (roundCount % turns !== 0) throw new Error(`The number of rounds must be a multiple of ${turns}.`)

const rounds = await compete()
if (values.against === undefined) await reportOnPeers()
else console.log(`\n${describeVersions(...versionsIn([...rounds.values()]))}`)

async function reportOnPeers(): Promise<void> {
  const results = resultsOf(rounds)
  const paced = await halfLoad(results)
  const signing = await compareSigning(ours, roundCount, requests, cluster.pid)
  const report = [reportOf(results), paced, signing].join('\n\n')
  console.log(`\n${report}`)
  if (values.write) writeReport(results, report)
}

/** The rounds of the other version, and of this one. */
function versionsIn([present = [], former = []]: Round[][]): [former: Round[], present: Round[]] {
  return [former, present]
}

async function startOthers(): Promise<Implementation[]> {
  const { against, reached, alone } = values
  if (against !== undefined) {
    const database = await newDatabase(cluster, 'countersign_other')
    const version = { root: resolve(against), ...(reached !== undefined && { reached: reached.split(',') }) }
    return [{ ...(await startCountersign(database, version)), name: 'other version' }]
  }
  return alone ? [] : startPeers(cluster)
}

/**
 * Runs all rounds, with the implementations one after another in each. The first round is for warming up, and is not
 * counted.
 */
async function compete(): Promise<Map<Implementation, Round[]>> {
  const rounds = new Map<Implementation, Round[]>(implementations.map((implementation) => [implementation, []]))
  for (let round = 0; round <= roundCount; round += 1)
    for (const implementation of inTurn(implementations, round)) {
      const measured = await runRound(implementation, requests, cluster.pid)
      console.log(`round ${round} ${implementation.name}: ${briefly(measured)}`)
      if (round > 0) rounds.get(implementation)?.push(measured)
    }
  return rounds
}

function resultsOf(measuredOf: Map<Implementation, Round[]>): Result[] {
  return [...measuredOf].map(([implementation, measured]) => ({
    name: implementation.name,
    medians: mediansOf(measured),
    megabytes: residentMegabytes(implementation.pid),
  }))
}

/** Measures the latency of a code grant at half of the maximum load: medians of the rounds. */
async function halfLoad(results: Result[]): Promise<string> {
  const perSecond = (results[0]?.medians['code grant'].perSecond ?? 0) / 2
  const rounds: ReturnType<typeof waitsOf>[] = []
  for (let round = 0; round < roundCount; round += 1)
    rounds.push(waitsOf(await sendSlowly(await ours.codeGrants(requests * pacedFactor), perSecond)))
  const [p50, p99] = [medianOf(rounds.map((round) => round.p50)), medianOf(rounds.map((round) => round.p99))]
  const waits = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return `At half of that load, ${perSecond.toFixed(0)} code grants per second: ${waits}.`
}

function briefly(round: Round): string {
  return Object.entries(round)
    .map(([name, { microseconds }]) => `${name} ${microseconds.toFixed(0)}`)
    .join(', ')
}
