import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startService, testAdminToken, type Service } from '../../server/testing/service.ts'
import { startSyslogReceiver } from '../../server/testing/syslog-receiver.ts'
import { startWebhookReceiver } from '../../server/testing/webhook-receiver.ts'
import { inherited } from '../testing/environment.ts'

const main = join(import.meta.dirname, '../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function sinks(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'sinks', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('AUD-07 a receiver is added, tested, changed, paused, replayed and removed on the command line', async () => {
  const receiver = await startWebhookReceiver()
  assert.equal((await sinks('list')).stdout, 'None yet.\n')
  const added = await sinks('add', 'siem', receiver.url, '--kind', 'http', '--header', 'Authorization: Splunk a:b')
  assert.match(added.stdout, /^Secret +whsec_\S+$/m, added.stderr)
  assert.equal((await sinks('test', 'siem')).stdout, 'The event was delivered.\n')
  assert.equal(receiver.received[0]?.headers['authorization'], 'Splunk a:b')
  assert.match((await sinks('show', 'siem')).stdout, /^Headers +authorization$/m)
  assert.match(
    (await sinks('set', 'siem', '--action', 'group', '--action', 'operator')).stdout,
    /^Actions +group, operator$/m,
  )
  assert.match((await sinks('set', 'siem', '--all-actions', '--no-headers')).stdout, /^Headers +none$/m)
  assert.match((await sinks('pause', 'siem')).stdout, /^Status +paused$/m)
  assert.match((await sinks('replay', 'siem', '--after', '0')).stdout, /^Cursor +0$/m)
  assert.match((await sinks('resume', 'siem')).stdout, /^Status +enabled$/m)
  await receiver.has(8)
  const [, first] = /^Secret +(whsec_\S+)$/m.exec(added.stdout) ?? []
  const rotated = await sinks('rotate-secret', 'siem', '--grace', '60')
  const [, second] = /^Secret +(whsec_\S+)$/m.exec(rotated.stdout) ?? []
  assert.ok(second && second !== first, rotated.stderr)
  assert.match(rotated.stdout, /^The old secret also signs +until \d{4}-/m)
  assert.match((await sinks('rotate-secret', 'siem')).stdout, /^The old secret also signs +no longer$/m)
  assert.match((await sinks('list')).stdout, /^siem +http +http:\/\/localhost:\d+\/hook +enabled +\d+/m)
  assert.equal((await sinks('remove', 'siem')).code, 2)
  assert.equal((await sinks('remove', 'siem', '--yes')).stdout, 'siem was removed.\n')
  await receiver.close()
})

test('a syslog receiver is added with its certificate, and errors have messages', async () => {
  const receiver = await startSyslogReceiver()
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, receiver.caPem)
  assert.equal((await sinks('add', 'log', receiver.url, '--kind', 'syslog', '--ca', ca)).code, 0)
  assert.equal((await sinks('test', 'log')).code, 0)
  assert.ok(receiver.messages.some((message) => message.includes(' sink.tested ')))
  await sinks('set', 'log', '--public-ca')
  assert.match((await sinks('test', 'log')).stderr, /^error: the event was not delivered: certificate_invalid/)
  assert.match((await sinks('show', 'other')).stderr, /^error: no sink has the key other/)
  assert.match((await sinks('add', 'x', 'tls://host', '--kind', 'syslog')).stderr, /^error: url must have the form/)
  assert.equal((await sinks('add', 'x', 'https://siem.example.com')).code, 2)
  assert.match((await sinks('set', 'log')).stderr, /^error: name what to change/)
  await sinks('remove', 'log', '--yes')
  await receiver.close()
  await rm(folder, { recursive: true })
})
