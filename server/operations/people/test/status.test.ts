import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOrganization, join } from '#testing/organization.ts'
import { addIdentity, openDirectory } from '#testing/people.ts'
import { acceptedUser, openDirectory as openSource } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let directory: ReturnType<typeof openDirectory>
before(async () => {
  world = await createWorld()
  directory = openDirectory(world)
})
after(() => world.close())

const active = { status: 'active', statusReason: null, statusAt: null }

async function suspend(identityId: string, fields: object = {}): Promise<void> {
  const url = `/api/admin/identities/${identityId}/suspension`
  const payload = { reason: 'Left the company', ...fields }
  const answer = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  assert.equal(answer.statusCode, 200, answer.body)
}

async function activate(identityId: string): Promise<void> {
  const url = `/api/admin/identities/${identityId}/suspension`
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers: world.admin })).statusCode, 204)
}

/** Returns the status of an identity when it is read, which is the same in the list. */
async function statusOf(identityId: string) {
  const { identity } = (await directory.ask(`/${identityId}`)).json()
  const [entry] = (await directory.list({ q: identityId })).identities
  const { status, statusReason, statusAt } = identity
  assert.deepEqual([entry?.status, entry?.statusReason, entry?.statusAt], [status, statusReason, statusAt])
  return { status, statusReason, statusAt }
}

test('PEO-36 the sibling of a suspended identity is active, whatever the scope', async () => {
  for (const scope of ['account', 'identity']) {
    const person = await world.person()
    const handle = `sibling-of-${scope}`
    const siblingId = await addIdentity(world, person, { handle, displayName: 'Sibling' })
    await suspend(person.identityId, { scope })
    const statusAt = world.now().toISOString()
    assert.deepEqual(await statusOf(person.identityId), {
      status: 'suspended',
      statusReason: 'Left the company',
      statusAt,
    })
    assert.deepEqual(await statusOf(siblingId), active, scope)
    assert.deepEqual(await directory.listAll({ status: 'suspended' }), [person.handle])
    assert.ok((await directory.listAll({ status: 'active' })).includes(handle))
    assert.deepEqual(await directory.listAll({ status: 'suspended', q: handle }), [])
    await activate(person.identityId)
    assert.deepEqual(await statusOf(person.identityId), active)
  }
})

test('PEO-37 identities are listed by status, with other filters, in pages, until a suspension ends', async () => {
  const owner = await world.person('olga')
  const ends = await world.person('ends')
  const stays = await world.person('stays')
  const { id: organization } = await createOrganization(world, owner, 'Acme')
  await join(world, { id: organization, owner, role: 'viewer' }, ends)
  await suspend(ends.identityId, { until: new Date(world.now().getTime() + 60_000).toISOString() })
  await suspend(stays.identityId)
  const suspended = { status: 'suspended' }
  for (const sort of ['handle', 'createdAt', '-createdAt', '-lastSeenOn'])
    assert.deepEqual((await directory.listAll({ ...suspended, sort, limit: '1' })).toSorted(), ['ends', 'stays'], sort)
  const { count, countIs } = await directory.list({ ...suspended, limit: '1' })
  assert.deepEqual([count, countIs], [2, 'exact'])
  assert.deepEqual(await directory.listAll({ ...suspended, organization }), ['ends'])
  assert.deepEqual(await directory.listAll({ status: 'active', organization }), ['olga'])
  assert.deepEqual(await directory.listAll({ ...suspended, q: 'sta' }), ['stays'])
  assert.deepEqual(await directory.listAll({ status: 'active', q: 'sta' }), [])
  const all = await directory.listAll({ sort: 'handle' })
  const isActive = (handle: string) => !['ends', 'stays'].includes(handle)
  assert.deepEqual(await directory.listAll({ status: 'active', sort: 'handle', limit: '2' }), all.filter(isActive))
  assert.equal((await directory.ask('', { status: 'unknown' })).statusCode, 400)

  world.pass(61)
  assert.deepEqual(await directory.listAll(suspended), ['stays'])
  assert.deepEqual(await statusOf(ends.identityId), active)
})

test('SCM-13 operators read who suspends an identity, in what scope and until when', async () => {
  const source = await openSource(world)
  const owner = await world.person()
  const { id } = await acceptedUser(world, source, owner)
  const read = async () => (await directory.ask(`/${id}`)).json().identity
  const setActive = (value: boolean) => source.patched(`/Users/${id}`, { op: 'replace', path: 'active', value })
  assert.deepEqual((await read()).suspensions, [])
  await setActive(false)
  const [byDirectory, ...others] = (await read()).suspensions
  const { reason, ...known } = byDirectory
  const suspendedAt = world.now().toISOString()
  assert.deepEqual([known, others], [{ source: source.source, scope: 'identity', suspendedAt, until: null }, []])
  assert.equal((await read()).statusReason, reason)

  world.pass(60)
  const until = new Date(world.now().getTime() + 60_000).toISOString()
  await suspend(id, { until })
  const byOperator = {
    ...{ source: 'operator', scope: 'account', reason: 'Left the company' },
    ...{ suspendedAt: world.now().toISOString(), until },
  }
  assert.deepEqual((await read()).suspensions, [byOperator, byDirectory], 'the account is suspended as well')
  assert.deepEqual((await directory.ask(`/${owner.identityId}`)).json().identity.suspensions, [], 'not of a sibling')
  await activate(id)
  const left = await read()
  assert.deepEqual([left.status, left.suspensions], ['suspended', [byDirectory]])
  await suspend(id, { until })
  await setActive(true)
  assert.deepEqual((await read()).suspensions, [byOperator])
  world.pass(61)
  assert.deepEqual([(await read()).status, (await read()).suspensions], ['active', []])
})
