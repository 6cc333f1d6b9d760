import { Client, type Dispatcher, Pool } from 'undici'

/** One HTTP request as a client would send it. */
export type Call = { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; body?: string }

export type Answer = { status: number; body: string; milliseconds: number }

/** Sends the calls, `inFlight` at a time over as many connections, each as soon as there is room. */
export async function drive(calls: Call[], inFlight: number): Promise<Answer[]> {
  const answers: Answer[] = []
  const queue = calls.entries()
  const lane = async () => {
    const client = new Client(originOf(calls))
    for (const [index, call] of queue) answers[index] = await send(call, client)
    await client.close()
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return answers
}

/** Sends the calls at an even rate, whether or not the earlier ones were answered. */
export async function drip(calls: Call[], perSecond: number): Promise<Answer[]> {
  const pool = new Pool(originOf(calls), { connections: 256 })
  const began = performance.now()
  const answers = calls.map(async (call, index) => {
    await until(began + (index * 1000) / perSecond)
    return send(call, pool)
  })
  const all = await Promise.all(answers)
  await pool.close()
  return all
}

/**
 * One call and its answer. What sends the load must take less of the processor than what bears it: else the server
 * falls asleep between two requests, and what is measured is how dear it is to wake it. So without streams or promises
 * in between.
 */
function send({ method, url, headers, body }: Call, client: Dispatcher): Promise<Answer> {
  const began = performance.now()
  const { pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    let status = 0
    const chunks: Buffer[] = []
    client.dispatch(
      { method, path: pathname + search, headers: headers ?? {}, body: body ?? null },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          resolve({ status, body: Buffer.concat(chunks).toString(), milliseconds: performance.now() - began })
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

function originOf([first]: Call[]): string {
  if (!first) throw new Error('There is nothing to send')
  return new URL(first.url).origin
}

function until(instant: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, instant - performance.now()))
  })
}
