import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openEnterprise, scimPatch, scimUser, type Enterprise } from '#testing/enterprise.ts'

let enterprise: Enterprise
let world: Enterprise['world']
let connectionId: string
let directory: Awaited<ReturnType<Enterprise['provision']>>
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  const acme = await enterprise.organization(await world.person())
  ;({ connectionId } = await enterprise.connect(acme))
  directory = await enterprise.provision(acme, connectionId)
})
after(() => enterprise.close())

const newUser = (more: Record<string, unknown> = {}) =>
  scimUser({ userName: `${randomUUID()}@acme.example`, externalId: randomUUID(), ...more })

async function create(user: Record<string, unknown> = newUser()) {
  const answer = await directory.ask('POST', '/Users', user)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

/** Applies operations to a user; returns the user without the fields of every response. */
async function patched(id: string, ...operations: object[]) {
  const answer = await directory.ask('PATCH', `/Users/${id}`, scimPatch(...operations))
  assert.equal(answer.statusCode, 200, answer.body)
  const { schemas: _schemas, id: _id, meta: _meta, ...user } = answer.json()
  return user
}

test('CLI-08 a search by POST returns the same as a query', async () => {
  const { userName } = await create()
  const search = (message: object, path = '/Users/.search') =>
    directory.ask('POST', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], ...message })
  const filter = `userName eq "${userName}"`
  const queried = await directory.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
  for (const path of ['/Users/.search', '/.search']) {
    const found = await search({ filter, startIndex: 1, count: 10 }, path)
    assert.equal(found.statusCode, 200, found.body)
    assert.deepEqual(found.json(), queried.json())
  }
  const narrow = (await search({ filter, attributes: ['userName'] })).json()
  assert.deepEqual(Object.keys(narrow.Resources[0]).toSorted(), ['id', 'schemas', 'userName'])
  for (const [message, word] of [
    [{ filter: 'userName sw "a"' }, 'invalidFilter'],
    [{ startIndex: 'one' }, 'invalidSyntax'],
    [{ schemas: [] }, 'invalidSyntax'],
  ] as const) {
    const refused = await search(message)
    assert.deepEqual([refused.statusCode, refused.json().scimType], [400, word])
  }
  for (const path of ['/Groups', '/Bulk']) {
    const nothing = await directory.ask('POST', path, {})
    assert.match(String(nothing.headers['content-type']), /^application\/scim\+json/)
    assert.deepEqual([nothing.statusCode, nothing.json().status], [404, '404'])
  }
})

test('CLI-09 a non-primary e-mail address is returned as it was sent', async () => {
  const email = { value: 'second@acme.example', type: 'work', primary: false }
  const { id, emails } = await create(newUser({ emails: [email] }))
  assert.deepEqual(emails, [email])
  assert.deepEqual((await directory.ask('GET', `/Users/${id}`)).json().emails, [email])
  const changed = await patched(id, { op: 'replace', path: 'emails', value: [{ ...email, primary: true }] })
  assert.deepEqual(changed.emails, [{ ...email, primary: true }])
})

test('a directory reads the discovery documents: resource types and supported attributes', async () => {
  const config = await directory.ask('GET', '/ServiceProviderConfig')
  assert.match(String(config.headers['content-type']), /^application\/scim\+json/)
  const { patch, filter, bulk, authenticationSchemes } = config.json()
  assert.deepEqual([patch.supported, filter, bulk.supported], [true, { supported: true, maxResults: 200 }, false])
  assert.equal(authenticationSchemes[0].type, 'oauthbearertoken')

  const types = (await directory.ask('GET', '/ResourceTypes')).json()
  assert.deepEqual([types.totalResults, types.Resources[0].endpoint], [1, '/Users'])
  assert.equal((await directory.ask('GET', '/ResourceTypes/User')).json().id, 'User')
  const schemas = (await directory.ask('GET', '/Schemas')).json()
  const one = await directory.ask('GET', `/Schemas/${schemas.Resources[0].id}`)
  assert.deepEqual(one.json(), schemas.Resources[0])
  const required = one.json().attributes.filter((each: { required: boolean }) => each.required)
  assert.deepEqual(
    required.map((each: { name: string }) => each.name),
    ['userName', 'externalId'],
  )
  for (const nothing of ['/Groups', '/Schemas/urn:nothing', '/Users/nobody']) {
    const answer = await directory.ask('GET', nothing)
    assert.deepEqual([answer.statusCode, answer.json().status], [404, '404'], nothing)
  }
  const created = await create(newUser({ name: { givenName: 'Ann' }, emails: [{ value: 'ann@acme.example' }] }))
  const described = [...one.json().attributes.map((each: { name: string }) => each.name), 'schemas', 'id', 'meta']
  for (const attribute of Object.keys(created)) assert.ok(described.includes(attribute), attribute)
})

