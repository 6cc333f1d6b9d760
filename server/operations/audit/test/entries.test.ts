import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { asId, type ClientId } from '@countersign/protocol/ids'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { Updateable } from 'kysely'
import { detailsDigest, linkHash } from '#platform/audit/chain.ts'
import { appendLinks, findHead, listUnnumberedEvents } from '#platform/audit/chain-store.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { listEventsAfter } from '#platform/audit/event-list.ts'
import { transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => (world = await createWorld()))
after(() => world.close())

type Asking = { query?: string; headers?: Record<string, string> }

async function read({ query = 'limit=100', headers = world.admin }: Asking = {}): Promise<AuditEvent[]> {
  const answer = await world.api.inject({ url: `/api/admin/audit?${query}`, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ entries: AuditEvent[] }>().entries
}

async function newest(action: string): Promise<AuditEvent> {
  const [entry] = await read({ query: `action=${action}&limit=1` })
  assert.ok(entry)
  return entry
}

function createGroup(key: string, headers: Record<string, string>, remoteAddress = '203.0.113.77') {
  const payload = { key, displayName: key }
  return world.api.inject({ method: 'POST', url: '/api/admin/groups', headers, payload, remoteAddress })
}

test('an event names the operator, the object by its name then, the network and the request', async () => {
  const grace = await makeOperator(world, await world.person('grace'), 'owner')
  const token = await createToken(world, ['groups.manage'])
  const made = await createGroup('engineering', grace.page)
  assert.equal(made.statusCode, 201)
  const { groupId } = made.json()
  const entry = await newest('group.created')
  assert.deepEqual(entry.actor, { kind: 'operator', id: grace.identityId, name: 'grace' })
  assert.deepEqual(entry.object, { kind: 'group', id: groupId, name: 'engineering' })
  assert.deepEqual([entry.result, entry.address], ['success', '203.0.113.0/24'])
  assert.equal(entry.requestId, made.headers['x-request-id'])

  await createGroup('physics', token.headers, '2001:db8:0:17::1')
  const byToken = await newest('group.created')
  assert.deepEqual([byToken.actor.kind, byToken.actor.id], ['token', token.tokenId])
  assert.equal(byToken.address, '2001:db8::/48')
  await createGroup('medicine', world.admin, '::1')
  const byAdmin = await newest('group.created')
  assert.deepEqual(byAdmin.actor, { kind: 'break_glass', id: null, name: null })
  assert.equal(byAdmin.address, '::/48')
  await createGroup('mathematics', world.admin, '::2:3:4:5:6:7')
  assert.equal((await newest('group.created')).address, '0:0:2::/48')
})

test('OPR-10 no event of what users do has the ID of its request', async () => {
  const ada = await world.person('ada-three')
  await ada.signIn()
  const own = await read({ query: `actor=${ada.identityId}` })
  assert.deepEqual(
    own.map(({ action }) => action),
    ['account.created'],
  )
  const events = await read()
  for (const { actor, requestId, action } of events)
    if (actor.kind === 'user' || actor.kind === 'system') assert.equal(requestId, null, action)
})

test('AUD-01 an event that version 0.1.0 numbers is in order, and shows no origin that the chain lacks', async () => {
  await read()
  await createGroup('by-former', world.admin)
  const head = (await findHead(world.db)) ?? assert.fail('the chain is empty')
  await transaction(world.db, async (tx) => {
    const [event] = await listUnnumberedEvents(tx, 1)
    assert.ok(event)
    const [sequence, salt] = [head.sequence + 1, randomBytes(16)]
    // Not marked as chained, so without the origin.
    const digest = detailsDigest(event, salt)
    const hash = linkHash(event, { sequence, previous: head.hash, digest })
    await appendLinks(tx, [{ eventId: event.event_id, sequence, hash, digest, salt }])
    await tx
      .updateTable('audit_event')
      .set({ origin_is_chained: null })
      .where('event_id', '=', event.event_id)
      .execute()
  })
  await createGroup('by-present', world.admin)
  const [present, former] = await read({ query: 'action=group.created&limit=2' })
  assert.deepEqual([former?.address, former?.requestId], [null, null])
  assert.equal(present?.address, '203.0.113.0/24')
  const verified = await world.api.inject({
    url: `/api/admin/audit/verify?from=${head.sequence}`,
    headers: world.admin,
  })
  assert.deepEqual([verified.json().broken, verified.json().checked], [null, 3])
})

test('AUD-01 the network and the request of an event cannot be removed unnoticed', async () => {
  await createGroup('chained', world.admin)
  const { sequence, address, requestId } = await newest('group.created')
  const at = world.db.updateTable('audit_event').where('sequence', '=', String(sequence))
  const intact = { origin_network: address, origin_request_id: requestId, origin_is_chained: true }
  const brokenBy = async (changed: Updateable<Tables['audit_event']>) => {
    await at.set(changed).execute()
    const url = `/api/admin/audit/verify?from=${sequence}`
    const { broken } = (await world.api.inject({ url, headers: world.admin })).json()
    await at.set(intact).execute()
    return broken?.reason
  }
  assert.equal(await brokenBy({ origin_network: null }), 'details_changed')
  assert.equal(await brokenBy({ origin_request_id: null }), 'details_changed')
  assert.equal(await brokenBy({ origin_is_chained: null }), 'details_changed')
  assert.equal(await brokenBy(intact), undefined)
})

test('an app acts on an identity, and a user on an app, under the present username of the identity', async () => {
  const ada = await world.person('ada')
  const [created] = await read({ query: `action=account.created&identity=${ada.identityId}` })
  const named = { id: ada.identityId, name: 'ada' }
  assert.deepEqual(
    [created?.actor, created?.object],
    [
      { kind: 'user', ...named },
      { kind: 'identity', ...named },
    ],
  )
  const { clientId } = await world.app({ name: 'Notes' })
  const app = await newest('app.created')
  assert.deepEqual(app.object, { kind: 'app', id: clientId, name: 'Notes' })
})

test('SET-07 a filter selects what succeeded or failed, in the list, the stream and the export', async () => {
  const ada = await world.person('ada-two')
  const event = { action: 'passkey.sign_count_regressed', actor: 'system', userId: ada.userId } as const
  await recordAuditEvent(world.db, event, world.now())
  const failed = await read({ query: 'result=failure' })
  assert.deepEqual(
    failed.map(({ action, result }) => [action, result]),
    [['passkey.sign_count_regressed', 'failure']],
  )
  const succeeded = await read({ query: 'result=success&limit=100' })
  assert.ok(succeeded.length > 5 && succeeded.every(({ result }) => result === 'success'))
  const url = '/api/admin/audit/export?format=jsonl&result=failure'
  const exported = await world.api.inject({ url, headers: world.admin })
  assert.deepEqual(
    exported.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).action),
    ['passkey.sign_count_regressed'],
  )
  const range = { after: 0, to: failed[0]?.sequence ?? 0, count: 100 }
  const { entries } = await listEventsAfter({ ...world.kernel, readerKey: 'one' }, { result: 'failure' }, range)
  assert.equal(entries.length, 1)
  const wrong = await world.api.inject({ url: '/api/admin/audit?result=maybe', headers: world.admin })
  assert.equal(wrong.statusCode, 400)
})

