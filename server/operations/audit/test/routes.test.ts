import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { type ClientId, type IdentityId, type OrganizationId, type UserId, asId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
  for (let count = 0; count < 120; count += 1)
    await recordAuditEvent(
      world.db,
      { action: 'app.updated', actor: 'operator', clientId: asId<ClientId>(`app_${count}`) },
      world.now(),
    )
})
after(() => world.close())

const read = (query = '', headers: Record<string, string> = world.admin) =>
  world.api.inject({ url: `/api/admin/audit${query}`, headers })

async function page(query = ''): Promise<{ entries: AuditEvent[]; nextCursor: string | null }> {
  const answer = await read(query)
  assert.equal(answer.statusCode, 200)
  return answer.json()
}

test('OPR-10 an audit event contains action, actor, time and target, and no user ID', async () => {
  const [userId, identityId] = [asId<UserId>(randomUUIDv7()), asId<IdentityId>(randomUUIDv7())]
  const details = { scope: ['openid', 'profile'], first: true, count: 2, page: 'signin' }
  const clientId = asId<ClientId>('app_1')
  const act = { action: 'app.authorized', actor: 'user', userId, identityId, clientId, details } as const
  await recordAuditEvent(world.db, act, world.now())
  const { entries } = await page()
  const entry = entries.find((each) => each.action === 'app.authorized')
  assert.match(entry?.entryId ?? '', /^[0-9a-f-]{36}$/)
  const { entryId, sequence } = entry ?? {}
  assert.deepEqual(entry, {
    ...{ entryId, sequence, at: world.now().toISOString(), action: 'app.authorized', result: 'success' },
    actor: { kind: 'user', id: identityId, name: null },
    object: { kind: 'app', id: clientId, name: null },
    ...{ identityId, clientId, organizationId: null, address: null, requestId: null, personRef: null, details },
  })
})

test('fields that do not apply to an action are null', async () => {
  const { entries } = await page('?limit=100')
  const entry = entries.find(({ clientId }) => clientId === 'app_100')
  assert.deepEqual([entry?.identityId, entry?.details], [null, {}])
})

test('paging returns every event once, newest first', async () => {
  const places: number[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { entries, nextCursor } = await page(`?limit=50${cursor ? `&cursor=${cursor}` : ''}`)
    places.push(...entries.map(({ sequence }) => sequence))
    cursor = nextCursor
  }
  assert.ok(places.length >= 120)
  assert.deepEqual(
    places,
    Array.from(places, (_, index) => places.length - index),
  )
})

test('a page has 50 events, or up to 100 on request, and the last page is marked', async () => {
  assert.equal((await page()).entries.length, 50)
  assert.equal((await page('?limit=1')).entries.length, 1)
  assert.equal((await page('?limit=100')).entries.length, 100)
  assert.deepEqual(await page('?cursor=1'), { entries: [], nextCursor: null })
})

test('an invalid cursor or limit is rejected', async () => {
  for (const query of [
    '?limit=0',
    '?limit=101',
    '?limit=-1',
    '?limit=1e1',
    '?limit=%20',
    '?cursor=x',
    '?cursor=0',
    "?cursor='--",
  ]) {
    const answer = await read(query)
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [400, 'invalid_request'], query)
  }
})

test('only the operator can read the audit log', async () => {
  for (const headers of [{}, { authorization: 'Bearer guess' }]) assert.equal((await read('', headers)).statusCode, 401)
})

/** Reads all pages, and returns the events and the number of pages. */
async function allOf(filter: string) {
  const found: AuditEvent[] = []
  let pages = 0
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const { entries, nextCursor } = await page(`?limit=50&${filter}${cursor ? `&cursor=${cursor}` : ''}`)
    found.push(...entries)
    cursor = nextCursor
  }
  return { found, pages }
}

test('SET-07 filters select events by action, identity, app, organization and time, however far back', async () => {
  const identityId = asId<IdentityId>(randomUUIDv7())
  const organizationId = asId<OrganizationId>(randomUUIDv7())
  const clientId = asId<ClientId>('app_rare')
  const record = (event: Omit<Parameters<typeof recordAuditEvent>[1], 'actor'>) =>
    recordAuditEvent(world.db, { ...event, actor: 'operator' }, world.now())
  const from = world.now().toISOString()
  await record({ action: 'group.member.added', identityId })
  await record({ action: 'group.created', clientId })
  await record({ action: 'organization.created', organizationId })
  world.pass(60)
  const to = world.now().toISOString()
  for (let count = 0; count < 1100; count += 1) await record({ action: 'app.updated' })

  const namesOf = async (filter: string) => (await allOf(filter)).found.map(({ action }) => action)
  assert.deepEqual(await namesOf(`identity=${identityId}`), ['group.member.added'])
  assert.deepEqual(await namesOf(`clientId=${clientId}`), ['group.created'])
  assert.deepEqual(await namesOf(`organizationId=${organizationId}`), ['organization.created'])
  assert.deepEqual(await namesOf('action=group'), ['group.created', 'group.member.added'])
  assert.deepEqual(await namesOf('action=group.member'), ['group.member.added'])
  assert.deepEqual(await namesOf('action=grou'), [])
  assert.deepEqual(await namesOf(`action=group&from=${from}&to=${to}`), ['group.created', 'group.member.added'])
  assert.deepEqual(await namesOf(`action=group&to=${from}`), [])
  assert.deepEqual(await namesOf(`action=group&from=${to}`), [])
  assert.equal((await allOf(`clientId=${clientId}`)).pages, 2)
  assert.equal((await read('?action=DROP')).statusCode, 400)
  assert.equal((await read('?from=2030-99-01T00:00:00Z')).statusCode, 400)
})

test('SET-07 filters select events by who acted: a kind, an operator, or a token', async () => {
  const [owner, other] = [await makeOperator(world, await world.person(), 'owner'), await world.person()]
  const token = await createToken(world, ['groups.manage'])
  const create = (key: string, headers: Record<string, string>) =>
    world.api.inject({ method: 'POST', url: '/api/admin/groups', headers, payload: { key, displayName: key } })
  for (const [key, headers] of Object.entries({ page: owner.page, token: token.headers, admin: world.admin }))
    assert.equal((await create(key, headers)).statusCode, 201)
  const keysOf = async (actor: string) =>
    (await allOf(`action=group.created&actor=${actor}`)).found.map(({ details }) => details['key'] ?? 'recorded')
  assert.deepEqual(await keysOf(owner.identityId), ['page'])
  assert.deepEqual(await keysOf(token.tokenId), ['token'])
  assert.deepEqual(await keysOf('token'), ['token'])
  assert.deepEqual(await keysOf('break_glass'), ['admin'])
  assert.deepEqual((await keysOf('operator')).slice(0, 3), ['admin', 'token', 'page'])
  for (const none of ['user', 'app', 'system', 'scim', other.identityId]) assert.deepEqual(await keysOf(none), [], none)
  const { found } = await allOf('action=account.created&actor=user')
  assert.ok(found.length >= 2 && found.every(({ actor }) => actor.kind === 'user'))
  for (const wrong of ['nobody', 'OPERATOR', `${other.identityId}0`, '%27'])
    assert.equal((await read(`?actor=${wrong}`)).statusCode, 400, wrong)
})
