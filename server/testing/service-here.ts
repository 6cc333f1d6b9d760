import { loadConfig } from '#platform/config/config.ts'
import { start } from '#app.ts'
import { prepareService, type Served } from './service.ts'

const endingMilliseconds = 8000

/**
 * Runs the product in this process, for tests that only use its URLs: files that run together then load it once. Tests
 * that stop it, read its log or load code before it use a separate process (`startService`).
 */
export async function serveHere(environment: Record<string, string> = {}): Promise<Served> {
  const service = await prepareService({ environment })
  const running = await start(loadConfig({ ...service.settings, LOG_LEVEL: 'silent' }))
  return {
    ...service,
    async close() {
      await running.stop(endingMilliseconds)
      await service.close()
    },
  }
}
