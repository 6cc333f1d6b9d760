import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { gunzipSync, gzipSync } from 'node:zlib'
import { after, before, test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { sql } from 'kysely'
import { verifyChain } from '#platform/audit/chain-verification.ts'
import { publishAuditHead } from '#operations/audit/published-head.ts'
import { numberEvents } from '#platform/audit/chain.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { backedUpTables } from '../../../modules.ts'

const secretKey = 'a-secret-key-for-tests-of-32-characters'

let world: TestWorld
let app: TestApp
let person: Person
let backup: Buffer
before(async () => {
  world = await createWorld({ secretKey, environment: { DATA_DIR: tmpdir() } })
  app = await world.app({ postLogoutRedirectUris: ['https://app.example/signed-out'] })
  person = await world.person()
})
after(() => world.close())

async function take(from: TestWorld = world): Promise<Buffer> {
  const answer = await from.api.inject({ url: '/api/admin/backup', headers: from.admin })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], backupMediaType)
  return answer.rawPayload
}

function restore(to: TestWorld, payload: Buffer) {
  const headers = { ...to.admin, 'content-type': backupMediaType }
  return to.api.inject({ method: 'POST', url: '/api/admin/restore', headers, payload })
}

async function emptyWorld(t: { after: (done: () => Promise<void>) => void }, secret = secretKey): Promise<TestWorld> {
  const empty = await createWorld({ secretKey: secret, environment: { DATA_DIR: tmpdir() } })
  t.after(() => empty.close())
  return empty
}

const verifyLog = ({ db }: TestWorld) => verifyChain(db, { from: 1, count: 1000 })

/** Binds the app's client functions to another server. */
const at = (server: TestWorld, fields: Record<string, string>) =>
  server.api.inject({ method: 'POST', url: '/api/oauth/token', payload: { ...app.credentials, ...fields } })

