import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { AuditChainState, AuditEvent } from '@countersign/protocol/operations/audit'
import type { Settings } from '@countersign/protocol/operations/settings'
import { sql } from 'kysely'
import { asId, type OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { numberEvents } from '#platform/audit/chain.ts'
import { extendTrails } from '#platform/audit/trail.ts'
import { deleteOldEvents } from '#platform/settings/retention.ts'
import { replayCouncil } from '#testing/council-replay.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { businessRequest, join } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const day = 86_400
let world: TestWorld
before(async () => {
  // Not later than the database's clock, which also decides.
  world = await createWorld({ startedAt: new Date(Date.now() - 20 * 365 * day * 1000) })
})
after(() => world.close())
afterEach(async () => {
  await set(null)
  world.pass(31 * day)
})

const url = '/api/admin/settings'
async function set(days: number | null, headers: Record<string, string> = world.admin) {
  const { revision } = (await world.api.inject({ url, headers: world.admin })).json<Settings>()
  const payload = { settings: { 'audit.retentionDays': days } }
  return world.api.inject({ method: 'PATCH', url, headers: { ...headers, 'if-match': `"${revision}"` }, payload })
}

/** Records an event now. Returns its place. */
async function record(): Promise<number> {
  await recordAuditEvent(world.db, { action: 'app.updated', actor: 'system' }, world.now())
  await numberEvents(world.db)
  return (await read<{ entries: AuditEvent[] }>('?limit=1')).entries[0]?.sequence ?? 0
}

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await world.api.inject({ url: `/api/admin/audit${path}`, headers: world.admin })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

/** Deletes what is old, in small batches, and returns which places have an event. */
async function prune(): Promise<Set<number>> {
  while ((await deleteOldEvents(world.db, world.now(), 3)) === 3);
  const state = await read<AuditChainState>('/verify?limit=1000')
  assert.equal(state.broken, null)
  const kept = await listPlaces()
  assert.equal(Math.min(...kept), (state.checkpoint?.sequence ?? 0) + 1)
  return kept
}

/** Lists the places that have an event. */
async function listPlaces(): Promise<Set<number>> {
  const events = await world.db.selectFrom('audit_event').select('sequence').where('sequence', 'is not', null).execute()
  return new Set(events.map(({ sequence }) => Number(sequence)))
}

test('AUD-09 events are kept for 730 days, and the chain continues after those that were deleted', async () => {
  const first = await record()
  world.pass(365 * day)
  const later = await Promise.all(Array.from({ length: 7 }, () => record()))
  world.pass(364 * day)
  assert.ok((await prune()).has(first))
  world.pass(2 * day)
  const kept = await prune()
  assert.ok(!kept.has(first) && later.every((place) => kept.has(place)))
  world.pass(365 * day)
  const rest = await prune()
  assert.ok(later.every((place) => !rest.has(place)))
})

test('AUD-10 a longer retention applies at once, and a shorter one after 30 days', async () => {
  const old = await record()
  world.pass(100 * day)
  assert.equal((await set(60)).statusCode, 200)
  world.pass(29 * day)
  assert.ok((await prune()).has(old))
  assert.equal((await set(3650)).statusCode, 200)
  assert.equal((await set(60)).statusCode, 200)
  world.pass(29 * day)
  assert.ok((await prune()).has(old), 'the longer retention applied less than 30 days ago')
  world.pass(2 * day)
  assert.ok(!(await prune()).has(old))
})

test('AUD-10 a shorter retention applies no sooner if more changes follow than are kept', async () => {
  const old = await record()
  world.pass(100 * day)
  assert.equal((await set(30)).statusCode, 200)
  const { revision } = (await world.api.inject({ url, headers: world.admin })).json<Settings>()
  const added = sql`
    insert into setting_revision (revision, created_at, stored, changed_keys, operator_kind)
    select ${revision} + number, ${world.now()}, '{"audit.retentionDays": 30}', '{}', 'break_glass'
    from generate_series(1, 1005) number`
  await added.execute(world.db)
  assert.equal((await set(31)).statusCode, 200)
  assert.ok((await prune()).has(old))
  world.pass(31 * day)
  assert.ok(!(await prune()).has(old))
})

test('AUD-10 only those who manage operators change the retention, with a recent authentication', async () => {
  const { headers } = await createToken(world, ['settings.read', 'settings.manage'])
  const refused = await set(3650, headers)
  assert.deepEqual([refused.statusCode, refused.json().permission], [403, 'operators.manage'])
  const owner = await makeOperator(world, await world.person(), 'owner')
  assert.equal((await set(3650, owner.page)).statusCode, 200)
  world.pass(301)
  const stale = await set(30, owner.page)
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  for (const days of [29, 3651, 30.5, -1]) assert.equal((await set(days)).statusCode, 400, String(days))
})

test('AUD-09 a process whose clock is ahead of the database deletes nothing early', async (t) => {
  const own = await createWorld({ startedAt: new Date() })
  t.after(() => own.close())
  await recordAuditEvent(own.db, { action: 'app.updated', actor: 'system' }, own.now())
  await numberEvents(own.db)
  own.pass(3000 * day)
  assert.equal(await deleteOldEvents(own.db, own.now(), 100), 0)
})

test('AUD-11 with an old event, its trail loses the salt, except where a council needs the details', async () => {
  const { id, owner, council, members } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [vetoing, leaving, lost] = members
  const organizationId = asId<OrganizationId>(id)
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  const veto = await businessRequest(world, vetoing, `DELETE /organizations/${id}/council/reset`)
  assert.equal(veto.statusCode, 204)
  const left = await businessRequest(world, leaving, `DELETE /organizations/${id}/members/${leaving.memberId}`)
  assert.equal(left.statusCode, 204, left.body)
  // The service records these when the keys of a member are reset, and when a setting is changed.
  const keysReset = { memberId: lost.memberId, memberIdentityId: lost.identityId, signatorySuspended: true }
  await recordAuditEvent(
    world.db,
    { action: 'organization.member.keys_reset', actor: 'user', organizationId, details: keysReset },
    world.now(),
  )
  await recordAuditEvent(
    world.db,
    { action: 'organization.updated', actor: 'user', organizationId, details: { changed: ['displayName'] } },
    world.now(),
  )
  const before = await replayCouncil(world, id, [owner, ...members])
  const stateOf = (of: typeof before) =>
    of?.signatories.map(({ signatoryId, isSuspended }) => [signatoryId, isSuspended])
  const suspended = stateOf(before)?.flatMap(([signatoryId, isSuspended]) => (isSuspended ? [signatoryId] : []))
  assert.deepEqual(suspended?.toSorted(), [leaving.identityId, lost.identityId].toSorted())
  world.pass(731 * day)
  await record()
  await prune()

  const after = await replayCouncil(world, id, [owner, ...members])
  assert.deepEqual([stateOf(after), after?.resetRequestedAt], [stateOf(before), undefined])
  const entries = await sql<{ action: string; isSigned: boolean; hasSalt: boolean }>`
    select entry::jsonb ->> 'action' as action, salt is not null as "hasSalt",
      exists (
        select from organization_act_signature signature
        where (signature.organization_id, signature.sequence) = (trail.organization_id, trail.sequence)
      ) as "isSigned"
    from organization_trail trail where organization_id = ${id}`.execute(world.db)
  const kept = entries.rows.filter(({ isSigned, hasSalt }) => !isSigned && hasSalt)
  assert.deepEqual(kept.map(({ action }) => action).toSorted(), [
    'organization.council.reset_vetoed',
    'organization.member.keys_reset',
    'organization.member.removed',
  ])
  assert.ok(entries.rows.some(({ isSigned }) => isSigned))
  assert.ok(entries.rows.every(({ isSigned, hasSalt }) => hasSalt || !isSigned))
  assert.ok(entries.rows.some(({ hasSalt }) => !hasSalt))
})

test('AUD-11 an unsigned change of a council is found as well after its event was deleted', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const organizationId = asId<OrganizationId>(id)
  const details = { changed: ['approvalsNeeded'] }
  await recordAuditEvent(
    world.db,
    { action: 'organization.updated', actor: 'user', organizationId, details },
    world.now(),
  )
  await assert.rejects(replayCouncil(world, id, [owner, ...members]), /unsigned_decision/)
  world.pass(731 * day)
  await record()
  await prune()
  await assert.rejects(replayCouncil(world, id, [owner, ...members]), /unsigned_decision/)
})

