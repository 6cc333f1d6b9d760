import { medianOf } from './measurements.ts'

/** Processor time of a request in a round, in microseconds. */
export type Cost = { server: number; database: number }

/** What was measured of a step of an implementation in a round, with so many requests in flight. */
export type Sample = Cost & { name: string; step: string; inFlight: number }

export type Selection = { name: string; step: string; inFlight: number }

/** The costs of that step, in the order of the rounds. */
export function costsOf(samples: Sample[], { name, step, inFlight }: Selection): Cost[] {
  return samples.filter((each) => each.name === name && each.step === step && each.inFlight === inFlight)
}

/** The sum of the costs of these steps in each round. */
export function sumOf(samples: Sample[], { steps, ...from }: Omit<Selection, 'step'> & { steps: string[] }): Cost[] {
  const columns = steps.map((step) => costsOf(samples, { ...from, step }))
  return (columns[0] ?? []).map((_, round) => ({
    server: total(columns.map((costs) => costs[round]?.server ?? 0)),
    database: total(columns.map((costs) => costs[round]?.database ?? 0)),
  }))
}

export const serverOf = ({ server }: Cost): number => server
export const wholeOf = ({ server, database }: Cost): number => server + database

/** The ratios of the costs, each of one round. */
export function ratiosOf(ours: Cost[], theirs: Cost[], part: (cost: Cost) => number): number[] {
  return ours.map((cost, round) => {
    const other = theirs[round]
    if (!other) throw new Error('both must be measured in each round')
    return part(cost) / part(other)
  })
}

/** Describes numbers by their median and their range. */
export function spreadOf(values: number[], digits = 0): string {
  const [median, least, most] = [medianOf(values), Math.min(...values), Math.max(...values)]
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`
}

function total(values: number[]): number {
  return values.reduce((sum, each) => sum + each, 0)
}
