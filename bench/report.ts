import { figureNames, type FigureName, type Round } from './figures.ts'

/** What a contender came to: the medians of its rounds, and the memory that it held at the end. */
export type Result = { name: string; medians: Round; megabytes: number }

/** At most so much of a peer's processor time may ours be. */
const budgets: Record<string, Record<FigureName, number>> = {
  'oidc-provider': { 'code grant': 0.6, 'refresh grant': 0.75, userinfo: 0.5, 'key set': 0.6, discovery: 0.6 },
  'better-auth': { 'code grant': 0.12, 'refresh grant': 0.12, userinfo: 0.06, 'key set': 0.06, discovery: 0.06 },
}

/** The results as Markdown: one table of processor time, one of ratios against the budgets, one of the rest. */
export function reportOf([ours, ...peers]: Result[]): string {
  if (!ours) throw new Error('there are no results')
  const all = [ours, ...peers]
  return [
    'Processor time of the server for each request, in µs:',
    table(
      ['', ...all.map(({ name }) => name)],
      figureNames.map((figure) => [figure, ...all.map(({ medians }) => medians[figure].microseconds.toFixed(0))]),
    ),
    'Of the database beside it, in µs:',
    table(
      ['', ...all.map(({ name }) => name)],
      figureNames.map((figure) => [figure, ...all.map(({ medians }) => databaseTime(medians, figure))]),
    ),
    'The ratio of ours to each peer, and what it may be at the most:',
    table(
      ['', ...peers.flatMap(({ name }) => [`to ${name}`, 'budget', ''])],
      figureNames.map((figure) => [figure, ...peers.flatMap((peer) => ratio(ours, peer, figure))]),
    ),
    'Ours, with 32 requests in flight on the machine that also sends them:',
    table(
      ['', 'a second', 'p50 ms', 'p99 ms'],
      figureNames.map((figure) => {
        const { perSecond, p50, p99 } = ours.medians[figure]
        return [figure, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)]
      }),
    ),
    `Memory held at the end, in MB: ${all.map(({ name, megabytes }) => `${name} ${megabytes.toFixed(0)}`).join(', ')}.`,
  ].join('\n\n')
}

function databaseTime(medians: Round, figure: FigureName): string {
  const { databaseMicroseconds } = medians[figure]
  return databaseMicroseconds < 1 ? '–' : databaseMicroseconds.toFixed(0)
}

function ratio(ours: Result, peer: Result, figure: FigureName): string[] {
  const measured = ours.medians[figure].microseconds / peer.medians[figure].microseconds
  const budget = budgets[peer.name]?.[figure]
  const verdict = budget === undefined ? '' : measured <= budget ? 'met' : 'not met'
  return [measured.toFixed(2), budget === undefined ? '' : `≤ ${budget}`, verdict]
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const rule = line(head.map((_, index) => (index === 0 ? '---' : '---:')))
  return [line(head), rule, ...rows.map(line)].join('\n')
}
