import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { registerApp, registerTestUser } from '../../../../faults/load/test-user.ts'
import { registerSigner } from '../../../../faults/load/signer.ts'
import { startService, type Service } from '#testing/service.ts'

/** Without the playground, whose app is written again at each start. */
const common = { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters', DEMO: 'off' }

type Kind = 'embedded' | 'PostgreSQL'
const moves: [from: Kind, to: Kind][] =
  process.env['TEST_DATABASE_URL'] === undefined
    ? [['embedded', 'embedded']]
    : [
        ['embedded', 'PostgreSQL'],
        ['PostgreSQL', 'embedded'],
      ]

async function start(t: TestContext, kind: Kind, environment: Record<string, string>): Promise<Service> {
  const service = await startService({ embedded: kind === 'embedded', environment: { ...common, ...environment } })
  t.after(() => service.close())
  return service
}

async function take({ baseUrl, admin }: Service): Promise<Buffer<ArrayBuffer>> {
  const answer = await fetch(`${baseUrl}/api/admin/backup`, { headers: admin })
  return Buffer.from(await answer.arrayBuffer())
}

/** Groups the rows of a backup by their table, without the audit log and its chain, which continue. */
function rowsOf(backup: Buffer): Map<string, unknown[]> {
  const tables = new Map<string, unknown[]>()
  let rows: unknown[] = []
  for (const line of gunzipSync(backup).toString('utf8').trimEnd().split('\n').slice(1, -1)) {
    if (line.startsWith('{')) rows.push(JSON.parse(line))
    else tables.set(line, (rows = []))
  }
  for (const table of ['audit_event', 'audit_chain', 'audit_chain_head'])
    tables.delete(JSON.stringify(['table', table]))
  for (const each of tables.values()) each.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return tables
}

for (const [from, to] of moves)
  test(`STO-18 a backup moves a service from ${from} to ${to}: users can sign in, and no data is lost`, async (t) => {
    const first = await start(t, from, {})
    const app = await registerApp(first)
    const customer = await registerTestUser(first, app)
    const family = await customer.consent()
    assert.ok(family)
    await customer.redeem(family)
    const signer = await registerSigner(first, app)
    const signed = await signer.ask('Pay 1 €')
    assert.ok(signed)
    await signer.sign(signed)
    await signer.rotate()
    const denied = await signer.ask('Pay 2 €')
    assert.ok(denied)
    await signer.deny(denied)
    const pending = await signer.ask('Pay 3 €')
    assert.ok(pending)
    // Its reader gives all leaves their places in the log, which the second service would otherwise do at any moment.
    assert.equal((await fetch(`${first.baseUrl}/api/transparency/checkpoint`)).status, 200)
    const backup = await take(first)
    await first.end()

    const { BASE_URL, AUTH_URL, BUSINESS_URL } = first.settings
    const second = await start(t, to, { BASE_URL, AUTH_URL, BUSINESS_URL })
    const headers = { ...second.admin, 'content-type': backupMediaType }
    const restored = await fetch(`${BASE_URL}/api/admin/restore`, { method: 'POST', headers, body: backup })
    assert.equal(restored.status, 200, await restored.text())
    assert.deepEqual(rowsOf(await take(second)), rowsOf(backup))

    assert.equal((await customer.refresh(family, family.live ?? ''))?.status, 400)
    await customer.signIn()
    const next = await customer.consent()
    assert.ok(next)
    assert.equal((await customer.redeem(next))?.status, 200)

    await signer.signIn()
    assert.ok(await signer.isKeyWhole())
    assert.equal((await signer.sign(pending))?.status, 200)
    await signer.rotate()
    assert.ok(await signer.isKeyWhole())
    assert.deepEqual(await signer.findLostUpdates(), [])
    await second.end()
  })
