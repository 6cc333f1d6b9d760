import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group, GroupMember } from '@countersign/protocol/accounts/groups'
import { limits } from '@countersign/protocol/formats/limits'
import type { GroupRule, SsoConnection } from '@countersign/protocol/organizations/sso'
import { decodeJwt } from 'jose'
import { endExpiredMemberships } from '#accounts/groups/upstream.ts'
import { type Enterprise, flowOf, linkAs, newClaims, openEnterprise } from '#testing/enterprise.ts'
import { putRoles } from '#testing/roles.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const admin = (method: Method, path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) })

let count = 0
/** Creates an organization with a connection, whose members join by their address. */
async function organization(rules: (slug: string) => GroupRule[]) {
  const name = `Acme ${(count += 1)}`
  const made = await enterprise.organization(await world.person(), name)
  const slug = name.toLowerCase().replace(' ', '-')
  const domain = `${slug}.example`
  await enterprise.verifyDomain(made, domain)
  const connection = await enterprise.connect(made, { domains: [domain] })
  const path = `/${made.organizationId}/sso-connections`
  const set = async (payload: object, connectionId = connection.connectionId) => {
    const fresh = { headers: await made.owner.signIn() }
    return enterprise.send(fresh, 'PATCH', `${path}/${connectionId}`, payload)
  }
  const answer = await set({ groupRules: rules(slug) })
  assert.equal(answer.statusCode, 200, answer.body)
  const claims = (groups: unknown) => {
    const { sub, ...others } = newClaims()
    enterprise.upstream.say({ sub })
    return { ...others, sub, email: `${sub}@${domain}`, groups }
  }
  return { ...made, slug, path, set, connectionId: connection.connectionId, claims }
}
type Activity = { entries: { action: string }[] }
type Organization = Awaited<ReturnType<typeof organization>>

const engineers = (slug: string) => [{ claim: 'groups', value: '/eng', group: `org:${slug}:eng` }]

async function groupsOf({ identityId }: Person): Promise<string[]> {
  return (await admin('GET', `identities/${identityId}`)).json().identity.groups
}

async function groupOf(key: string): Promise<Group | undefined> {
  return (await admin('GET', `groups?key=${encodeURIComponent(key)}`)).json<{ groups: Group[] }>().groups[0]
}

async function membersOf(key: string): Promise<GroupMember[]> {
  const group = await groupOf(key)
  return (await admin('GET', `groups/${group?.groupId}/members`)).json().members
}

/** Signs a member in again, with other groups. */
async function signInAs(colleague: Awaited<ReturnType<Enterprise['colleague']>>, to: string, groups: unknown) {
  const arrived = await colleague.browser.signIn(to, { ...colleague.claims, groups })
  assert.equal(arrived.statusCode, 303, arrived.body)
}

const rulesOf = async ({ owner, path, connectionId }: Organization) =>
  (await enterprise.send(owner, 'GET', `${path}/${connectionId}`)).json<{ connection: SsoConnection }>().connection

test('a user gets the groups that the provider names at each sign-in, and apps their roles', async () => {
  const acme = await organization((slug) => [
    ...engineers(slug),
    { claim: 'groups', value: '/ops', group: `org:${slug}:ops` },
    { claim: 'department', value: 'Sales', group: `org:${slug}:sales` },
  ])
  const { connectionId, slug } = acme
  const ann = await enterprise.colleague(connectionId, acme.claims(['/eng', '/unknown', 7, '/ENG']))
  assert.deepEqual(await groupsOf(ann.person), [`org:${slug}:eng`])
  const [member] = await membersOf(`org:${slug}:eng`)
  assert.deepEqual([member?.identityId, member?.sources], [ann.person.identityId, [`upstream:${connectionId}`]])

  const app = await world.app({ allowedScopes: ['openid', 'offline_access', 'groups', 'roles'] })
  await putRoles(world, app, {
    roles: [{ key: 'engineer', displayName: 'Engineer' }],
    roleAssignments: [{ role: 'engineer', groups: [`org:${slug}:eng`], identities: [] }],
  })
  const tokens = await app.tokens(ann.person, { scope: 'openid groups roles' })
  const { groups, roles } = decodeJwt(tokens.id_token ?? '')
  assert.deepEqual([groups, roles], [[`org:${slug}:eng`], ['engineer']])
  assert.equal((await groupOf(`org:${slug}:eng`))?.protected, true)

  enterprise.upstream.say({ sub: ann.claims.sub })
  await signInAs(ann, connectionId, '/ops')
  assert.deepEqual(await groupsOf(ann.person), [`org:${slug}:ops`])
  enterprise.upstream.say({ sub: ann.claims.sub, department: 'Sales' })
  await signInAs(ann, connectionId, undefined)
  assert.deepEqual(await groupsOf(ann.person), [`org:${slug}:sales`])
  await signInAs(ann, connectionId, { nested: ['/eng'] })
  assert.equal((await groupOf(`org:${slug}:eng`))?.memberCount, 0)
})

