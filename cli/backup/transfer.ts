import { limits } from '@countersign/protocol/formats/limits'
import { CliError, isInteractive, promptSecret } from '../terminal.ts'
import type { Settings } from '../settings.ts'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../call.ts'

/** Reads the passphrase from the environment or the terminal only: other processes can read arguments. */
export async function promptPassphrase(settings: Settings): Promise<string> {
  const given = process.env.BACKUP_PASSPHRASE
  if (given) return given
  if (isInteractive(settings)) return promptSecret('Passphrase of the backup')
  throw new CliError('No encryption key: set BACKUP_PASSPHRASE or pass an age key (see --help)')
}

/** Checks the passphrase of a new file, because nothing else protects it. */
export function requireStrongPassphrase(passphrase: string): string {
  const { backupPassphraseCharactersMin: min } = limits
  if (passphrase.length >= min) return passphrase
  throw new CliError(`The passphrase must have at least ${min} characters`)
}

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
