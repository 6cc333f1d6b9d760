import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { sql } from 'kysely'
import { createConnectors, delegationsOf, revoke, type Connectors } from '#testing/connectors.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { pruneDelegations } from '#oauth/delegation/delegation.ts'

let world: TestWorld
let notes: Connectors
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
})
after(() => world.close())

const usesOf = (person: { headers: Record<string, string> }, id: string) =>
  world.api.inject({ url: `/api/oauth/delegations/${id}/uses`, headers: person.headers })

/** Lists the audit events of an identity's delegations, newest first. */
async function actsOf(identityId: string) {
  const { entries } = (await world.api.inject({ url: '/api/admin/audit', headers: world.admin })).json()
  const acts = entries.filter(
    (entry: { identityId: string; action: string }) =>
      entry.identityId === identityId && entry.action.startsWith('delegation.'),
  )
  return acts.map(({ action, details }: { action: string; details: { uses?: number } }) =>
    details.uses === undefined ? action : `${action} ${details.uses}`,
  )
}

test('a user sees which app may act where, as which identity, with which scopes, and when it last did', async () => {
  const scopeDescriptions = { 'notes.read': 'Read your notes', 'notes.write': 'Write notes' }
  await notes.changeResource({ scopeDescriptions })
  const { person, exchange } = await notes.connected({ requestedScope: 'notes.read', communicationMode: 'background' })
  const granted = world.now().toISOString()
  const [delegation, ...others] = await delegationsOf(world, person)
  assert.equal(others.length, 0)
  const { id, ...received } = delegation
  assert.match(id, /^[0-9a-f-]{36}$/)
  const expected = {
    identityId: person.identityId,
    sourceAppClientId: notes.source.clientId,
    sourceAppName: 'Assistant',
    sourceAppIconUrl: null,
    sourceAppWebsiteUrl: null,
    targetResourceKey: notes.resourceKey,
    targetResourceName: 'Your notes',
    targetAudience: notes.audience,
    targetAppClientId: notes.target.clientId,
    targetAppName: 'Notes',
    scope: 'notes.read',
    scopeDescriptions: { 'notes.read': 'Read your notes' },
    communicationMode: 'background',
    status: 'active',
    createdAt: granted,
    updatedAt: granted,
    revokedAt: null,
    lastUsedAt: null,
  }
  assert.deepEqual(received, expected)

  world.pass(60)
  await exchange()
  assert.equal((await delegationsOf(world, person))[0].lastUsedAt, world.now().toISOString())
  world.pass(60)
  await revoke(world, person, id)
  const [revoked] = await delegationsOf(world, person)
  assert.deepEqual([revoked.status, revoked.revokedAt], ['revoked', world.now().toISOString()])
})

test('each minute with uses of a delegation is listed with scopes and count', async () => {
  const { person, exchange } = await notes.connected({ requestedScope: 'notes.read notes.write' })
  const [{ id }] = await delegationsOf(world, person)
  const minute = () => new Date(Math.floor(world.now().getTime() / 60_000) * 60_000).toISOString()
  const first = minute()
  await Promise.all([exchange(), exchange(), exchange({ scope: 'notes.read' })])
  world.pass(60)
  await exchange()
  const { uses } = (await usesOf(person, id)).json()
  assert.deepEqual(uses, [
    { at: minute(), scope: 'notes.read notes.write', count: 1 },
    { at: first, scope: 'notes.read notes.write', count: 3 },
  ])
  const stranger = await world.person()
  assert.deepEqual((await usesOf(stranger, id)).json().error, 'delegation_not_found')
})

test('DEL-26 an exchange that ends after a later one does not change the last use', async () => {
  const { person, exchange } = await notes.connected({ communicationMode: 'background' })
  world.pass(120)
  assert.equal((await exchange()).statusCode, 200)
  const last = world.now().toISOString()
  // Like another process that started earlier, or whose clock is behind.
  world.pass(-90)
  assert.equal((await exchange()).statusCode, 200)
  world.pass(90)
  const [{ id, lastUsedAt }] = await delegationsOf(world, person)
  const { uses } = (await usesOf(person, id)).json()
  assert.equal(lastUsedAt, last)
  assert.equal(uses[0].at, `${last.slice(0, 16)}:00.000Z`, 'the latest minute is that of the last use')
  assert.equal(uses.length, 2)
})

const usesIn = async () =>
  Number(
    (
      await world.db
        .selectFrom('delegation_usage')
        .select(({ fn }) => fn.countAll().as('n'))
        .execute()
    )[0]?.n,
  )

