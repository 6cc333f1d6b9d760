import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Result } from './report.ts'

const docs = join(import.meta.dirname, '..', 'docs')

/** Writes docs/benchmarks.md: the tables, a chart, and the method. */
export function writeReport(results: Result[], report: string): void {
  writeFileSync(join(docs, 'pictures', 'benchmarks.svg'), chartOf(results))
  writeFileSync(join(docs, 'benchmarks.md'), `${introduction()}\n${report}\n\n${explanation}`)
}

const explanation = `## Where the time goes

A peer that keeps everything in memory never waits for a database, writes no log, and loses its data when it ends. Of
the processor time of our code and refresh grants, the two signatures take a quarter; HTTP in Node and Fastify, with the
security headers and the log line, takes a seventh; garbage collection takes a tenth. The rest is spread over the
database's protocol, promises and JSON. No single function of ours takes more than 3 %.
[Decision 7](decisions/0007-statement-batching.md) describes how the database's share was reduced.

## Approvals

\`node bench/approval.ts\` measures starting an [approval](security/trust.md#approvals) and an answer with one, next to
an answer with a signature alone, in the same rounds. A run of 2026-11-24, with 180 requests of each kind. The machine
was busy with other work, so the absolute results are several times those of an idle one.

|  | server µs | database µs | ratio |
| --- | ---: | ---: | ---: |
| a signature alone | 2271 | 2175 | 1.00 |
| start | 1893 | 1648 | 0.83 |
| with an approval | 5297 | 2774 | 2.33 |

An answer with an approval verifies the assertion of the passkey and a second signature.
`

function introduction(): string {
  const day = new Date().toISOString().slice(0, 10)
  return `# Benchmarks

\`npm run bench -- --write\` writes this page. Last run: ${day}, Node ${process.versions.node}, ${cpus().length} cores
of a shared machine that also runs the load generator and PostgreSQL. On such machines absolute results vary by a third
between runs; the ratios are stable.

![Processor time per request](pictures/benchmarks.svg)

The tables show the processor time of the server's process per request, with 32 requests in flight. Each round measures
the implementations one after another; the results are medians of the rounds. Countersign runs as in production: rate
limits, audit log, one log line per request, token families with reuse detection, and PostgreSQL with \`fsync\` on. Its
code grant and refresh grant each sign two JWTs with ES256, the access JWT and the ID token; the others sign one.

- \`oidc-provider\` keeps everything in memory, in Maps, without a database.
- \`better-auth\` with its OAuth provider runs on the same PostgreSQL, with its rate limit off.
`
}
