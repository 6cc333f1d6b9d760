import { Client, type Dispatcher, Pool } from 'undici'

/** One HTTP request as a client would send it. */
export type Call = { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; body?: string }

export type Answer = { status: number; body: string; milliseconds: number }

/** Sends the calls, `inFlight` at a time over as many connections, each as soon as a connection is free. */
export async function runLoad(calls: Call[], inFlight: number): Promise<Answer[]> {
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

/** Sends the calls at a constant rate, whether or not the earlier ones were answered. */
export async function sendSlowly(calls: Call[], perSecond: number): Promise<Answer[]> {
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
 * Sends one call and returns its response. The load generator must take less processor time than the server; otherwise
 * the server sleeps between two requests, and the cost of waking it is measured. Therefore it uses neither streams nor
 * promises.
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
  if (!first) throw new Error('No calls to send')
  return new URL(first.url).origin
}

function until(instant: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, instant - performance.now()))
  })
}
