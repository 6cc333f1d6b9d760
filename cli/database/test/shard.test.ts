import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTestDatabase } from '../../../server/testing/database.ts'
import { findNodes } from '../../../server/testing/sharded-database.ts'
import { inherited } from '../../testing/environment.ts'

const main = join(import.meta.dirname, '../../main.ts')

function shard(words: string[], environment: Record<string, string> = {}) {
  const env = { ...inherited, SECRET_KEY: randomBytes(32).toString('base64url'), ADMIN_TOKEN: 'off', ...environment }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'shard', ...words], { env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('the plan says where each table belongs, without a database', () => {
  const { status, stdout } = shard(['--plan'])
  assert.equal(status, 0)
  for (const line of ['token_family: in shards by identity_id', 'app: on every node', 'sso_login: on the coordinator'])
    assert.ok(stdout.split('\n').includes(line), line)
})

test('the embedded database cannot be distributed', () => {
  const { status, stderr } = shard([])
  assert.equal(status, 1)
  assert.equal(stderr, 'Set DATABASE_URL to the database on the coordinator of the cluster.\n')
})

const made = await openTestDatabase()
if (made && (await findNodes(made.url)) === undefined)
  test('a PostgreSQL without Citus is left as it is', async () => {
    const { status, stdout, stderr } = shard([], { DATABASE_URL: made.url })
    await made.drop()
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.equal(stderr, 'The database has no extension citus. Run `create extension citus` on each node first.\n')
  })
else await made?.drop()
