import { readConfig } from '#platform/config/config.ts'
import { start } from '#app.ts'
import { prepareService, type Served } from './service.ts'

const endingMilliseconds = 8000

/**
 * The product in this process, for tests that meet it at its addresses alone: files that run together then load it
 * once. One that ends it, reads its log or loads something before it starts a process instead (`startService`).
 */
export async function serveHere(environment: Record<string, string> = {}): Promise<Served> {
  const service = await prepareService({ environment })
  const running = await start(readConfig({ ...service.settings, LOG_LEVEL: 'silent' }))
  return {
    ...service,
    async close() {
      await running.stop(endingMilliseconds)
      await service.close()
    },
  }
}
