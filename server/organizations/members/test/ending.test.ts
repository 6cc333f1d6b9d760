import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import { continueOrganizationEndings } from '#organizations/members/ending.ts'
import { fillIdentities } from '#testing/many-rows.ts'
import { createOrganization, join } from '#testing/organization.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const setStatus = async (organizationId: OrganizationId, status: 'active' | 'suspended') => {
  const url = `/api/admin/organizations/${organizationId}`
  const answer = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status } })
  return answer.statusCode === 200 ? status : answer.json().error
}

/** Adds token families for an organization like the one that an app has. */
async function fillTokens(organizationId: OrganizationId, count: number): Promise<void> {
  const { rows } = await sql<{ columns: string }>`
    select string_agg(case column_name when 'family_id' then 'gen_random_uuid()' else column_name end, ', '
      order by ordinal_position) as columns
    from information_schema.columns where table_schema = 'public' and table_name = 'token_family'`.execute(world.db)
  await sql`
    insert into token_family select ${sql.raw(rows[0]?.columns ?? '')} from (
      select * from token_family where organization_id = ${organizationId} limit 1
    ) one cross join generate_series(1, ${count}::integer) nth`.execute(world.db)
}

/** Counts the token families for an organization that have not been revoked. */
async function countUnrevoked(organizationId: OrganizationId): Promise<number> {
  const unrevoked = world.db.selectFrom('token_family').where('revoked_at', 'is', null)
  const ofIt = unrevoked.where('organization_id', '=', organizationId).select('family_id')
  return (await ofIt.execute()).length
}

/** Has the cleanup do the rest, 20 rows at a time. Returns the batches. */
async function cleanUp(): Promise<number[]> {
  const batches: number[] = []
  while (batches.at(-1) !== 0) batches.push(await continueOrganizationEndings(world.db, world.now(), 20))
  return batches
}

type Issued = { code: string; tokens: { access_token: string; refresh_token: string } }

/** Creates an organization for which an app has so many tokens that a request leaves the last of them. */
async function largeOrganization(app: TestApp, owner: Person, member: Person) {
  const { id: organizationId } = await createOrganization(world, owner)
  await join(world, { id: organizationId, owner, role: 'member' }, member)
  await app.tokens(member, { organizationId })
  await fillTokens(organizationId, 1044)
  const last = {
    tokens: await app.tokens(member, { organizationId }),
    code: await app.code(member, { organizationId }),
  }
  return { organizationId, last }
}

async function requireRefused(app: TestApp, { code, tokens }: Issued): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).json().error, 'invalid_token')
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    const described = await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
    assert.deepEqual(described.json(), { active: false })
  }
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
}

test('GRW-59 a suspension ends any number of tokens at once, and its end brings none of them back', async () => {
  const [owner, member, app] = [await world.person(), await world.person(), await world.app()]
  const { organizationId, last } = await largeOrganization(app, owner, member)
  const own = await app.tokens(member)
  assert.equal(await setStatus(organizationId, 'suspended'), 'suspended')
  assert.equal(await countUnrevoked(organizationId), 47, 'the request leaves some to the cleanup')
  await requireRefused(app, last)
  assert.equal(await setStatus(organizationId, 'active'), 'organization_ending')
  await requireRefused(app, last)
  assert.equal(await setStatus(organizationId, 'suspended'), 'suspended')

  assert.equal(await continueOrganizationEndings(world.db, world.now(), 20), 20)
  assert.equal(await setStatus(organizationId, 'active'), 'organization_ending')
  assert.deepEqual(await cleanUp(), [20, 6, 0], 'a code that came again has ended its tokens')
  assert.equal(await countUnrevoked(organizationId), 0)
  assert.equal(await setStatus(organizationId, 'active'), 'active')
  await requireRefused(app, last)
  const headers = { authorization: `Bearer ${own.access_token}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 200)
  const later = await app.tokens(member, { organizationId })
  assert.deepEqual(await cleanUp(), [0])
  assert.equal((await app.refresh(later.refresh_token)).statusCode, 200)
})

test('GRW-59 so does the deletion of an organization', async () => {
  const [owner, member, app] = [await world.person(), await world.person(), await world.app()]
  const { organizationId, last } = await largeOrganization(app, owner, member)
  const url = `/api/organizations/${organizationId}`
  const deleted = await world.business.inject({ method: 'DELETE', url, headers: owner.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal(await countUnrevoked(organizationId), 47)
  await requireRefused(app, last)
  assert.deepEqual(await cleanUp(), [20, 20, 7, 0])
  assert.equal(await countUnrevoked(organizationId), 0)
  await requireRefused(app, last)
})

/** Records apps that know sessions of identities in which they used an organization. */
async function fillAppSessions(organizationId: OrganizationId, identityIds: string[], clientId: string) {
  await sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, organization_id, expires_at)
    select gen_random_uuid(), gen_random_uuid(), id, ${clientId}, ${organizationId}::uuid,
      ${world.now()}::timestamptz + interval '1 day'
    from unnest(${identityIds}::uuid[]) with ordinality as listed (id, nth) order by nth`.execute(world.db)
}

test('GRW-60 BCL-11 apps of many members are notified in batches, those of identities of one user apart', async () => {
  const [owner, member] = [await world.person(), await world.person()]
  const app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
  const { id: organizationId } = await createOrganization(world, owner)
  await join(world, { id: organizationId, owner, role: 'member' }, member)
  const payload = { handle: 'her-other', displayName: 'Other' }
  const other = await world.api.inject({ method: 'POST', url: '/api/identities', headers: member.headers, payload })
  const { identityId } = other.json()
  const { identityIds, remove } = await fillIdentities(world, 1043)
  await fillAppSessions(organizationId, [member.identityId, ...identityIds, identityId], app.clientId)

  assert.equal(await setStatus(organizationId, 'suspended'), 'suspended')
  const queued = () => world.db.selectFrom('session_logout').select(['identity_id', 'next_attempt_at']).execute()
  const first = await queued()
  assert.equal(first.length, 1001, 'those that a request ends at once, and the other identity of a user among them')
  const dueAt = (of: string) => first.find((each) => each.identity_id === of)?.next_attempt_at.getTime() ?? 0
  assert.ok(Math.abs(dueAt(member.identityId) - dueAt(identityId)) >= 60_000)
  assert.equal(await setStatus(organizationId, 'active'), 'organization_ending')
  assert.deepEqual(await cleanUp(), [20, 20, 4, 0])
  assert.equal((await queued()).length, 1045)
  assert.equal(await setStatus(organizationId, 'active'), 'active')
  await sql`delete from session_logout`.execute(world.db)
  await remove()
})
