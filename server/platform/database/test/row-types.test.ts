import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asId, type ClientId, type IdentityId, type UserId } from '@countersign/protocol/ids'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Tables } from '#platform/database/tables.ts'

/** Compiles statements and executes none. */
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (introspected) => new PostgresIntrospector(introspected),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const userId = asId<UserId>('user')
const identityId = asId<IdentityId>('identity')
const clientId = asId<ClientId>('client')
const plain: string = 'text'

test('an ID is only accepted as an ID of its kind, in a call, a condition and an insertion', () => {
  const find = (id: IdentityId) => db.selectFrom('identity').select('handle').where('identity_id', '=', id)
  const origin = 'https://app.example'
  const compiled = [
    find(identityId),
    // @ts-expect-error -- A user is not an identity.
    find(userId),
    // @ts-expect-error -- Text may be anything.
    find(plain),
    // @ts-expect-error -- In a condition, too.
    db.selectFrom('identity').select('handle').where('identity_id', '=', userId),
    // @ts-expect-error -- In a list, too.
    db.selectFrom('identity').select('handle').where('identity_id', 'in', [identityId, clientId]),
    db.insertInto('app_origin').values({ origin, client_id: clientId }),
    // @ts-expect-error -- An identity is not a client.
    db.insertInto('app_origin').values({ origin, client_id: identityId }),
    // @ts-expect-error -- In a change, too.
    db.updateTable('app').set({ owner_user_id: identityId }),
  ]
  for (const { parameters, sql } of compiled.map((query) => query.compile())) assert.ok(parameters.length > 0, sql)
})

test('the IDs of a joined row keep their kinds', async () => {
  const rows = await db
    .selectFrom('delegation_grant as delegation')
    .innerJoin('identity', 'identity.identity_id', 'delegation.identity_id')
    .select(['identity.user_id', 'delegation.source_client_id as clientId'])
    .execute()
  for (const row of rows) {
    row.user_id satisfies UserId
    row.clientId satisfies ClientId
    // @ts-expect-error -- The user of the identity was selected.
    row.user_id satisfies IdentityId
  }
  assert.deepEqual(rows, [])
})

test('asId requires the kind', () => {
  // @ts-expect-error -- The kind is not inferred from what is expected.
  const inferred: IdentityId = asId(plain)
  assert.equal(inferred, plain)
})
