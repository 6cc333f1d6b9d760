import { Agent, request } from 'node:http'

export type FloodRequest = { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string }
export type Answer = { status: number; retryAfter: string | undefined; milliseconds: number }

/**
 * Sends requests in that many lanes until it is stopped; each lane sends the next one after the previous response. Uses
 * its own source address, if one is given. Status 0 means that the connection was lost.
 */
export function beginFlood(lanes: number, next: (nth: number) => FloodRequest, localAddress = '127.0.0.1') {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, localAddress })
  const answers: Answer[] = []
  let count = 0
  const stopped = new AbortController()
  const flowing = Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!stopped.signal.aborted) answers.push(await send(agent, next(count++)))
    }),
  )
  return {
    answers,
    async stop(): Promise<Answer[]> {
      stopped.abort()
      await flowing
      agent.destroy()
      return answers
    },
  }
}

function send(agent: Agent, { url, method = 'GET', headers = {}, body }: FloodRequest): Promise<Answer> {
  const sentAt = performance.now()
  return new Promise((resolve) => {
    const done = (status: number, retryAfter?: string) =>
      resolve({ status, retryAfter, milliseconds: performance.now() - sentAt })
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume().once('close', () => done(response.statusCode ?? 0, response.headers['retry-after']))
    })
    sent.once('error', () => done(0)).end(body)
  })
}

/** Formats the number of responses of each status. */
export function countStatuses(answers: Answer[]): string {
  const counts = new Map<number, number>()
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
}
