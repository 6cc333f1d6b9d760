import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { checkpointOf, consistencyOf, eventsOf, type LyingLog } from './lying-log.ts'

type Answer = { status?: number; body: unknown } | 'hang up'
type Query = { path: string; parameters: URLSearchParams; body: Record<string, unknown> }

/** Answers of one kind, which a test replaces to lie. */
export type Answers = {
  /** Page of an identity's leaves. */
  identity: (identityId: string, start: number) => Answer | Promise<Answer>
  consistency: (from: number, to: number) => Answer
  checkpoint: () => Answer
  keys: () => Answer
  opened: (requested: Record<string, unknown>) => Answer | Promise<Answer>
  status: (requestId: string) => Answer
}

/**
 * Service with a log of the test. It answers consistently with that log, except where a test replaces an answer; `sent`
 * counts the signing requests that reached it.
 */
export async function openLyingService(t: TestContext, log: LyingLog, publicKey: () => string) {
  const sent: Record<string, unknown>[] = []
  const paths: string[] = []
  const honest: Answers = {
    identity: (identityId, start) => ({ body: pageOf(log, identityId, { start }) }),
    consistency: (from, to) => ({ body: { from, to, hashes: consistencyOf(log, from, to) } }),
    checkpoint: () => ({ body: checkpointOf(log) }),
    keys: () => ({ body: { keys: [], origin: log.origin, verifierKey: log.trusted.verifierKey } }),
    opened: () => ({ status: 201, body: { requestId: randomUUID(), publicKey: publicKey(), expiresAt: later() } }),
    status: () => 'hang up',
  }
  const answers = { ...honest }
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    paths.push(pathname)
    const body = request.method === 'POST' ? ((await json(request)) as Record<string, unknown>) : undefined
    if (body) sent.push(body)
    const answer = await choose(answers, { path: pathname, parameters: searchParams, body: body ?? {} })
    if (answer === 'hang up') return void response.destroy()
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    response.writeHead(answer.status ?? 200).end(text)
  }
  const server = createServer((request, response) => {
    reply(request, response).catch((error: Error) => response.destroy(error))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the lying service has no port')
  const baseUrl = `http://localhost:${address.port}`
  const settings = { baseUrl, authUrl: baseUrl, clientId: 'app_test', clientSecret: 'cs_test' }
  return { settings, honest, answers, sent, paths }
}

/** Lists leaves of an identity as the service answers; `size` is that of an earlier tree. */
export function pageOf(
  log: LyingLog,
  identityId: string,
  { start = 0, count = 100, size = log.leaves.length }: { start?: number; count?: number; size?: number } = {},
) {
  const events = eventsOf(log, identityId, size).filter(({ index }) => index >= start)
  const page = { checkpoint: checkpointOf(log, size), events: events.slice(0, count) }
  return { ...page, nextStart: events[count]?.index ?? null }
}

export function later(): string {
  return new Date(Date.now() + 300_000).toISOString()
}

async function choose(answers: Answers, { path, parameters, body }: Query): Promise<Answer> {
  const [, room, kind = '', name = ''] = path.slice('/api'.length).split('/')
  const numberOf = (parameter: string) => Number(parameters.get(parameter) ?? 0)
  if (room === 'signing') return path.endsWith('/status') ? answers.status(name) : answers.opened(body)
  if (kind === 'identities') return answers.identity(name, numberOf('start'))
  if (kind === 'consistency') return answers.consistency(numberOf('from'), numberOf('to'))
  return kind === 'jwks' ? answers.keys() : answers.checkpoint()
}
