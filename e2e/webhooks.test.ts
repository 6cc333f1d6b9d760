import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startService } from '../server/testing/service.ts'
import { freePort, layOut, run } from './guide.ts'

const root = join(import.meta.dirname, '..')

test('WHK-01 webhooks: what the guide shows takes what is signed, once, and nothing else', async (t) => {
  const guide = await readFile(join(root, 'docs/guides/webhooks.md'), 'utf8')
  const service = await startService()
  t.after(() => service.close())
  const countersign = async (...words: string[]): Promise<Record<string, string>> => {
    const command = [join(root, 'cli/main.ts'), '--json', ...words]
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: service.settings })
    return JSON.parse(stdout)
  }
  const { clientId = '' } = await countersign(
    'apps',
    'create',
    '--name',
    'Shop',
    '--redirect-uri',
    'https://a.example/',
  )
  const port = await freePort()
  const origin = `http://localhost:${port}`
  assert.match(guide, /^npx countersign webhooks set app_… http:\/\/localhost:3000\/hook$/m)
  const { secret = '' } = await countersign('webhooks', 'set', clientId, `${origin}/hook`)

  const { directory, remove } = await layOut(guide)
  t.after(remove)
  const app = await run(directory, 'app.mjs', { WEBHOOK_SECRET: secret, PORT: String(port), APP_URL: origin })
  t.after(() => app.close())

  const forged = {
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  }
  const body = JSON.stringify({ type: 'webhook.test', data: {} })
  assert.equal((await fetch(origin, { method: 'POST', body })).status, 401)
  assert.equal((await fetch(origin, { method: 'POST', body, headers: forged })).status, 401)

  const said = once(app.stdout, 'data')
  await countersign('webhooks', 'test', clientId)
  assert.equal(String(await said), 'The webhook works\n')
})
