import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../call.ts'
import { Failure } from '../failure.ts'

type Transfer = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: AsyncIterable<Uint8Array> }

const silenceMilliseconds = 30_000

/**
 * One request that takes as long as it takes. Not by `fetch`, which gives up when five minutes pass without an answer,
 * also while it is still sending. Only a connection that is gone is noticed: by TCP, which asks after a silence.
 */
export async function transfer(url: string, { method, headers, body = nothing() }: Transfer): Promise<Response> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const request = send(url, { method, headers })
  request.once('socket', (socket) => socket.setKeepAlive(true, silenceMilliseconds))
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve).once('error', reject)
  answered.catch(() => {})
  const source = Readable.from(body)
  try {
    // Who refuses may answer before everything is sent, and take no more.
    await Promise.race([answered, pipeline(source, request)])
    const message = await answered
    return new Response(Readable.toWeb(message), { status: message.statusCode ?? 502 })
  } catch (cause) {
    if (source.errored) throw source.errored
    throw new Failure(`${url} does not answer (${reasonOf(cause)})`, { cause })
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
