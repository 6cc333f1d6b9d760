import { banner } from './banner.ts'
import { ConfigError, readConfig } from '#kernel/config.ts'
import { start, type Running } from './start.ts'

try {
  const config = readConfig(process.env)
  const running = await start(config)
  // Before the banner: whoever reads there that it is ready may end it.
  process.once('SIGTERM', () => void end(running, 8000))
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130))
    void end(running, 1000)
  })
  process.stdout.write(banner(config, running.storage))
} catch (error) {
  if (isPortTaken(error))
    fail(`Port ${error.port} is in use: stop what listens there, or set another port in the URLs.`)
  if (error instanceof ConfigError) fail(error.message)
  throw error
}

/** Ends when what was asked is answered, or the time is up: a deployment waits, a person at a keyboard does not. */
async function end(running: Running, withinMilliseconds: number): Promise<void> {
  await running.stop(withinMilliseconds)
  process.exit(0)
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

function isPortTaken(error: unknown): error is Error & { port: number } {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error
}
