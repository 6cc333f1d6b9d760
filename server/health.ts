/**
 * Whether the service on this machine is ready, by its settings: what a container runs as its health check. Ends with
 * 0, or with 1 and a line that says why not.
 */
import { request, type IncomingMessage } from 'node:http'
import { readConfig } from '#platform/config/config.ts'
import { portOf } from '#platform/process/listeners.ts'

const answerMilliseconds = 4000

const config = readConfig(process.env)
/** Where a service listens at all addresses, it listens at those of `localhost`. */
const everywhere = [undefined, '0.0.0.0', '::']
const [address] = config.listenAddresses ?? []
const asked = request({
  host: everywhere.includes(address) ? 'localhost' : address,
  port: portOf(config, config.authUrl),
  path: '/readyz',
  headers: { host: config.authUrl.host },
  signal: AbortSignal.timeout(answerMilliseconds),
})
asked.once('response', judge).once('error', (error) => fail(`nobody answers (${error.message})`))
asked.end()

function judge({ statusCode }: IncomingMessage): void {
  if (statusCode === 200) process.exit(0)
  fail(`the answer was ${statusCode}`)
}

function fail(reason: string): never {
  process.stderr.write(`Countersign is not ready: ${reason}.\n`)
  process.exit(1)
}
