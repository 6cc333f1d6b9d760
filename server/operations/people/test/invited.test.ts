import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { openInvited } from '#testing/invited.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createOrganization } from '#testing/organization.ts'
import { openDirectory } from '#testing/people.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
let directory: ReturnType<typeof openDirectory>
let operator: ReturnType<typeof openInvited>
/** Usernames in the order of their creation. */
const order = ['Anna', 'bert-invited', 'Carl', 'dora-invited', 'Emil', 'fred-invited']
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@service.example' } })
  directory = openDirectory(world)
  operator = openInvited(world)
  await operator.operate('POST', 'groups', { key: 'eng', displayName: 'Engineering' })
  const about: Record<string, object> = {
    'bert-invited': { displayName: 'Bert Müller', groups: ['eng'] },
    'dora-invited': { displayName: 'Dora Day', email: 'Dora@Invited.example', groups: ['eng'] },
    'fred-invited': { displayName: 'Fred Day' },
  }
  for (const handle of order) {
    const fields = about[handle]
    await (fields ? operator.add({ handle, ...fields }) : world.person(handle))
    world.pass(60)
  }
})
after(async () => {
  await world.close()
  await mailbox.close()
})
beforeEach(() => world.pass(60))

const invited = order.filter((handle) => handle.endsWith('-invited'))

test('PEO-45 invited identities are listed among the others, in every order and on pages of any size', async () => {
  const sorted = order.toSorted((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1))
  for (const limit of ['1', '2', '5', '100']) {
    assert.deepEqual(await directory.listAll({ sort: 'createdAt', limit }), order)
    assert.deepEqual(await directory.listAll({ limit }), order.toReversed())
    assert.deepEqual(await directory.listAll({ sort: 'handle', limit }), sorted)
    assert.deepEqual((await directory.listAll({ sort: '-lastSeenOn', limit })).toSorted(), order.toSorted())
    assert.deepEqual((await directory.listAll({ status: 'invited', limit })).toSorted(), invited)
  }
  const { count, countIs, identities } = await directory.list({ limit: '2' })
  assert.deepEqual([count, countIs], [6, 'exact'])
  assert.deepEqual(
    identities.map(({ status }) => status),
    ['invited', 'active'],
  )
})

test('PEO-45 invited identities come after those that were seen, by last use', async () => {
  await world.db.updateTable('identity').set({ last_seen_on: '2029-12-30' }).where('handle', '=', 'Anna').execute()
  for (const limit of ['1', '3', '100']) {
    const [first, ...others] = await directory.listAll({ sort: '-lastSeenOn', limit })
    assert.equal(first, 'Anna')
    assert.deepEqual(others.toSorted(), order.slice(1).toSorted())
  }
  assert.deepEqual(await directory.listAll({ lastSeenTo: '2029-12-31' }), ['Anna'])
})

test('PEO-45 an invited identity is found by its username, name, address, domain and ID', async () => {
  for (const q of ['dora', 'DORA-inv', 'day dora', 'dora@invited.example', '@invited.example'])
    assert.deepEqual(await directory.find(q), ['dora-invited'], q)
  assert.deepEqual(await directory.find('muller'), ['bert-invited'])
  assert.deepEqual((await directory.find('day')).toSorted(), ['dora-invited', 'fred-invited'])
  const [dora] = (await directory.list({ q: 'dora' })).identities
  assert.deepEqual(await directory.find(dora?.identityId ?? ''), ['dora-invited'])
  assert.deepEqual([dora?.email, dora?.emailVerified, dora?.groups], ['Dora@invited.example', false, ['eng']])
})

test('PEO-45 filters apply to invited identities', async () => {
  const { id: organization } = await createOrganization(world, await world.person('Gert'), 'Acme')
  const [, second] = (await directory.list({ sort: 'createdAt' })).identities
  const lists: [Record<string, string>, string[]][] = [
    [{ group: 'eng', sort: 'createdAt' }, ['bert-invited', 'dora-invited']],
    [{ group: 'eng', status: 'active' }, []],
    [{ group: 'eng', status: 'invited', q: 'day' }, ['dora-invited']],
    [{ group: 'eng', emailDomain: 'invited.example' }, ['dora-invited']],
    [{ emailDomain: 'invited.example' }, ['dora-invited']],
    [{ status: 'invited', q: 'fred' }, ['fred-invited']],
    [{ status: 'active', q: 'fred' }, []],
    [{ status: 'suspended' }, []],
    [{ organization, status: 'invited' }, []],
    [{ organization }, ['Gert']],
    [{ status: 'invited', lastSeenFrom: '2020-01-01' }, []],
    [{ status: 'invited', createdTo: second?.createdAt ?? '' }, []],
    [{ status: 'invited', createdFrom: second?.createdAt ?? '', sort: 'createdAt' }, invited],
    [{ q: 'day', createdTo: second?.createdAt ?? '' }, []],
  ]
  for (const [query, handles] of lists)
    for (const limit of ['1', '100'])
      assert.deepEqual(await directory.listAll({ ...query, limit }), handles, JSON.stringify(query))
  const { count, countIs } = await directory.list({ group: 'eng', limit: '1' })
  assert.deepEqual([count, countIs], [2, 'exact'])
})

test('PEO-45 an accepted identity is listed once, and a deleted one is gone', async () => {
  const { identityId, token, names } = await operator.add({ handle: 'hugo-invited', displayName: 'Hugo' })
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  const listed = (await directory.list({ q: 'hugo' })).identities
  assert.deepEqual(
    listed.map((each) => [each.identityId, each.status]),
    [[identityId, 'active']],
  )
  assert.deepEqual((await directory.listAll({ status: 'invited' })).toSorted(), invited)

  const ida = await operator.add({ handle: 'ida-invited', displayName: 'Ida' })
  await operator.operate('DELETE', `identities/${ida.identityId}`, { confirm: 'ida-invited', reason: 'A mistake' })
  assert.deepEqual(await directory.find('ida'), [])
  assert.ok(!(await directory.listAll()).includes('ida-invited'))
})

test('PEO-45 a deleted group counts no more for an invited identity', async () => {
  const { answer } = await operator.operate('POST', 'groups', { key: 'gone', displayName: 'Gone' })
  const { identityId } = await operator.add({ handle: 'jan-invited', displayName: 'Jan', groups: ['gone'] })
  assert.deepEqual(await directory.listAll({ group: 'gone' }), ['jan-invited'])
  await operator.operate('DELETE', `groups/${answer.json<{ groupId: string }>().groupId}`)
  assert.deepEqual(await directory.listAll({ group: 'gone' }), [])
  assert.deepEqual((await operator.entryOf(identityId)).groups, [])
})