test('a user is created, read, replaced and deleted', async () => {
  const user = newUser({
    name: { givenName: 'Ann', familyName: 'Example', formatted: 'Ann Example' },
    displayName: 'Ann',
    emails: [
      { value: 'ann@home.example', type: 'home' },
      { value: 'ann@ACME.example', type: 'work', primary: true },
    ],
    title: 'Engineer',
    password: 'which is not stored',
    groups: [],
  })
  const answer = await directory.ask('POST', '/Users', user)
  assert.equal(answer.statusCode, 201, answer.body)
  const { id, meta, ...created } = answer.json()
  const location = `http://localhost:4400/scim/v2/${connectionId}/Users/${id}`
  assert.deepEqual([answer.headers.location, meta.location, meta.resourceType], [location, location, 'User'])
  const { schemas, userName, externalId, displayName } = user as typeof user & Record<string, unknown>
  assert.deepEqual(created, {
    schemas,
    userName,
    externalId,
    displayName,
    name: { givenName: 'Ann', familyName: 'Example' },
    emails: [{ value: 'ann@acme.example', type: 'work', primary: true }],
    active: true,
  })
  assert.deepEqual((await directory.ask('GET', `/Users/${id}`)).json(), answer.json())

  world.pass(60)
  const replaced = await directory.ask('PUT', `/Users/${id}`, scimUser({ USERNAME: 'ann', ExternalId: externalId }))
  assert.equal(replaced.statusCode, 200, replaced.body)
  const { displayName: gone, userName: renamed, active, meta: after } = replaced.json()
  assert.deepEqual([gone, renamed, active], [undefined, 'ann', true])
  assert.ok(after.lastModified > after.created)
  assert.equal((await directory.ask('DELETE', `/Users/${id}`)).statusCode, 204)
  const missing = await directory.ask('GET', `/Users/${id}`)
  assert.deepEqual([missing.statusCode, missing.json().status], [404, '404'])
  assert.equal((await directory.ask('DELETE', `/Users/${id}`)).statusCode, 404)
})

test('SCM-08 users of one external ID are read page by page', async () => {
  const acme = await enterprise.organization(await world.person())
  const connection = await enterprise.connect(acme)
  const byEmail = await enterprise.provision(acme, connection.connectionId, 'email')
  const created = []
  for (let nth = 0; nth < 3; nth += 1) {
    const emails = [{ value: `${randomUUID()}@acme.example` }]
    created.push((await byEmail.ask('POST', '/Users', newUser({ externalId: 'shared', emails }))).json())
  }
  const filter = encodeURIComponent('externalId eq "shared"')
  const { totalResults, startIndex, Resources } = (
    await byEmail.ask('GET', `/Users?filter=${filter}&startIndex=2&count=1`)
  ).json()
  assert.deepEqual([totalResults, startIndex, Resources.length, Resources[0].id], [3, 2, 1, created[1].id])
})

test('SCM-08 a user is found only by attributes of the directory', async () => {
  const { id, userName, externalId } = await create()
  const find = (filter: string) => directory.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
  for (const filter of [
    `userName eq "${userName}"`,
    `username EQ "${userName.toUpperCase()}"`,
    `urn:ietf:params:scim:schemas:core:2.0:User:userName eq "${userName}"`,
    `externalId eq "${externalId}"`,
    `id eq "${id}"`,
  ]) {
    const { totalResults, Resources } = (await find(filter)).json()
    assert.deepEqual([totalResults, Resources[0]?.id], [1, id], filter)
  }
  for (const filter of [`userName eq "nobody"`, `externalId eq "${externalId.toUpperCase()}"`, 'id eq "nonsense"'])
    assert.deepEqual((await find(filter)).json().Resources, [], filter)
  for (const filter of [
    '',
    'userName',
    'userName pr',
    'userName eq bare',
    'userName eq "a" or userName eq "b"',
    'userName co "a"',
    'password eq "a"',
    'userName eq "\\u0000"',
    `userName eq "' or 1=1 --" x`,
  ]) {
    const answer = await find(filter)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, 'invalidFilter'], filter)
  }
  const tooLong = await find(`userName eq "${'a'.repeat(1000)}"`)
  assert.match(String(tooLong.headers['content-type']), /^application\/scim\+json/)
  assert.deepEqual([tooLong.statusCode, tooLong.json().status], [400, '400'], tooLong.body)
})

