/**
 * Checks whether the service on this machine is ready, by its settings. It is the health check of containers. Exits
 * with 0, or with 1 and a line with the reason.
 */
import { request, type IncomingMessage } from 'node:http'
import { loadConfig } from '#platform/config/config.ts'
import { portOf } from '#platform/config/port.ts'

const answerMilliseconds = 4000

const config = loadConfig(process.env)
/** A service that listens at all addresses also listens at those of `localhost`. */
const everywhere = [undefined, '0.0.0.0', '::']
const [address] = config.listenAddresses ?? []
const requested = request({
  host: everywhere.includes(address) ? 'localhost' : address,
  port: portOf(config, config.authUrl),
  path: '/readyz',
  headers: { host: config.authUrl.host },
  signal: AbortSignal.timeout(answerMilliseconds),
})
requested.once('response', judge).once('error', (error) => fail(`no response (${error.message})`))
requested.end()

function judge({ statusCode }: IncomingMessage): void {
  if (statusCode === 200) process.exit(0)
  fail(`status ${statusCode}`)
}

function fail(reason: string): never {
  process.stderr.write(`Countersign is not ready: ${reason}.\n`)
  process.exit(1)
}
