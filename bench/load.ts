import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** One HTTP request as a client would send it. */
export type Call = { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; body?: string }

export type Answer = { status: number; body: string; milliseconds: number }

/** Sends the calls, `inFlight` at a time over as many connections, each as soon as there is room. */
export async function drive(calls: Call[], inFlight: number): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight })
  const answers: Answer[] = []
  const queue = calls.entries()
  const lane = async () => {
    for (const [index, call] of queue) answers[index] = await send(call, agent)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  agent.destroy()
  return answers
}

/** Sends the calls at an even rate, whether or not the earlier ones were answered. */
export async function drip(calls: Call[], perSecond: number): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const began = performance.now()
  const answers = calls.map(async (call, index) => {
    await until(began + (index * 1000) / perSecond)
    return send(call, agent)
  })
  const all = await Promise.all(answers)
  agent.destroy()
  return all
}

async function send({ method, url, headers, body }: Call, agent: Agent): Promise<Answer> {
  const began = performance.now()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = request(url, { method, agent, headers: { ...headers, ...length } }).end(body)
  const [response] = await once(sent, 'response')
  const read = await text(response)
  return { status: response.statusCode, body: read, milliseconds: performance.now() - began }
}

function until(instant: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, instant - performance.now()))
  })
}
