import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { continueOrganizationEndings } from '#organizations/members/ending.ts'
import { continueConnectionEndings } from '#sso/connections/ending.ts'
import { countDeadlocks } from '#testing/deadlocks.ts'
import { nameBy, signInByOrganization } from '#testing/enterprise-session.ts'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { fillIdentities } from '#testing/many-rows.ts'
import { join } from '#testing/organization.ts'
import type { Person, TestApp } from '#testing/world.ts'

const deadlocks = countDeadlocks()
let enterprise: Enterprise
let world: Enterprise['world']
let app: TestApp
before(async () => {
  enterprise = await openEnterprise({ between: deadlocks.between })
  ;({ world } = enterprise)
  app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
})
after(() => enterprise.close())

const filled: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const remove of filled.splice(0)) await remove()
  await sql`delete from session_logout`.execute(world.db)
})

type Signing = { organizationId: string; connectionId: string }

/** Adds sessions that a connection has opened, of users with one each. */
async function fillSessions({ organizationId, connectionId }: Signing, count: number): Promise<void> {
  const { identityIds, remove } = await fillIdentities(world, count)
  filled.push(remove)
  await sql`
    with opened as (
      insert into session (session_id, token_sha256, user_id, auth_method, identity_id, organization_id, connection_id,
        created_at, auth_time, last_seen_at, expires_at)
      select gen_random_uuid(), sha256(id::text::bytea), id, 'enterprise_sso', id, ${organizationId}::uuid,
        ${connectionId}::uuid, ${world.now()}, ${world.now()}, ${world.now()},
        ${world.now()}::timestamptz + interval '1 day'
      from unnest(${identityIds}::uuid[]) id
      returning session_id, identity_id, created_at
    )
    insert into session_sso_authentication (session_id, organization_id, connection_id, identity_id, authenticated_at)
    select session_id, ${organizationId}::uuid, ${connectionId}::uuid, identity_id, created_at from opened`.execute(
    world.db,
  )
}

/**
 * Creates a connection that has signed so many users in that a request leaves the last of them: a member without a
 * passkey, with a code, and one in a session that a passkey opened.
 */
async function largeConnection() {
  const organization = await enterprise.organization(await world.person())
  const { organizationId, owner } = organization
  const { connectionId } = await enterprise.connect(organization)
  const [member, other] = [await world.person(), await world.person()]
  for (const each of [member, other]) await join(world, { id: organizationId, owner, role: 'member' }, each)
  const signing = { organizationId, connectionId }
  await fillSessions(signing, 1044)
  const headers = await signInByOrganization(world, member, signing)
  await nameBy(world, other, signing)
  const code = await app.code({ ...member, headers }, { organizationId })
  const path = `/${organizationId}/sso-connections/${connectionId}`
  const send = async (method: 'PATCH' | 'DELETE', url: string, payload?: object) =>
    enterprise.send({ headers: await owner.signIn() }, method, url, payload)
  /** Enables or disables it. Returns the state or the error. */
  const setEnabled = async (enabled: boolean) => {
    const answer = await send('PATCH', path, { enabled })
    return answer.statusCode === 200 ? enabled : answer.json<{ error: string }>().error
  }
  const setStatus = async (status: 'active' | 'suspended') => {
    const url = `/api/admin/organizations/${organizationId}`
    const answer = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status } })
    return answer.statusCode === 200 ? status : answer.json<{ error: string }>().error
  }
  const remove = async (what: 'connection' | 'organization') => {
    const answer = await send('DELETE', what === 'connection' ? path : `/${organizationId}`)
    assert.ok(answer.statusCode < 300, answer.body)
  }
  return { ...signing, member, other, headers, code, setEnabled, setStatus, remove }
}

type Large = Awaited<ReturnType<typeof largeConnection>>

/** Checks that the last session of a connection is not accepted, nor its code. */
async function requireRefused({ headers, code, member }: Large): Promise<void> {
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 401)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  const { sessions } = (await world.api.inject({ url: '/api/auth/sessions', headers: member.headers })).json()
  assert.equal(sessions.length, 1, 'that of the passkey')
}

const count = async (of: { connectionId: string }, table: 'session' | 'session_sso_authentication') =>
  (await world.db.selectFrom(table).select('session_id').where('connection_id', '=', of.connectionId).execute()).length

/** Has the cleanup do the rest, 20 rows at a time. Returns the batches. */
async function cleanUp(continueEndings = continueConnectionEndings): Promise<number[]> {
  const batches: number[] = []
  while (batches.at(-1) !== 0) batches.push(await continueEndings(world.db, world.now(), 20))
  return batches
}

/** Returns how an app learns that a member has signed in. */
const methodOf = async (person: Pick<Person, 'headers' | 'identityId'>, { organizationId }: Signing) =>
  (await app.tokens(person, { organizationId })).organization?.authMethod

