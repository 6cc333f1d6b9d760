import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../call.ts'
import { CliError } from '../terminal.ts'

type Transfer = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: AsyncIterable<Uint8Array> }

const silenceMilliseconds = 30_000

/**
 * Sends one request without a total time limit. `fetch` gives up after five minutes without a response, even while it
 * is still sending. A lost connection is detected by TCP keep-alive.
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
    // A server that rejects the request can respond early and stop reading.
    await Promise.race([answered, pipeline(source, request)])
    const message = await answered
    return new Response(Readable.toWeb(message), { status: message.statusCode ?? 502 })
  } catch (cause) {
    if (source.errored) throw source.errored
    throw new CliError(`cannot reach ${url} (${reasonOf(cause)})`, { cause })
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
