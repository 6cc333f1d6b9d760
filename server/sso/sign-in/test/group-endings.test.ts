import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { sql } from 'kysely'
import { continueGroupEndings } from '#accounts/groups/ending.ts'
import { endExpiredMemberships } from '#accounts/groups/upstream.ts'
import { type Enterprise, newClaims, openEnterprise } from '#testing/enterprise.ts'
import { fillIdentities } from '#testing/many-rows.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

const filled: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const remove of filled.splice(0)) await remove()
})

type Method = 'GET' | 'PATCH'
const admin = (method: Method, path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) })

let count = 0
/** Creates an organization whose provider has named 1,045 members of a group. Members added later come after them. */
async function largeGroup() {
  const slug = `acme-${(count += 1)}`
  const made = await enterprise.organization(await world.person(), `Acme ${count}`)
  const { organizationId } = made
  const domain = `${slug}.example`
  await enterprise.verifyDomain(made, domain)
  const { connectionId } = await enterprise.connect(made, { domains: [domain] })
  const path = `/${organizationId}/sso-connections/${connectionId}`
  const change = async (method: 'PATCH' | 'DELETE', payload?: object) => {
    const answer = await enterprise.send({ headers: await made.owner.signIn() }, method, path, payload)
    assert.ok(answer.statusCode < 300, answer.body)
  }
  const key = `org:${slug}:eng`
  await change('PATCH', { groupRules: [{ claim: 'groups', value: '/eng', group: key }] })
  const claims = (groups: string[]) => {
    const { sub, ...others } = newClaims()
    enterprise.upstream.say({ sub })
    return { ...others, sub, email: `${sub}@${domain}`, groups }
  }
  await fillGroup(key, connectionId)
  const setStatus = async (status: string) => {
    const answer = await admin('PATCH', `organizations/${organizationId}`, { status })
    return answer.statusCode === 200 ? status : answer.json().error
  }
  return { connectionId, key, change, claims, setStatus }
}

/** Adds members to a group, as if they had signed in by a connection. */
async function fillGroup(key: string, connectionId: string): Promise<void> {
  const { identityIds, remove } = await fillIdentities(world, 1045)
  filled.push(remove)
  await sql`
    with added as (
      insert into group_member (identity_id, group_id, source, added_at, expires_at, rule_ids)
      select identity_id, group_id, 'upstream:' || ${connectionId}::text, ${world.now()},
        ${world.now()}::timestamptz + interval '30 days',
        array(select rule_id from sso_group_rule where connection_id = ${connectionId}::uuid)
      from user_group, unnest(${identityIds}::uuid[]) identity_id where key = ${key}
      returning group_id, identity_id
    )
    insert into group_member_by_group (group_id, identity_id) select group_id, identity_id from added`.execute(world.db)
  await sql`update user_group set member_count = member_count + 1045 where key = ${key}`.execute(world.db)
}

/** Signs a user in again, with the groups that the provider states. */
async function signInAs(colleague: Awaited<ReturnType<Enterprise['colleague']>>, connectionId: string, of: string[]) {
  const arrived = await colleague.browser.signIn(connectionId, { ...colleague.claims, groups: of })
  assert.equal(arrived.statusCode, 303, arrived.body)
}

async function groupsOf({ identityId }: Person): Promise<string[]> {
  return (await admin('GET', `identities/${identityId}`)).json().identity.groups
}

async function countMembers(key: string): Promise<number | undefined> {
  const { groups } = (await admin('GET', `groups?key=${encodeURIComponent(key)}`)).json<{ groups: Group[] }>()
  return groups[0]?.memberCount
}

const continueOne = () => continueGroupEndings(world.db, world.now(), 20)

/** Has the cleanup do the rest, 20 members at a time. Returns the batches. */
async function cleanUp(): Promise<number[]> {
  const batches: number[] = []
  while (batches.at(-1) !== 0) batches.push(await continueOne())
  await endExpiredMemberships(world.db, world.now(), 2000)
  return batches
}

test('GRP-20 a connection with any number of members is disabled, and who signs in by it later stays', async () => {
  const { connectionId, key, change, claims } = await largeGroup()
  const [ann, bob] = [
    await enterprise.colleague(connectionId, claims(['/eng'])),
    await enterprise.colleague(connectionId, claims(['/eng'])),
  ]
  await change('PATCH', { enabled: false })
  await endExpiredMemberships(world.db, world.now(), 2000)
  assert.equal(await countMembers(key), 47, 'the request leaves some to the cleanup')
  assert.equal(await continueOne(), 20)
  await change('PATCH', { enabled: true })
  await signInAs(ann, connectionId, ['/eng'])
  assert.deepEqual(await cleanUp(), [20, 7, 0])
  assert.deepEqual([await groupsOf(ann.person), await groupsOf(bob.person)], [[key], []])
  assert.equal(await countMembers(key), 1)

  await fillGroup(key, connectionId)
  await change('DELETE')
  assert.deepEqual(await cleanUp(), [20, 20, 6, 0])
  assert.equal(await countMembers(key), 0)
})

test('GRP-20 so is a rule removed, and who has another rule or gets one later stays', async () => {
  const { connectionId, key, change, claims } = await largeGroup()
  const [eng, ops] = ['/eng', '/ops'].map((value) => ({ claim: 'groups', value, group: key }))
  await change('PATCH', { groupRules: [eng, ops] })
  const [ann, bob, cleo] = [
    await enterprise.colleague(connectionId, claims(['/eng'])),
    await enterprise.colleague(connectionId, claims(['/ops'])),
    await enterprise.colleague(connectionId, claims(['/eng'])),
  ]
  await change('PATCH', { groupRules: [ops] })
  await change('PATCH', { groupRules: [ops, eng] })
  await signInAs(cleo, connectionId, ['/eng'])
  assert.deepEqual(await cleanUp(), [20, 20, 8, 0])
  assert.deepEqual(
    [await groupsOf(ann.person), await groupsOf(bob.person), await groupsOf(cleo.person)],
    [[], [key], [key]],
  )
  assert.equal(await countMembers(key), 2)
})

test('GRP-19 GRP-20 an organization with any number of members in its groups is suspended', async () => {
  const { connectionId, key, claims, setStatus } = await largeGroup()
  const ann = await enterprise.colleague(connectionId, claims(['/eng']))
  assert.equal(await setStatus('suspended'), 'suspended')
  await endExpiredMemberships(world.db, world.now(), 2000)
  assert.equal(await countMembers(key), 46)
  assert.equal(await setStatus('active'), 'organization_ending')
  assert.deepEqual(await cleanUp(), [20, 20, 6, 0])
  assert.deepEqual(await groupsOf(ann.person), [])
  assert.equal(await setStatus('active'), 'active')
  await signInAs(ann, connectionId, ['/eng'])
  assert.deepEqual(await cleanUp(), [0])
  assert.deepEqual(await groupsOf(ann.person), [key])
  assert.equal(await countMembers(key), 1)
})
