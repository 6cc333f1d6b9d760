import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Result } from './report.ts'

const docs = join(import.meta.dirname, '..', 'docs')

const page = join(docs, 'benchmarks.md')

/** Writes docs/benchmarks.md: the tables, a chart, and the method. Keeps the section about a whole sign-in. */
export function writeReport(results: Result[], report: string): void {
  const { signIn } = readPage()
  writeFileSync(join(docs, 'pictures', 'benchmarks.svg'), chartOf(results))
  writeFileSync(page, `${introduction(results)}\n${report}\n\n${signIn}${explanation}`)
}

/** Writes the section of docs/benchmarks.md about a whole sign-in. */
export function writeSignInReport(report: string): void {
  const { before } = readPage()
  writeFileSync(page, `${before}${signInHeading}\n\n${signInIntroduction()}\n\n${report}\n\n${explanation}`)
}

function readPage(): { before: string; signIn: string } {
  const text = readFileSync(page, 'utf8').split(explanationHeading)[0] ?? ''
  const [before = '', signIn] = text.split(`${signInHeading}\n`)
  return { before, signIn: signIn === undefined ? '' : `${signInHeading}\n${signIn}` }
}

const signInHeading = '## A whole sign-in'
const explanationHeading = '## Where the time goes'

const explanation = `${explanationHeading}

A peer that keeps everything in memory never waits for a database, writes no log, and loses its data when it ends. Of
the processor time of our code and refresh grants, the two signatures take a quarter; HTTP in Node and Fastify, with the
security headers and the log line, takes a seventh; garbage collection takes a tenth. The rest is spread over the
database's protocol, promises and JSON. No single function of ours takes more than 3 %.
[Decision 7](decisions/0007-statement-batching.md) describes how the database's share was reduced.

The code grant is near its budget next to \`oidc-provider\`. The refresh grant misses its own: it writes to a database,
and the peer keeps its tokens in a Map. The steps before the code grant cost nineteen times as much as the code grant,
instead of four. At 32 requests in flight, 37 % of a sign-in is its finish: the assertion of the passkey, and a
transaction that writes its use, the session and the audit event of one user. The authorization takes 26 %. Concurrent
code grants share their statements, so that each costs about a third of one alone; steps that check and lock the rows of
one user have a transaction of their own. [Decision 38](decisions/0038-pipelined-transactions.md) made these cheaper by
a third to a half.

Ory Hydra is compared where Go is installed. Like Countersign, it issues JWTs as access tokens here. With its default,
opaque ones, its grants take a fifth less of its processor time, and userinfo and introspection a third less (one run
of each, on a busy machine).

## Start and memory

\`node bench/sign-in.ts\` measures both, and compares them with a budget: 1.2 s of processor time until the service is
ready, and 180 MB after 200,000 requests. The start meets it while nothing else uses the machine. The memory does not.

A start with PostgreSQL takes 0.88 s from compiled code, and 1.38 s from source, and up to 1.6 s and 2.3 s on the same
kind of machine while others use it. Half of it is Node's work for modules, before any of them runs: it resolves and
opens each of them, and links their imports. 730 modules are the service's own, some 540 those of typebox, 270 those of
the WebAuthn library and 255 those of kysely, which have no narrower entry for what the service uses. A seventh is
running the modules, and a fifth registering 842 routes in Fastify. Within these, V8 takes a tenth to compile Node's
module loader in other threads. Schemas, serializers and the OpenAPI document are created at the first request that
needs them. One file instead of all these modules would save most of the first half, but the server runs what is in the
repository, without a build.

After 200,000 requests and a garbage collection, the heap holds 57 MB: 18 MB are the text of modules and other strings,
19 MB compiled code and what describes it, 20 MB objects, arrays and functions. The pages of Node's program take 58 MB.
The rest is garbage that is not yet collected, and memory that was freed and stays with the process: 220 MB in all as a
median of 80,000 requests, and up to 307 MB. Collecting it sooner [costs processor
time](operations/scaling.md#memory).

## Half of the peak load, with faults

\`npm run faults -- --soak\` finds the peak load of users who sign in, connect apps, refresh, read and disconnect. Then
it sends half of it for thirty minutes, while one more user signs texts, and kills or freezes the database once in two
minutes. A run of 2026-11-28, on a machine that did other work with the lowest priority: 211,693 turns at 117 a second.
Nothing that was acknowledged was lost, and no revoked or used token was accepted. Amid the faults, 3,030 requests had
no certain answer. Outside of them, each of 48,803 starts of a sign-in succeeded, half of them within 6.1 ms and 99 %
within 91 ms. The service held 61 MB after a fifth of the time and at the end, and its resident memory stayed at 209 MB.

## Growth

\`node bench/scale.ts\` lets every table grow to 10,000 rows, to 100,000 and to 1,000,000 (40 GB), and counts the
blocks of 8 kB that each of 356 requests reads, next to those at the first size. A run of 2026-11-29:

| Rows | Plans | Statistics | Median | Beyond 1.3 | Beyond 1.5 |
| ---: | --- | --- | ---: | ---: | ---: |
| 100,000 | of each execution | from before the growth | 1.28 | 144 | 16 |
| 100,000 | for all values | from before the growth | 1.27 | 138 | 10 |
| 1,000,000 | of each execution | from before the growth | 1.31 | 189 | 24 |
| 1,000,000 | of each execution | present | 1.31 | 187 | 29 |
| 1,000,000 | for all values | from before the growth | 1.30 | 179 | 14 |
| 1,000,000 | for all values | present | 1.31 | 195 | 26 |

An index of random keys has one level more at 100,000 rows, so that a lookup reads four blocks instead of three. The
goal of 1.3 for every request is therefore missed. A table of 1,000,000 rows has ten times as many, and a median
request reads hardly more. More is read by the export of the audit log (60 to 65 times as much as at 10,000 rows)
and its stream (4 to 11 times), which read the log itself, by the export of the configuration (3 to 5 times), and by
the groups of a directory (\`GET /scim/v2/Groups\`, 16 and then 105 blocks in one of the four cases). All others read
at most 2.9 times as much, or three blocks more. No statement of a request reads 50 blocks among 50,000 rows of
other users, except for [those with a reason](../server/testing/costly-statements.ts) (\`query-cost.test.ts\`).

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

## The log of signing keys

\`node bench/log.ts\` measures the [transparency log](security/key-transparency.md) at two sizes in one run. The program
makes the entries, a tenth of a second apart: keys with their proofs, of which one in ten replaces another. They get
their indexes from the service. Memory and processor time are those that the processes report. A run of 2026-11-24 with
the lowest priority (\`nice -n 19\`) on a busy machine: only the ratio of the two columns is meaningful.

| Processor time of server + database, in µs | 100,000 entries | 1,000,000 entries |
| --- | ---: | ---: |
| a new key, by the API | 4873 + 3664 | 5057 + 4109 |
| index of an entry and signed head, of 500 together | 26 + 68 | 20 + 66 |
| read the head | 358 + 296 | 477 + 504 |
| proof of inclusion | 803 + 726 | 1009 + 450 |
| proof of consistency | 605 + 564 | 784 + 760 |
| entries of an identity, with proofs | 1024 + 889 | 924 + 937 |
| a page of 256 entries | 1553 + 860 | 1471 + 885 |

| \`countersign log watch\` | 100,000 entries | 1,000,000 entries |
| --- | ---: | ---: |
| first run, processor time | 21.7 s | 197.3 s |
| for each entry | 217 µs | 197 µs |
| peak memory | 211 MB | 382 MB |
| state file, for each entry | 128 bytes | 128 bytes |
| next run, with 1,000 more entries | 1.0 s, 144 MB | 1.7 s, 382 MB |

The log takes about 1,100 bytes of the database for each entry, with indexes and the space that a vacuum frees.
`

