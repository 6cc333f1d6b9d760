import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createOrganization, join } from '#testing/organization.ts'
import { openDirectory, rename, verifyAddress } from '#testing/people.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
let directory: ReturnType<typeof openDirectory>
let people: Person[]
let app: TestApp
const handles = ['cleo', 'Abel', 'dora', 'Bert', 'emil']
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@service.example' } })
  directory = openDirectory(world)
  app = await world.app()
  people = []
  for (const handle of handles) {
    world.pass(3600)
    people.push(await world.person(handle))
  }
})
after(async () => {
  await world.close()
  await mailbox.close()
})
beforeEach(() => world.pass(60))

const person = (handle: string): Person => people[handles.indexOf(handle)] ?? assert.fail(handle)
const signedIn = async (handle: string) => ({ ...person(handle), headers: await person(handle).signIn() })
const refused = async (query: Record<string, string>) => (await directory.ask('', query)).statusCode

test('PEO-25 the list has the newest identity first, and is sorted on request', async () => {
  const sorted = (sort: string) => directory.listAll({ sort })
  assert.deepEqual(await directory.listAll(), handles.toReversed())
  assert.deepEqual(await sorted('-createdAt'), handles.toReversed())
  assert.deepEqual(await sorted('createdAt'), handles)
  assert.deepEqual(await sorted('handle'), ['Abel', 'Bert', 'cleo', 'dora', 'emil'])
  assert.equal(await refused({ sort: 'email' }), 400)
  assert.equal(await refused({ sort: 'handle', q: 'abel' }), 400)
})

test('PEO-26 pages of any size have each identity once, in every order', async () => {
  for (const sort of ['-createdAt', 'createdAt', 'handle', '-lastSeenOn'])
    for (const limit of ['1', '2', '5', '100']) {
      const found = await directory.listAll({ sort, limit })
      assert.deepEqual(found.toSorted(), handles.toSorted(), `${sort} ${limit}`)
    }
  const { count, countIs, nextCursor } = await directory.list({ limit: '5' })
  assert.deepEqual([count, countIs, nextCursor], [5, 'exact', null])
  for (const limit of ['0', '101', '-1', '1e1']) assert.equal(await refused({ limit }), 400, limit)
})

test('PEO-27 the day when an identity last authorized an app is listed, and changes with the day', async () => {
  assert.deepEqual(
    (await directory.list()).identities.map(({ lastSeenOn }) => lastSeenOn),
    [null, null, null, null, null],
  )
  await app.tokens(person('dora'))
  const first = world.now().toISOString().slice(0, 10)
  const seen = async (handle: string) => (await directory.list({ q: handle })).identities[0]?.lastSeenOn
  assert.deepEqual([await seen('dora'), await seen('emil')], [first, null])
  world.pass(24 * 3600)
  const tokens = await app.tokens(person('cleo'))
  const second = world.now().toISOString().slice(0, 10)
  await app.refresh(tokens.refresh_token)
  assert.deepEqual([await seen('dora'), await seen('cleo')], [first, second])
  assert.deepEqual((await directory.listAll({ sort: '-lastSeenOn' })).slice(0, 2), ['cleo', 'dora'])
  assert.deepEqual(await directory.listAll({ lastSeenFrom: second }), ['cleo'])
  assert.deepEqual(await directory.listAll({ lastSeenTo: first }), ['dora'])
  for (const sort of ['-lastSeenOn', 'handle'])
    assert.deepEqual(await directory.listAll({ sort, lastSeenTo: second, lastSeenFrom: second }), ['cleo'])
  for (const lastSeenTo of ['2026-02-31', 'yesterday', '2026-1-1', "'"])
    assert.equal(await refused({ lastSeenTo }), 400)
})

test('PEO-28 a name with an @ is no e-mail address of that domain', async () => {
  const liar = await createWorld()
  try {
    const payload = { displayName: 'Eve @corp.example' }
    const eve = await liar.person()
    const url = `/api/identities/${eve.identityId}`
    const renamed = await liar.api.inject({ method: 'PATCH', url, headers: eve.headers, payload })
    assert.equal(renamed.statusCode, 200, renamed.body)
    const { identities, count } = await openDirectory(liar).list({ emailDomain: 'corp.example' })
    assert.deepEqual([identities, count], [[], 0])
    assert.equal((await openDirectory(liar).list({ q: 'corp.example' })).identities.length, 1)
  } finally {
    await liar.close()
  }
})

