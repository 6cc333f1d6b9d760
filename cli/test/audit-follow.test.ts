import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { startService, type Service } from '../../server/testing/service.ts'
import { inherited } from '../testing/environment.ts'

const main = join(import.meta.dirname, '../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

/** Starts `countersign audit follow`. */
function follow(t: TestContext, words: string[] = [], environment: Record<string, string> = {}) {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: service.settings.ADMIN_TOKEN, ...environment }
  const child = spawn(process.execPath, [main, 'audit', 'follow', ...words], { env })
  t.after(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => void (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (output.stderr += chunk.toString()))
  const closed = once(child, 'close').then(([code]) => Number(code))
  const lines = () => output.stdout.split('\n').slice(0, -1)
  return {
    output,
    lines,
    closed,
    interrupt: () => endOf(child, closed),
    /** Stops to read, as `head` does. */
    stopReading: () => void child.stdout.destroy(),
    async until(holds: () => boolean): Promise<void> {
      while (!holds())
        await Promise.race([
          once(child.stdout, 'data'),
          once(child.stderr, 'data'),
          closed.then((code) => Promise.reject(new Error(`exit code ${code}: ${output.stderr}`))),
        ])
    },
  }
}

function endOf(child: ChildProcess, closed: Promise<number>): Promise<number> {
  child.kill('SIGINT')
  return closed
}

async function send<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${service.baseUrl}/api/admin/${path}`, {
    method,
    headers: { ...service.admin, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, `${path}: ${answer.status}`)
  return JSON.parse((await answer.text()) || '{}')
}

const createGroup = (key: string) => send('POST', 'groups', { key, displayName: key })

test('AUD-02 events are printed as they are recorded, across a restart of the service, until Ctrl-C', async (t) => {
  await createGroup('before')
  const followed = follow(t, ['--action', 'group', '--after', '0', '--json'])
  const keys = () => followed.lines().map((line) => JSON.parse(line).details.key)
  await followed.until(() => keys().length === 1)
  await createGroup('first')
  await followed.until(() => keys().length === 2)
  await service.end('SIGKILL')
  await service.restart()
  await createGroup('second')
  await followed.until(() => keys().length === 3)
  assert.deepEqual(keys(), ['before', 'first', 'second'])
  assert.equal(await followed.interrupt(), 0)
})

test('a line names time, action, who acted, on what and from where; a lost connection is reported', async (t) => {
  const followed = follow(t, ['--after', '0', '--action', 'group.created'])
  await followed.until(() => followed.lines().length === 3)
  assert.match(
    followed.lines()[0] ?? '',
    /^\S+Z {2}group\.created {2}ADMIN_TOKEN {2}group before {2}success {2}127\.0\.0\.0\/24$/,
  )
  await service.end('SIGKILL')
  await followed.until(() => followed.output.stderr.includes('trying again'))
  await service.restart()
  await createGroup('third')
  await followed.until(() => followed.lines().length === 4)
  assert.equal(await followed.interrupt(), 0)
})

test('AUD-03 the command ends when its token is revoked', async (t) => {
  type Made = { token: string; adminToken: { tokenId: string } }
  const made = await send<Made>('POST', 'tokens', { name: 'Follower', permissions: ['audit.read'] })
  const followed = follow(t, ['--after', '0'], { ADMIN_TOKEN: made.token })
  await followed.until(() => followed.lines().length > 3)
  await send('DELETE', `tokens/${made.adminToken.tokenId}`)
  assert.equal(await followed.closed, 1)
  assert.match(followed.output.stderr, /^error: Invalid admin token\.$/m)
})

test('a wrong option, address or place ends the command with a message', async (t) => {
  assert.equal(await follow(t, ['--after', 'yesterday']).closed, 2)
  const beyond = follow(t, ['--after', '999999'])
  assert.equal(await beyond.closed, 1)
  assert.match(beyond.output.stderr, /^error: .+ beyond the end of the audit log/)
  const nowhere = follow(t, [], { BASE_URL: 'http://localhost:1' })
  assert.equal(await nowhere.closed, 1)
  assert.match(nowhere.output.stderr, /^error: cannot reach/)
})

test('a reader that has read enough ends the command without an error', async (t) => {
  const followed = follow(t, ['--after', '0', '--action', 'group.created'])
  await createGroup('enough')
  await followed.until(() => followed.lines().length > 0)
  followed.stopReading()
  await createGroup('too-many')
  assert.equal(await followed.closed, 0)
  assert.equal(followed.output.stderr, '')
})