test('GRP-11 an organization names groups of its own alone, and operators do not choose their members', async () => {
  const acme = await organization(engineers)
  const { slug, connectionId } = acme
  const other = await organization(engineers)
  await admin('POST', 'groups', { key: 'admins', displayName: 'Admins' })
  for (const group of ['admins', 'org:admins', `org:${other.slug}:eng`, `org:${slug}-2:eng`, `org:${slug}:Eng`]) {
    const refused = await acme.set({ groupRules: [{ claim: 'groups', value: 'x', group }] })
    assert.equal(refused.json().error, 'invalid_request', group)
  }
  const tooLong = `org:${slug}:${'x'.repeat(63 - `org:${slug}:`.length)}`
  assert.equal((await acme.set({ groupRules: [{ claim: 'g', value: 'x', group: `${tooLong}x` }] })).statusCode, 400)
  const kept = await acme.set({ groupRules: [...engineers(slug), { claim: 'g', value: 'x', group: tooLong }] })
  assert.equal(kept.statusCode, 200, kept.body)

  const { person } = await enterprise.colleague(connectionId, acme.claims(['/eng', 'admins']))
  assert.deepEqual(await groupsOf(person), [`org:${slug}:eng`])
  const { groupId } = (await groupOf(`org:${slug}:eng`)) ?? {}
  const stranger = await world.person()
  for (const [method, path, payload] of [
    ['PUT', `groups/${groupId}/members/${stranger.identityId}`],
    ['DELETE', `groups/${groupId}/members/${person.identityId}`],
    ['PATCH', `groups/${groupId}`, { displayName: 'Other' }],
    ['POST', 'invitations', { kind: 'link', groups: [`org:${slug}:eng`] }],
  ] as const) {
    const refused = await admin(method, path, payload)
    assert.deepEqual([refused.statusCode, refused.json().error], [409, 'managed_elsewhere'], path)
  }
  const csv = await world.api.inject({
    ...{ method: 'POST', url: '/api/admin/invitations/import' },
    headers: { ...world.admin, 'content-type': 'text/csv' },
    payload: `email,groups\nada@example.org,org:${slug}:eng\n`,
  })
  assert.equal(csv.json().rows[0].errors[0].code, 'managed_elsewhere', csv.body)
  assert.equal((await admin('POST', 'groups', { key: `org:${slug}:more`, displayName: 'More' })).statusCode, 400)
})

test('GRP-12 a membership from a provider ends after 30 days without a sign-in', async () => {
  const acme = await organization(engineers)
  const { slug, connectionId } = acme
  const early = await enterprise.colleague(connectionId, acme.claims('/eng'))
  const late = await enterprise.colleague(connectionId, acme.claims('/eng'))
  world.pass(limits.upstreamMembershipSeconds - 60)
  await signInAs(late, connectionId, '/eng')
  world.pass(60)
  await endExpiredMemberships(world.db, world.now(), 100)
  assert.deepEqual([await groupsOf(early.person), await groupsOf(late.person)], [[], [`org:${slug}:eng`]])
  const { entries } = (await admin('GET', `identities/${early.person.identityId}/activity`)).json<Activity>()
  assert.ok(entries.some(({ action }) => action === 'group.member.removed'))
  await signInAs(early, connectionId, '/eng')
  assert.equal((await groupOf(`org:${slug}:eng`))?.memberCount, 2)
})

