import { medianOf } from './measurements.ts'
import { table } from './report.ts'
import { costsOf, ratiosOf, serverOf, spreadOf, sumOf, wholeOf, type Cost, type Sample } from './samples.ts'
import { signInSteps, signingSteps, tokenSteps } from './sign-in-steps.ts'
import type { Starts } from './start.ts'

const ours = 'Countersign'
export const bare = 'bare'
export const levels = [1, 4, 32]

export type SignInResults = {
  samples: Sample[]
  peers: string[]
  /** Resident memory of the service after that many requests. */
  memory: { megabytes: number; requests: number }
  service: Starts
  command: Starts
}

const limitNote = `The limit of userinfo is a server of \`node:http\` that only looks up the token, in one statement
for all requests of a turn of the event loop. The rest of a sign-in are its steps before the code grant.`

const peerNotes: Record<string, string> = {
  'oidc-provider': ', which has no database',
  Hydra: `, which runs on the same PostgreSQL, with JWT access tokens and ES256, without a log of
requests, and with one iteration of PBKDF2 for the client's secret instead of 25,000`,
}

/** Returns the results as Markdown: the steps, the ratios to other providers, memory, start, and the budgets. */
export function signInReportOf({ samples, peers, memory, service, command }: SignInResults): string {
  return [
    'Processor time of the server + the database for a request, in µs, by the number of requests in flight:',
    table(['', ...levels.map((level) => `${level} in flight`)], stepRows(samples)),
    limitNote,
    ...peers.flatMap((peer) => [
      `Ours as a ratio of ${peer}${peerNotes[peer] ?? ''}:`,
      table(['', ...levels.map((level) => `${level} in flight`)], ratioRows(samples, peer)),
    ]),
    'Processor time of a start in seconds, from compiled code as with `npm start`, and from source:',
    table(
      ['', 'compiled', 'source'],
      [
        ['the service, until it is ready', spreadOf(service.compiled, 2), spreadOf(service.source, 2)],
        ['`countersign --help`', spreadOf(command.compiled, 2), spreadOf(command.source, 2)],
      ],
    ),
    `Memory of the worker after ${memory.requests.toLocaleString('en')} requests: ${memory.megabytes.toFixed(0)} MB.`,
    'The budgets, compared with the medians before they are rounded (0.60 can be more than 0.6):',
    table(['', 'measured', 'budget', ''], [...budgetRows(samples), ...otherBudgetRows(memory.megabytes, service)]),
  ].join('\n\n')
}

function stepRows(samples: Sample[]): string[][] {
  const describe = (costs: Cost[]) =>
    `${spreadOf(costs.map(serverOf))} + ${medianOf(costs.map(({ database }) => database)).toFixed(0)}`
  const row = (name: string, costsAt: (inFlight: number) => Cost[]) => [
    name,
    ...levels.map((inFlight) => describe(costsAt(inFlight))),
  ]
  const step = (name: string) => row(name, (inFlight) => costsOf(samples, { name: ours, step: name, inFlight }))
  return [
    ...signInSteps.map(step),
    row('a sign-in, of all above', (inFlight) => sumOf(samples, { name: ours, steps: signInSteps, inFlight })),
    ...tokenSteps.slice(1).map(step),
    row('limit of userinfo', (inFlight) => costsOf(samples, { name: bare, step: 'userinfo', inFlight })),
    ...signingSteps.map(step),
  ]
}

function ratioRows(samples: Sample[], peer: string): string[][] {
  const row = (step: string, what: string, part: (cost: Cost) => number) => [
    `${step}, ${what}`,
    ...levels.map((inFlight) => spreadOf(ratiosTo(samples, peer, { step, inFlight, part }), 2)),
  ]
  return tokenSteps.flatMap((step) => [row(step, 'server', serverOf), row(step, 'with the database', wholeOf)])
}

type Comparison = { step: string; inFlight: number; part: (cost: Cost) => number }

function ratiosTo(samples: Sample[], peer: string, { step, inFlight, part }: Comparison): number[] {
  const costsFrom = (name: string) => costsOf(samples, { name, step, inFlight })
  return ratiosOf(costsFrom(ours), costsFrom(peer), part)
}

/** The budgets of requests. Without a word of the database, they are about the server alone. */
function budgetRows(samples: Sample[]): string[][] {
  const inFlight = 32
  const toPeer = (step: string, comparison: Omit<Comparison, 'step'>, budget: number) => {
    const what = comparison.part === wholeOf ? ', with the database' : ''
    const ratios = ratiosTo(samples, 'oidc-provider', { step, ...comparison })
    return budgetRow(`${step} to oidc-provider, ${comparison.inFlight} in flight${what}`, ratios, budget)
  }
  const own = (step: string) => costsOf(samples, { name: ours, step, inFlight })
  const limit = costsOf(samples, { name: bare, step: 'userinfo', inFlight })
  const before = sumOf(samples, { name: ours, steps: signInSteps.filter((step) => step !== 'code grant'), inFlight })
  const peersMeasured = samples.some(({ name }) => name === 'oidc-provider')
  return [
    ...(peersMeasured
      ? [
          toPeer('code grant', { inFlight, part: serverOf }, 0.6),
          toPeer('refresh grant', { inFlight, part: serverOf }, 0.75),
          toPeer('code grant', { inFlight, part: wholeOf }, 1),
          toPeer('refresh grant', { inFlight, part: wholeOf }, 1),
          toPeer('code grant', { inFlight: 1, part: serverOf }, 1.1),
          toPeer('refresh grant', { inFlight: 1, part: serverOf }, 1.1),
        ]
      : []),
    budgetRow('userinfo to its limit', ratiosOf(own('userinfo'), limit, serverOf), 1.5),
    budgetRow('introspection to userinfo', ratiosOf(own('introspection'), own('userinfo'), serverOf), 1.5),
    budgetRow('the rest of a sign-in to its code grant', ratiosOf(before, own('code grant'), serverOf), 4),
    budgetRow('the same, with the database', ratiosOf(before, own('code grant'), wholeOf), 4),
  ]
}

function otherBudgetRows(megabytes: number, { compiled }: Starts): string[][] {
  return [
    ['memory of a worker', `${megabytes.toFixed(0)} MB`, '≤ 180 MB', verdictOf(megabytes, 180)],
    ['processor time of a start', `${spreadOf(compiled, 2)} s`, '≤ 1.2 s', verdictOf(medianOf(compiled), 1.2)],
  ]
}

function budgetRow(name: string, ratios: number[], budget: number): string[] {
  return [name, spreadOf(ratios, 2), `≤ ${budget}`, verdictOf(medianOf(ratios), budget)]
}

function verdictOf(measured: number, budget: number): string {
  return measured <= budget ? 'met' : 'not met'
}