test('REF-16 STO-18 a restored server signs users in and verifies, and no earlier token is valid', async (t) => {
  const live = await app.tokens(person)
  const spentBefore = await app.tokens(person)
  assert.equal((await app.refresh(spentBefore.refresh_token)).statusCode, 200)
  const spentAfter = await app.tokens(person)
  const code = await app.code(person)
  backup = await take()
  assert.equal((await app.refresh(spentAfter.refresh_token)).statusCode, 200)

  const restored = await emptyWorld(t)
  const answer = await restore(restored, backup)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.json().rows.user_account, 1)
  const query = { q: person.handle.slice(0, 12) }
  const found = await restored.api.inject({ url: '/api/admin/identities', query, headers: restored.admin })
  assert.deepEqual(
    found.json().identities.map(({ handle }: { handle: string }) => handle),
    [person.handle],
  )

  for (const { refresh_token } of [live, spentBefore, spentAfter]) {
    const refused = await at(restored, { grant_type: 'refresh_token', refresh_token })
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_grant'])
  }
  const redeemed = await at(restored, { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri })
  assert.deepEqual([redeemed.statusCode, redeemed.json().error], [400, 'invalid_grant'])
  const session = await restored.api.inject({ url: '/api/auth/session', headers: person.headers })
  assert.equal(session.statusCode, 401)
  const info = await restored.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${live.access_token}` },
  })
  assert.equal(info.statusCode, 401)

  const jwks = (await restored.auth.inject({ url: '/.well-known/jwks.json' })).json()
  const { payload } = await jwtVerify(live.id_token ?? '', createLocalJWKSet(jwks), { currentDate: world.now() })
  const headers = await signInAt(restored)
  const mine = await restored.api.inject({ url: '/api/identities', headers })
  assert.match(mine.body, new RegExp(person.handle))
  const authorized = await restored.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers,
    payload: { clientId: app.clientId, redirectUri: app.redirectUri, identityId: person.identityId, scope: 'openid' },
  })
  const fresh = new URL(authorized.json().redirectUrl).searchParams.get('code') ?? ''
  const tokens = await at(restored, { grant_type: 'authorization_code', code: fresh, redirect_uri: app.redirectUri })
  assert.equal(tokens.statusCode, 200, tokens.body)
  const anew = await jwtVerify(tokens.json().id_token, createLocalJWKSet(jwks), { currentDate: restored.now() })
  assert.equal(anew.payload.sub, payload.sub)
})

/** Signs the user in with their passkey at another server of the same name. */
async function signInAt(server: TestWorld) {
  const started = await server.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: person.authenticator.authenticate(options) }
  const finished = await server.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  assert.equal(finished.statusCode, 200, finished.body)
  return { authorization: `Bearer ${finished.json().sessionToken}` }
}

test('AUD-01 a restore reproduces every row, and the audit log goes on after the one of the backup', async (t) => {
  backup = await take()
  const restored = await emptyWorld(t)
  assert.equal((await restore(restored, backup)).statusCode, 200)
  for (const table of backedUpTables.filter((name) => name !== 'audit_event' && name !== 'app')) {
    const rowsOf = async ({ db }: TestWorld) =>
      (await sql<{ row: string }>`select row_to_json(t)::text as row from ${sql.table(table)} t order by 1`.execute(db))
        .rows
    assert.deepEqual(await rowsOf(restored), await rowsOf(world), table)
  }
  const appAt = async ({ api, admin }: TestWorld) =>
    (await api.inject({ url: `/api/admin/apps/${app.clientId}`, headers: admin })).json()
  assert.deepEqual((await appAt(restored)).postLogoutRedirectUris, ['https://app.example/signed-out'])
  assert.deepEqual(await appAt(restored), await appAt(world))
  const trail = await restored.api.inject({ url: '/api/admin/audit?limit=100', headers: restored.admin })
  const actions = trail.json<{ entries: { action: string }[] }>().entries.map(({ action }) => action)
  assert.equal(actions.filter((action) => action === 'backup.restored').length, 1)
  const [original, copy] = [await verifyLog(world), await verifyLog(restored)]
  assert.deepEqual([original.broken, copy.broken], [null, null])
  assert.ok(copy.checked > original.checked)
  assert.ok(actions.includes('backup.created') && actions.includes('account.created'))
})

test('a name with characters that some treat as a line end is restored unchanged', async (t) => {
  const text = gunzipSync(await take()).toString('utf8')
  const name = `The ${person.handle}\u2028\u2029\u0085`
  const lines = text.replace(`The ${person.handle}`, name).trimEnd().split('\n').slice(0, -1)
  const body = `${lines.join('\n')}\n`
  const rows = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')[1].rows
  const end = ['end', { rows, sha256: createHash('sha256').update(body).digest('hex') }]
  const restored = await emptyWorld(t)
  const answer = await restore(restored, gzipSync(`${body}${JSON.stringify(end)}\n`))
  assert.equal(answer.statusCode, 200, answer.body)
  const { display_name: found } = await restored.db
    .selectFrom('identity')
    .select('display_name')
    .where('identity_id', '=', person.identityId)
    .executeTakeFirstOrThrow()
  assert.equal(found, name)
})

test('an altered or truncated backup changes nothing', async (t) => {
  backup = await take()
  const empty = await emptyWorld(t)
  const text = gunzipSync(backup).toString('utf8')
  const lines = text.trimEnd().split('\n')
  const damaged = {
    'a cut file': backup.subarray(0, backup.length - 20),
    'half a file': backup.subarray(0, backup.length / 2),
    'no end': gzipSync(`${lines.slice(0, -1).join('\n')}\n`),
    'a row less': gzipSync(`${lines.filter((line) => !line.startsWith('{"user_id"')).join('\n')}\n`),
    'another name': gzipSync(text.replace(`The ${person.handle}`, `The ${person.handle.toUpperCase()}`)),
    'a wrong value': gzipSync(text.replace(person.userId, 'nobody')),
    'another table': gzipSync(text.replace('["table","user_account"]', '["table","session"]')),
    'something after the end': gzipSync(`${text}{}\n`),
    'other bytes': Buffer.from('not a backup at all'),
    nothing: Buffer.alloc(0),
  }
  for (const [what, payload] of Object.entries(damaged)) {
    const answer = await restore(empty, payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_backup'], `${what}: ${answer.body}`)
  }
  assert.equal((await empty.db.selectFrom('user_account').selectAll().execute()).length, 0)
  assert.equal((await restore(empty, backup)).statusCode, 200)
})

test('a server that has only published the head of its audit log is unused', async (t) => {
  backup = await take()
  const standby = await emptyWorld(t)
  assert.equal((await standby.api.inject({ url: '/api/admin/audit', headers: standby.admin })).statusCode, 200)
  await numberEvents(standby.db)
  await publishAuditHead(standby.db, new Date(standby.now().getTime() + 25 * 3600_000))
  assert.equal((await standby.db.selectFrom('transparency_leaf').select('sequence').execute()).length, 1)
  const answer = await restore(standby, backup)
  assert.equal(answer.statusCode, 200, answer.body)
})

test('a server in use, another key and another version are each rejected with their own error', async (t) => {
  backup = await take()
  const used = await restore(world, backup)
  assert.deepEqual([used.statusCode, used.json().error], [409, 'instance_not_empty'])

  const otherKey = await emptyWorld(t, 'another-secret-key-for-tests-of-32-characters')
  const locked = await restore(otherKey, backup)
  assert.deepEqual([locked.statusCode, locked.json().error], [409, 'secret_key_mismatch'])

  const text = gunzipSync(backup).toString('utf8')
  for (const [schema, words] of [
    ['9999_later.sql', /newer version/],
    ['0001_audit.sql', /older version/],
  ] as const) {
    const other = gzipSync(text.replace(/"schema":"[^"]+"/, `"schema":"${schema}"`))
    const answer = await restore(await emptyWorld(t), other)
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'schema_version_mismatch'])
    assert.match(answer.json().error_description, words)
  }
})

test('only the operator can create or restore a backup, and a restore accepts nothing else', async (t) => {
  const empty = await emptyWorld(t)
  const url = '/api/admin/restore'
  const json = await empty.api.inject({ method: 'POST', url, headers: empty.admin, payload: {} })
  assert.equal(json.statusCode, 415)
  assert.equal((await empty.api.inject({ method: 'POST', url, headers: empty.admin })).statusCode, 415)
  const headers = { 'content-type': backupMediaType }
  const stranger = await empty.api.inject({ method: 'POST', url, headers, payload: await take() })
  assert.equal(stranger.statusCode, 401)
  const elsewhere = await empty.api.inject({ method: 'POST', url: '/api/auth/login/start', headers, payload: 'x' })
  assert.equal(elsewhere.statusCode, 415)
})

test('a backup created during registrations and redemptions is consistent', async (t) => {
  const busy = Array.from({ length: 12 }, async () => app.tokens(await world.person()))
  const [taken] = await Promise.all([take(), ...busy])
  const restored = await emptyWorld(t)
  const answer = await restore(restored, taken)
  assert.equal(answer.statusCode, 200, answer.body)
})

test('the order of the tables satisfies their foreign keys', async () => {
  const { rows } = await sql<{ table: string; needs: string }>`
    select conrelid::regclass::text as "table", confrelid::regclass::text as needs
    from pg_constraint where contype = 'f'`.execute(world.db)
  const text = gunzipSync(await take()).toString('utf8')
  const order = [...text.matchAll(/^\["table","(\w+)"\]$/gm)].map(([, table = '']) => table)
  assert.deepEqual(order.toSorted(), backedUpTables.toSorted())
  const kept = rows.filter(({ table }) => order.includes(table))
  assert.ok(kept.length > 0)
  for (const { table, needs } of kept) assert.ok(order.indexOf(needs) < order.indexOf(table), table)
})
