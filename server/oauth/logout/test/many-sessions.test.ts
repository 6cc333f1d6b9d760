import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('BCL-10 ending 70,000 sessions at once queues their logout tokens with a few statements', async () => {
  const person = await world.person()
  const app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
  await app.tokens(person, { scope: 'openid' })
  await world.changeMany(sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, expires_at)
    select each.id, each.id, ${person.identityId}::uuid, ${app.clientId}, ${world.now()}::timestamptz + interval '1 day'
    from (select gen_random_uuid() as id from generate_series(1, 70000)) each`)
  const { headers } = person
  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers })
  const [{ id }] = listed.json<{ authorizations: [{ id: string }] }>().authorizations
  const answer = await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers })
  assert.equal(answer.statusCode, 204, answer.body)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from session_logout`.execute(world.db)
  assert.equal(rows[0]?.count, 70_001)
  await world.changeMany(sql`delete from session_logout`)
})
