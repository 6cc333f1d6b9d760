import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scimPatch, scimUser } from '#testing/enterprise.ts'
import { type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let directory: Directory
before(async () => {
  world = await createWorld()
  directory = await openDirectory(world)
})
after(() => world.close())

const entryOf = async (identityId: string) =>
  (await world.api.inject({ url: `/api/admin/identities/${identityId}`, headers: world.admin })).json().identity

test('a user is created as an invited identity, read, replaced and deleted', async () => {
  const userName = newName()
  const sent = {
    ...{ userName, externalId: 'E-1', displayName: 'Ada Lovelace', active: true },
    name: { formatted: 'Ada K. Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
    emails: [
      { value: `${userName}@home.example`, type: 'home', primary: false },
      { value: `${userName}@work.example`, type: 'work', primary: true },
    ],
  }
  const answer = await directory.ask('POST', '/Users', scimUser(sent))
  assert.equal(answer.statusCode, 201, answer.body)
  assert.match(String(answer.headers['content-type']), /^application\/scim\+json/)
  const { id, schemas: _schemas, meta, ...user } = answer.json()
  assert.deepEqual(user, sent)
  assert.deepEqual([answer.headers['location'], answer.headers['etag']], [meta.location, meta.version])
  assert.match(meta.version, /^W\/"[\w-]{22}"$/)
  const entry = await entryOf(id)
  assert.deepEqual(
    [entry.status, entry.handle, entry.displayName, entry.email, entry.emailVerified],
    ['invited', userName, 'Ada Lovelace', `${userName}@work.example`, false],
  )

  assert.deepEqual((await directory.ask('GET', `/Users/${id}`)).json(), answer.json())
  const replaced = await directory.ask('PUT', `/Users/${id}`, scimUser({ userName: `${userName}x` }))
  assert.equal(replaced.statusCode, 200, replaced.body)
  const { id: _id, schemas: _, meta: _meta, ...left } = replaced.json()
  assert.deepEqual(left, { userName: `${userName}x`, active: true })
  const after = await entryOf(id)
  assert.deepEqual([after.handle, after.displayName, after.email], [`${userName}x`, `${userName}x`, null])

  assert.equal((await directory.ask('DELETE', `/Users/${id}`)).statusCode, 204)
  for (const method of ['GET', 'DELETE'] as const) {
    const gone = await directory.ask(method, `/Users/${id}`)
    assert.deepEqual([gone.statusCode, gone.json().status], [404, '404'])
  }
  assert.equal(await entryOf(id), undefined)
  // Its names are free again.
  await directory.created({ userName: `${userName}x` })
})

test('operations change single attributes, parts and values', async () => {
  const { id, userName } = await directory.created({ emails: [{ value: 'one@example.org', type: 'work' }] })
  const path = `/Users/${id}`
  const patched = (...operations: object[]) => directory.patched(path, ...operations)
  const named = await patched(
    { op: 'Replace', path: 'name.givenName', value: 'Ann' },
    { op: 'add', value: { displayName: 'Ann B' } },
  )
  assert.deepEqual([named.name, named.displayName], [{ givenName: 'Ann' }, 'Ann B'])
  const second = { value: 'two@example.org', type: 'home', primary: true }
  const added = await patched({ op: 'add', path: 'emails', value: [second] })
  assert.deepEqual(added.emails, [{ value: 'one@example.org', type: 'work' }, second])
  const moved = await patched({ op: 'replace', path: 'emails[type eq "work"].value', value: 'three@example.org' })
  assert.deepEqual(moved.emails[0], { value: 'three@example.org', type: 'work' })
  const fewer = await patched({ op: 'remove', path: 'emails[type eq "home"]' })
  assert.deepEqual(fewer.emails, [{ value: 'three@example.org', type: 'work' }])
  const other = await patched({ op: 'add', path: 'emails[type eq "other"].value', value: 'four@example.org' })
  assert.deepEqual(other.emails[1], { type: 'other', value: 'four@example.org' })
  const bare = await patched({ op: 'remove', path: 'emails' }, { op: 'remove', path: 'name' })
  assert.deepEqual([bare.emails, bare.name], [undefined, undefined])
  const full = await patched({ op: 'replace', value: { 'name.familyName': 'B', active: 'False', id: 'ignored' } })
  assert.deepEqual([full.name, full.active, full.userName], [{ familyName: 'B' }, false, userName])

  for (const [operation, word] of [
    [{ op: 'remove', path: 'userName' }, 'mutability'],
    [{ op: 'remove', path: 'active' }, 'mutability'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'replace', path: 'emails[type eq "fax"].value', value: 'x@example.org' }, 'noTarget'],
    [{ op: 'replace', path: 'emails[', value: 1 }, 'invalidPath'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    [{ op: 'move', path: 'active', value: true }, 'invalidSyntax'],
    [{ op: 'replace', path: 'active', value: 'yes' }, 'invalidValue'],
    [{ op: 'add', path: 'emails', value: [{ value: 'no address' }] }, 'invalidValue'],
  ] as const) {
    const refused = await directory.ask('PATCH', path, scimPatch(operation))
    assert.deepEqual([refused.statusCode, refused.json().scimType], [400, word], JSON.stringify(operation))
  }
})

test('userName becomes the username where it fits, else a username resembles it', async () => {
  const name = newName()
  const handleOf = async (userName: string) => (await entryOf((await directory.created({ userName })).id)).handle
  assert.equal(await handleOf(`${name}@example.org`), name.replaceAll('-', '.'))
  const taken = await world.person()
  assert.match(await handleOf(taken.handle), /^person\.\w+$/)
  assert.match(await handleOf('Admin'), /^Admin-\d{10}$/)
  assert.match(await handleOf('ظافر'), /^user-\d{10}$/)

  const one = await directory.created({ userName: `${name}.two` })
  const again = await directory.ask('POST', '/Users', scimUser({ userName: `${name}.TWO` }))
  assert.deepEqual([again.statusCode, again.json().scimType], [409, 'uniqueness'])
  const other = await directory.created()
  const clash = await directory.ask('PUT', `/Users/${other.id}`, scimUser({ userName: one.userName }))
  assert.deepEqual([clash.statusCode, clash.json().scimType], [409, 'uniqueness'])
  // Another token has user names of its own.
  const second = await openDirectory(world)
  assert.equal((await second.created({ userName: one.userName })).userName, one.userName)
})

test('a version guards changes, and an unchanged resource is not sent again', async () => {
  const { id, meta } = await directory.created()
  const path = `/Users/${id}`
  const conditional = (header: string, value: string) => ({ [header]: value })
  const same = await directory.ask('GET', path, undefined, conditional('if-none-match', meta.version))
  assert.deepEqual([same.statusCode, same.body, same.headers['etag']], [304, '', meta.version])
  const change = scimPatch({ op: 'replace', path: 'displayName', value: 'Changed' })
  const changed = await directory.ask('PATCH', path, change, conditional('if-match', meta.version))
  assert.equal(changed.statusCode, 200, changed.body)
  assert.notEqual(changed.json().meta.version, meta.version)
  for (const [method, body] of [
    ['PATCH', change],
    ['PUT', scimUser({ userName: newName() })],
    ['DELETE', undefined],
  ] as const) {
    const late = await directory.ask(method, path, body, conditional('if-match', meta.version))
    assert.deepEqual([late.statusCode, late.json().status], [412, '412'])
  }
  assert.equal(
    (await directory.ask('GET', path, undefined, conditional('if-none-match', meta.version))).statusCode,
    200,
  )
  assert.equal((await directory.ask('DELETE', path, undefined, conditional('if-match', '*'))).statusCode, 204)
})

test('only the requested attributes of a user are returned', async () => {
  const { id } = await directory.created({ name: { givenName: 'A', familyName: 'B' }, externalId: 'E' })
  const keysOf = async (query: string) => Object.keys((await directory.ask('GET', `/Users/${id}?${query}`)).json())
  assert.deepEqual(await keysOf('attributes=userName,name.givenName'), ['schemas', 'id', 'userName', 'name'])
  assert.deepEqual(await keysOf('excludedAttributes=meta,name,active,userName,id'), ['schemas', 'id', 'externalId'])
})
