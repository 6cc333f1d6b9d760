import { tokensOf, type Contender, type Tokens } from './contender.ts'
import { drive, type Answer, type Call } from './load.ts'
import { processorMicroseconds, processorMicrosecondsOfFamily } from './processor-time.ts'

/** What is measured, in the order in which one round does it: each uses what the ones before it brought. */
export const figureNames = ['code grant', 'refresh grant', 'userinfo', 'key set', 'discovery'] as const
export type FigureName = (typeof figureNames)[number]

/** What one request cost: processor time of the server and of the database, and how long its client waited. */
export type Figure = { microseconds: number; databaseMicroseconds: number; p50: number; p99: number; perSecond: number }

export type Round = Record<FigureName, Figure>

const inFlight = 32
/** Cheap requests are sent more often: one collection of garbage, or what else the machine does, weighs more there. */
const cheapFactor = 3
const cheapestFactor = 10

/** One round of all figures at one contender. `databasePid` is the server whose processes are counted beside it. */
export async function runRound(contender: Contender, requests: number, databasePid: number): Promise<Round> {
  const measured = (calls: Call[]) => measure(calls, contender.pid, databasePid)
  const repeated = (call: Call) => Array.from({ length: requests * cheapestFactor }, () => call)

  const code = await measured(await contender.codeGrants(requests))
  const refresh = await measured(code.answers.map(tokensOf).map(contender.refresh))
  const tokens = refresh.answers.map(tokensOf)
  const userinfo = await measured(repeatedly(tokens, cheapFactor).map(contender.userinfo))
  const keySet = await measured(repeated(contender.keySet))
  const discovery = await measured(repeated(contender.discovery))
  for (const { status } of [userinfo, keySet, discovery].flatMap(({ answers }) => answers))
    if (status !== 200) throw new Error(`${contender.name} answered ${status}`)
  return {
    'code grant': code.figure,
    'refresh grant': refresh.figure,
    userinfo: userinfo.figure,
    'key set': keySet.figure,
    discovery: discovery.figure,
  }
}

/** Sends the calls, and measures what they cost the process `pid` and the database. */
export async function measure(
  calls: Call[],
  pid: number,
  databasePid: number,
): Promise<{ answers: Answer[]; figure: Figure }> {
  const before = { server: processorMicroseconds(pid), database: processorMicrosecondsOfFamily(databasePid) }
  const began = performance.now()
  const answers = await drive(calls, inFlight)
  const seconds = (performance.now() - began) / 1000
  const figure = {
    microseconds: (processorMicroseconds(pid) - before.server) / calls.length,
    databaseMicroseconds: (processorMicrosecondsOfFamily(databasePid) - before.database) / calls.length,
    ...waitsOf(answers),
    perSecond: calls.length / seconds,
  }
  return { answers, figure }
}

/** The median and the 99th percentile of how long the answers took, in milliseconds. */
export function waitsOf(answers: Answer[]): { p50: number; p99: number } {
  const sorted = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(sorted.length * 0.5)] ?? 0, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 }
}

/** For each figure the median of its rounds. */
export function mediansOf(rounds: Round[]): Round {
  const of = (name: FigureName) => {
    const median = (field: keyof Figure) => medianOf(rounds.map((round) => round[name][field]))
    return {
      microseconds: median('microseconds'),
      databaseMicroseconds: median('databaseMicroseconds'),
      p50: median('p50'),
      p99: median('p99'),
      perSecond: median('perSecond'),
    }
  }
  return {
    'code grant': of('code grant'),
    'refresh grant': of('refresh grant'),
    userinfo: of('userinfo'),
    'key set': of('key set'),
    discovery: of('discovery'),
  }
}

export function medianOf(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

function repeatedly(tokens: Tokens[], times: number): Tokens[] {
  return Array.from({ length: times }, () => tokens).flat()
}