function signInIntroduction(): string {
  const [day, version] = [today(), process.versions.node]
  return `\`node bench/sign-in.ts --write\` writes this section. Last run: ${day}, Node ${version}, on the same kind of
machine, with one worker and PostgreSQL with \`fsync\` on. Tables show medians of the rounds, with the smallest and the
largest in parentheses. The time of the database includes all of its processes.`
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function introduction(results: Result[]): string {
  const day = today()
  return `# Benchmarks

\`npm run bench -- --write\` writes this page. Last run: ${day}, Node ${process.versions.node}, ${cpus().length} cores
of a shared machine that also runs the load generator and PostgreSQL. Absolute results differ between runs by up to a
factor of two, and ratios by less. Compare results of one run only: each section names its own.

![Processor time per request](pictures/benchmarks.svg)

The tables show the processor time of the server's process per request, with 32 requests in flight. Each round measures
the implementations one after another; the results are medians of the rounds. Countersign runs as in production: rate
limits, audit log, one log line per request, token families with reuse detection, and PostgreSQL with \`fsync\` on. Its
code grant and refresh grant each sign two JWTs with ES256, the access JWT and the ID token.

${results.flatMap(({ name }) => peerDescriptions[name] ?? []).join('\n')}
`
}

const peerDescriptions: Record<string, string> = {
  'oidc-provider': '- `oidc-provider` keeps everything in memory, in Maps, without a database. It signs one JWT.',
  'better-auth':
    '- `better-auth` with its OAuth provider runs on the same PostgreSQL, with its rate limit off. It signs one JWT.',
  Hydra: `- Ory Hydra runs on the same PostgreSQL, without a log of requests. It signs as many JWTs as Countersign,
  and hashes the client's secret with one iteration of PBKDF2 instead of 25,000.`,
}
