import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Countersign } from './countersign.ts'
import { inTurn, measure, medianOf, type Figure } from './measurements.ts'
import type { Call } from './load.ts'
import { newSignature, verificationRequest } from './signature.ts'

/** The maximum ratio of our verification to the bare route. */
const budget = 1.25
const factor = 3

/**
 * Measures verifying a signature and reading the status of a request, and a bare Fastify route that makes the same call
 * of `node:crypto`, in rounds; the first is not counted. Returns Markdown.
 */
export async function compareSigning(ours: Countersign, rounds: number, requests: number, databasePid: number) {
  await using bare = await startBareRoute()
  const runs: Record<string, { pid: number; call: Call; figures: Figure[] }> = {
    'a bare Fastify route': { ...bare, figures: [] },
    'verify a signature': { pid: ours.pid, call: ours.verify, figures: [] },
    'read the status of a request': { pid: ours.pid, call: ours.status, figures: [] },
  }
  for (let round = 0; round <= rounds; round += 1)
    for (const { pid, call, figures } of inTurn(Object.values(runs), round)) {
      const { answers, figure } = await measure(Array<Call>(requests * factor).fill(call), pid, databasePid)
      if (answers.some(({ status }) => status !== 200)) throw new Error(`unexpected response from ${call.url}`)
      if (round > 0) figures.push(figure)
    }
  const least = costOf(runs['a bare Fastify route']?.figures ?? [])
  const lines = Object.entries(runs).map(([what, { figures }]) => {
    const perSecond = medianOf(figures.map((figure) => figure.perSecond))
    const cells = [costOf(figures).toFixed(0), perSecond.toFixed(0), (costOf(figures) / least).toFixed(2)]
    return `| ${[what, ...cells].join(' | ')} |`
  })
  const ratio = costOf(runs['verify a signature']?.figures ?? []) / least
  return [
    'Signing, compared with a bare Fastify route that makes the same call of `node:crypto`:',
    ['|  | µs | per second | ratio |', '| --- | ---: | ---: | ---: |', ...lines].join('\n'),
    `Verification may cost ${budget} times the bare route: ${ratio <= budget ? 'met' : 'not met'}.`,
  ].join('\n\n')
}

function costOf(figures: Figure[]): number {
  return medianOf(figures.map(({ microseconds }) => microseconds))
}

async function startBareRoute() {
  const child = fork(join(import.meta.dirname, 'bare-verify.ts'), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [origin] = await once(child, 'message')
  return {
    pid: child.pid ?? 0,
    call: verificationRequest(`${String(origin)}/verify`, newSignature().verification),
    async [Symbol.asyncDispose]() {
      child.disconnect()
    },
  }
}
