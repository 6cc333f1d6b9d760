import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import { scimUser } from '#testing/enterprise.ts'
import { type Directory, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let directory: Directory
const ids = new Map<string, string>()
before(async () => {
  world = await createWorld()
  directory = await openDirectory(world)
  const users = [
    { userName: 'ada', displayName: 'Ada Lovelace', name: { familyName: 'Lovelace' }, externalId: 'X-1' },
    {
      userName: 'Bob',
      displayName: 'Bob %_\\ "Q"',
      emails: [{ value: 'BOB@acme.example', type: 'work', primary: true }],
    },
    { userName: 'cyd', active: false, emails: [{ value: 'cyd@home.example', type: 'home' }], externalId: 'x-1' },
  ]
  for (const user of users) {
    ids.set(user.userName, (await directory.created(user)).id)
    world.pass(60)
  }
})
after(() => world.close())

const idOf = (name: string) => ids.get(name) ?? ''
async function namesOf(filter: string) {
  const found: { userName: string }[] = await directory.found(filter)
  return found
    .map(({ userName }) => userName)
    .toSorted((a, b) => a.localeCompare(b))
    .join(' ')
}

test('filters compare every attribute with every operator', async () => {
  const expected: [string, string][] = [
    ['userName eq "ADA"', 'ada'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob"', 'Bob'],
    ['USERNAME sw "b"', 'Bob'],
    ['userName ew "D"', 'cyd'],
    ['userName co "o"', 'Bob'],
    ['userName ne "ada"', 'Bob cyd'],
    ['userName gt "ada"', 'Bob cyd'],
    ['userName le "bob"', 'ada Bob'],
    ['externalId eq "X-1"', 'ada'],
    ['externalId eq "x-1"', 'cyd'],
    ['externalId pr', 'ada cyd'],
    ['not (externalId pr)', 'Bob'],
    ['not (externalId eq "X-1")', 'Bob cyd'],
    ['externalId ne "X-1"', 'Bob cyd'],
    ['externalId eq null', 'Bob'],
    ['externalId ne null', 'ada cyd'],
    [`id eq "${idOf('ada')}"`, 'ada'],
    ['id eq "none"', ''],
    [`id ge "00000000-0000-0000-0000-000000000000" and not (id lt "${idOf('ada')}") and userName eq "ada"`, 'ada'],
    ['displayName co "%_\\\\ \\"q"', 'Bob'],
    ['displayName co "%"', 'Bob'],
    ['displayName sw "_"', ''],
    ['name.familyName eq "lovelace"', 'ada'],
    ['name.familyName pr', 'ada'],
    ['active eq true', 'ada Bob'],
    ['active eq "False"', 'cyd'],
    ['active ne true', 'cyd'],
    ['emails eq "bob@ACME.example"', 'Bob'],
    ['emails.value ew "example"', 'Bob cyd'],
    ['emails pr', 'Bob cyd'],
    ['emails ne "bob@acme.example"', 'ada cyd'],
    ['emails.type eq "home"', 'cyd'],
    ['emails[type eq "work" and value co "@acme."]', 'Bob'],
    ['emails[value eq "bob@acme.example" and primary eq true]', 'Bob'],
    ['emails[value eq "bob@acme.example" and not (type eq "work")]', ''],
    ['meta.resourceType eq "user"', 'ada Bob cyd'],
    [`meta.created ge "${new Date(world.now().getTime() - 90_000).toISOString()}"`, 'cyd'],
    ['meta.lastModified lt "2000-01-01T00:00:00Z"', ''],
    ['userName eq "ada" or userName eq "bob" and active eq false', 'ada'],
    ['(userName eq "ada" or userName eq "bob") and active eq false', ''],
    ['NOT (userName eq "ada") AND active eq true', 'Bob'],
    ['not(userName eq "ada" or userName eq "bob")', 'cyd'],
    ['userName eq "\\u0061da"', 'ada'],
    ['((((userName pr))))', 'ada Bob cyd'],
  ]
  for (const [filter, names] of expected) assert.equal(await namesOf(filter), names, filter)
})

test('malformed filters and those on unknown attributes are refused', async () => {
  const refused = [
    ...['userName', 'userName eq', 'userName eq ada', 'eq "ada"', 'userName eq "ada" and', 'userName is "ada"'],
    ...['userName eq "ada', 'userName eq "\\x"', 'userName eq "\\u0000"', '(userName pr', 'userName pr)'],
    ...['not userName pr', 'emails[type eq "work"', 'emails[type eq "work"].value eq "a"', 'emails[]'],
    ...['emails[emails[type pr]]', 'userName[value eq "a"]', 'nickName eq "a"', 'name eq "a"', 'meta.version pr'],
    ...['active gt true', 'active eq 1', 'userName eq 1', 'userName gt null', 'meta.created co "2030"'],
    ...['meta.created gt "soon"', 'urn:other:schema:userName eq "a"', '', 'a.b.c eq "a"'],
  ]
  for (const filter of refused) {
    const answer = await directory.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, 'invalidFilter'], filter)
  }
})

