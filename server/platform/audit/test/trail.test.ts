import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { transaction } from '#platform/database/database.ts'
import { isObject } from '@countersign/protocol/formats/json'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { createTrailVerifier, type TrailHead } from '@countersign/protocol/signing/acts/trail-verification'
import { asId, type OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { deleteEventsBefore, numberEvents } from '#platform/audit/chain.ts'
import { extendTrails, writeTrail } from '#platform/audit/trail.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
let id: OrganizationId
before(async () => {
  world = await createWorld()
  owner = await world.person()
  id = (await createOrganization(world, owner)).id
  await join(world, { id, owner, role: 'admin' }, await world.person())
})
after(() => world.close())

type Record = { entry: string; details?: unknown; salt?: string; acts: unknown[] }

async function exportTrail(organizationId = id, query = ''): Promise<Record[]> {
  const answer = await businessRequest(world, owner, `GET /organizations/${organizationId}/trail${query}`)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.match(String(answer.headers['content-type']), /^application\/jsonl/)
  return answer.body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Verifies a trail as a reader does who knows the organization alone, or the head that they saw before. */
function verify(records: Record[], { organizationId = id, remembered }: Remembering = {}) {
  const issuer = world.config.authUrl.origin
  const publicKeyOf = () => undefined
  const verifier = createTrailVerifier(nodeSuite, { organizationId, issuer, publicKeyOf, remembered })
  for (const record of records) verifier.add(record)
  const end = verifier.finish()
  return 'flaw' in end ? end.flaw : end
}

type Remembering = { organizationId?: OrganizationId; remembered?: TrailHead }

function actionsOf(records: Record[]): unknown[] {
  return records.map(({ entry }) => JSON.parse(entry).action)
}

function record(organizationId = id, details = {}): Promise<void> {
  const event = { action: 'organization.updated', actor: 'user', organizationId, details } as const
  return recordAuditEvent(world.db, event, world.now())
}

async function rememberHead(): Promise<TrailHead> {
  const end = verify(await exportTrail())
  assert.ok(typeof end === 'object')
  return end
}

test('ACT-30 every event of an organization has a place in its trail, which its admins verify', async () => {
  const other = (await createOrganization(world, owner, 'Other')).id
  await extendTrails(world.db)
  const records = await exportTrail()
  assert.deepEqual(actionsOf(records), [
    'organization.created',
    'organization.invitation.created',
    'organization.member.joined',
  ])
  assert.equal(typeof verify(records), 'object')
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  assert.deepEqual(
    records.map(({ entry, details }) => {
      assert.ok(isObject(details))
      const { action, actor, at } = JSON.parse(entry)
      return { action, actor, at, ...details, handle: undefined }
    }),
    entries.map((event: object) => ({ ...event, handle: undefined })).toReversed(),
  )
  const others = await exportTrail(other)
  assert.deepEqual(actionsOf(others), ['organization.created'])
  assert.equal(verify(others), 'other_organization')
  assert.equal(typeof verify(others, { organizationId: other }), 'object')
})

test('ACT-30 the trail goes on where it ended, and is read from any entry on', async () => {
  await extendTrails(world.db)
  const remembered = await rememberHead()
  await record()
  const records = await exportTrail()
  const end = verify(records, { remembered })
  assert.ok(typeof end === 'object')
  assert.equal(end.sequence, remembered.sequence + 1)
  assert.deepEqual(await exportTrail(id, `?after=${remembered.sequence}`), records.slice(-1))
  assert.deepEqual(await exportTrail(id, `?after=${end.sequence}`), [])
  const invalid = await businessRequest(world, owner, `GET /organizations/${id}/trail?after=-1`)
  assert.equal(invalid.statusCode, 400)
})

test('ACT-31 an event or entry that is altered, moved or deleted in the database is noticed', async () => {
  await record(id, { name: 'Acme' })
  await extendTrails(world.db)
  const remembered = await rememberHead()
  const records = await exportTrail()
  const last = records.at(-1)
  assert.ok(last && isObject(last.details))
  const eventId = String(last.details['entryId'])

  const event = world.db.updateTable('audit_event').where('event_id', '=', eventId)
  await event.set({ details: JSON.stringify({ name: 'Evil' }) }).execute()
  assert.equal(verify(await exportTrail()), 'other_details')
  await event.set({ details: JSON.stringify({ name: 'Acme' }) }).execute()
  assert.deepEqual(await rememberHead(), remembered)

  const entry = world.db.updateTable('organization_trail').where('organization_id', '=', id)
  const setLast = (text: string) => entry.where('sequence', '=', remembered.sequence).set({ entry: text }).execute()
  await setLast(last.entry.replace('organization.updated', 'organization.deleted'))
  assert.equal(verify(await exportTrail(), { remembered }), 'trail_rewritten')
  await setLast(last.entry)
  assert.equal(verify(records.slice(0, -1), { remembered }), 'trail_cut')
  assert.equal(verify(records.toSpliced(1, 1)), 'sequence_gap')
})

test('ACT-31 an old event that the operator deletes leaves its entry, and the trail stays valid', async () => {
  await record(id, { name: 'Former name' })
  await extendTrails(world.db)
  const remembered = await rememberHead()
  const details = (await exportTrail()).at(-1)?.details
  assert.ok(isObject(details))
  await world.db.deleteFrom('audit_event').where('event_id', '=', String(details['entryId'])).execute()
  const records = await exportTrail()
  assert.deepEqual(verify(records, { remembered }), remembered)
  assert.deepEqual(Object.keys(records.at(-1) ?? {}), ['entry', 'acts'])
})

test('ACT-43 an old event is deleted with its salt, and the trail stays valid', async (t) => {
  const { db, close } = await createWorld()
  t.after(close)
  await db
    .updateTable('audit_event')
    .set({ occurred_at: new Date('2019-01-01') })
    .execute()
  const organizationId = asId<OrganizationId>(randomUUID())
  for (const [name, at] of [
    ['Former name', new Date('2020-01-01')],
    ['Name', new Date()],
  ] as const) {
    const event = { action: 'organization.updated', actor: 'user', organizationId, details: { name } } as const
    await recordAuditEvent(db, event, at)
    await numberEvents(db)
  }
  await extendTrails(db)
  const readTrail = async () => {
    const pieces = await Array.fromAsync(writeTrail(db, organizationId, { after: 0 }))
    const lines = pieces.join('').trimEnd().split('\n')
    return lines.map((line): Record => JSON.parse(line))
  }
  const before = await readTrail()
  assert.ok(isObject(before[0]?.details))
  await deleteEventsBefore(db, async () => new Date('2021-01-01'), 100)
  const salts = await db.selectFrom('organization_trail').select('salt').orderBy('sequence').execute()
  assert.deepEqual(
    salts.map(({ salt }) => salt === null),
    [true, false],
  )
  const records = await readTrail()
  assert.equal(typeof verify(records, { organizationId }), 'object')
  assert.deepEqual(verify(records, { organizationId }), verify(before, { organizationId }))
  assert.deepEqual(Object.keys(records[0] ?? {}), ['entry', 'acts'])
})

test('ACT-42 events that were deleted before they had a place keep no others waiting', async () => {
  await extendTrails(world.db)
  const gone = Array.from({ length: 120 }, (_, index) => ({
    organization_id: asId<OrganizationId>(`00000000-0000-7000-8000-${String(index).padStart(12, '0')}`),
    event_id: randomUUID(),
  }))
  await world.db.insertInto('organization_trail_pending').values(gone).execute()
  await record()
  await extendTrails(world.db)
  assert.deepEqual(await world.db.selectFrom('organization_trail_pending').selectAll().execute(), [])
})

test('ACT-32 events that are recorded and placed at once each have one place', async () => {
  const { id: busy } = await createOrganization(world, owner, 'Busy')
  const work = Array.from({ length: 40 }, (_, index) => (index % 4 === 3 ? extendTrails(world.db) : record(busy)))
  await Promise.all(work)
  await extendTrails(world.db)
  const records = await exportTrail(busy)
  assert.equal(records.length, 31)
  const end = verify(records, { organizationId: busy })
  assert.ok(typeof end === 'object', JSON.stringify(end))
  assert.equal(end.sequence, 31)
  const places = records.map(({ details }) => isObject(details) && details['entryId'])
  assert.equal(new Set(places).size, 31)
})

test('ACT-33 details without canonical form, which could have no place, are not recorded', async () => {
  const before = (await exportTrail()).length
  await assert.rejects(record(id, { share: 0.5 }), RangeError)
  await extendTrails(world.db)
  assert.equal((await exportTrail()).length, before)
})

test('ACT-34 however many events wait, those of each organization have their places after one run', async () => {
  const [{ id: busy }, { id: quiet }] = [
    await createOrganization(world, owner, 'Directory'),
    await createOrganization(world, owner, 'Small'),
  ]
  // More than a batch.
  await transaction(world.db, async (tx) => {
    for (let index = 0; index < 600; index += 1)
      await recordAuditEvent(tx, { action: 'scim.user.updated', actor: 'system', organizationId: busy }, world.now())
  })
  await extendTrails(world.db)
  assert.deepEqual(await world.db.selectFrom('organization_trail_pending').selectAll().execute(), [])
  const [long, short] = [await exportTrail(busy), await exportTrail(quiet)]
  assert.deepEqual([long.length, short.length], [601, 1])
  assert.equal(typeof verify(long, { organizationId: busy }), 'object')
})

test('ACT-34 an organization whose events cannot have places keeps no other one waiting', async () => {
  const [{ id: broken }, { id: other }] = [
    await createOrganization(world, owner, 'Broken'),
    await createOrganization(world, owner, 'Other'),
  ]
  assert.ok(broken < other, 'the broken one has its turn first')
  await extendTrails(world.db)
  await record(broken)
  await record(other)
  // Fixture: the next place is taken.
  const ofBroken = world.db.updateTable('organization_trail_head').where('organization_id', '=', broken)
  await ofBroken.set({ sequence: 0 }).execute()
  await assert.rejects(extendTrails(world.db), new RegExp(`the trail of ${broken} cannot be extended`))
  const waiting = await world.db.selectFrom('organization_trail_pending').select('organization_id').execute()
  assert.deepEqual(waiting, [{ organization_id: broken }])
  assert.equal((await exportTrail(other)).length, 2)
  await ofBroken.set({ sequence: 1 }).execute()
  await extendTrails(world.db)
  assert.equal((await exportTrail(broken)).length, 2)
})
