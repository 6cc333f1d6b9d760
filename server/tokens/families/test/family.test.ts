import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction, type Transaction } from '#platform/database/database.ts'
import { join, createOrganization } from '#testing/organization.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'
import {
  findFamilyByRefreshToken,
  revokeFamilyOnReuse,
  revokeFamiliesOfOrganization,
  revokeSomeOfOrganization,
} from '#tokens/families/family.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/**
 * Creates a token family of a new app and refreshes it a number of times. Returns its first and its newest refresh
 * token.
 */
async function grown(generations: number) {
  const app = await world.app()
  const { refresh_token: first, access_token: access } = await app.tokens(await world.person())
  let newest = first
  for (let generation = 0; generation < generations; generation += 1)
    newest = (await app.refresh(newest)).json().refresh_token
  return { app, first, newest, access }
}

const rowsOf = ({ clientId }: TestApp) =>
  world.db.selectFrom('token_family').selectAll().where('client_id', '=', clientId).execute()

/** Counts the statements that detecting reuse and revoking the family takes. */
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
  const found = await findFamilyByRefreshToken(db, spent, world.now())
  assert.equal(found?.reused, true)
  await revokeFamilyOnReuse(db, found.family, world.now())
  return statements
}

test('REF-17 revoking on reuse takes as many statements after a million generations as after three', async () => {
  const young = await grown(3)
  const old = await grown(200)
  await world.db
    .updateTable('token_family')
    .set({ generation: 1_000_000 })
    .where('client_id', '=', old.app.clientId)
    .execute()
  const newest = (await old.app.refresh(old.newest)).json().refresh_token

  const [row, ...others] = await rowsOf(old.app)
  assert.deepEqual([row?.generation, others.length], [1_000_001, 0])
  assert.deepEqual(
    [row?.current_refresh_sha256.length, row?.previous_refresh_sha256.length],
    [1, 1],
    'no generation leaves rows behind',
  )

  const statements = await statementsToEnd(old.first)
  assert.deepEqual(statements, ['SelectQueryNode', 'UpdateQueryNode', 'InsertQueryNode'])
  assert.deepEqual(await statementsToEnd(young.first), statements)
  assert.equal((await old.app.refresh(newest)).json().error, 'invalid_grant')
})

test('REF-17 reusing a refresh token from a million generations ago revokes the token family at once', async () => {
  const { app, first, newest, access } = await grown(2)
  await world.db
    .updateTable('token_family')
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

test('reuse revokes the token family only when the audit event can be recorded', async () => {
  const { app, first } = await grown(2)
  const withoutTrail = world.db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'InsertQueryNode') throw new Error('database unavailable')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const found = await findFamilyByRefreshToken(world.db, first, world.now())
  assert.ok(found)
  await assert.rejects(revokeFamilyOnReuse(withoutTrail, found.family, world.now()), /unavailable/)
  assert.equal((await rowsOf(app))[0]?.revoked_at, null)
  assert.equal((await app.refresh(first)).json().error, 'invalid_grant')
  assert.deepEqual((await rowsOf(app))[0]?.revoked_at, world.now())
})

test('revoking tokens for an organization affects all or some of its members and no other tokens', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const { id: organizationId } = await createOrganization(world, ada)
  await join(world, { id: organizationId, owner: ada, role: 'member' }, grace)
  const app = await world.app()
  const given = {
    ada: await app.tokens(ada, { organizationId }),
    grace: await app.tokens(grace, { organizationId }),
    adaHerself: await app.tokens(ada),
  }
  const end = (revoke: (tx: Transaction) => Promise<unknown>) =>
    transaction(world.db, async (tx) => {
      await revoke(tx)
      await recordAuditEvent(tx, { action: 'token_family.revoked', actor: 'operator' }, world.now())
    })
  const live = async () => {
    const answers = Object.values(given).map(({ access_token: token }) =>
      world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } }),
    )
    return (await Promise.all(answers)).map(({ statusCode }) => statusCode)
  }

  const endOf = (identityIds: IdentityId[]) =>
    end((tx) => revokeFamiliesOfOrganization(tx, { organizationId, identityIds }, world.now()))
  await endOf([])
  assert.deepEqual(await live(), [200, 200, 200])
  await endOf([ada.identityId])
  assert.deepEqual(await live(), [401, 200, 200])
  await end((tx) => revokeSomeOfOrganization(tx, { organizationId, limit: 10 }, world.now()))
  assert.deepEqual(await live(), [401, 401, 200])
})
