/**
 * Measures the cost of a parser in processor time. Wall time would show how busy the machine is. Processor time still
 * varies with caches and heap, so several samples of both sizes are taken in turn.
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
 * Milliseconds of processor time per call, at the largest size and at half of it, and how slow the machine was, for
 * each pair of samples.
 */
type ParserCost = { half: number[]; full: number[]; slowness: number[] }

/**
 * Number of measurements of a cost beyond a limit: disturbances pass, but a slow parser is slow in all of them. Short
 * samples are numerous, so that some of them avoid garbage collection.
 */
const attempts = [
  { pairs: 3, sampleMilliseconds: 4 },
  { pairs: 25, sampleMilliseconds: 4 },
  { pairs: 25, sampleMilliseconds: 8 },
  { pairs: 15, sampleMilliseconds: 25 },
]
/** Maximum time for measuring a slow parser, in all attempts: compared with this, disturbances are small. */
const measuringMillisecondsMax = 4000

/** Maximum growth of the cost for twice the input: linear, plus half as much for noise. */
const growthMax = 2.5
/** Maximum growth, by any measure, that needs no further attempt: a few samples can hide the rest of a worse growth. */
const linearGrowthMax = 2.3
/** Maximum cost of the largest body that unauthenticated callers can send, on the ordinary machine. */
export const anonymousMillisecondsMax = 50

/** Measures a parser with both sizes in turn, and again if the cost is beyond a limit. */
export async function measureCost(parser: MeasuredParser, build: (size: number) => string): Promise<ParserCost> {
  const { sizeMax, parse } = parser
  const inputs = { half: build(Math.floor(sizeMax / 2)), full: build(sizeMax) }
  let cost: ParserCost = { half: [], full: [await sample(parse, inputs.full, 0)], slowness: [] }
  if (isNegligible(cost)) return cost
  const before = process.cpuUsage()
  let isRepeated = false
  for (const { pairs, sampleMilliseconds } of attempts) {
    cost = { half: [], full: [], slowness: [] }
    // Otherwise garbage of earlier code would be collected during some sample.
    if (isRepeated) collectGarbage()
    isRepeated = true
    for (let pair = 0; pair < pairs; pair += 1) {
      // Each goes first equally often, because one leaves costs for the other.
      const sizes = pair % 2 === 0 ? (['half', 'full'] as const) : (['full', 'half'] as const)
      for (const size of sizes) cost[size].push(await sample(parse, inputs[size], sampleMilliseconds))
      cost.slowness.push(measureSlowness())
      if (isNegligible(cost) || millisecondsSince(before) > measuringMillisecondsMax) return cost
    }
    if (Math.max(...growthsOf(cost)) <= linearGrowthMax && objectionTo(cost, parser) === undefined) return cost
  }
  return cost
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

/** Returns the problem with a cost, or undefined if there is none. The limit of growth is for twice the input. */
export function objectionTo(
  cost: ParserCost,
  { authenticated, millisecondsMax = authenticated ? Infinity : anonymousMillisecondsMax }: MeasuredParser,
): string | undefined {
  if (isNegligible(cost)) return undefined
  const least = Math.min(...cost.full)
  const growth = Math.min(...growthsOf(cost))
  if (growth > growthMax) return `${least} ms are ${growth} times as much as for half of the input`
  const slowness = Math.max(1, medianOf(cost.slowness))
  return least / slowness < millisecondsMax ? undefined : `It takes ${least} ms on a machine ${slowness} times as slow`
}

/**
 * Returns the growth by each measure. Each has its own disturbance: a lucky sample of half the size affects the
 * minimum, a busy machine the median, and disturbing one of each pair the pairs. Quadratic cost grows by all of them.
 */
function growthsOf({ half, full }: ParserCost): number[] {
  const growths = full.map((milliseconds, pair) => milliseconds / (half[pair] ?? Infinity))
  return [Math.min(...full) / Math.min(...half), medianOf(full) / medianOf(half), medianOf(growths)]
}

function medianOf(samples: number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Infinity
}

/** Returns the average of as many calls as take at least this long. */
async function sample(parse: MeasuredParser['parse'], input: string, millisecondsMin: number): Promise<number> {
  const before = process.cpuUsage()
  for (let calls = 1; ; calls += 1) {
    await settle(parse, input)
    const milliseconds = millisecondsSince(before)
    if (milliseconds >= millisecondsMin) return milliseconds / calls
  }
}

function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
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
