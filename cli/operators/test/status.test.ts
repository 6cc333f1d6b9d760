import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startService, testAdminToken, type Service } from '../../../server/testing/service.ts'
import { inherited } from '../../testing/environment.ts'

const main = join(import.meta.dirname, '../../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function status(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'status', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('an operator reads what needs attention, and how to fix it', async () => {
  const shown = await status()
  assert.match(shown.stdout, /^✔ database +The database answers\.$/m, shown.stderr)
  assert.match(shown.stdout, /^! owners +There is no owner who can sign in\.\n +Open the setup link, or add one/m)
  const { checks, status: worst } = JSON.parse((await status('--json')).stdout)
  assert.ok(checks.length > 5)
  assert.equal(shown.code, worst === 'failing' ? 1 : 0)
})
