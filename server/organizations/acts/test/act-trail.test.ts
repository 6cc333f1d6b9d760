import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { detailsDigest, trailHead } from '@countersign/protocol/formats/acts/act'
import { parseTrailEntry } from '@countersign/protocol/signing/acts/statements'
import { createTrailVerifier, type TrailHead } from '@countersign/protocol/signing/acts/trail-verification'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { actorOf } from '#testing/actor.ts'
import { businessRequest, createOrganization, join, reauthenticate } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const { sha256 } = nodeSuite

async function organized() {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  return { owner, id, actor: actorOf(world, owner), rename: `PATCH /organizations/${id}` as const }
}
type Organized = Awaited<ReturnType<typeof organized>>
type Record = { entry: string; details?: unknown; salt?: string; acts: { statement: string }[] }

async function readTrail({ owner, id }: Pick<Organized, 'owner' | 'id'>): Promise<Record[]> {
  const { body } = await businessRequest(world, owner, `GET /organizations/${id}/trail`)
  const lines = body.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

function verify(records: unknown[], { owner, id }: Pick<Organized, 'owner' | 'id'>, remembered?: TrailHead) {
  const issuer = world.config.authUrl.origin
  const publicKeyOf = () => owner.pair.publicKey
  const verifier = createTrailVerifier(nodeSuite, { organizationId: id, issuer, publicKeyOf, remembered })
  for (const record of records) verifier.add(record)
  const end = verifier.finish()
  return 'flaw' in end ? end.flaw : end
}

function headOf({ entry }: { entry: string }): string {
  const parsed = parseTrailEntry(entry)
  assert.ok(parsed)
  return trailHead(sha256, parsed)
}

test('ACT-59 a signed act is verified from its trail: entry, details and signature cannot be exchanged', async () => {
  const organization = await organized()
  const { actor, rename } = organization
  for (const name of ['One', 'Two']) assert.equal((await actor.act(rename, { name })).statusCode, 200)
  const records = await readTrail(organization)
  const [created, one, two] = records
  assert.ok(created && one && two && records.length === 3)
  assert.equal(typeof verify(records, organization), 'object')
  assert.equal(verify([created, { ...one, acts: two.acts }, two], organization), 'other_acts')
  assert.equal(verify([created, { ...one, acts: [] }, two], organization), 'other_acts')
  assert.equal(verify([created, { ...one, details: two.details }, two], organization), 'other_details')
  const { previousAct, trail, details } = JSON.parse(two.acts[0]?.statement ?? '')
  assert.deepEqual(trail, { sequence: 2, head: headOf(one) })
  assert.equal(typeof previousAct, 'string')
  assert.equal(details, JSON.parse(two.entry).details)
})

test('ACT-59 the digest of erased details shows nothing, and the trail stays valid', async () => {
  const organization = await organized()
  const { actor, rename, id } = organization
  const started = await actor.start(rename, { name: 'Secret Ltd' })
  await actor.do(started)
  const erased = { salt: null, details: null }
  await world.db.updateTable('organization_trail').set(erased).where('organization_id', '=', id).execute()
  const records = await readTrail(organization)
  const last = records.at(-1)
  assert.ok(last)
  assert.deepEqual(Object.keys(last), ['entry', 'acts'])
  assert.equal(JSON.stringify(records).includes('Secret'), false)
  assert.equal(typeof verify(records, organization), 'object')
  // Who guesses the details cannot tell that they were right.
  const guessed = detailsDigest(sha256, JSON.parse(JSON.stringify(started.details)), Buffer.alloc(16))
  assert.notEqual(guessed, JSON.parse(last.entry).details)
})

test('ACT-59 the page of an act follows the trail up to the head that the act names', async () => {
  const organization = await organized()
  const { owner, actor, rename } = organization
  await actor.act(rename, { name: 'One' })
  const started = await actor.start(rename, { name: 'Two' })
  const { trail } = JSON.parse(started.statement)
  await note(organization.id)
  const records = await readTrail(organization)
  const read = async (query: string) => {
    const path = `/organizations/${organization.id}/acts/${started.actId}/trail${query}` as const
    const answer = await businessRequest(world, owner, `GET ${path}`)
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json().entries
  }
  const shown = records.map(({ entry, acts }) => ({ entry, acts }))
  assert.deepEqual(await read(''), shown.slice(0, trail.sequence))
  assert.deepEqual(await read('?after=1'), shown.slice(1, trail.sequence))
  assert.deepEqual(await read(`?after=${trail.sequence}`), [])
  assert.equal(headOf(shown[trail.sequence - 1] ?? { entry: '' }), trail.head)
  const shownAct = (await actor.read(started)).json()
  const {
    error: _error,
    error_description: _sentence,
    message: _message,
    ...fields
  } = { error: 0, error_description: 0, ...started }
  assert.deepEqual(shownAct, { ...fields, action: 'organization.updated', role: 'sign', proposal: null })
})

test('ACT-80 a member who can only read sees nothing of the trail by starting to leave', async () => {
  const { id, owner } = await organized()
  const viewer = await createSigner(world)
  const { memberId } = await join(world, { id, owner, role: 'viewer' }, viewer)
  const leaving = await actorOf(world, viewer).start(`DELETE /organizations/${id}/members/${memberId}`)
  const answer = await businessRequest(world, viewer, `GET /organizations/${id}/acts/${leaving.actId}/trail`)
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'insufficient_scope'])
  assert.equal((await actorOf(world, viewer).do(leaving)).statusCode, 200)
})

