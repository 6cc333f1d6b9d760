import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const elsewhere = () => `bank-${randomBytes(4).toString('hex')}`

/** Sends a request as a user with recent authentication; returns the status and the error code. */
async function freshly(owner: Person, what: `${'PATCH' | 'DELETE'} ${string}`, payload?: object) {
  const [method, id] = what.split(' ')
  const answer = await businessRequest(
    world,
    { headers: await owner.signIn() },
    `${method === 'PATCH' ? 'PATCH' : 'DELETE'} /organizations/${id}`,
    payload,
  )
  return answer.statusCode < 300 ? answer.statusCode : `${answer.statusCode} ${answer.json().error}`
}

test('ORG-32 a slug that an organization released or had at its deletion stays reserved for 90 days', async () => {
  const [owner, other] = [await world.person(), await world.person()]
  const made = await createOrganization(world, owner, 'Bank')
  const second = await createOrganization(world, other, 'Other')
  const slug = 'bank'
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), 200)
  assert.equal(await freshly(other, `PATCH ${second.id}`, { slug }), '409 slug_taken')
  assert.equal(
    await freshly(owner, `PATCH ${made.id}`, { slug }),
    200,
    'the organization can claim its own former slug',
  )
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), 200)
  world.pass(90 * 24 * 3600 - 1)
  assert.equal(await freshly(other, `PATCH ${second.id}`, { slug }), '409 slug_taken')
  world.pass(1)
  assert.equal(await freshly(other, `PATCH ${second.id}`, { slug }), 200)
  assert.equal(await freshly(other, `DELETE ${second.id}`), 204)
  world.pass(90 * 24 * 3600 - 1)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug }), '409 slug_taken')
  world.pass(1)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug }), 200)
})

test('ORG-32 no number of changes releases a reserved slug', async () => {
  const [owner, stranger] = [await world.person(), await world.person()]
  const [made, theirs] = [await createOrganization(world, owner, 'Vault'), await createOrganization(world, stranger)]
  const taken = ['vault', elsewhere(), elsewhere(), elsewhere()]
  for (const slug of taken.slice(1)) assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug }), 200)
  const fresh = elsewhere()
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: fresh }), '409 too_many_slugs')
  const { organization } = (await businessRequest(world, owner, `GET /organizations/${made.id}`)).json()
  assert.equal(organization.slug, taken[3])
  for (const slug of taken) assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug }), '409 slug_taken')
  assert.equal(
    await freshly(stranger, `PATCH ${theirs.id}`, { slug: fresh }),
    200,
    'a rejected change reserves nothing',
  )

  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'vault' }), 200, 'a former slug can be claimed again')
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), '409 too_many_slugs')
  world.pass(90 * 24 * 3600)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), 200)
})

test('ORG-33 deleting a new organization without other members reserves no slug', async () => {
  const [owner, stranger] = [await world.person(), await world.person()]
  const theirs = await createOrganization(world, stranger)
  const made = await createOrganization(world, owner, 'Fleeting')
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'fleeting-too' }), 200)
  world.pass(7 * 24 * 3600 - 1)
  assert.equal(await freshly(owner, `DELETE ${made.id}`), 204)
  for (const slug of ['fleeting', 'fleeting-too'])
    assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug }), 200)

  const shared = await createOrganization(world, owner, 'Shared')
  await join(world, { id: shared.id, owner: { headers: await owner.signIn() }, role: 'member' }, await world.person())
  assert.equal(await freshly(owner, `DELETE ${shared.id}`), 204)
  assert.equal(
    await freshly(stranger, `PATCH ${theirs.id}`, { slug: 'shared' }),
    '409 slug_taken',
    'the slug was known by other members',
  )
})

test('ORG-33 the user who deleted an organization can claim its slugs again, and other users cannot', async () => {
  const [owner, member] = [await world.person(), await world.person()]
  const made = await createOrganization(world, owner, 'Phoenix')
  const asOwner = { headers: await owner.signIn() }
  await join(world, { id: made.id, owner: asOwner, role: 'admin' }, member)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'phoenix-two' }), 200)
  assert.equal(await freshly(owner, `DELETE ${made.id}`), 204)
  const theirs = await createOrganization(world, member, 'Phoenix')
  assert.notEqual(theirs.slug, 'phoenix')
  assert.equal(await freshly(member, `PATCH ${theirs.id}`, { slug: 'phoenix-two' }), '409 slug_taken')

  const again = await createOrganization(world, { ...owner, headers: await owner.signIn() }, 'Phoenix')
  assert.equal(again.slug, 'phoenix')
  assert.equal(await freshly(owner, `PATCH ${again.id}`, { slug: 'phoenix-two' }), 200)
  assert.equal(await freshly(member, `PATCH ${theirs.id}`, { slug: 'phoenix' }), '409 slug_taken')
})

test('ORG-33 one user can reserve few slugs by deletion, including by deleting an identity', async () => {
  const [owner, stranger] = [await world.person(), await world.person()]
  const identity = { handle: `other-${randomBytes(4).toString('hex')}`, displayName: 'Other' }
  const added = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: owner.headers,
    payload: identity,
  })
  const { identityId } = added.json()
  const slugs: string[] = []
  const deleted: string[] = []
  for (let nth = 0; nth < 24; nth += 1) {
    const { id, slug } = await createOrganization(world, nth < 4 ? { ...owner, identityId } : owner, `Squat ${nth}`)
    slugs.push(slug)
    if (nth >= 4) deleted.push(id)
  }
  world.pass(7 * 24 * 3600)
  for (const id of deleted.slice(0, 18)) assert.equal(await freshly(owner, `DELETE ${id}`), 204)
  const url = `/api/identities/${identityId}`
  const left = await world.api.inject({ method: 'DELETE', url, headers: await owner.signIn() })
  assert.equal(left.statusCode, 204, left.body)
  for (const id of deleted.slice(18)) assert.equal(await freshly(owner, `DELETE ${id}`), 204)
  let taken = 0
  for (const slug of slugs) {
    const { id } = await createOrganization(world, stranger, slug)
    const answer = await businessRequest(world, stranger, `GET /organizations/${id}`)
    if (answer.json().organization.slug === slug) taken += 1
  }
  assert.equal(slugs.length - taken, 20)
})