test('a response contains only the requested attributes', async () => {
  const { id } = await create(newUser({ name: { givenName: 'Ann', familyName: 'Example' }, displayName: 'Ann' }))
  const read = async (query: string) => (await directory.ask('GET', `/Users/${id}?${query}`)).json()
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
  assert.deepEqual(await read('attributes=DISPLAYNAME'), { schemas, id, displayName: 'Ann' })
  assert.deepEqual(await read('attributes=name.givenName'), { schemas, id, name: { givenName: 'Ann' } })
  assert.deepEqual(await read('attributes=urn:ietf:params:scim:schemas:core:2.0:User:active,nothing'), {
    schemas,
    id,
    active: true,
  })
  const less = await read('excludedAttributes=name.familyName,emails,%20roles,id,meta.location')
  assert.deepEqual(
    [less.name, less.roles, less.id, less.meta.location],
    [{ givenName: 'Ann' }, undefined, id, undefined],
  )
  const [first] = (await directory.ask('GET', '/Users?attributes=userName')).json().Resources
  assert.deepEqual(Object.keys(first).toSorted(), ['id', 'schemas', 'userName'])
})

test('users are listed in pages, with startIndex counting from one', async () => {
  const people = await Promise.all([create(), create(), create()])
  assert.equal(new Set(people.map(({ id }) => id)).size, 3)
  const all = (await directory.ask('GET', '/Users')).json()
  assert.equal(all.totalResults, all.Resources.length)
  const ids = all.Resources.map(({ id }: { id: string }) => id)
  const page = async (query: string) => (await directory.ask('GET', `/Users?${query}`)).json()
  const second = await page('startIndex=2&count=1')
  assert.deepEqual(
    [second.totalResults, second.startIndex, second.itemsPerPage, second.Resources[0].id],
    [ids.length, 2, 1, ids[1]],
  )
  assert.equal((await page('startIndex=-5&count=1')).Resources[0].id, ids[0])
  assert.deepEqual((await page('count=0')).Resources, [])
  assert.deepEqual((await page('count=-1')).Resources, [])
  assert.deepEqual((await page('startIndex=100000')).Resources, [])
  assert.equal((await directory.ask('GET', '/Users?count=many')).statusCode, 400)
})

test('a userName is unique in any case, and so is the subject', async () => {
  const [first, second] = [await create(), await create()]
  for (const user of [newUser({ userName: first.userName.toUpperCase() }), newUser({ externalId: first.externalId })]) {
    const answer = await directory.ask('POST', '/Users', user)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [409, 'uniqueness'])
  }
  const taken = await directory.ask(
    'PATCH',
    `/Users/${second.id}`,
    scimPatch({ op: 'replace', path: 'userName', value: first.userName }),
  )
  assert.deepEqual([taken.statusCode, taken.json().scimType], [409, 'uniqueness'])
  assert.equal((await directory.ask('GET', `/Users/${second.id}`)).json().userName, second.userName)
})

test("a user is updated with Okta's operations", async () => {
  const { id } = await create()
  assert.equal((await patched(id, { op: 'replace', value: { active: false } })).active, false)
  assert.equal((await patched(id, { op: 'replace', value: { active: true } })).active, true)
})

