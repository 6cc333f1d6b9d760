import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { record } from '#platform/audit/audit.ts'
import { transaction } from '#platform/database/database.ts'
import { join, makeOrganization } from '#testing/organization.ts'
import { createWorld, type TestApp, type World } from '#testing/world.ts'
import { findLineageOfRefresh, revokeForReuse, revokeLineagesOfOrganization } from '#tokens/families/family.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** A lineage of an app of its own, refreshed so often; its first and its newest refresh token. */
async function grown(generations: number) {
  const app = await world.app()
  const { refresh_token: first, access_token: access } = await app.tokens(await world.person())
  let newest = first
  for (let generation = 0; generation < generations; generation += 1)
    newest = (await app.refresh(newest)).json().refresh_token
  return { app, first, newest, access }
}

const rowsOf = ({ clientId }: TestApp) =>
  world.db.selectFrom('token_lineage').selectAll().where('client_id', '=', clientId).execute()

/** The statements that finding and ending a reuse takes. */
async function statementsToEnd(spent: string): Promise<string[]> {
  const statements: string[] = []
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements.push(node.kind)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const db = world.db.withPlugin(counting)
  const found = await findLineageOfRefresh(db, spent, world.now())
  assert.equal(found?.reused, true)
  await revokeForReuse(db, found.lineage, world.now())
  return statements
}

test('REF-17 reuse is ended by as few statements after a million generations as after three', async () => {
  const young = await grown(3)
  const old = await grown(200)
  await world.db
    .updateTable('token_lineage')
    .set({ generation: 1_000_000 })
    .where('client_id', '=', old.app.clientId)
    .execute()
  const newest = (await old.app.refresh(old.newest)).json().refresh_token

  const [row, ...others] = await rowsOf(old.app)
  assert.deepEqual([row?.generation, others.length], [1_000_001, 0])
  assert.deepEqual([row?.live_sha256.length, row?.spent_sha256.length], [1, 1], 'no generation leaves anything behind')

  const statements = await statementsToEnd(old.first)
  assert.deepEqual(statements, ['SelectQueryNode', 'UpdateQueryNode', 'InsertQueryNode'])
  assert.deepEqual(await statementsToEnd(young.first), statements)
  assert.equal((await old.app.refresh(newest)).json().error, 'invalid_grant')
})

test('REF-17 whoever presents a token of a million generations ago ends the lineage at once', async () => {
  const { app, first, newest, access } = await grown(2)
  await world.db
    .updateTable('token_lineage')
    .set({ generation: 1_000_000 })
    .where('client_id', '=', app.clientId)
    .execute()
  const latest = (await app.refresh(newest)).json()
  assert.equal((await app.refresh(first)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(latest.refresh_token)).json().error, 'invalid_grant')
  for (const token of [access, latest.access_token]) {
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
  }
})

test('a reuse that cannot be written into the trail ends nothing, and does when it can', async () => {
  const { app, first } = await grown(2)
  const withoutTrail = world.db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'InsertQueryNode') throw new Error('the database is away')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const found = await findLineageOfRefresh(world.db, first, world.now())
  assert.ok(found)
  await assert.rejects(revokeForReuse(withoutTrail, found.lineage, world.now()), /away/)
  assert.equal((await rowsOf(app))[0]?.revoked_at, null)
  assert.equal((await app.refresh(first)).json().error, 'invalid_grant')
  assert.deepEqual((await rowsOf(app))[0]?.revoked_at, world.now())
})

test('what people gave to apps for an organization ends, of all members or of some, and nothing else', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const { id: organizationId } = await makeOrganization(world, ada)
  await join(world, { id: organizationId, owner: ada, role: 'member' }, grace)
  const app = await world.app()
  const given = {
    ada: await app.tokens(ada, { organizationId }),
    grace: await app.tokens(grace, { organizationId }),
    adaHerself: await app.tokens(ada),
  }
  const end = (identityIds?: string[]) =>
    transaction(world.db, async (tx) => {
      await revokeLineagesOfOrganization(tx, { organizationId, ...(identityIds && { identityIds }) }, world.now())
      await record(tx, { action: 'tokens.revoked', actor: 'operator' }, world.now())
    })
  const live = async () => {
    const answers = Object.values(given).map(({ access_token: token }) =>
      world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } }),
    )
    return (await Promise.all(answers)).map(({ statusCode }) => statusCode)
  }

  await end([])
  assert.deepEqual(await live(), [200, 200, 200])
  await end([ada.identityId])
  assert.deepEqual(await live(), [401, 200, 200])
  await end()
  assert.deepEqual(await live(), [401, 401, 200])
})
