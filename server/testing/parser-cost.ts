/**
 * Measures the cost of a parser in processor time. Wall time would show how busy the machine is. Processor time still
 * varies with caches and heap, so several samples of each size are taken in turn.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { measureSlowness } from './machine-speed.ts'

/** Inputs that may be expensive, each built to about a given size. */
export type Shapes = Record<string, (size: number) => string>

/** Parser of untrusted input, with the inputs that may cost it most. */
export type MeasuredParser = {
  /** Size of the largest input that reaches the parser, in the unit of the shapes. */
  sizeMax: number
  /** Parses an input; rejecting it is part of the cost. */
  parse: (input: string) => unknown
  shapes: Shapes
  /** True if only authenticated callers reach the parser, so that the absolute limit does not apply. */
  authenticated?: true
  /** Limit at the largest size on the ordinary machine, instead of the limit for anonymous callers. */
  millisecondsMax?: number
}

/** Repeats a part within its surroundings as often as it fits. */
export function between(whole: (content: string) => string, part: string): (size: number) => string {
  return (size) => whole(part.repeat(Math.max(0, Math.floor((size - whole('').length) / part.length))))
}

export function repeated(part: string): (size: number) => string {
  return between((content) => content, part)
}

/**
 * Milliseconds of processor time per call, at the largest size and at a half and a quarter of it, and how slow the
 * machine was, for each round of samples.
 */
type ParserCost = Record<Size | 'slowness', number[]>
type Size = 'quarter' | 'half' | 'full'

/** The order of the sizes: each goes first equally often, because one leaves costs for the others. */
const turns: Size[][] = [
  ['quarter', 'half', 'full'],
  ['full', 'quarter', 'half'],
  ['half', 'full', 'quarter'],
]
/** Most parsers are seen to be linear from two sizes. */
const shortTurns: Size[][] = [
  ['half', 'full'],
  ['full', 'half'],
]

/**
 * Number of measurements of a cost beyond a limit: disturbances pass, but a slow parser is slow in all of them. Short
 * samples are numerous, so that some of them avoid garbage collection.
 */
const attempts = [
  { rounds: 3, sampleMilliseconds: 4, turns: shortTurns },
  { rounds: 25, sampleMilliseconds: 4, turns },
  { rounds: 25, sampleMilliseconds: 8, turns },
  { rounds: 15, sampleMilliseconds: 25, turns },
]
/** Maximum time for measuring a slow parser, in all attempts: compared with this, disturbances are small. */
const measuringMillisecondsMax = 4000
/** Minimum number of rounds that show more than the attempt before: in one round, a disturbance is not small. */
const roundsMin = 3

/**
 * Maximum growth of the cost from each smaller size. A cost that is quadratic for two fifths of it reaches both. Linear
 * cost reaches one of them only, where memory becomes more expensive: V8 allocates large arrays elsewhere, and the C
 * library returns large blocks to the system.
 */
const growthMax = { half: 2.5, quarter: 5.7 }
/** Maximum growth, by any measure, that needs no further attempt: a few samples can hide the rest of a worse growth. */
const linearGrowthMax = 2.3
/** Maximum cost of the largest body that unauthenticated callers can send, on the ordinary machine. */
export const anonymousMillisecondsMax = 50

/** Returns the milliseconds that parsers have taken so far. */
type Clock = () => number

/** Measures a parser with the sizes in turn, and again if the cost is beyond a limit. */
export async function measureCost(
  parser: MeasuredParser,
  build: (size: number) => string,
  clock: Clock = processorMilliseconds,
): Promise<ParserCost> {
  const { sizeMax, parse } = parser
  const sample = (input: string, millisecondsMin: number) => sampleOf(parse, input, { millisecondsMin, clock })
  const inputs = {
    quarter: build(Math.floor(sizeMax / 4)),
    half: build(Math.floor(sizeMax / 2)),
    full: build(sizeMax),
  }
  let cost = { ...noCost(), full: [await sample(inputs.full, 0)] }
  if (isNegligible(cost)) return cost
  const begun = clock()
  let isRepeated = false
  for (const { rounds, sampleMilliseconds, turns } of attempts) {
    const before = cost
    cost = noCost()
    // Otherwise garbage of earlier code would be collected during some sample.
    if (isRepeated) collectGarbage()
    isRepeated = true
    for (let round = 0; round < rounds; round += 1) {
      const sizes = turns[round % turns.length] ?? []
      for (const size of sizes) cost[size].push(await sample(inputs[size], sampleMilliseconds))
      cost.slowness.push(measureSlowness())
      if (isNegligible(cost)) return cost
      if (clock() - begun > measuringMillisecondsMax)
        return round + 1 < roundsMin && before.half.length > 0 ? before : cost
    }
    if (Math.max(...growthsOf(cost, 'half')) <= linearGrowthMax && objectionTo(cost, parser) === undefined) return cost
  }
  return cost
}

function noCost(): ParserCost {
  return { quarter: [], half: [], full: [], slowness: [] }
}

/** Node offers no other way than a flag for the whole process. */
const collectGarbage = findCollector()
function findCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect !== 'function') throw new Error('this Node has no garbage collection function')
  return () => void Reflect.apply(collect, undefined, [])
}

/** At the largest size: a lower cost does no harm, however it grows. */
const negligibleMilliseconds = 1
function isNegligible({ full }: ParserCost): boolean {
  return Math.min(...full) < negligibleMilliseconds
}

/** Returns the problem with a cost, or undefined if there is none. */
export function objectionTo(
  cost: ParserCost,
  { authenticated, millisecondsMax = authenticated ? Infinity : anonymousMillisecondsMax }: MeasuredParser,
): string | undefined {
  if (isNegligible(cost)) return undefined
  const least = Math.min(...cost.full)
  const half = Math.min(...growthsOf(cost, 'half'))
  const quarter = Math.min(...growthsOf(cost, 'quarter'))
  if (half > growthMax.half && quarter > growthMax.quarter)
    return `${least} ms are ${half} times as much as for half of the input, and ${quarter} times as for a quarter`
  const slowness = Math.max(1, medianOf(cost.slowness))
  return least / slowness < millisecondsMax ? undefined : `It takes ${least} ms on a machine ${slowness} times as slow`
}

/**
 * Returns the growth by each measure. Each has its own disturbance: a lucky sample of the smaller size affects the
 * minimum, a busy machine the median, and disturbing one of each round the rounds. Quadratic cost grows by all of them.
 */
function growthsOf({ full, ...cost }: ParserCost, size: keyof typeof growthMax): number[] {
  const smaller = cost[size]
  // Only a parser that takes a second for its input runs out of time before.
  if (smaller.length === 0) return [Infinity]
  const growths = full.map((milliseconds, round) => milliseconds / (smaller[round] ?? Infinity))
  return [Math.min(...full) / Math.min(...smaller), medianOf(full) / medianOf(smaller), medianOf(growths)]
}

function medianOf(samples: number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Infinity
}

/** Returns the average of as many calls as take at least this long. */
async function sampleOf(
  parse: MeasuredParser['parse'],
  input: string,
  { millisecondsMin, clock }: { millisecondsMin: number; clock: Clock },
): Promise<number> {
  const before = clock()
  for (let calls = 1; ; calls += 1) {
    await settle(parse, input)
    const milliseconds = clock() - before
    if (milliseconds >= millisecondsMin) return milliseconds / calls
  }
}

function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs a parser. Parsers reject input by throwing, which is part of their cost; an internal error is not. */
async function settle(parse: MeasuredParser['parse'], input: string): Promise<void> {
  try {
    await parse(input)
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) throw error
  }
}
