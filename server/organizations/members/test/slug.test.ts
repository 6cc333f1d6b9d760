import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { askBusiness, join, makeOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const elsewhere = () => `bank-${randomBytes(4).toString('hex')}`

/** Asks as somebody who has just used their passkey; answers the status, and the code of an error. */
async function freshly(owner: Person, what: `${'PATCH' | 'DELETE'} ${string}`, payload?: object) {
  const [method, id] = what.split(' ')
  const answer = await askBusiness(
    world,
    { headers: await owner.signIn() },
    `${method === 'PATCH' ? 'PATCH' : 'DELETE'} /organizations/${id}`,
    payload,
  )
  return answer.statusCode < 300 ? answer.statusCode : `${answer.statusCode} ${answer.json().error}`
}

test('ORG-32 a slug that an organization gave up, or had at its deletion, is nobody else’s for 90 days', async () => {
  const [owner, other] = [await world.person(), await world.person()]
  const made = await makeOrganization(world, owner, 'Bank')
  const second = await makeOrganization(world, other, 'Other')
  const slug = 'bank'
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), 200)
  assert.equal(await freshly(other, `PATCH ${second.id}`, { slug }), '409 slug_taken')
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug }), 200, 'its own it takes back')
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

test('ORG-32 no number of changes lets a slug go that is kept', async () => {
  const [owner, stranger] = [await world.person(), await world.person()]
  const [made, theirs] = [await makeOrganization(world, owner, 'Vault'), await makeOrganization(world, stranger)]
  const taken = ['vault', elsewhere(), elsewhere(), elsewhere()]
  for (const slug of taken.slice(1)) assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug }), 200)
  const fresh = elsewhere()
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: fresh }), '409 too_many_slugs')
  const { organization } = (await askBusiness(world, owner, `GET /organizations/${made.id}`)).json()
  assert.equal(organization.slug, taken[3])
  for (const slug of taken) assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug }), '409 slug_taken')
  assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug: fresh }), 200, 'what was refused holds nothing')

  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'vault' }), 200, 'a former one can be taken back')
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), '409 too_many_slugs')
  world.pass(90 * 24 * 3600)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: elsewhere() }), 200)
})

test('ORG-33 a new organization that had nobody but its owner keeps no slug when it is deleted', async () => {
  const [owner, stranger] = [await world.person(), await world.person()]
  const theirs = await makeOrganization(world, stranger)
  const made = await makeOrganization(world, owner, 'Fleeting')
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'fleeting-too' }), 200)
  world.pass(7 * 24 * 3600 - 1)
  assert.equal(await freshly(owner, `DELETE ${made.id}`), 204)
  for (const slug of ['fleeting', 'fleeting-too'])
    assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug }), 200)

  const shared = await makeOrganization(world, owner, 'Shared')
  await join(world, { id: shared.id, owner: { headers: await owner.signIn() }, role: 'member' }, await world.person())
  assert.equal(await freshly(owner, `DELETE ${shared.id}`), 204)
  assert.equal(await freshly(stranger, `PATCH ${theirs.id}`, { slug: 'shared' }), '409 slug_taken', 'others knew it')
})

test('ORG-33 who has deleted an organization may take its slugs again, as nobody else may', async () => {
  const [owner, member] = [await world.person(), await world.person()]
  const made = await makeOrganization(world, owner, 'Phoenix')
  const asOwner = { headers: await owner.signIn() }
  await join(world, { id: made.id, owner: asOwner, role: 'admin' }, member)
  assert.equal(await freshly(owner, `PATCH ${made.id}`, { slug: 'phoenix-two' }), 200)
  assert.equal(await freshly(owner, `DELETE ${made.id}`), 204)
  const theirs = await makeOrganization(world, member, 'Phoenix')
  assert.notEqual(theirs.slug, 'phoenix')
  assert.equal(await freshly(member, `PATCH ${theirs.id}`, { slug: 'phoenix-two' }), '409 slug_taken')

  const again = await makeOrganization(world, { ...owner, headers: await owner.signIn() }, 'Phoenix')
  assert.equal(again.slug, 'phoenix')
  assert.equal(await freshly(owner, `PATCH ${again.id}`, { slug: 'phoenix-two' }), 200)
  assert.equal(await freshly(member, `PATCH ${theirs.id}`, { slug: 'phoenix' }), '409 slug_taken')
})

test('ORG-33 one user blocks few slugs by organizations that are gone, also by deleting an identity', async () => {
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
    const { id, slug } = await makeOrganization(world, nth < 4 ? { ...owner, identityId } : owner, `Squat ${nth}`)
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
    const { id } = await makeOrganization(world, stranger, slug)
    const answer = await askBusiness(world, stranger, `GET /organizations/${id}`)
    if (answer.json().organization.slug === slug) taken += 1
  }
  assert.equal(slugs.length - taken, 20)
})