test('GRW-21 a minute of uses is one row for all scopes, and a delegation has at most 200 rows', async () => {
  const scopes = Array.from({ length: 6 }, (_, nth) => `scope.${nth}`)
  const wide = await createConnectors(world, { scopes })
  const { person, exchange } = await wide.connected({
    requestedScope: scopes.join(' '),
    communicationMode: 'background',
  })
  const before = await usesIn()
  for (let subset = 1; subset < 2 ** scopes.length; subset += 1) {
    const scope = scopes.filter((_, nth) => (subset >> nth) % 2 === 1).join(' ')
    assert.equal((await exchange({ scope })).statusCode, 200)
  }
  assert.equal((await usesIn()) - before, 1)
  const [{ id: delegationId }] = await delegationsOf(world, person)
  const [use] = (await usesOf(person, delegationId)).json().uses
  assert.deepEqual([use.scope, use.count], [scopes.join(' '), 63])

  for (let nth = 0; nth < 10; nth += 1) {
    await fillUses(person, delegationId, { count: 30, from: nth * 30 })
    world.pass(60)
    assert.equal((await exchange()).statusCode, 200)
  }
  assert.equal((await usesIn()) - before, limits.delegationUsesShownMax)
  assert.equal((await usesOf(person, delegationId)).json().uses[0].count, 1, 'the latest rows stay')
})

