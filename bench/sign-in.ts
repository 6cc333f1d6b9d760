/**
 * `node bench/sign-in.ts`: measures every step of a sign-in with a passkey, the use of its tokens, and a signature.
 * There are 1, 4 and 32 requests in flight, in turn with other providers for what they have, too. Then it measures
 * the memory of the service after many requests (`--requests`), and starts (`--starts`). `--rounds` and `--sign-ins`
 * set the duration, `--alone` omits the others, and `--write` writes the results into docs/benchmarks.md.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../tools/postgres.ts'
import { callerOf, enroll, startCountersign, type Person } from './countersign.ts'
import { tokensOf, userinfoRequest, type Implementation, type Tokens } from './implementation.ts'
import { runLoad, type Call } from './load.ts'
import { inTurn, measure } from './measurements.ts'
import { newDatabase, startPeers } from './peer.ts'
import { residentMegabytes } from './processor-time.ts'
import type { Sample } from './samples.ts'
import { bare, levels, signInReportOf } from './sign-in-report.ts'
import { repeat, runSignIns, runTokenSteps, type Measuring } from './sign-in-steps.ts'
import { measureStarts } from './start.ts'
import { writeSignInReport } from './write-report.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    'sign-ins': { type: 'string', default: '240' },
    requests: { type: 'string', default: '200000' },
    starts: { type: 'string', default: '10' },
    alone: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const signIns = Number(values['sign-ins'])
/** A user has at most a hundred sessions, and more users than requests in flight never wait for one another. */
const peopleCount = 80
/** The rate limits that the load would reach. */
const reached = [
  ...['changes-per-user', 'register-start', 'login-start', 'signing-requests-per-app-and-signer'],
  ...['signing-requests-per-unconnected-app-and-signer', 'signing-requests-of-unconnected-apps-per-signer'],
]

await using cluster = await startPostgres({ durable: true })
await using started = new AsyncDisposableStack()
const service = started.use(await startCountersign(await newDatabase(cluster, 'countersign'), { reached }))
const peers = values.alone ? [] : await startPeers(cluster)
for (const peer of peers) started.use(peer)
const limit = started.use(await startLimit())
const people: Person[] = []
const call = callerOf(service.baseUrl)
for (let nth = 0; nth < peopleCount; nth += 1) people.push(await enroll(call, service.authUrl, `ada-${nth}`))
let sent = 0

const samples: Sample[] = []
for (let round = 0; round <= Number(values.rounds); round += 1) {
  const measured = await runRound(round)
  if (round > 0) samples.push(...measured)
}
const memory = await measureMemory()
report(`memory ${memory.megabytes.toFixed(0)} MB after ${memory.requests} requests`)
const starts = await measureStarts(Number(values.starts), await newDatabase(cluster, 'starts'))
const text = signInReportOf({ samples, peers: peers.map(({ name }) => name), memory, ...starts })
console.log(text)
if (values.write) writeSignInReport(text)

/** Runs a round of all implementations. The first round is for warming up, and is not counted. */
async function runRound(round: number): Promise<Sample[]> {
  const all: Sample[] = []
  for (const inFlight of levels)
    for (const run of inTurn([runOurs, ...peers.map(runPeer), runLimit], round)) {
      const measured = await run(inFlight)
      report(`round ${round}, ${inFlight} in flight: ${measured.map(describe).join(', ')}`)
      all.push(...measured)
    }
  return all
}

type Measured = { name: string; pid: number }

/** Returns the samples of one run of an implementation. */
async function sampled(
  { name, pid }: Measured,
  inFlight: number,
  run: (measuring: Measuring) => Promise<void>,
): Promise<Sample[]> {
  const taken: Sample[] = []
  await run(async (step, calls) => {
    const { answers, figure } = await measure(calls, pid, cluster.pid, inFlight)
    const failed = answers.find(({ status }) => status >= 400)
    if (failed) throw new Error(`${name}, ${step}: ${failed.status} ${failed.body}`)
    taken.push({ name, step, inFlight, server: figure.microseconds, database: figure.databaseMicroseconds })
    if (pid === service.pid) sent += calls.length
    return answers
  })
  return taken
}

function runOurs(inFlight: number): Promise<Sample[]> {
  const visitors = Array.from({ length: Math.ceil(signIns / peopleCount) }, () => people).flat()
  return sampled(service, inFlight, (measuring) => runSignIns(service, visitors, measuring))
}

function runPeer(peer: Implementation) {
  return async (inFlight: number): Promise<Sample[]> => {
    const grants = await peer.codeGrants(signIns)
    return sampled(peer, inFlight, (measuring) => runTokenSteps(peer, grants, measuring))
  }
}

async function runLimit(inFlight: number): Promise<Sample[]> {
  const calls = repeat(limit.tokens.slice(0, signIns)).map((tokens) => userinfoRequest(limit.url, tokens))
  return sampled(limit, inFlight, async (measuring) => void (await measuring('userinfo', calls)))
}

/** Sends requests of apps until the service has answered that many, and returns its resident memory. */
async function measureMemory(): Promise<{ megabytes: number; requests: number }> {
  const send = async (calls: Call[]) => {
    sent += calls.length
    return runLoad(calls, 32)
  }
  while (sent < Number(values.requests)) {
    const grants = await service.codeGrants(500)
    sent += grants.length
    const tokens = (await send(grants)).map(tokensOf)
    const refreshed = (await send(tokens.map(service.refresh))).map(tokensOf)
    await send(repeat(refreshed).map(service.userinfo))
    await send(repeat(refreshed).map(service.introspection))
  }
  return { megabytes: residentMegabytes(service.pid), requests: sent }
}

/** The least that userinfo can cost: a process of its own, which nothing but the token interests. */
async function startLimit() {
  const child = fork(join(import.meta.dirname, 'bare-userinfo.ts'), {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: await newDatabase(cluster, 'bare') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ready] = (await once(child, 'message')) as [{ url: string; tokens: string[] }]
  return {
    name: bare,
    pid: child.pid ?? 0,
    url: ready.url,
    tokens: ready.tokens.map((accessToken): Tokens => ({ accessToken, refreshToken: '' })),
    async [Symbol.asyncDispose]() {
      child.disconnect()
    },
  }
}

function describe({ name, step, server, database: ofDatabase }: Sample): string {
  return `${name} ${step} ${server.toFixed(0)}+${ofDatabase.toFixed(0)}`
}

/** The run takes many minutes: says what it has done, and how busy the machine is. */
function report(what: string): void {
  console.error(`load ${loadavg()[0]?.toFixed(1)}  ${what}`)
}
