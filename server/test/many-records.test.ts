import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import { createConnectors, delegationsOf, revoke } from '#testing/connectors.ts'
import { limitChangedRows, manyRows } from '#testing/many-rows.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

const filled = [
  'delegation_grant',
  'signing_request',
  'signing_request_route',
  'signing_organization_request',
  'signing_organization_signature',
  'signing_signature_use',
]

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app()
  for (const table of filled) await limitChangedRows(world.db, table, 5000)
})
after(() => world.close())

/** Adds rows after statistics were taken, as on a server that has not taken them since. */
async function fill(statement: RawBuilder<unknown>): Promise<void> {
  await world.changeMany(sql`analyze ${sql.join(filled.map((table) => sql.table(table)))}`)
  await world.changeMany(statement)
}

type Method = 'GET' | 'POST' | 'DELETE'
const ask = (method: Method, url: string, headers: Record<string, string>, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })

test(`BLK-11 a delegation that was used ${manyRows} times is revoked`, async () => {
  const connectors = await createConnectors(world)
  const { person, exchange } = await connectors.connected({ communicationMode: 'background' })
  assert.equal((await exchange()).statusCode, 200)
  const [{ id: delegationId }] = await delegationsOf(world, person)
  await world.changeMany(sql`
    insert into delegation_usage (identity_id, delegation_id, used_at, scope, count)
    select ${person.identityId}::uuid, ${delegationId}::uuid,
      date_trunc('minute', ${world.now()}::timestamptz) - nth * interval '1 minute', '{notes.read}', 1
    from generate_series(1, ${manyRows}::integer) nth`)
  const answer = await revoke(world, person, delegationId)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.equal((await exchange()).statusCode, 403)
})

test(`BLK-12 an identity with ${manyRows} signing requests is deleted`, async () => {
  const person = await world.person()
  const payload = { handle: `work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const { identityId } = (await ask('POST', '/api/identities', person.headers, payload)).json()
  await fillRequests(identityId)
  const answer = await ask('DELETE', `/api/identities/${identityId}`, person.headers)
  assert.equal(answer.statusCode, 204, answer.body)
  const { requests } = (await ask('GET', '/api/signing/requests', person.headers)).json()
  assert.deepEqual(requests, [])
})

/** Adds pending requests for an identity. */
async function fillRequests(identityId: IdentityId) {
  await fill(sql`
    with requested as (
      insert into signing_request (identity_id, request_id, client_id, payload, key_version, public_key, status,
        created_at, expires_at)
      select ${identityId}::uuid, gen_random_uuid(), ${app.clientId}, 'A text', 1, sha256('a key'), 'pending',
        ${world.now()}, ${world.now()}::timestamptz + interval '1 hour'
      from generate_series(1, ${manyRows}::integer)
      returning identity_id, request_id, client_id
    ) insert into signing_request_route (identity_id, request_id, client_id) select * from requested`)
}

test(`BLK-31 a user with ${manyRows} delegations is suspended, and all are revoked`, async () => {
  const connectors = await createConnectors(world)
  const { person, exchange } = await connectors.connected({ communicationMode: 'background' })
  assert.equal((await exchange()).statusCode, 200)
  await fillDelegations(person.identityId)
  const url = `/api/admin/identities/${person.identityId}/suspension`
  const suspended = await ask('POST', url, world.admin, { reason: 'Abuse', scope: 'account' })
  assert.ok(suspended.statusCode < 300, suspended.body)
  assert.ok((await ask('DELETE', url, world.admin)).statusCode < 300)
  assert.ok((await exchange()).statusCode >= 400)
  const signedIn = { headers: await person.signIn() }
  const active = (await delegationsOf(world, signedIn)).filter((each: { revokedAt: string | null }) => !each.revokedAt)
  assert.equal(active.length, 0)
})

/** Adds active delegations of an identity. */
async function fillDelegations(identityId: IdentityId) {
  await fill(sql`
    insert into delegation_grant (identity_id, delegation_id, source_client_id, resource_id, scope,
      communication_mode, created_at, updated_at)
    select ${identityId}::uuid, gen_random_uuid(), ${app.clientId}, gen_random_uuid(), '{read}', 'background',
      ${world.now()}, ${world.now()} from generate_series(1, ${manyRows}::integer)`)
}

test(`BLK-32 an identity that has signed ${manyRows} times and has as many delegations is deleted`, async () => {
  const person = await world.person()
  const payload = { handle: `work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const { identityId } = (await ask('POST', '/api/identities', person.headers, payload)).json()
  await fillDelegations(identityId)
  const organizationId = await fillSignatures(identityId)
  const answer = await ask('DELETE', `/api/identities/${identityId}`, person.headers)
  assert.equal(answer.statusCode, 204, answer.body)
  const left = (table: string, which: string) =>
    sql<{ count: number }>`select count(*)::integer as count from ${sql.table(table)}
      where identity_id = ${identityId} and ${sql.raw(which)}`.execute(world.db)
  const counts = await Promise.all([
    left('delegation_grant', 'true'),
    left('signing_signature_use', 'true'),
    left('signing_organization_signature', 'num_nonnulls(signed_handle, approval_statement, approval_evidence) > 0'),
    left('signing_organization_signature', 'true'),
  ])
  assert.deepEqual(
    counts.map(({ rows }) => rows[0]?.count),
    [0, 0, 0, manyRows],
  )
  await world.changeMany(sql`delete from signing_organization_request where organization_id = ${organizationId}`)
})

/** Adds requests to an organization that an identity has signed. Returns the ID of the organization. */
async function fillSignatures(identityId: IdentityId) {
  const organizationId = randomUUID()
  await fill(sql`
    with signed as (
      insert into signing_organization_request (organization_id, request_id, client_id, organization_name, payload,
        approvals_needed, status, created_at, expires_at, resolved_at)
      select ${organizationId}::uuid, gen_random_uuid(), ${app.clientId}, 'Acme', 'A text', 0, 'signed',
        ${world.now()}, ${world.now()}::timestamptz + interval '1 hour', ${world.now()}
      from generate_series(1, ${manyRows}::integer)
      returning organization_id, request_id
    ) insert into signing_organization_signature (organization_id, request_id, identity_id, member_id, role,
      key_version, public_key, signature, signed_handle, signed_at, approval_statement, approval_signature,
      approval_presence, approval_evidence)
    select organization_id, request_id, ${identityId}::uuid, gen_random_uuid(), 'sign', 1, sha256('a key'),
      sha512('a signature'), 'a-handle', ${world.now()}, '{}', sha512('a signature'), sha256('presence'),
      '{}' from signed`)
  await fill(sql`
    insert into signing_signature_use (identity_id, signature_sha256, client_id, role)
    select ${identityId}::uuid, sha256(nth::text::bytea), ${app.clientId}, 'self'
    from generate_series(1, ${manyRows}::integer) nth`)
  return organizationId
}