test('OPR-10 personRef joins the events of an account of one day for one reader, and names no identity', async () => {
  const [alan, other] = [await world.person('alan'), await world.person('alonzo')]
  const auditor = await makeOperator(world, await world.person('audrey'), 'auditor')
  for (const person of [alan, other, alan]) await person.signIn()
  const query = 'action=session.created&limit=3'
  const [third, second, first] = await read({ query })
  assert.ok(first?.personRef && second?.personRef)
  assert.equal(third?.personRef, first.personRef)
  assert.notEqual(second.personRef, first.personRef)
  const [seenByOther] = await read({ query, headers: auditor.page })
  assert.ok(seenByOther?.personRef)
  assert.notEqual(seenByOther.personRef, first.personRef)
  // The app names the identity that registered it, so its deletion must not name the account.
  const ofApp = {
    action: 'app.deleted',
    actor: 'user',
    userId: alan.userId,
    clientId: asId<ClientId>('app_own'),
  } as const
  await recordAuditEvent(world.db, ofApp, world.now())
  world.pass(86_400)
  await alan.signIn()
  const [nextDay] = await read({ query })
  assert.ok(nextDay?.personRef)
  assert.notEqual(nextDay.personRef, first.personRef)
  for (const entry of await read())
    if (entry.identityId ?? entry.clientId) assert.equal(entry.personRef, null, entry.action)
  const ofAccount = [first, second, nextDay]
  for (const each of ofAccount) assert.deepEqual([each.requestId, each.object, each.actor.id], [null, null, null])
})