test('ACT-59 events that wait are placed before an act, and a remembered head stays the beginning', async () => {
  const organization = await organized()
  const { actor, rename } = organization
  const started = await actor.start(rename, { name: 'After' })
  const remembered = JSON.parse(started.statement).trail
  await note(organization.id)
  await actor.do(started)
  const records = await readTrail(organization)
  const actions = records.map(({ entry }) => JSON.parse(entry).actor)
  assert.deepEqual(actions, ['user', 'system', 'user'])
  assert.equal(typeof verify(records, organization, remembered), 'object')
  const { entries } = (
    await businessRequest(world, organization.owner, `GET /organizations/${organization.id}/audit?limit=1`)
  ).json()
  assert.equal(entries[0].details.trailEntry, 3)
})

function note(organizationId: OrganizationId) {
  const event = { action: 'organization.updated', actor: 'system', organizationId } as const
  return recordAuditEvent(world.db, event, world.now())
}

test('ACT-64 an act needs no recent authentication, and does not make the session more recent', async () => {
  const { owner, id, actor } = await organized()
  world.pass(600)
  const stale = await businessRequest(world, owner, `DELETE /organizations/${id}`)
  assert.equal(stale.json().error, 'reauthentication_required')
  // A key is created before the act is signed, so its start needs one.
  const key = await businessRequest(world, owner, `POST /organizations/${id}/keys`, { signedAction: {} })
  assert.equal(key.json().error, 'reauthentication_required')
  await reauthenticate(world, owner)
  const started = await actor.start(`POST /organizations/${id}/keys`)
  world.pass(301 - 5)
  const domain = await actor.start(`POST /organizations/${id}/domains`, { domain: 'acme.example' })
  world.pass(3)
  assert.equal((await actor.do(started)).statusCode, 200)
  world.pass(10)
  assert.equal((await actor.do(domain)).json().error, 'act_superseded')
  const session = await world.api.inject({ url: '/api/auth/session', headers: owner.headers })
  assert.equal(session.json().secondsSinceAuthTime, 309)
  assert.equal((await actor.act(`DELETE /organizations/${id}`)).statusCode, 200)
})

test('ACT-66 the acts of an identity or organization end with it, and expired ones are deleted', async () => {
  const { owner, id, actor, rename } = await organized()
  const rows = () => world.db.selectFrom('organization_act').select('act_id').execute()
  const before = (await rows()).length
  await actor.start(rename, { name: 'Gone' })
  assert.equal((await rows()).length, before + 1)
  await businessRequest(world, owner, `DELETE /organizations/${id}`)
  assert.equal((await rows()).length, before)
})
