import { tokensOf, type Implementation, type Tokens } from './implementation.ts'
import { runLoad, type Answer, type Call } from './load.ts'
import { processorMicroseconds, processorMicrosecondsOfFamily } from './processor-time.ts'

/** The measurements, in their order within a round: each uses results of earlier ones. */
export const figureNames = ['code grant', 'refresh grant', 'userinfo', 'key set', 'discovery'] as const
export type FigureName = (typeof figureNames)[number]

/** The cost of one request: processor time of the server and of the database, and the latency. */
export type Figure = { microseconds: number; databaseMicroseconds: number; p50: number; p99: number; perSecond: number }

export type Round = Record<FigureName, Figure>

/** The number of requests in flight where no other is given. */
const usuallyInFlight = 32
/** Cheap requests are sent more often, because a garbage collection or other load weighs more there. */
const cheapFactor = 3
const cheapestFactor = 10

/**
 * Runs one round of all measurements of one implementation. `databasePid` is the database server, whose processes are
 * measured too.
 */
export async function runRound(implementation: Implementation, requests: number, databasePid: number): Promise<Round> {
  const measured = (calls: Call[]) => measure(calls, implementation.pid, databasePid)
  const repeated = (call: Call) => Array.from({ length: requests * cheapestFactor }, () => call)

  const code = await measured(await implementation.codeGrants(requests))
  const refresh = await measured(code.answers.map(tokensOf).map(implementation.refresh))
  const tokens = refresh.answers.map(tokensOf)
  const userinfo = await measured(repeatedly(tokens, cheapFactor).map(implementation.userinfo))
  const keySet = await measured(repeated(implementation.keySet))
  const discovery = await measured(repeated(implementation.discovery))
  for (const { status } of [userinfo, keySet, discovery].flatMap(({ answers }) => answers))
    if (status !== 200) throw new Error(`${implementation.name} answered ${status}`)
  return {
    'code grant': code.figure,
    'refresh grant': refresh.figure,
    userinfo: userinfo.figure,
    'key set': keySet.figure,
    discovery: discovery.figure,
  }
}

/** Sends the calls, and measures their cost in the process `pid` and in the database. */
export async function measure(
  calls: Call[],
  pid: number,
  databasePid: number,
  inFlight = usuallyInFlight,
): Promise<{ answers: Answer[]; figure: Figure }> {
  const before = { server: processorMicroseconds(pid), database: processorMicrosecondsOfFamily(databasePid) }
  const began = performance.now()
  const answers = await runLoad(calls, inFlight)
  const seconds = (performance.now() - began) / 1000
  const figure = {
    microseconds: (processorMicroseconds(pid) - before.server) / calls.length,
    databaseMicroseconds: (processorMicrosecondsOfFamily(databasePid) - before.database) / calls.length,
    ...waitsOf(answers),
    perSecond: calls.length / seconds,
  }
  return { answers, figure }
}

/** Returns the median and the 99th percentile of the latencies, in milliseconds. */
export function waitsOf(answers: Answer[]): { p50: number; p99: number } {
  const sorted = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(sorted.length * 0.5)] ?? 0, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 }
}

/** Returns the median of the rounds for each measurement. */
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

/** Returns the list from another place on in each round: the first to run is up to a sixth slower, even than itself. */
export function inTurn<Item>(items: Item[], round: number): Item[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}
