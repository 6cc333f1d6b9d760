import { Agent, request } from 'node:http'

export type Asking = { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string }
export type Answer = { status: number; retryAfter: string | undefined; milliseconds: number }

/**
 * Asks in so many lanes at once, in each the next thing as soon as the last was answered, until it is stopped. Comes
 * from an address of its own, where one is given. Status 0 stands for a connection that was cut.
 */
export function beginFlood(lanes: number, next: (nth: number) => Asking, localAddress = '127.0.0.1') {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, localAddress })
  const answers: Answer[] = []
  let asked = 0
  const stopped = new AbortController()
  const flowing = Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!stopped.signal.aborted) answers.push(await ask(agent, next(asked++)))
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

function ask(agent: Agent, { url, method = 'GET', headers = {}, body }: Asking): Promise<Answer> {
  const askedAt = performance.now()
  return new Promise((resolve) => {
    const done = (status: number, retryAfter?: string) =>
      resolve({ status, retryAfter, milliseconds: performance.now() - askedAt })
    const asking = request(url, { agent, method, headers }, (response) => {
      response.resume().once('close', () => done(response.statusCode ?? 0, response.headers['retry-after']))
    })
    asking.once('error', () => done(0)).end(body)
  })
}

/** How many answers there were of each status, for a person. */
export function countStatuses(answers: Answer[]): string {
  const counts = new Map<number, number>()
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
}
