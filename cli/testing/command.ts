import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { testAdminToken, type Service } from '../../server/testing/service.ts'
import { inherited } from './environment.ts'

const main = join(import.meta.dirname, '../main.ts')

export type Run = { code: number; stdout: string; stderr: string }

type Operated = Pick<Service, 'baseUrl'> & { adminToken?: string }

/** Runs `countersign` with these words as the operator of a service. */
export function runCommand({ baseUrl, adminToken = testAdminToken }: Operated, words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: baseUrl, ADMIN_TOKEN: adminToken }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}
