/**
 * `node bench/approval.ts`: measures the server's processor time of starting an approval and of an answer with one,
 * next to an answer with a signature alone, in the same rounds. `--rounds` and `--people` set the duration.
 */
import { parseArgs } from 'node:util'
import { startPostgres } from '../tools/postgres.ts'
import { answerOf } from '../server/testing/approver.ts'
import { callerOf, enroll, startCountersign, type Person } from './countersign.ts'
import type { Answer, Call } from './load.ts'
import { measure, medianOf, type Figure } from './measurements.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, people: { type: 'string', default: '60' } },
})
/** Fewer than may be pending from an app that the identity has not connected. */
const requestsOfEach = 3
/** The rate limits that the load would reach. */
const reached = [
  ...['changes-per-user', 'register-start', 'signing-requests-per-app-and-signer'],
  ...['signing-requests-per-unconnected-app-and-signer', 'signing-requests-of-unconnected-apps-per-signer'],
]

await using cluster = await startPostgres({ durable: true })
await using service = await startCountersign(cluster.url, { reached })
const call = callerOf(service.baseUrl)
type Pending = { person: Person; requestId: string; text: string }

const people: Person[] = []
for (let nth = 0; nth < Number(values.people); nth += 1) people.push(await enroll(call, service.authUrl, `ada-${nth}`))
const figures: Record<'start' | 'with an approval' | 'a signature alone', Figure[]> = {
  'a signature alone': [],
  start: [],
  'with an approval': [],
}
for (let round = 0; round <= Number(values.rounds); round += 1) {
  const alone = async () => ({ 'a signature alone': await run((await createRequests(round)).map(toAnswerAlone)) })
  const approved = async () => {
    const pending = await createRequests(round)
    const start = await run(pending.map(toStart))
    const answers = pending.map((one, index) => toAnswer(one, JSON.parse(start.answers[index]?.body ?? '')))
    return { start, 'with an approval': await run(answers) }
  }
  // The first to run is slower.
  const measured =
    round % 2 === 0 ? { ...(await alone()), ...(await approved()) } : { ...(await approved()), ...(await alone()) }
  if (round === 0) continue
  for (const name of ['a signature alone', 'start', 'with an approval'] as const)
    figures[name].push(measured[name].figure)
}
const costs = Object.entries(figures).map(([name, all]) => ({
  name,
  server: medianOf(all.map(({ microseconds }) => microseconds)),
  database: medianOf(all.map(({ databaseMicroseconds }) => databaseMicroseconds)),
}))
const least = costs[0]?.server ?? 0
console.log('|  | server µs | database µs | ratio |\n| --- | ---: | ---: | ---: |')
for (const { name, server, database } of costs)
  console.log(`| ${name} | ${server.toFixed(0)} | ${database.toFixed(0)} | ${(server / least).toFixed(2)} |`)

/** Creates the requests of a measurement, which are answered in it. */
async function createRequests(round: number): Promise<Pending[]> {
  const pending: Pending[] = []
  for (let nth = 0; nth < requestsOfEach; nth += 1)
    for (const person of people) {
      const invoice = `${round}-${pending.length}`
      const text = `Pay 125.00 € to Ada Lovelace, IBAN DE89 3704 0044 0532 0130 00, for the invoice ${invoice}.`
      const body = { ...service.app, identityId: person.identityId, payload: text, expiresInSeconds: 3600 }
      const { requestId } = await call('POST /api/signing/request', undefined, body)
      pending.push({ person, requestId, text })
    }
  return pending
}

function post({ person, requestId }: Pending, path: string, body: object): Call {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${person.sessionToken}` }
  const url = `${service.baseUrl}/api/signing/requests/${requestId}/${path}`
  return { method: 'POST', url, headers, body: JSON.stringify(body) }
}

function toAnswerAlone(pending: Pending): Call {
  return post(pending, 'sign', { signature: pending.person.pair.sign(pending.text) })
}

function toStart(pending: Pending): Call {
  return post(pending, 'approval', { role: 'self' })
}

function toAnswer(pending: Pending, started: Parameters<typeof answerOf>[1]): Call {
  return post(pending, 'sign', answerOf(pending.person, started, { text: pending.text }))
}

async function run(calls: Call[]): Promise<{ answers: Answer[]; figure: Figure }> {
  const measured = await measure(calls, service.pid, cluster.pid)
  const failed = measured.answers.find(({ status }) => status !== 200)
  if (failed) throw new Error(`unexpected response ${failed.status} ${failed.body}`)
  return measured
}
