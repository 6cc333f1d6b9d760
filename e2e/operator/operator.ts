import { once } from 'node:events'
import { join } from 'node:path'
import { end, launch, prepareService } from '../../server/testing/service.ts'
import type { Lie } from './lie.ts'
import type { lies } from './lies/lies.ts'

type Lies = typeof lies
type FactsOf<Name extends keyof Lies> = Lies[Name] extends Lie<infer Facts> ? Facts : never

/**
 * Starts the product with its own database, as a malicious operator runs it. It tells the truth until `lie`, which
 * resolves when the rows are changed. A lie ends with the process.
 */
export async function openOperator() {
  const service = await prepareService({ environment: { RATE_LIMITS: 'off' }, isVerified: false })
  const running = launch(service.settings, { program: join(import.meta.dirname, 'process.ts'), channel: 'ipc' })
  await running.ready
  return {
    ...service,
    async lie<Name extends keyof Lies>(name: Name, facts: FactsOf<Name>): Promise<void> {
      const done = once(running.process, 'message')
      running.process.send({ name, facts })
      const [{ error }] = (await done) as [{ error?: string }]
      if (error !== undefined) throw new Error(error)
    },
    async close() {
      await end(running.process, 'SIGTERM')
      await service.close()
    },
  }
}