test('GRP-13 what a provider gave ends with its rule, its connection, and the member', async () => {
  const acme = await organization(engineers)
  const { slug, connectionId, owner, organizationId, path } = acme
  const key = `org:${slug}:eng`
  const ann = await enterprise.colleague(connectionId, acme.claims('/eng'))
  const end = () => endExpiredMemberships(world.db, world.now(), 100)

  await acme.set({ groupRules: [{ claim: 'groups', value: '/eng', group: `org:${slug}:other` }] })
  assert.equal(await end(), 1)
  await acme.set({ groupRules: engineers(slug) })
  await signInAs(ann, connectionId, '/eng')
  assert.deepEqual(await groupsOf(ann.person), [key])

  await acme.set({ enabled: false })
  assert.equal(await end(), 1)
  await acme.set({ enabled: true })
  await signInAs(ann, connectionId, '/eng')

  const second = await enterprise.connect(acme, { domains: [`${slug}.example`] })
  await acme.set({ groupRules: engineers(slug) }, second.connectionId)
  const arrived = await ann.browser.signIn(second.connectionId, { ...ann.claims, groups: '/eng' })
  const linked = await linkAs(ann.browser, flowOf(arrived), ann.person.identityId)
  assert.equal(linked.statusCode, 200, linked.body)
  const [member] = await membersOf(key)
  assert.equal(member?.sources.length, 2)
  const fresh = { headers: await owner.signIn() }
  await enterprise.send(fresh, 'DELETE', `${path}/${second.connectionId}`)
  assert.equal(await end(), 1)
  assert.deepEqual(await groupsOf(ann.person), [key])

  type Listed = { members: { memberId: string; identityId: string }[] }
  const { members } = (await enterprise.send(owner, 'GET', `/${organizationId}/members`)).json<Listed>()
  const memberId = members.find(({ identityId }) => identityId === ann.person.identityId)?.memberId
  await enterprise.send({ headers: await owner.signIn() }, 'DELETE', `/${organizationId}/members/${memberId}`)
  assert.deepEqual(await groupsOf(ann.person), [])
  assert.equal((await groupOf(key))?.memberCount, 0)
})

test('GRP-18 a removed rule gives nothing any more, also where another rule gives the same group', async () => {
  const ops = (slug: string) => [{ claim: 'groups', value: '/ops', group: `org:${slug}:eng` }]
  const acme = await organization((slug) => [...engineers(slug), ...ops(slug)])
  const { slug, connectionId } = acme
  const [ann, bob, cleo] = [
    await enterprise.colleague(connectionId, acme.claims('/eng')),
    await enterprise.colleague(connectionId, acme.claims('/ops')),
    await enterprise.colleague(connectionId, acme.claims(['/eng', '/ops'])),
  ]
  const pending = await world.person()
  const browser = enterprise.browser()
  browser.bring(pending)
  const arrived = await browser.signIn(connectionId, acme.claims('/eng'))

  await acme.set({ groupRules: ops(slug) })
  await endExpiredMemberships(world.db, world.now(), 100)
  assert.deepEqual(await groupsOf(ann.person), [])
  for (const { person } of [bob, cleo]) assert.deepEqual(await groupsOf(person), [`org:${slug}:eng`])
  const linked = await linkAs(browser, flowOf(arrived), pending.identityId)
  assert.equal(linked.statusCode, 200, linked.body)
  assert.deepEqual(await groupsOf(pending), [])

  // The same rule again is another one: who signed in by the former joins by the next sign-in.
  await acme.set({ groupRules: engineers(slug) })
  await endExpiredMemberships(world.db, world.now(), 100)
  assert.deepEqual((await membersOf(`org:${slug}:eng`)).length, 0)
  await signInAs(cleo, connectionId, ['/eng', '/ops'])
  assert.equal((await groupOf(`org:${slug}:eng`))?.memberCount, 1)
})

test('GRP-19 a suspended organization gives no groups until it is active and its members sign in again', async () => {
  const acme = await organization(engineers)
  const { slug, connectionId, organizationId } = acme
  const ann = await enterprise.colleague(connectionId, acme.claims('/eng'))
  const other = await organization(engineers)
  const joe = await enterprise.colleague(other.connectionId, other.claims('/eng'))
  const setStatus = async (status: string) => {
    const answer = await admin('PATCH', `organizations/${organizationId}`, { status })
    assert.equal(answer.statusCode, 200, answer.body)
    await endExpiredMemberships(world.db, world.now(), 100)
  }
  await setStatus('suspended')
  assert.deepEqual([await groupsOf(ann.person), await groupsOf(joe.person)], [[], [`org:${other.slug}:eng`]])
  await setStatus('active')
  assert.deepEqual(await groupsOf(ann.person), [])
  await signInAs(ann, connectionId, '/eng')
  assert.deepEqual(await groupsOf(ann.person), [`org:${slug}:eng`])
})