test('GRW-22 the uses of a deleted identity disappear at once and are deleted in batches by the cleanup', async () => {
  const person = await world.person()
  const payload = { handle: `work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const url = '/api/identities'
  const created = await world.api.inject({ method: 'POST', url, headers: person.headers, payload })
  const asWork = { ...person, identityId: created.json().identityId }
  assert.equal((await notes.consent(asWork)).statusCode, 200)
  const [{ id }] = await delegationsOf(world, asWork)
  const before = await usesIn()
  await fillUses(asWork, id, { count: 50, from: 0 })
  const gone = await world.api.inject({ method: 'DELETE', url: `${url}/${asWork.identityId}`, headers: person.headers })
  assert.equal(gone.statusCode, 204)
  assert.equal((await usesOf(asWork, id)).json().error, 'delegation_not_found')
  assert.deepEqual(
    (await world.api.inject({ url: '/api/account/export', headers: person.headers })).json().delegations,
    [],
  )
  assert.equal((await usesIn()) - before, 50, 'the request has not deleted them all')

  for (let swept = 20; swept <= 40; swept += 20) {
    assert.equal(await pruneDelegations(world.db, world.now(), 20), 20)
    assert.equal((await usesIn()) - before, 50 - swept)
  }
  while ((await pruneDelegations(world.db, world.now(), 20)) > 0);
  assert.equal(await usesIn(), before)
  assert.deepEqual(await world.db.selectFrom('delegation_former_identity').selectAll().execute(), [])
})

/** Inserts this many uses of a delegation, one in each of the past minutes. */
async function fillUses(of: { identityId: string }, delegationId: string, { count, from }: Filled) {
  await sql`
    insert into delegation_usage (identity_id, delegation_id, used_at, scope, count)
    select ${of.identityId}::uuid, ${delegationId}::uuid,
      date_trunc('minute', ${world.now()}::timestamptz - interval '1 day') - nth * interval '1 minute', '{x}', 1
    from generate_series(${from}::integer + 1, ${from + count}::integer) nth
    on conflict do nothing`.execute(world.db)
}
type Filled = { count: number; from: number }

test('a rejected exchange does not count as a use', async () => {
  const { person, exchange } = await notes.connected()
  const [{ id }] = await delegationsOf(world, person)
  assert.equal((await exchange({ scope: 'notes.write' })).statusCode, 400)
  assert.deepEqual((await usesOf(person, id)).json(), { uses: [] })
  assert.equal((await delegationsOf(world, person))[0].lastUsedAt, null)
})

test('the audit log records each grant and its revocation once, and uses once a day with their count', async () => {
  const { person, exchange } = await notes.connected({ communicationMode: 'background' })
  const { identityId } = person
  await notes.consent(person)
  await notes.consent(person, { requestedScope: 'notes.write' })
  assert.deepEqual(await actsOf(identityId), ['delegation.scope_extended', 'delegation.granted'])
  for (let n = 0; n < 3; n += 1) assert.equal((await exchange()).statusCode, 200)
  assert.equal((await actsOf(identityId))[0], 'delegation.used 1')
  world.pass(24 * 3600)
  const { access_token_jwt: later } = await notes.source.tokens(person)
  assert.equal((await notes.exchange(later)).statusCode, 200)
  const [{ id }] = await delegationsOf(world, person)
  await revoke(world, person, id)
  assert.deepEqual((await actsOf(identityId)).slice(0, 3), [
    'delegation.revoked',
    'delegation.used 3',
    'delegation.used 1',
  ])
})

test('a consent adds to an active delegation, also its mode; after a revocation it starts from nothing', async () => {
  const { person } = await notes.connected({ requestedScope: 'notes.read' })
  await notes.consent(person, { requestedScope: 'notes.write', communicationMode: 'background' })
  await notes.consent(person, { requestedScope: 'notes.read', communicationMode: 'user_present' })
  const [merged, ...none] = await delegationsOf(world, person)
  assert.deepEqual([merged.scope, merged.communicationMode, none.length], ['notes.read notes.write', 'background', 0])

  await revoke(world, person, merged.id)
  await notes.consent(person, { requestedScope: 'notes.share' })
  const [anew, before] = await delegationsOf(world, person)
  assert.deepEqual([anew.scope, anew.communicationMode, anew.status], ['notes.share', 'user_present', 'active'])
  assert.deepEqual([before.id, before.status], [merged.id, 'revoked'])
  assert.notEqual(anew.id, merged.id)
})

test('DEL-14 concurrent consents lose none of the granted scopes', async () => {
  for (const first of ['none', 'some']) {
    const person = await world.person()
    if (first === 'some') await notes.consent(person, { requestedScope: 'notes.share' })
    const scopes = ['notes.read', 'notes.write']
    const answers = await Promise.all(scopes.map((requestedScope) => notes.consent(person, { requestedScope })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200],
    )
    const delegations = await delegationsOf(world, person)
    assert.equal(delegations.length, 1)
    for (const scope of scopes) assert.ok(delegations[0].scope.split(' ').includes(scope))
  }
})

test('DEL-12 revoking a delegation of another user returns not found and changes nothing', async () => {
  const { person, exchange } = await notes.connected()
  const [{ id }] = await delegationsOf(world, person)
  const stranger = await world.person()
  const answer = await revoke(world, stranger, id)
  assert.deepEqual([answer.statusCode, answer.json().error], [404, 'delegation_not_found'])
  const unknown = await revoke(world, person, '00000000-0000-4000-8000-000000000000')
  assert.equal(unknown.json().error, 'delegation_not_found')
  assert.deepEqual(await actsOf(person.identityId), ['delegation.granted'])
  assert.equal((await exchange()).statusCode, 200)
})

test('DEL-13 of concurrent revocations of a delegation, exactly one succeeds', async () => {
  const { person } = await notes.connected()
  const [{ id }] = await delegationsOf(world, person)
  const answers = await Promise.all(Array.from({ length: 5 }, () => revoke(world, person, id)))
  const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
  assert.deepEqual(statuses, [204, 409, 409, 409, 409])
  assert.equal((await revoke(world, person, id)).json().error, 'already_revoked')
  const revocations = (await actsOf(person.identityId)).filter((act: string) => act === 'delegation.revoked')
  assert.equal(revocations.length, 1)
})

test('DEL-11 after a revocation no token is issued, and introspection reports earlier ones as inactive', async () => {
  for (let round = 0; round < 25; round += 1) {
    const { person, subjectToken, exchange } = await notes.connected()
    const [{ id }] = await delegationsOf(world, person)
    const racing = Array.from({ length: 4 }, () => exchange())
    const revoked = await revoke(world, person, id)
    assert.equal(revoked.statusCode, 204)
    assert.equal((await notes.exchange(subjectToken)).statusCode, 403)
    for (const answer of await Promise.all(racing)) {
      if (answer.statusCode !== 200) continue
      const received = await notes.introspect(notes.target, answer.json().access_token)
      assert.deepEqual(received.json(), { active: false })
    }
  }
})

test('disconnecting source or target app revokes the delegations between them for that identity only', async () => {
  for (const end of ['source', 'target'] as const) {
    const [left, other] = [await notes.connected(), await notes.connected()]
    if (end === 'target') await notes.target.tokens(left.person)
    const { headers } = left.person
    const list = '/api/oauth/authorizations'
    const { authorizations } = (await world.api.inject({ url: list, headers })).json()
    const { id } = authorizations.find(({ clientId }: { clientId: string }) => clientId === notes[end].clientId)
    assert.equal((await world.api.inject({ method: 'DELETE', url: `${list}/${id}`, headers })).statusCode, 204)
    assert.equal((await delegationsOf(world, left.person))[0].status, 'revoked')
    assert.notEqual((await left.exchange()).statusCode, 200)
    assert.equal((await other.exchange()).statusCode, 200)
  }
})

test('GRW-19 revoked delegations and uses are deleted after ninety days, active delegations are not', async () => {
  const [kept, gone] = [await notes.connected(), await notes.connected()]
  for (const { exchange } of [kept, gone]) assert.equal((await exchange()).statusCode, 200)
  const [{ id }] = await delegationsOf(world, gone.person)
  await revoke(world, gone.person, id)
  const prune = async () => {
    while ((await pruneDelegations(world.db, world.now(), 2)) > 0);
    return { kept: await kept.person.signIn(), gone: await gone.person.signIn() }
  }
  world.pass(90 * 24 * 3600 - 60)
  const before = await prune()
  const [revoked] = await delegationsOf(world, { headers: before.gone })
  assert.deepEqual([revoked.id, revoked.status], [id, 'revoked'])
  assert.equal((await usesOf({ headers: before.gone }, id)).json().uses.length, 1)
  world.pass(120)
  const headers = await prune()
  assert.deepEqual(await delegationsOf(world, { headers: headers.gone }), [])
  const [still] = await delegationsOf(world, { headers: headers.kept })
  assert.equal(still.status, 'active')
  assert.deepEqual((await usesOf({ headers: headers.kept }, still.id)).json(), { uses: [] })
})
