import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import { sql } from 'kysely'
import { createKeyHolder, newSharedKey, setMode } from '#testing/key-holder.ts'
import { businessRequest, createOrganization, join } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

/** Opens a world in which a session can list members three times an hour. */
async function limitedWorld(t: TestContext): Promise<TestWorld> {
  const environment = { RATE_LIMIT_NUMBERS: 'member-lists-per-user=6' }
  const world = await createWorld({ rateLimits: true, environment })
  t.after(() => world.close())
  return world
}

type Requester = Pick<Person, 'headers'>

/** Returns the statuses of these requests, one after another. */
async function statusesOf(world: TestWorld, requester: Requester, paths: string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const path of paths) statuses.push((await businessRequest(world, requester, `GET ${path}`)).statusCode)
  return statuses
}

test('GRW-56 a session lists and searches members so many times an hour, and turns pages without limit', async (t) => {
  const world = await limitedWorld(t)
  const owner = await world.person()
  const { id } = await createOrganization(world, owner)
  await join(world, { id, owner, role: 'viewer' }, await world.person())
  world.pass(3600)
  const path = `/organizations/${id}/members`
  const { nextCursor } = (await businessRequest(world, owner, `GET ${path}?limit=1`)).json()
  const nextPage = `${path}?limit=1&cursor=${nextCursor}`
  const listed = [path, `${nextPage}&q=ada`, path, path, `${nextPage}&role=viewer`, `${path}?limit=1`]
  assert.deepEqual(await statusesOf(world, owner, listed), [200, 200, 429, 429, 429, 429])
  assert.deepEqual(await statusesOf(world, owner, Array<string>(8).fill(nextPage)), Array<number>(8).fill(200))
  const elsewhere = { headers: await owner.signIn() }
  assert.deepEqual(await statusesOf(world, elsewhere, [path, path]), [200, 200])
  world.pass(3600)
  assert.deepEqual(await statusesOf(world, owner, [path]), [200])
})

test('GRW-56 lists of who has a key count with them, and reading the own key does not', async (t) => {
  const world = await limitedWorld(t)
  const [owner, member] = [await createKeyHolder(world), await createKeyHolder(world)]
  const { id } = await createOrganization(world, owner)
  await join(world, { id, owner, role: 'member' }, member)
  await setMode(world, owner, id, 'e2ee')
  const { fingerprint, wrapTo } = newSharedKey(id)
  const key = { fingerprint, ciphertext: await wrapTo(owner) }
  const made = await businessRequest(world, owner, `POST /organizations/${id}/keys`, key)
  assert.equal(made.statusCode, 201, made.body)
  world.pass(3600)
  const wraps = `/organizations/${id}/keys/${made.json().key.keyId}/wraps`
  const both = [`/organizations/${id}/members`, wraps, wraps, wraps]
  assert.deepEqual(await statusesOf(world, owner, both), [200, 200, 200, 429])
  assert.deepEqual(await statusesOf(world, member, Array<string>(8).fill(wraps)), Array<number>(8).fill(200))
})

/** Adds this many members, whose identities have no account. */
async function fill(world: TestWorld, id: string, count: number): Promise<void> {
  for (const table of ['identity', 'organization_member'] as const) {
    const { rows } = await sql<{ text: string }>`
      select string_agg(case
        when column_name in ('identity_id', 'user_id') then 'md5(identity_id::text || nth)::uuid'
        when column_name = 'member_id' then 'md5(member_id::text || nth)::uuid'
        when column_name in ('handle', 'handle_key') then quote_ident(column_name) || ' || nth'
        when column_name = 'role' then '''viewer'''
        else quote_ident(column_name) end, ', ' order by ordinal_position) as text
      from information_schema.columns where table_schema = 'public' and table_name = ${table}`.execute(world.db)
    await sql`
      insert into ${sql.table(table)} select ${sql.raw(rows[0]?.text ?? '')}
      from (
        select * from ${sql.table(table)}
        where identity_id = (select identity_id from organization_member where organization_id = ${id} limit 1) limit 1
      ) one cross join generate_series(1, ${count}::integer) nth`.execute(world.db)
  }
}

/** Those members have no accounts: no check of the rows must find them. */
async function empty({ db }: TestWorld, id: string, { identityId }: Person): Promise<void> {
  await sql`delete from organization_member where organization_id = ${id} and identity_id <> ${identityId}`.execute(db)
  await sql`delete from identity where user_id not in (select user_id from user_account)`.execute(db)
}

test('GRW-56 a list of all members has each of them once, and counts again for each thousand', async (t) => {
  const world = await limitedWorld(t)
  const owner = await world.person()
  const { id } = await createOrganization(world, owner)
  await world.kernel.alone(() => fill(world, id, 1000))
  world.pass(3600)
  const path = `/organizations/${id}/members`
  const answer = await businessRequest(world, owner, `GET ${path}`)
  const { members, ...rest } = answer.json<{ members: OrganizationMember[] }>()
  const ids = members.map(({ memberId }) => memberId)
  assert.deepEqual([ids.length, ids, rest], [1001, [...new Set(ids)].toSorted(), {}])
  assert.deepEqual(await statusesOf(world, owner, [path]), [429])
  await world.kernel.alone(() => empty(world, id, owner))
})