test('GRP-14 no other organization ever names groups by the slug of one that had groups', async () => {
  const acme = await organization(engineers)
  const { slug, owner, organizationId } = acme
  const taker = await organization(() => [])
  const take = async (taken: string) => {
    const headers = await taker.owner.signIn()
    return (await enterprise.send({ headers }, 'PATCH', `/${taker.organizationId}`, { slug: taken })).json().error
  }
  await enterprise.send({ headers: await owner.signIn() }, 'PATCH', `/${organizationId}`, { slug: `${slug}-moved` })
  // Its groups keep their keys, and rules may still name them.
  assert.equal((await acme.set({ groupRules: engineers(slug) })).statusCode, 200)
  world.pass(2 * limits.slugReservedSeconds)
  assert.equal(await take(slug), 'slug_taken')
  assert.equal((await acme.set({ groupRules: engineers(`${slug}-moved`) })).statusCode, 200)

  const deleted = await enterprise.send({ headers: await owner.signIn() }, 'DELETE', `/${organizationId}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal(await groupOf(`org:${slug}:eng`), undefined)
  world.pass(2 * limits.slugReservedSeconds)
  for (const taken of [slug, `${slug}-moved`]) assert.equal(await take(taken), 'slug_taken')
})

test('GRP-15 a provider adds nobody to more than 500 groups, and an organization has at most 50', async () => {
  const acme = await organization((slug) =>
    Array.from({ length: limits.groupRulesPerConnectionMax }, (_, nth) => {
      return { claim: 'groups', value: `g${nth}`, group: `org:${slug}:g${nth}` }
    }),
  )
  const { slug, connectionId } = acme
  const refused = await acme.set({ groupRules: [{ claim: 'groups', value: 'x', group: `org:${slug}:more` }] })
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'too_many_groups'])
  const ann = await enterprise.colleague(connectionId, acme.claims('none'))
  const createdAt = world.now()
  const rows = Array.from({ length: limits.groupsPerIdentityMax - 1 }, () => crypto.randomUUID())
  await world.db
    .insertInto('user_group')
    .values(
      rows.map((group_id) => ({
        ...{ group_id, key: group_id, display_name: 'Many', member_count: 1 },
        ...{ created_at: createdAt, updated_at: createdAt },
      })),
    )
    .execute()
  const members = rows.map((group_id) => ({ group_id, identity_id: ann.person.identityId }))
  await world.db
    .insertInto('group_member')
    .values(members.map((row) => ({ ...row, source: 'manual', added_at: createdAt })))
    .execute()
  await world.db.insertInto('group_member_by_group').values(members).execute()
  await signInAs(ann, connectionId, ['g0', 'g1'])
  assert.equal((await groupsOf(ann.person)).length, limits.groupsPerIdentityMax - 1)
  await signInAs(ann, connectionId, ['g0'])
  assert.equal((await groupsOf(ann.person)).length, limits.groupsPerIdentityMax)
  // One group for another is not one more.
  await signInAs(ann, connectionId, ['g1'])
  const groups = await groupsOf(ann.person)
  assert.deepEqual([groups.length, groups.includes(`org:${slug}:g1`)], [limits.groupsPerIdentityMax, true])
  assert.equal((await rulesOf(acme)).groupRules.length, limits.groupRulesPerConnectionMax)
})

test('GRP-16 sign-ins at the same time keep the count of members true', async () => {
  const acme = await organization((slug) => [
    ...engineers(slug),
    { claim: 'groups', value: '/ops', group: `org:${slug}:ops` },
  ])
  const { slug, connectionId } = acme
  const people = []
  for (let nth = 0; nth < 6; nth += 1) people.push(await enterprise.colleague(connectionId, acme.claims('/eng')))
  await Promise.all([
    ...people.map((each, nth) => signInAs(each, connectionId, nth % 2 === 0 ? ['/ops', '/eng'] : '/ops')),
    endExpiredMemberships(world.db, world.now(), 100),
    acme.set({ groupRules: (await rulesOf(acme)).groupRules }),
  ])
  assert.equal((await groupOf(`org:${slug}:ops`))?.memberCount, 6)
  assert.equal((await groupOf(`org:${slug}:eng`))?.memberCount, 3)
})

test('GRP-17 groups of organizations leave operators room for their own', async () => {
  const acme = await organization(engineers)
  const [createdAt, count] = [world.now(), limits.groupsOfOrganizationsMax]
  const made = Array.from({ length: count }, (_, nth) => ({
    ...{ group_id: crypto.randomUUID(), key: `org:${acme.slug}:n${nth}`, display_name: 'Many' },
    ...{ organization_id: acme.organizationId, created_at: createdAt, updated_at: createdAt },
  }))
  await world.db.insertInto('user_group').values(made).execute()
  const other = await organization(() => [])
  const refused = await other.set({ groupRules: engineers(other.slug) })
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'too_many_groups'])
  const created = await admin('POST', 'groups', { key: 'after-organizations', displayName: 'Ours' })
  assert.equal(created.statusCode, 201, created.body)
})