test('AUD-11 an organization without a council keeps no details of old events', async () => {
  const { id, owner } = await createSignatories(world, 0)
  const left = await join(world, { id, owner, role: 'member' }, await world.person())
  const removed = await businessRequest(world, owner, `DELETE /organizations/${id}/members/${left.memberId}`)
  assert.equal(removed.statusCode, 204, removed.body)
  await extendTrails(world.db)
  world.pass(731 * day)
  await record()
  await prune()
  const { rows } = await sql<{ entries: number; salts: number; details: number }>`
    select count(*)::integer as entries, count(salt)::integer as salts, count(details)::integer as details
    from organization_trail where organization_id = ${id}`.execute(world.db)
  assert.ok(rows[0] && rows[0].entries > 2)
  assert.deepEqual([rows[0].salts, rows[0].details], [0, 0])
})

test('AUD-11 an event that waits for its place in a trail is not deleted, nor what follows it', async () => {
  const { id } = await createSignatories(world, 0)
  await record()
  world.pass(731 * day)
  const waiting = await sql<{ first: string }>`
    select min(sequence) as first from organization_trail_pending join audit_event using (organization_id, event_id)
    where organization_id = ${id}`.execute(world.db)
  const first = Number(waiting.rows[0]?.first)
  assert.ok(first > 0)
  assert.ok((await prune()).has(first))
  await extendTrails(world.db)
  assert.ok(!(await prune()).has(first))
})
