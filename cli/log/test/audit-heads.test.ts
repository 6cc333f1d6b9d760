import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { auditDigest } from '@countersign/protocol/formats/audit/audit-head'
import { toTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { sql } from 'kysely'
import { recordAuditEvent } from '../../../server/platform/audit/audit-log.ts'
import { deleteEventsBefore, numberEvents } from '../../../server/platform/audit/chain.ts'
import { publishAuditHead } from '../../../server/operations/audit/published-head.ts'
import { listenHere } from '../../../server/testing/held-request.ts'
import { newKeyPair } from '../../../server/testing/lying-log.ts'
import { createSigner } from '../../../server/testing/signer.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { runCommand } from '../../testing/command.ts'

const day = 24 * 3600

let folder: string
let world: TestWorld
let baseUrl: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-heads-'))
  world = await createWorld()
  baseUrl = (await world.api.listen({ host: 'localhost', port: 0 })).replace('127.0.0.1', 'localhost')
  const { userId } = await createSigner(world)
  for (let nth = 0; nth < 2; nth += 1) {
    await recordAuditEvent(world.db, { action: 'app.updated', actor: 'user', userId }, world.now())
    world.pass(day)
    await numberEvents(world.db)
    await publishAuditHead(world.db, world.now())
  }
})
after(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

const run = (...words: string[]) => runCommand({ baseUrl, adminToken: world.kernel.adminToken.reveal() }, words)
const verify = (...words: string[]) => run('audit', 'verify', ...words)

/** Writes the trust file of a log of this name with a key. */
async function writeTrust(name: string, publicKey: Uint8Array): Promise<string> {
  const file = join(folder, `${Buffer.from(publicKey).toString('hex')}.json`)
  await writeFile(file, JSON.stringify(toTrustedLog(nodeSuite.sha256, { name, publicKey })))
  return file
}

test('AUD-08 the audit log is verified against its published heads, and the log watcher knows these', async () => {
  const { code, stdout, stderr } = await verify()
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^2 of 2 heads in the transparency log are among them\.$/m)
  const { keys, origin } = (await world.api.inject('/api/transparency/jwks')).json()
  const trust = await writeTrust(origin, Buffer.from(keys[0].x, 'base64url'))
  assert.equal(JSON.parse((await verify('--json', '--trust', trust)).stdout).published, 2)
  const other = await verify('--trust', await writeTrust(origin, Buffer.from(newKeyPair().publicKey, 'base64')))
  assert.deepEqual([other.code, other.stdout], [1, ''])
  assert.match(other.stderr, /checkpoint is not signed/)

  const state = join(folder, 'seen')
  for (let nth = 0; nth < 2; nth += 1) {
    const watched = await run('log', 'watch', '--state', state)
    assert.equal(watched.code, 0, watched.stderr)
    assert.match(watched.stdout, /^The audit log had \d+ events at \S+Z\.$/m)
  }
})

test('AUD-08 a server that withholds heads contradicts what log watch has seen', async () => {
  const state = join(folder, 'watched')
  assert.equal((await run('log', 'watch', '--state', state)).code, 0)
  const whole = await verify('--state', state)
  assert.equal(whole.code, 0, whole.stderr)
  const filed = sql`update transparency_leaf set identity_sha256 = sha256(identity_sha256)`
  const digest = Buffer.from(auditDigest(nodeSuite.sha256), 'base64')
  await sql`${filed} where sequence = 2 and identity_sha256 = ${digest}`.execute(world.db)
  const cut = await verify('--state', state)
  await sql`
    update transparency_leaf set identity_sha256 = ${digest}
    where sequence = 2 and identity_sha256 = sha256(${digest}::bytea)`.execute(world.db)
  assert.deepEqual([cut.code, cut.stdout], [1, ''])
  assert.match(cut.stderr, /^error: the server withholds the head of event \d+, in its log since 20/)
})

test('AUD-08 an audit log that was written again, or cut off, contradicts its published heads', async () => {
  await sql`update audit_event set sequence = null`.execute(world.db)
  await sql`delete from audit_chain`.execute(world.db)
  await sql`update audit_chain_head set sequence = 0, hash = null`.execute(world.db)
  await numberEvents(world.db)
  const again = await verify()
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /^error: event \d+ is not the one that the transparency log contains since 20\S+Z$/m)

  const { rows } = await sql<{ last: string }>`
    select max(sequence) as last from audit_event where action = 'app.updated'`.execute(world.db)
  const last = Number(rows[0]?.last)
  await sql`delete from audit_chain where sequence >= ${last}`.execute(world.db)
  await sql`delete from audit_event where sequence >= ${last}`.execute(world.db)
  const end = world.db
    .selectFrom('audit_chain')
    .select(['sequence', 'hash'])
    .where('sequence', '=', String(last - 1))
  await world.db
    .updateTable('audit_chain_head')
    .set(await end.executeTakeFirstOrThrow())
    .execute()
  const cut = await verify()
  assert.deepEqual([cut.code, cut.stdout], [1, ''])
  assert.match(cut.stderr, /^error: the log had \d+ events at 20\S+Z, and has \d+ now$/m)
})

test('AUD-12 a log whose first events were deleted verifies, unless they were younger than 30 days', async (t) => {
  const own = await createWorld({ startedAt: new Date(Date.now() - 62 * day * 1000) })
  t.after(() => own.close())
  const port = await listenHere(own.api)
  const target = { baseUrl: `http://localhost:${port}`, adminToken: own.kernel.adminToken.reveal() }
  const verifyOwn = () => runCommand(target, ['audit', 'verify'])
  for (const days of [42, 20]) {
    await recordAuditEvent(own.db, { action: 'app.updated', actor: 'system' }, own.now())
    await numberEvents(own.db)
    await publishAuditHead(own.db, own.now())
    own.pass(days * day)
  }
  const deleteUntil = (date: Date) => deleteEventsBefore(own.db, async () => date, 1000)
  assert.ok((await deleteUntil(new Date(own.now().getTime() - 40 * day * 1000))) > 0)
  const { code, stdout, stderr } = await verifyOwn()
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Events up to \d+ were deleted\.$/m)
  await recordAuditEvent(own.db, { action: 'app.updated', actor: 'system' }, own.now())
  await numberEvents(own.db)
  await deleteUntil(new Date(Date.now() + 10 * day * 1000))
  const cut = await verifyOwn()
  assert.deepEqual([cut.code, cut.stdout], [1, ''])
  assert.match(cut.stderr, /^error: events up to \d+ were deleted, but those after \d+ are younger than 30 days$/m)
})
