import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { setReadOnly } from '#testing/read-only.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
before(async () => {
  world = await createWorld()
  owner = await world.person()
})
after(() => world.close())

async function countExported(organizationId: string): Promise<number> {
  const answer = await businessRequest(world, owner, `GET /organizations/${organizationId}/trail`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.body.split('\n').length - 1
}

test('ACT-45 on a read-only database, the trail is exported as far as it is chained', async (t) => {
  const { id } = await createOrganization(world, owner)
  assert.equal(await countExported(id), 1)
  await recordAuditEvent(
    world.db,
    { action: 'organization.updated', actor: 'user', organizationId: id, details: {} },
    world.now(),
  )
  t.after(() => setReadOnly(world, false))
  await setReadOnly(world, true)
  assert.equal(await countExported(id), 1)
  await setReadOnly(world, false)
  assert.equal(await countExported(id), 2)
})

test('ACT-46 an export contains all that was recorded before it, however much waited for its place', async () => {
  const { id } = await createOrganization(world, owner, 'Directory')
  const waiting = 10_600
  await sql`
    with recorded as (
      insert into audit_event (event_id, occurred_at, action, actor, organization_id, details)
      select gen_random_uuid(), ${world.now()}::timestamptz, 'scim.user.updated', 'system', ${id}::uuid, '{}'
      from generate_series(1, ${waiting}::integer)
      returning organization_id, event_id
    )
    insert into organization_trail_pending (organization_id, event_id) select * from recorded`.execute(world.db)
  assert.equal(await countExported(id), waiting + 1)
})
