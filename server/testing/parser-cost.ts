/**
 * Measures what a parser costs in processor time. Time on the clock would say how busy the machine is; processor time
 * still varies with what else is in the caches and on the heap, so several samples of both sizes count, taken in turn.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Inputs that may cost much, each built to about a size. */
export type Shapes = Record<string, (size: number) => string>

/** A parser of untrusted input, and the inputs that may cost it most. */
export type MeasuredParser = {
  /** The largest input that reaches the parser, in the unit in which the shapes are built. */
  sizeMax: number
  /** Refusing an input is part of parsing it. */
  parse: (input: string) => unknown
  shapes: Shapes
  /** Only callers who have proved who they are get this far, so that the absolute limit does not apply. */
  authenticated?: true
  /** What it may take at the largest size nevertheless. */
  millisecondsMax?: number
}

/** As many copies of a part as there is room for, in what surrounds them. */
export function between(whole: (content: string) => string, part: string): (size: number) => string {
  return (size) => whole(part.repeat(Math.max(0, Math.floor((size - whole('').length) / part.length))))
}

export function repeated(part: string): (size: number) => string {
  return between((content) => content, part)
}

/** Milliseconds of processor time for one call, at the largest size and at half of it, in each pair of samples. */
type ParserCost = { half: number[]; full: number[] }

/**
 * How often a cost is measured that is beyond a limit: what disturbs a measurement passes, and a parser that is slow is
 * so in all of them. Short samples are many, so that some of them are spared by the collection of garbage.
 */
const attempts = [
  { pairs: 3, sampleMilliseconds: 4 },
  { pairs: 25, sampleMilliseconds: 4 },
  { pairs: 25, sampleMilliseconds: 8 },
  { pairs: 15, sampleMilliseconds: 25 },
]
/** What is slow is not measured for longer than this, in all attempts: no disturbance counts for much beside it. */
const measuringMillisecondsMax = 4000

/** By how much the cost may grow where the input doubles: linear, and half as much again for noise. */
const growthMax = 2.5
/** What the largest body may cost that anyone may send. */
export const anonymousMillisecondsMax = 50

/** Measures a parser with both sizes in turn, and again where the cost is beyond a limit. */
export async function measureCost(
  { sizeMax, parse, authenticated }: MeasuredParser,
  build: (size: number) => string,
): Promise<ParserCost> {
  const inputs = { half: build(Math.floor(sizeMax / 2)), full: build(sizeMax) }
  let cost: ParserCost = { half: [], full: [] }
  const before = process.cpuUsage()
  let isRepeated = false
  for (const { pairs, sampleMilliseconds } of attempts) {
    cost = { half: [], full: [] }
    // What others have left on the heap would be collected in the middle of some sample.
    if (isRepeated) collectGarbage()
    isRepeated = true
    for (let pair = 0; pair < pairs; pair += 1) {
      // Each goes first as often, as what the one leaves behind is a cost of the other.
      const sizes = pair % 2 === 0 ? (['half', 'full'] as const) : (['full', 'half'] as const)
      for (const size of sizes) cost[size].push(await sample(parse, inputs[size], sampleMilliseconds))
      if (millisecondsSince(before) > measuringMillisecondsMax) return cost
    }
    if (objectionTo(cost, authenticated) === undefined) return cost
  }
  return cost
}

/** Node has no other way to it, but a flag for the whole process. */
const collectGarbage = findCollector()
function findCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect !== 'function') throw new Error('this Node does not let its garbage be collected')
  return () => void Reflect.apply(collect, undefined, [])
}

/** At the largest size: what costs less does no harm, however it grows. */
const negligibleMilliseconds = 1

/** What is wrong with a cost; undefined where nothing is. */
export function objectionTo({ half, full }: ParserCost, authenticated = false): string | undefined {
  const least = Math.min(...full)
  if (least < negligibleMilliseconds) return undefined
  // Something else disturbs each of them: one lucky sample of the half the least, a machine that is mostly busy the
  // median, and what hits one of each pair the pairs. What is quadratic grows so by all of them.
  const growths = full.map((milliseconds, pair) => milliseconds / (half[pair] ?? Infinity))
  const growth = Math.min(least / Math.min(...half), medianOf(full) / medianOf(half), medianOf(growths))
  if (growth > growthMax) return `${least} ms are ${growth} times as much as for half of the input`
  return authenticated || least < anonymousMillisecondsMax ? undefined : `It takes ${least} ms`
}

function medianOf(samples: number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Infinity
}

/** The average of so many calls that they take at least so long. */
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

/** Parsers refuse by throwing; what that costs belongs to their cost. A fault of ours is none. */
async function settle(parse: MeasuredParser['parse'], input: string): Promise<void> {
  try {
    await parse(input)
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) throw error
  }
}