test('GRW-61 a disabled connection signs any number of members out, and in none when it is enabled', async () => {
  const made = await largeConnection()
  assert.equal(await methodOf(made.other, made), 'enterprise_sso')
  assert.equal(await made.setEnabled(false), false)
  assert.equal(await count(made, 'session'), 45, 'the request leaves some to the cleanup')
  await requireRefused(made)
  assert.equal(await methodOf(made.other, made), 'passkey', 'what it stated in another session has ended too')

  assert.equal(await made.setEnabled(true), 'connection_ending')
  assert.equal(await continueConnectionEndings(world.db, world.now(), 20), 20)
  assert.equal(await made.setEnabled(true), 'connection_ending')
  await requireRefused(made)
  assert.deepEqual(await cleanUp(), [20, 6, 0])
  assert.deepEqual([await count(made, 'session'), await count(made, 'session_sso_authentication')], [0, 0])

  assert.equal(await made.setEnabled(true), true)
  await requireRefused(made)
  assert.equal(await methodOf(made.other, made), 'passkey')
  const headers = await signInByOrganization(world, made.member, made)
  assert.deepEqual(await cleanUp(), [0])
  assert.equal(await methodOf({ ...made.member, headers }, made), 'enterprise_sso')
})

test('GRW-61 so does a deleted connection', async () => {
  const made = await largeConnection()
  await made.remove('connection')
  assert.equal(await count(made, 'session'), 45)
  await requireRefused(made)
  assert.equal(await methodOf(made.other, made), 'passkey')
  assert.deepEqual(await cleanUp(), [20, 20, 6, 0])
  assert.deepEqual([await count(made, 'session'), await count(made, 'session_sso_authentication')], [0, 0])
  await requireRefused(made)
})

test('GRW-61 so does a suspended organization', async () => {
  const made = await largeConnection()
  assert.equal(await made.setStatus('suspended'), 'suspended')
  assert.equal(await count(made, 'session'), 45)
  await requireRefused(made)
  assert.equal(await made.setStatus('active'), 'organization_ending')
  assert.deepEqual(await cleanUp(continueOrganizationEndings), [20, 20, 6, 0])
  assert.deepEqual([await count(made, 'session'), await count(made, 'session_sso_authentication')], [0, 0])
  assert.equal(await made.setStatus('active'), 'active')
  await requireRefused(made)
  assert.equal(await methodOf(made.other, made), 'passkey')
})

test('GRW-61 so does a deleted organization', async () => {
  const made = await largeConnection()
  await made.remove('organization')
  assert.equal(await count(made, 'session'), 45)
  await requireRefused(made)
  assert.deepEqual(await cleanUp(continueOrganizationEndings), [20, 20, 6, 0])
  assert.deepEqual([await count(made, 'session'), await count(made, 'session_sso_authentication')], [0, 0])
})

for (const end of ['suspended', 'deleted'] as const)
  test(`GRW-61 what is left of a connection and of its ${end} organization ends without a deadlock`, async () => {
    const made = await largeConnection()
    await (end === 'suspended' ? made.setStatus(end) : made.remove('organization'))
    assert.equal(await count(made, 'session'), 45)
    // As if the connection had been disabled before, with a code that neither request has reached.
    const ending = { connection_id: made.connectionId, organization_id: made.organizationId }
    await world.db.insertInto('sso_connection_ending').values(ending).execute()
    const code = world.db.updateTable('token_family').where('sso_connection_id', '=', made.connectionId)
    await code.set({ revoked_at: null }).execute()

    deadlocks.setDistance(5)
    await Promise.all([
      continueOrganizationEndings(world.db, world.now(), 1000),
      continueConnectionEndings(world.db, world.now(), 1000),
    ])
    deadlocks.setDistance(0)
    assert.equal(deadlocks.count(), 0)
    assert.deepEqual([await count(made, 'session'), await count(made, 'session_sso_authentication')], [0, 0])
    await requireRefused(made)
    assert.deepEqual([await cleanUp(continueOrganizationEndings), await cleanUp()], [[0], [0]])
    assert.deepEqual(await world.db.selectFrom('sso_connection_ending').selectAll().execute(), [])
    if (end === 'suspended') assert.equal(await made.setStatus('active'), 'active')
  })

test('GRW-61 BCL-11 apps of two identities of a user are notified apart, with many sessions between them', async () => {
  const organization = await enterprise.organization(await world.person())
  const { organizationId, owner } = organization
  const { connectionId } = await enterprise.connect(organization)
  const signing = { organizationId, connectionId }
  const member = await world.person()
  const payload = { handle: 'her-work', displayName: 'At work' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers: member.headers, payload })
  const other = { ...member, handle: payload.handle, identityId: made.json().identityId }
  for (const each of [member, other]) {
    await join(world, { id: organizationId, owner, role: 'member' }, each)
    const headers = await signInByOrganization(world, each, signing)
    await app.tokens({ ...each, headers }, { organizationId, scope: 'openid' })
    if (each === member) await fillSessions(signing, 1043)
  }

  const path = `/${organizationId}/sso-connections/${connectionId}`
  const answer = await enterprise.send({ headers: await owner.signIn() }, 'PATCH', path, { enabled: false })
  assert.equal(answer.statusCode, 200, answer.body)
  const queued = await world.db.selectFrom('session_logout').select(['identity_id', 'next_attempt_at']).execute()
  assert.deepEqual(
    new Set(queued.map((each) => each.identity_id)),
    new Set([member.identityId, other.identityId]),
    'the request ends the last session too, because the first is of the same user',
  )
  const [first, second] = queued.map((each) => each.next_attempt_at.getTime())
  assert.ok(Math.abs((first ?? 0) - (second ?? 0)) >= 60_000)
  assert.deepEqual(await cleanUp(), [20, 20, 4, 0])
  assert.equal(await count(signing, 'session'), 0)
})