test("a user is updated with Entra ID's operations", async () => {
  const { id, userName, externalId } = await create(newUser({ emails: [{ value: 'old@acme.example', type: 'work' }] }))
  const user = await patched(
    id,
    { op: 'Add', path: 'emails[type eq "work"].value', value: 'new@acme.example' },
    { op: 'Replace', path: 'emails[type eq "other"].value', value: 'other@acme.example' },
    { op: 'Add', path: 'name.givenName', value: 'Ann' },
    { op: 'Replace', value: { displayName: 'Ann E', 'name.familyName': 'Example' } },
    { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+49' },
    { op: 'Replace', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
    { op: 'Replace', path: 'constructor[type eq "work"].value', value: 'Sales' },
    { op: 'Replace', path: 'active', value: 'False' },
  )
  assert.deepEqual(user, {
    userName,
    externalId,
    name: { givenName: 'Ann', familyName: 'Example' },
    displayName: 'Ann E',
    emails: [{ value: 'new@acme.example', type: 'work', primary: true }],
    active: false,
  })
  const less = await patched(
    id,
    { op: 'Remove', path: 'name.familyName' },
    { op: 'Remove', path: 'emails[type eq "work"]' },
    { op: 'Remove', path: 'displayName' },
    { op: 'Replace', path: 'roles[primary eq "True"].value', value: 'signer' },
    { op: 'Replace', path: 'active', value: 'True' },
  )
  const roles = [{ value: 'signer', primary: true }]
  assert.deepEqual(less, { userName, externalId, name: { givenName: 'Ann' }, active: true, roles })
  assert.equal((await patched(id, { op: 'Remove', path: 'roles' })).roles, undefined)
})

const everyone = async () => (await directory.ask('GET', '/Users?count=200')).json()

test('SCM-08 an invalid SCIM message changes nothing', async () => {
  const { id } = await create()
  const before = await everyone()
  const cases: [string, { Operations?: object[] }][] = [
    ['invalidSyntax', { Operations: [{ op: 'replace', value: { active: false } }] }],
    ['invalidSyntax', scimPatch()],
    ['invalidSyntax', scimPatch({ op: 'move', path: 'active', value: false })],
    ['invalidSyntax', scimPatch({ op: 'replace', value: false })],
    ['invalidSyntax', scimPatch(...Array.from({ length: 101 }, () => ({ op: 'replace', value: { active: false } })))],
    ['invalidPath', scimPatch({ op: 'replace', path: 'active;', value: false })],
    ['invalidPath', scimPatch({ op: 'replace', path: 'emails[type eq "work"', value: 'x@acme.example' })],
    ['invalidPath', scimPatch({ op: 'replace', path: 7, value: false })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'active', value: 'no' })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'active' })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'active', value: null })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'userName', value: '' })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'displayName', value: ['x'] })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'externalId', value: 'x'.repeat(256) })],
    ['invalidValue', scimPatch({ op: 'replace', path: 'emails', value: [{ value: 'nonsense' }] })],
    ['invalidValue', scimPatch({ op: 'remove', path: 'externalId' })],
    ['mutability', scimPatch({ op: 'remove', path: 'active' })],
    ['mutability', scimPatch({ op: 'remove', path: 'userName' })],
    ['noTarget', scimPatch({ op: 'remove' })],
  ]
  const good = { op: 'replace', path: 'active', value: false }
  for (const [scimType, message] of cases) {
    const answer = await directory.ask('PATCH', `/Users/${id}`, message)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, scimType], JSON.stringify(message))
    const { Operations: operations = [] } = message
    if (operations.length !== 1) continue
    const behindGood = await directory.ask('PATCH', `/Users/${id}`, { ...message, Operations: [good, ...operations] })
    assert.equal(behindGood.statusCode, 400, JSON.stringify(message))
  }
  for (const body of [{}, { userName: 'ann' }, scimUser({}), scimUser({ userName: 'ann', username: 'bob' })])
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PUT', `/Users/${id}`],
    ] as const) {
      const answer = await directory.ask(method, path, body)
      assert.equal(answer.statusCode, 400, `${method} ${JSON.stringify(body)}`)
    }
  assert.deepEqual(await everyone(), before)
})

test('SCM-08 a body of another media type or invalid JSON gets a SCIM error', async () => {
  const ask = (type: string, payload: string) =>
    world.api.inject({
      method: 'POST',
      url: `/scim/v2/${connectionId}/Users`,
      headers: { authorization: `Bearer ${directory.token}`, 'content-type': type },
      payload,
    })
  const text = JSON.stringify(newUser())
  const other = JSON.stringify(newUser())
  assert.equal((await ask('application/json', text)).statusCode, 201)
  assert.equal((await ask('application/scim+json; charset=utf-8', JSON.stringify(newUser()))).statusCode, 201)
  const before = await everyone()
  for (const [type, payload, status] of [
    ['application/scim+json', '{', 400],
    ['application/scim+json', `{"__proto__":{"active":false}}`, 400],
    ['application/other+json', other, 415],
    ['text/plain', other, 415],
    ['application/x-www-form-urlencoded', 'userName=ann', 415],
    ['application/scim+json', JSON.stringify(newUser({ displayName: 'x'.repeat(70_000) })), 413],
  ] as const) {
    const answer = await ask(type, payload)
    assert.deepEqual(
      [answer.statusCode, answer.json().status],
      [status, String(status)],
      `${type} ${payload.slice(0, 40)}`,
    )
    assert.match(String(answer.headers['content-type']), /^application\/scim\+json/)
  }
  assert.deepEqual(await everyone(), before)
  const elsewhere = await world.api.inject({
    method: 'POST',
    url: '/api/sso/discover',
    headers: { 'content-type': 'application/scim+json' },
    payload: '{"email":"ann@acme.example"}',
  })
  assert.equal(elsewhere.statusCode, 415)
})
