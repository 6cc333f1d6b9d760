/**
 * Measures what a parser costs in processor time. Time on the clock would say how busy the machine is; processor time
 * still varies with what else is in the caches and on the heap, so the least of several samples counts.
 */

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

/** Milliseconds of processor time for one call, at the largest size and at half of it, in each sample. */
type ParserCost = { half: number[]; full: number[] }

const sampleMilliseconds = 4
const samplesMin = 3
const samplesMax = 40
/** What is slow is not sampled for longer than this; it has been often enough by then. */
const samplingMillisecondsMax = 2000

/** By how much the cost may grow where the input doubles: linear, and half as much again for noise. */
const growthMax = 2.5
/** What the largest body may cost that anyone may send. */
export const anonymousMillisecondsMax = 50

/** Measures until the cost is within both limits, or has had every chance to be. */
export async function measureCost(
  { sizeMax, parse, authenticated }: MeasuredParser,
  build: (size: number) => string,
): Promise<ParserCost> {
  const [halfInput, fullInput] = [build(Math.floor(sizeMax / 2)), build(sizeMax)]
  const cost: ParserCost = { half: [], full: [] }
  const before = process.cpuUsage()
  for (let samples = 1; samples <= samplesMax; samples += 1) {
    cost.half.push(await sample(parse, halfInput))
    cost.full.push(await sample(parse, fullInput))
    if (samples >= samplesMin && objectionTo(cost, authenticated) === undefined) break
    if (millisecondsSince(before) > samplingMillisecondsMax) break
  }
  return cost
}

/** At the largest size: what costs less does no harm, however it grows. */
const negligibleMilliseconds = 1

/** What is wrong with a cost; undefined where nothing is. */
export function objectionTo({ half, full }: ParserCost, authenticated = false): string | undefined {
  const least = Math.min(...full)
  if (least < negligibleMilliseconds) return undefined
  // A single sample of the half may be lucky with the collection of garbage; what is quadratic is so in most samples.
  const growth = Math.min(least / Math.min(...half), medianOf(full) / medianOf(half))
  if (growth > growthMax) return `${least} ms are ${growth} times as much as for half of the input`
  return authenticated || least < anonymousMillisecondsMax ? undefined : `It takes ${least} ms`
}

function medianOf(samples: number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Infinity
}

/** The average of so many calls that the clock is exact enough. */
async function sample(parse: MeasuredParser['parse'], input: string): Promise<number> {
  const before = process.cpuUsage()
  for (let calls = 1; ; calls += 1) {
    await settle(parse, input)
    const milliseconds = millisecondsSince(before)
    if (milliseconds >= sampleMilliseconds) return milliseconds / calls
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
