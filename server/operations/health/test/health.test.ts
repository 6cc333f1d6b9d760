import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Health, type HealthCheckName, healthCheckNames } from '@countersign/protocol/operations/health'
import { sql } from 'kysely'
import { numberEvents } from '#platform/audit/chain.ts'
import { addSeconds } from '#platform/clock.ts'
import { createToken, makeOperator, suspend } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { readHealth } from '../health.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function read(headers: Record<string, string> = world.admin): Promise<Health> {
  const answer = await world.api.inject({ url: '/api/admin/health', headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Health>()
}

async function check(checked: HealthCheckName, health?: Health) {
  const found = (health ?? (await read())).checks.find(({ name }) => name === checked)
  assert.ok(found)
  assert.equal(found.status === 'ok', found.fix === null, found.name)
  return found
}

const statusOf = async (checked: HealthCheckName) => (await check(checked)).status

async function send(method: 'POST' | 'PUT', path: string, payload: object | string, headers: object = {}) {
  const url = `/api/admin/${path}`
  const answer = await world.api.inject({ method, url, headers: { ...world.admin, ...headers }, payload })
  assert.ok(answer.statusCode < 300, answer.body)
}

test('HLT-01 every role reads the health, and each check is in it', async () => {
  const health = await read((await makeOperator(world, await world.person(), 'apps')).page)
  assert.deepEqual(
    health.checks.map(({ name }) => name),
    healthCheckNames,
  )
  assert.match(health.version, /^\d/)
  for (const name of ['database', 'migrations', 'clock', 'mail', 'webhooks', 'token_signing_keys'] as const)
    assert.equal((await check(name, health)).status, 'ok', name)
})

test('HLT-01 the service needs two owners who are not suspended', async () => {
  assert.match((await check('owners')).message, /no owner/)
  await makeOperator(world, await world.person(), 'owner')
  assert.match((await check('owners')).message, /one owner/)
  const second = await makeOperator(world, await world.person(), 'owner')
  assert.equal(await statusOf('owners'), 'ok')
  await suspend(world, second)
  assert.equal(await statusOf('owners'), 'warning')
})

test('HLT-01 an old backup is a warning where only this service makes them', async () => {
  const old = world.config.databaseUrl ? 'ok' : 'warning'
  const first = await check('backup')
  assert.deepEqual([first.status, first.since], [old, null])
  assert.match(first.message, /^No completed backup is known\. Those of version 0\.1\.0/)
  const taken = world.now()
  const answer = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  assert.equal(answer.statusCode, 200)
  const recent = await check('backup')
  assert.deepEqual([recent.status, recent.since], ['ok', taken.toISOString()])
  world.pass(8 * 24 * 3600)
  const aged = await check('backup')
  assert.deepEqual([aged.status, aged.since], [old, taken.toISOString()])
})

test('HLT-01 admin tokens are named before they expire, but not which', async () => {
  assert.equal(await statusOf('admin_tokens'), 'ok')
  await createToken(world, ['apps.read'], { expiresAt: addSeconds(world.now(), 15 * 24 * 3600).toISOString() })
  assert.equal(await statusOf('admin_tokens'), 'ok')
  world.pass(2 * 24 * 3600)
  const found = await check('admin_tokens')
  assert.match(found.message, /days: 1,/)
  assert.doesNotMatch(found.message, /A token/)
  assert.equal(found.status, 'warning')
})

test('HLT-01 SCIM tokens are named apart from admin tokens, with the command that rotates them', async () => {
  const adminTokens = await check('admin_tokens')
  assert.equal(await statusOf('scim_tokens'), 'ok')
  const expiresAt = addSeconds(world.now(), 10 * 24 * 3600).toISOString()
  await send('POST', 'scim-tokens', { name: 'A directory', expiresAt })
  const found = await check('scim_tokens')
  assert.equal(found.status, 'warning')
  assert.equal(found.message, `SCIM tokens that expire in the next 14 days: 1, the first at ${expiresAt}.`)
  assert.match(found.fix ?? '', /countersign scim-tokens rotate/)
  assert.deepEqual(await check('admin_tokens'), adminTokens)
})

test('HLT-01 deliveries and mails that failed twice are a warning since the oldest of them', async () => {
  const app = await world.app()
  await send('PUT', `apps/${app.clientId}/webhook`, { url: 'https://app.example/hook' })
  const row = { receiver_id: app.clientId, type: 'webhook.test', payload: '{}', next_attempt_at: world.now() }
  const add = (attempts: number, created: Date) =>
    world.db
      .insertInto('webhook_delivery')
      .values({ ...row, delivery_id: randomUUID(), attempts, created_at: created })
      .execute()
  await add(2, world.now())
  assert.equal(await statusOf('webhooks'), 'ok')
  const since = addSeconds(world.now(), -3600)
  await add(3, since)
  await add(4, world.now())
  const webhooks = await check('webhooks')
  assert.deepEqual([webhooks.status, webhooks.since], ['warning', since.toISOString()])
  assert.match(webhooks.message, /: 1\.$/)
  assert.ok(!JSON.stringify(webhooks).includes(app.clientId))

  const csv = { 'content-type': 'text/csv' }
  await send('POST', 'invitations/import?dryRun=false', 'email\nada@example.org\n', csv)
  assert.equal(await statusOf('invitation_mails'), 'ok')
  await world.db.updateTable('invitation').set({ mail_attempts: 3 }).execute()
  const mails = await check('invitation_mails')
  assert.deepEqual([mails.status, mails.since], ['warning', world.now().toISOString()])
  assert.ok(!JSON.stringify(mails).includes('ada'))
})

test('HLT-01 events without a place, and sinks that get none, are warnings', async () => {
  await numberEvents(world.db)
  assert.deepEqual([await statusOf('audit_log'), await statusOf('sinks')], ['ok', 'ok'])
  const since = world.now().toISOString()
  await send('POST', 'sinks', { key: 'siem', kind: 'syslog', url: 'tls://192.0.2.1:6514' })
  world.pass(60)
  assert.equal(await statusOf('audit_log'), 'ok')
  world.pass(1)
  const log = await check('audit_log')
  assert.deepEqual([log.status, log.since], ['warning', since])
  await world.db.updateTable('sink').set({ failures: 2, last_error: 'unreachable' }).execute()
  const sinks = await check('sinks')
  assert.deepEqual([sinks.status, sinks.since], ['warning', since])
  assert.ok(!JSON.stringify(sinks).includes('192.0.2.1'))
  await world.db.updateTable('sink').set({ status: 'paused' }).execute()
  assert.equal(await statusOf('sinks'), 'ok')
})

test('HLT-01 a rotation of the token-signing keys that is overdue is a warning since it was due', async () => {
  const set = world.db.updateTable('token_signing_key')
  await set.set({ activates_at: addSeconds(world.now(), -89 * 24 * 3600) }).execute()
  assert.equal(await statusOf('token_signing_keys'), 'ok')
  await set.set({ activates_at: addSeconds(world.now(), -90 * 24 * 3600) }).execute()
  const found = await check('token_signing_keys')
  const dueAt = addSeconds(world.now(), -24 * 3600).toISOString()
  assert.deepEqual([found.status, found.since], ['warning', dueAt])
})

test('HLT-01 another version of the database fails, and clocks apart are a warning', async () => {
  const skewed = await readHealth(world.kernel, world.now(), () => new Date(Date.now() + 60_000))
  assert.equal((await check('clock', skewed)).status, 'warning')
  await sql`insert into schema_migration (name) values ('9999_later.sql')`.execute(world.db)
  const newer = await read()
  assert.deepEqual([newer.status, (await check('migrations', newer)).status], ['failing', 'failing'])
  await sql`delete from schema_migration where name = '9999_later.sql'`.execute(world.db)
  await sql`delete from schema_migration where name like '0008%'`.execute(world.db)
  assert.match((await check('migrations')).message, /lacks 0008/)
  await sql`insert into schema_migration (name) values ('0008_signing.sql')`.execute(world.db)
  assert.equal(await statusOf('migrations'), 'ok')
})

test('the overview counts what operators see first', async () => {
  const read = async (path: string) =>
    (await world.api.inject({ url: `/api/admin/${path}`, headers: world.admin })).json()
  const { apps, ...others } = await read('overview')
  assert.deepEqual(others, { pendingInvitations: 1, suspendedIdentities: 1, operators: 3 })
  assert.equal(apps, (await read('apps')).apps.length)
})
