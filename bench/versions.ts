import { figureNames, medianOf, type FigureName, type Round } from './measurements.ts'

/**
 * Compares the rounds of two versions as a table: for each measurement the median and the range of the processor time
 * of a request, in µs, and if each median is within the range of the other.
 */
export function describeVersions(former: Round[], present: Round[]): string {
  const rows = figureNames.map((name) => {
    const [before, now] = [spreadOf(former, name), spreadOf(present, name)]
    const alike = isWithin(before.median, now) && isWithin(now.median, before)
    const ratio = (now.median / before.median).toFixed(2)
    return `| ${name} | ${describe(before)} | ${describe(now)} | ${ratio} | ${alike ? 'yes' : 'no'} |`
  })
  return ['|  | other version | this one | ratio | alike |', '| --- | ---: | ---: | ---: | --- |', ...rows].join('\n')
}

type Spread = { median: number; least: number; most: number }

function spreadOf(rounds: Round[], name: FigureName): Spread {
  const values = rounds.map((round) => round[name].microseconds)
  return { median: medianOf(values), least: Math.min(...values), most: Math.max(...values) }
}

function isWithin(value: number, { least, most }: Spread): boolean {
  return value >= least && value <= most
}

function describe({ median, least, most }: Spread): string {
  return `${median.toFixed(0)} (${least.toFixed(0)}–${most.toFixed(0)})`
}
