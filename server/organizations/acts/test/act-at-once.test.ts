import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { createTrailVerifier } from '@countersign/protocol/signing/acts/trail-verification'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { extendTrails } from '#platform/audit/trail.ts'
import { actorOf, signedActOf } from '#testing/actor.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const outcomeOf = (answer: Answer) => `${answer.statusCode} ${answer.json().error ?? 'done'}`

async function organized() {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  return { owner, id, actor: actorOf(world, owner), rename: `PATCH /organizations/${id}` as const }
}

async function readTrail(person: { headers: { authorization: string } }, id: string): Promise<{ acts: unknown[] }[]> {
  const { body } = await businessRequest(world, person, `GET /organizations/${id}/trail`)
  const lines = body.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

test('ACT-55 of 16 uses of one signed act, one does it', async () => {
  const { owner, id, actor, rename } = await organized()
  const started = await actor.start(rename, { name: 'Once' })
  const signed = signedActOf(owner, started.statement)
  const answers = await Promise.all(Array.from({ length: 16 }, () => actor.send(started, signed)))
  const outcomes = answers.map(outcomeOf).toSorted()
  assert.deepEqual(outcomes, ['200 done', ...Array.from({ length: 15 }, () => '404 act_not_found')])
  const signatures = (await readTrail(owner, id)).flatMap(({ acts }) => acts)
  assert.equal(signatures.length, 1)
})

test('ACT-54 of concurrent acts of one organization, each that is done names the one before', async () => {
  const { owner, id } = await organized()
  const people = [owner]
  for (let count = 0; count < 3; count += 1) {
    const person = await createSigner(world)
    await join(world, { id, owner, role: 'owner' }, person)
    people.push(person)
  }
  const write = () => {
    const event = { action: 'organization.updated', actor: 'system', organizationId: id } as const
    return Promise.all(Array.from({ length: 5 }, () => recordAuditEvent(world.db, event, world.now())))
  }
  let done = 0
  for (let round = 0; round < 3; round += 1) {
    const started = await Promise.all(
      people.map(async (person, nth) => {
        const act = await actorOf(world, person).start(`POST /organizations/${id}/domains`, {
          domain: `acme-${round}-${nth}.example`,
        })
        return { person, act }
      }),
    )
    const [answers] = await Promise.all([
      Promise.all(started.map(({ person, act }) => actorOf(world, person).do(act))),
      write(),
      extendTrails(world.db),
    ])
    const outcomes = answers.map(outcomeOf).toSorted()
    assert.deepEqual(outcomes, ['200 done', ...Array.from({ length: 3 }, () => '409 act_superseded')])
    done += 1
  }
  const { domains } = (await businessRequest(world, owner, `GET /organizations/${id}/domains`)).json()
  assert.equal(domains.length, done)
  const issuer = world.config.authUrl.origin
  const publicKeyOf = (identityId: string) => people.find((each) => each.identityId === identityId)?.pair.publicKey
  const verifier = createTrailVerifier(nodeSuite, { organizationId: id, issuer, publicKeyOf })
  for (const record of await readTrail(owner, id)) verifier.add(record)
  assert.equal('flaw' in verifier.finish(), false)
})

test('ACT-61 a session has at most five acts open, also if many are started at once', async () => {
  const { owner, actor, rename } = await organized()
  const first = await actor.start(rename, { name: 'First' })
  await Promise.all(Array.from({ length: 12 }, (_, nth) => actor.start(rename, { name: `Name ${nth}` })))
  const open = world.db.selectFrom('organization_act').select('act_id').where('identity_id', '=', owner.identityId)
  assert.equal((await open.execute()).length, limits.openActsPerSessionMax)
  assert.equal(outcomeOf(await actor.do(first)), '404 act_not_found')
})

test('ACT-60 the change, its entry and the end of the act happen together, or none of them', async () => {
  const { owner, id, actor, rename } = await organized()
  const started = await actor.start(rename, { name: 'Together' })
  const { trail } = JSON.parse(started.statement)
  // The entry cannot be written: its place is taken.
  const place = { organization_id: id, sequence: trail.sequence + 1 }
  const blocking = { ...place, event_id: '00000000-0000-0000-0000-000000000000', entry: '{}' }
  await world.db.insertInto('organization_trail').values(blocking).execute()
  assert.equal((await actor.do(started)).statusCode, 500)
  const { organization } = (await businessRequest(world, owner, `GET /organizations/${id}`)).json()
  assert.equal(organization.name, 'Acme')
  await world.db
    .deleteFrom('organization_trail')
    .where('organization_id', '=', id)
    .where('sequence', '=', place.sequence)
    .execute()
  const done = await actor.do(started)
  assert.equal(done.statusCode, 200, done.body)
  assert.equal((await readTrail(owner, id)).length, place.sequence)
})

test('ACT-63 an act by a copy of a passkey does nothing, and the owner can read that in the audit log', async () => {
  const { owner, id, actor, rename } = await organized()
  assert.equal((await actor.act(rename, { name: 'Original' }, { assertion: { signCount: 7 } })).statusCode, 200)
  const started = await actor.start(rename, { name: 'Copy' })
  const copied = await actor.do(started, { assertion: { signCount: 3 } })
  assert.equal(outcomeOf(copied), '401 invalid_credential')
  const { organization } = (await businessRequest(world, owner, `GET /organizations/${id}`)).json()
  assert.equal(organization.name, 'Original')
  const activity = await world.api.inject({ url: '/api/account/activity?limit=1', headers: owner.headers })
  assert.equal(activity.json().entries[0].action, 'passkey.sign_count_regressed')
  assert.equal((await actor.do(started, { assertion: { signCount: 8 } })).statusCode, 200)
})