test('lists have pages and an order, as a query or a search', async () => {
  const namesIn = async (query: string) => {
    const answer = await directory.ask('GET', `/Users?${query}`)
    assert.equal(answer.statusCode, 200, answer.body)
    const { totalResults, startIndex, itemsPerPage, Resources } = answer.json()
    const names = Resources.map(({ userName }: { userName: string }) => userName).join(' ')
    return [totalResults, startIndex, itemsPerPage, names]
  }
  assert.deepEqual(await namesIn('sortBy=userName'), [3, 1, 3, 'ada Bob cyd'])
  assert.deepEqual(await namesIn('sortBy=userName&sortOrder=descending&count=2'), [3, 1, 2, 'cyd Bob'])
  assert.deepEqual(await namesIn('sortBy=meta.created&startIndex=2&count=1'), [3, 2, 1, 'Bob'])
  assert.deepEqual(await namesIn('sortBy=emails.value&count=1'), [3, 1, 1, 'Bob'])
  assert.deepEqual(await namesIn('sortBy=name.familyName&count=1'), [3, 1, 1, 'ada'])
  assert.deepEqual(await namesIn('startIndex=4'), [3, 4, 0, ''])
  assert.deepEqual(await namesIn('startIndex=-1&count=-1'), [3, 1, 0, ''])
  const message = { sortBy: 'userName', startIndex: 2, count: 1, attributes: ['userName'] }
  const body = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], ...message }
  for (const path of ['/Users/.search', '/.search']) {
    const { Resources, ...page } = (await directory.ask('POST', path, body)).json()
    assert.deepEqual([page.totalResults, page.startIndex, page.itemsPerPage], [3, 2, 1], path)
    assert.deepEqual(Object.keys(Resources[0]), ['schemas', 'id', 'userName'])
  }
  for (const [query, word] of [
    ['sortBy=nickName', 'invalidValue'],
    ['sortBy=userName&sortOrder=up', 'invalidValue'],
    [`startIndex=${limits.scimStartIndexMax + 1}`, 'invalidValue'],
  ] as const) {
    const answer = await directory.ask('GET', `/Users?${query}`)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, word], query)
  }
})

test('SCM-11 a filter that no index serves over more than 100,000 users is refused', async () => {
  const crowded = await openDirectory(world)
  const first = await crowded.created()
  const block = 10_000
  for (let from = 1; from <= limits.scimScannedMax; from += block)
    await sql`
      insert into scim_user
      select md5(nth::text)::uuid, token_id, user_name || nth, user_name_key || nth, external_id, display_name,
        formatted_name, given_name, family_name, emails, email_keys, active, created_at, updated_at
      from scim_user, generate_series(${from}::integer, ${from + block - 1}::integer) nth
      where identity_id = ${first.id}`.execute(world.db)
  const statusOf = async (query: string) => {
    const answer = await crowded.ask('GET', `/Users?${query}`)
    return answer.statusCode === 200 ? 200 : answer.json().scimType
  }
  const filterOf = (filter: string) => statusOf(`filter=${encodeURIComponent(filter)}`)
  for (const filter of [
    'displayName co "a"',
    'userName co "a"',
    'not (userName eq "a")',
    'active eq true or id eq "a"',
    'meta.created ge "1970-01-01T00:00:00Z" and displayName co "a"',
    'id gt "00000000-0000-0000-0000-000000000000" and displayName co "a"',
  ])
    assert.equal(await filterOf(filter), 'tooMany', filter)
  assert.equal(await statusOf('sortBy=displayName'), 'tooMany')
  const range = encodeURIComponent('meta.created ge "1970-01-01T00:00:00Z"')
  assert.equal(await statusOf(`sortBy=displayName&filter=${range}`), 'tooMany')
  const served = ['userName eq "a"', 'userName sw "a" and displayName co "a"', 'emails[value eq "a@b.example"]']
  for (const filter of [...served, 'id eq "a" or externalId eq "b"', `meta.lastModified gt "2040-01-01T00:00:00Z"`])
    assert.equal(await filterOf(filter), 200, filter)
  assert.equal(await statusOf('sortBy=userName&count=1'), 200)
  for (let left = limits.scimScannedMax; left > 0; left -= block)
    await sql`
      delete from scim_user where identity_id in (
        select identity_id from scim_user
        where token_id = ${crowded.tokenId} and identity_id <> ${first.id} limit ${block}
      )`.execute(world.db)
  assert.equal(await filterOf('displayName co "a"'), 200)
})

test('an unknown schema or a body without a user is refused', async () => {
  for (const body of [
    { userName: 'a' },
    scimUser({}),
    scimUser({ userName: 1 }),
    scimUser({ userName: 'a', USERNAME: 'b' }),
  ]) {
    const answer = await directory.ask('POST', '/Users', body)
    assert.equal(answer.statusCode, 400, answer.body)
    assert.deepEqual(answer.json().schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
  }
})
