import { figureNames, type FigureName, type Round } from './measurements.ts'

/** The results of an implementation: the medians of its rounds, and its memory at the end. */
export type Result = { name: string; medians: Round; megabytes: number }

/** The maximum ratio of our processor time to a peer's. Some peers have none. */
const budgets: Record<string, Record<FigureName, number>> = {
  'oidc-provider': { 'code grant': 0.6, 'refresh grant': 0.75, userinfo: 0.5, 'key set': 0.6, discovery: 0.6 },
  'better-auth': { 'code grant': 0.12, 'refresh grant': 0.12, userinfo: 0.06, 'key set': 0.06, discovery: 0.06 },
}

/** Returns the results as Markdown: a table of processor time, one of ratios and budgets, and one of the rest. */
export function reportOf([ours, ...peers]: Result[]): string {
  if (!ours) throw new Error('no results')
  const all = [ours, ...peers]
  return [
    'Processor time of the server per request, in µs:',
    table(
      ['', ...all.map(({ name }) => name)],
      figureNames.map((figure) => [figure, ...all.map(({ medians }) => medians[figure].microseconds.toFixed(0))]),
    ),
    'Processor time of the database per request, in µs:',
    table(
      ['', ...all.map(({ name }) => name)],
      figureNames.map((figure) => [figure, ...all.map(({ medians }) => databaseTime(medians, figure))]),
    ),
    'Our processor time as a ratio of that of each peer, and the budget:',
    table(
      ['', ...peers.flatMap(({ name }) => [`to ${name}`, ...(budgets[name] ? ['budget', ''] : [])])],
      figureNames.map((figure) => [figure, ...peers.flatMap((peer) => ratio(ours, peer, figure))]),
    ),
    'Ours, with 32 requests in flight on the machine that also sends them:',
    table(
      ['', 'per second', 'p50 ms', 'p99 ms'],
      figureNames.map((figure) => {
        const { perSecond, p50, p99 } = ours.medians[figure]
        return [figure, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)]
      }),
    ),
    `Memory at the end, in MB: ${all.map(({ name, megabytes }) => `${name} ${megabytes.toFixed(0)}`).join(', ')}.`,
  ].join('\n\n')
}

function databaseTime(medians: Round, figure: FigureName): string {
  const { databaseMicroseconds } = medians[figure]
  return databaseMicroseconds < 1 ? '–' : databaseMicroseconds.toFixed(0)
}

function ratio(ours: Result, peer: Result, figure: FigureName): string[] {
  const measured = ours.medians[figure].microseconds / peer.medians[figure].microseconds
  const budget = budgets[peer.name]?.[figure]
  if (budget === undefined) return [measured.toFixed(2)]
  return [measured.toFixed(2), `≤ ${budget}`, measured <= budget ? 'met' : 'not met']
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const rule = line(head.map((_, index) => (index === 0 ? '---' : '---:')))
  return [line(head), rule, ...rows.map(line)].join('\n')
}