test('PEO-28 filters by creation, domain and organization are combined', async () => {
  const { createdAt } = (await directory.list({ q: 'dora' })).identities[0] ?? assert.fail('dora is not found')
  assert.deepEqual(await directory.listAll({ createdFrom: createdAt }), ['emil', 'Bert', 'dora'])
  assert.deepEqual(await directory.listAll({ createdTo: createdAt, sort: 'handle' }), ['Abel', 'cleo'])
  assert.deepEqual(await directory.listAll({ createdTo: createdAt, createdFrom: createdAt }), [])

  await verifyAddress(world, mailbox, await signedIn('Abel'), 'abel@Example.org')
  await verifyAddress(world, mailbox, await signedIn('Bert'), 'bert@sub.example.org')
  for (const emailDomain of ['example.org', 'EXAMPLE.org', '@example.org'])
    assert.deepEqual(await directory.listAll({ emailDomain }), ['Abel'], emailDomain)

  const { id: organization } = await createOrganization(world, await signedIn('Abel'), 'Acme')
  await join(world, { id: organization, owner: await signedIn('Abel'), role: 'viewer' }, await signedIn('emil'))
  assert.deepEqual(await directory.listAll({ organization }), ['emil', 'Abel'])
  assert.deepEqual(await directory.listAll({ organization, limit: '1', sort: 'handle' }), ['Abel', 'emil'])
  assert.deepEqual(await directory.listAll({ organization, emailDomain: 'example.org' }), ['Abel'])
  assert.deepEqual(await directory.listAll({ organization, q: 'em' }), ['emil'])
  assert.deepEqual(await directory.listAll({ organization, createdFrom: createdAt }), ['emil'])
  assert.deepEqual(await directory.listAll({ organization: randomUUID() }), [])
  const { identities } = await directory.list({ organization, q: 'emil' })
  assert.deepEqual(identities[0]?.organizations, [{ id: organization, name: 'Acme', role: 'viewer' }])
  assert.equal(await refused({ organization: 'acme' }), 400)
})

test('PEO-38 identities of a group are listed, and each identity with the keys of its groups', async () => {
  const admin = world.admin
  const group = async (key: string, handles: string[]) => {
    const payload = { key, displayName: key }
    const answer = await world.api.inject({ method: 'POST', url: '/api/admin/groups', headers: admin, payload })
    const url = `/api/admin/groups/${answer.json<{ groupId: string }>().groupId}`
    const add = await Promise.all(handles.map(async (handle) => (await signedIn(handle)).identityId))
    await world.api.inject({ method: 'POST', url: `${url}/members/batch`, headers: admin, payload: { add } })
    return url
  }
  await group('staff', ['Abel', 'Bert', 'emil'])
  const other = await group('admins', ['Bert'])
  assert.deepEqual(await directory.listAll({ group: 'staff' }), ['emil', 'Bert', 'Abel'])
  assert.deepEqual(await directory.listAll({ group: 'staff', limit: '1', sort: 'handle' }), ['Abel', 'Bert', 'emil'])
  assert.deepEqual(await directory.listAll({ group: 'staff', q: 'be' }), ['Bert'])
  assert.deepEqual(await directory.listAll({ group: 'nothing' }), [])
  assert.equal(await refused({ group: 'Staff' }), 400)
  const groupsOfBert = async () => (await directory.list({ q: 'bert' })).identities[0]?.groups
  assert.deepEqual(await groupsOfBert(), ['admins', 'staff'])

  await world.api.inject({ method: 'DELETE', url: other, headers: admin })
  assert.deepEqual(await groupsOfBert(), ['staff'])
  assert.deepEqual(await directory.listAll({ group: 'admins' }), [], 'also before its members are cleaned up')
})

test('PEO-29 a cursor that this service did not write, or for another question, is refused', async () => {
  const { nextCursor } = await directory.list({ limit: '2' })
  assert.ok(nextCursor !== null)
  assert.equal(await refused({ limit: '1', cursor: nextCursor }), 200, 'pages may differ in size')
  const bytes = Buffer.from(nextCursor, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const forged = Buffer.from(bytes)
    forged[at] = (forged[at] ?? 0) ^ 1
    assert.equal(await refused({ limit: '2', cursor: forged.toString('base64url') }), 400, `byte ${at}`)
  }
  for (const other of [{ sort: 'createdAt' }, { q: 'abel' }, { emailDomain: 'example.org' }])
    assert.equal(await refused({ ...other, cursor: nextCursor }), 400)
  const empty = Buffer.from('["","",0,"exact"]').toString('base64url')
  for (const cursor of [
    'x',
    `${nextCursor}=`,
    `${nextCursor}A`,
    nextCursor.slice(1),
    empty,
    randomUUID(),
    "'",
    'A'.repeat(3000),
  ])
    assert.equal(await refused({ cursor }), 400, cursor)
})

test('PEO-30 a page begins after the identity that ended the last one, also if that is gone or changed', async () => {
  const gone = await world.person('faye')
  const first = await directory.list({ sort: 'handle', limit: '5' })
  await rename(world, person('emil'), { handle: 'aaron' })
  const { headers } = gone
  const payload = { confirm: 'faye' }
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers, payload })
  assert.equal(deleted.statusCode, 204, deleted.body)
  const cursor = first.nextCursor ?? assert.fail('there is no second page')
  const next = await directory.list({ sort: 'handle', limit: '5', cursor })
  assert.deepEqual([next.identities, next.nextCursor], [[], null])
  assert.deepEqual([next.count, next.countIs], [6, 'exact'], 'the count of the first page')
})
