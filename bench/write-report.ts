import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Result } from './report.ts'

const docs = join(import.meta.dirname, '..', 'docs')

/** Writes what was measured for people to read: the tables, a chart, and how it was done. */
export function writeReport(results: Result[], report: string): void {
  writeFileSync(join(docs, 'pictures', 'benchmarks.svg'), chartOf(results))
  writeFileSync(join(docs, 'benchmarks.md'), `${introduction()}\n${report}\n\n${explanation}`)
}

const explanation = `## What holds a figure back

A peer that keeps everything in memory never sleeps until a database wakes it, writes no log, and forgets all when it
ends. Of our code and refresh grants a quarter is the two signatures, a seventh the HTTP of Node and Fastify with the
security headers and the line of the log, a tenth collecting what was thrown away. The rest is spread thin, over the
database's protocol, promises and JSON: no function of ours takes three hundredths.
[Decision 7](decisions/0007-callers-share-statements.md) is what brought the rest down.
`

function introduction(): string {
  const day = new Date().toISOString().slice(0, 10)
  return `# Benchmarks

\`npm run bench -- --write\` writes this page. Last run: ${day}, Node ${process.versions.node}, ${cpus().length} cores
of a shared machine that also runs the load generator and PostgreSQL. Absolute figures drift by a third from run to run
on such machines: the ratios are what holds.

![Processor time a request](pictures/benchmarks.svg)

Measured is the processor time of the server's process for each request, with 32 requests in flight,
the contenders one after another in every round, medians of the rounds. Everything is as in production: rate limits,
audit trail, one log line a request, lineages with reuse detection, and PostgreSQL with \`fsync\` on. Our code grant and
refresh grant each sign two JWTs with ES256, the access JWT and the ID token; the others sign one.

- \`oidc-provider\` keeps everything in memory, in Maps, and so has no database to wait for.
- \`better-auth\` with its OAuth provider runs on the same PostgreSQL, with its rate limit off.
`
}
