import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { watchStatements } from '#testing/statement-blocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const filled = ['organization_member', 'session', 'session_app', 'session_sso_authentication', 'token_family']
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const others = onPostgres ? 50_000 : 100
const blocksMax = 50

const watch = watchStatements()
let world: TestWorld
before(async () => {
  world = await createWorld({ between: watch.between })
})
after(() => world.close())

/** Adds many members to an organization, each signed in by its SSO, with an app that has tokens for it. */
async function fillOrganization(organizationId: string, identityId: string): Promise<void> {
  await world.kernel.alone(async (db) => {
    if (onPostgres) await sql`analyze`.execute(db)
    for (const table of filled) {
      if (onPostgres) await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db)
      const { rows } = await sql<{ text: string }>`
        select string_agg(case
          when column_name in ('organization_id', 'sso_connection_id', 'connection_id') then quote_ident(column_name)
          when data_type = 'uuid' then 'md5(' || quote_ident(column_name) || '::text || nth)::uuid'
          when column_name = 'token_sha256' then 'sha256(nth::text::bytea)'
          when column_name = 'role' then '''viewer'''
          when column_name = 'scopes' then '''{read}'''
          else quote_ident(column_name) end, ', ' order by ordinal_position) as text
        from information_schema.columns where table_schema = 'public' and table_name = ${table}`.execute(db)
      await sql`
        insert into ${sql.table(table)} select ${sql.raw(rows[0]?.text ?? '')}
        from (
          select * from ${sql.table(table)}
          where organization_id = ${organizationId} and identity_id = ${identityId} limit 1
        ) one cross join generate_series(1, ${others}::integer) nth`.execute(db)
    }
  })
}

test('QRY-07 a member of a large organization reads it without scanning its other members', async () => {
  const [owner, member] = [await createSigner(world), await world.person()]
  const { id } = await createOrganization(world, owner)
  await join(world, { id, owner, role: 'member' }, member)
  const app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
  const headers = await signInByOrganization(world, member, { organizationId: id })
  await app.tokens({ ...member, headers }, { organizationId: id, scope: 'openid' })
  await fillOrganization(id, member.identityId)

  const requested = await signingRequesterOf(world, await world.app()).requestOf(id)
  assert.equal(requested.statusCode, 201, requested.body)
  const requests: Record<string, () => PromiseLike<{ statusCode: number; body: string }>> = {
    'pending signing requests': () => owner.listRequests(),
    'number of pending signing requests': () => owner.readPending(),
    'the organization': () => businessRequest(world, owner, `GET /organizations/${id}`),
    'all organizations of the owner': () => businessRequest(world, owner, 'GET /organizations'),
    'a page of members': () => businessRequest(world, owner, `GET /organizations/${id}/members?limit=5`),
  }
  const tooMany: string[] = []
  for (const [what, ask] of Object.entries(requests)) {
    watch.take()
    const answer = await ask()
    assert.ok(answer.statusCode < 300, answer.body)
    for (const { text, blocks } of watch.take())
      if (blocks >= blocksMax) tooMany.push(`${what}: ${blocks} blocks: ${text}`)
  }
  await world.kernel.alone((db) => deleteOthers(db, id, [owner.identityId, member.identityId]))
  assert.deepEqual(tooMany, [])
})

test('QRY-13 leaving a large organization or removing a member does not scan the other members', async () => {
  const owner = await createSigner(world)
  const [first, removed, leaving] = [await world.person(), await world.person(), await world.person()]
  const { id } = await createOrganization(world, owner)
  const app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
  const sessions = []
  for (const member of [first, removed, leaving]) {
    await join(world, { id, owner, role: 'member' }, member)
    const headers = await signInByOrganization(world, member, { organizationId: id })
    await app.tokens({ ...member, headers }, { organizationId: id, scope: 'openid' })
    sessions.push(headers)
  }
  await fillOrganization(id, removed.identityId)

  const members = (await businessRequest(world, owner, `GET /organizations/${id}/members?limit=100`)).json().members
  const memberIdOf = ({ identityId }: { identityId: string }) =>
    members.find((one: { identityId: string }) => one.identityId === identityId)?.memberId
  const requests: Record<string, () => PromiseLike<{ statusCode: number; body: string }>> = {
    'removing a member': () =>
      businessRequest(world, owner, `DELETE /organizations/${id}/members/${memberIdOf(removed)}`),
    leaving: () => businessRequest(world, leaving, `DELETE /organizations/${id}/members/${memberIdOf(leaving)}`),
  }
  // The first row of a table also creates the first blocks of its indexes. That is not a scan of other members.
  assert.equal(
    (await businessRequest(world, owner, `DELETE /organizations/${id}/members/${memberIdOf(first)}`)).statusCode,
    204,
  )
  const tooMany: string[] = []
  for (const [what, ask] of Object.entries(requests)) {
    watch.take()
    const answer = await ask()
    assert.ok(answer.statusCode < 300, answer.body)
    for (const { text, blocks } of watch.take())
      if (blocks >= blocksMax) tooMany.push(`${what}: ${blocks} blocks: ${text}`)
  }
  for (const headers of sessions)
    assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 401)
  await world.kernel.alone((db) =>
    deleteOthers(
      db,
      id,
      [owner, first, removed, leaving].map(({ identityId }) => identityId),
    ),
  )
  assert.deepEqual(tooMany, [])
})

/** These members have no accounts: no other test must find them. */
async function deleteOthers(db: TestWorld['db'], organizationId: string, identityIds: string[]): Promise<void> {
  for (const table of filled)
    await sql`
      delete from ${sql.table(table)}
      where organization_id = ${organizationId} and identity_id <> all(${identityIds}::uuid[])`.execute(db)
}
