import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { launchCountersign } from './countersign.ts'
import { processorMicroseconds } from './processor-time.ts'
import { usageOf } from './program-usage.ts'

/** Processor time of each start in seconds: with compiled code, and without. */
export type Starts = { compiled: number[]; source: number[] }

const program = join(import.meta.dirname, '../cli/countersign.js')
/** All starts are on one database, which is encrypted with one key. */
const sameKey = { SECRET_KEY: randomBytes(32).toString('base64url') }
const fromSource = { NODE_DISABLE_COMPILE_CACHE: '1' }

/**
 * Starts the service and the command this often in both ways, in turn. The first pair is not counted: the service
 * migrates the database, and Node stores what it has compiled.
 */
export async function measureStarts(count: number, databaseUrl: string): Promise<{ service: Starts; command: Starts }> {
  const service: Starts = { compiled: [], source: [] }
  const command: Starts = { compiled: [], source: [] }
  for (let nth = 0; nth <= count; nth += 1) {
    const seconds = {
      service: { compiled: await startService(databaseUrl, {}), source: await startService(databaseUrl, fromSource) },
      command: { compiled: await runCommand({}), source: await runCommand(fromSource) },
    }
    if (nth === 0) continue
    for (const way of ['compiled', 'source'] as const) {
      service[way].push(seconds.service[way])
      command[way].push(seconds.command[way])
    }
  }
  return { service, command }
}

/** Starts the service on the database, and returns the processor time until it is ready. */
async function startService(databaseUrl: string, environment: Record<string, string>): Promise<number> {
  await using service = await launchCountersign(databaseUrl, { environment: { ...sameKey, ...environment } })
  return processorMicroseconds(service.pid) / 1e6
}

/** Lets the command print its help. */
async function runCommand(environment: Record<string, string>): Promise<number> {
  return (await usageOf([program, '--help'], environment)).seconds
}
