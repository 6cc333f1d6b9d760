import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { pruneSuspensions } from '#accounts/identities/suspension.ts'
import { createOrganization } from '#testing/organization.ts'
import { addIdentity, openDirectory } from '#testing/people.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let directory: ReturnType<typeof openDirectory>
let ada: Person
let sibling: { headers: Record<string, string>; identityId: string }
let app: TestApp
before(async () => {
  world = await createWorld()
  directory = openDirectory(world)
  app = await world.app({ name: 'Ledger' })
  ada = await world.person('ada')
  await world.person('carl')
  world.pass(3600)
  const identityId = await addIdentity(world, ada, { handle: 'night-owl', displayName: 'Owl' })
  sibling = { headers: ada.headers, identityId }
  world.pass(3600)
  await app.tokens(ada)
  world.pass(60)
  await app.tokens(sibling, { scope: 'openid' })
  await ada.signIn()
})
after(() => world.close())

const viewedIn = async (person: Person) => {
  const answer = await world.api.inject({ url: '/api/account/activity', headers: person.headers })
  const { entries } = answer.json<{ entries: { action: string; identityId: string; actor: string }[] }>()
  return entries.filter(({ action }) => action === 'identity.viewed')
}

/** Returns all values in an answer that are texts or numbers, without the names of fields. */
function valuesIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.values(value).flatMap(valuesIn)
}

test('OPR-10 no answer about an identity holds its account, or a value that a sibling has too', async () => {
  const paths = ['', '/activity', '/apps', '/export']
  for (const path of paths) {
    const [own, others] = await Promise.all(
      [ada.identityId, sibling.identityId].map(async (id) => {
        const answer = await directory.ask(`/${id}${path}`)
        assert.equal(answer.statusCode, 200, answer.body)
        assert.ok(!answer.body.includes(ada.userId), path)
        return { id, body: answer.body, values: valuesIn(answer.json()) }
      }),
    )
    assert.ok(own && others)
    assert.ok(!own.body.includes(others.id) && !own.body.includes('night-owl'), path)
    assert.ok(!others.body.includes(own.id) && !others.body.includes('"ada"'), path)
    // What any two identities may have in common: facts that are yes or no, and the app and its scopes.
    const common = new Set<unknown>([true, false, null, 'active', 'user', 'operator', 'Ledger', app.clientId, 'openid'])
    const actions = ['app.authorized', 'identity.viewed', 'identity.exported']
    for (const action of actions) common.add(action)
    // The version of every identity without a change, and what every one without a directory says.
    common.add(1).add('self')
    const joined = own.values.filter((value) => others.values.includes(value) && !common.has(value))
    const views = joined.filter(
      (value) => value !== world.now().toISOString() && !/^\d{4}-\d\d-\d\d$/.test(String(value)),
    )
    assert.deepEqual(views, [], path)
  }
  const list = await directory.ask('')
  assert.ok(!list.body.includes(ada.userId))
  const audit = await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })
  assert.ok(!audit.body.includes(ada.userId))
  for (const q of [ada.userId, ada.authenticator.credentialId])
    assert.deepEqual(await directory.find(q), [], 'no identity is found by its account')
})

test('OPR-10 the activity of an identity has no event of its account or of a sibling', async () => {
  const { entries } = (await directory.ask(`/${sibling.identityId}/activity`)).json()
  const actions = entries.map(({ action }: { action: string }) => action)
  assert.deepEqual(new Set(actions), new Set(['app.authorized', 'identity.viewed', 'identity.exported']))
  for (const entry of entries)
    assert.deepEqual(
      Object.keys(entry).filter((name) => /user|device/i.test(name)),
      [],
    )
  const authorized = entries.find(({ action }: { action: string }) => action === 'app.authorized')
  assert.deepEqual([authorized.details, authorized.appName], [{ scope: ['openid'] }, 'Ledger'])
})

test('OPR-10 no act on an identity, and no end of its suspension, changes the version of a sibling', async () => {
  const one = await world.person()
  const other = { ...one, identityId: await addIdentity(world, one, { handle: 'day-owl', displayName: 'Day' }) }
  await app.tokens(other)
  const webhook = { url: 'https://ledger.example/hook' }
  await world.api.inject({
    method: 'PUT',
    url: `/api/admin/apps/${app.clientId}/webhook`,
    headers: world.admin,
    payload: webhook,
  })
  const act = async (method: 'POST' | 'DELETE', path: string, payload: object = {}) => {
    const url = `/api/admin/identities/${one.identityId}${path}`
    const answer = await world.api.inject({ method, url, headers: world.admin, payload })
    assert.ok(answer.statusCode < 300, answer.body)
  }
  const suspension = { reason: 'A reason', scope: 'account' }
  const until = (seconds: number) => new Date(world.now().getTime() + seconds * 1000).toISOString()
  const versions = async () => {
    const read = [one, other].map(({ identityId }) => directory.ask(`/${identityId}`))
    return (await Promise.all(read)).map((answer) => answer.json().identity.version)
  }
  await act('POST', '/suspension', suspension)
  assert.deepEqual(await versions(), [2, 1])
  await act('DELETE', '/suspension')
  assert.deepEqual(await versions(), [3, 1])
  await act('POST', '/suspension', { ...suspension, until: until(60) })
  await act('DELETE', '', { confirm: one.handle, reason: 'A reason' })
  await act('POST', '/restore')
  assert.deepEqual(await versions(), [6, 1])
  world.pass(61)
  await pruneSuspensions(world.db, world.now(), 100)
  assert.deepEqual(await versions(), [7, 1], 'the suspension has ended, and the cleanup has notified the apps')

  const sequences = (await world.db.selectFrom('app_event').selectAll().orderBy('happened_at').execute())
    .map(({ data }) => JSON.parse(data))
    .filter(({ identityId }) => identityId === other.identityId)
    .map(({ sequence }) => sequence)
  assert.deepEqual(sequences.toSorted(), [2, 3, 4, 5], 'each event of the sibling has a sequence of its own')
  const url = `/api/admin/identities/${other.identityId}`
  const headers = { ...world.admin, 'if-match': '"1"' }
  const edited = await world.api.inject({ method: 'PATCH', url, headers, payload: { displayName: 'By day' } })
  assert.deepEqual([edited.statusCode, edited.headers['etag']], [200, '"2"'])
})

test('PEO-31 an operator reads an identity: its entry, and what its account has as yes or no', async () => {
  const { identity } = (await directory.ask(`/${ada.identityId}`)).json()
  const { hasPasskey, hasRecoveryCode, hasSigningKey, suspensions, version, ...entry } = identity
  assert.deepEqual([hasPasskey, hasRecoveryCode, hasSigningKey, suspensions, version], [true, false, false, [], 1])
  assert.deepEqual((await directory.list({ q: 'ada' })).identities, [entry])
  assert.deepEqual(Object.keys(entry).toSorted(), [
    'avatarUrl',
    'createdAt',
    'deletionDueAt',
    'displayName',
    'email',
    'emailVerified',
    'groups',
    'handle',
    'identityId',
    'lastSeenOn',
    'managedBy',
    'organizations',
    'status',
    'statusAt',
    'statusReason',
  ])
  for (const path of ['', '/activity', '/apps']) {
    const missing = await directory.ask(`/${randomUUID()}${path}`)
    assert.deepEqual([missing.statusCode, missing.json().error], [404, 'identity_not_found'])
    assert.equal((await directory.ask(`/${ada.userId}${path}`)).statusCode, 404)
    for (const headers of [{}, ada.headers]) {
      const url = `/api/admin/identities/${ada.identityId}${path}`
      assert.equal((await world.api.inject({ url, headers })).statusCode, 401)
    }
  }
})

test('PEO-32 activity is paged, newest first, and connected apps are those of the identity', async () => {
  const url = `/${ada.identityId}/activity`
  await createOrganization(world, ada)
  const all = (await directory.ask(url)).json()
  const paged: unknown[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = (await directory.ask(url, { limit: '1', ...(cursor ? { cursor } : {}) })).json()
    paged.push(...page.entries)
    cursor = page.nextCursor
  }
  assert.deepEqual(paged, all.entries)
  assert.ok(paged.length >= 3)
  const { apps } = (await directory.ask(`/${sibling.identityId}/apps`)).json()
  const own = await world.api.inject({ url: '/api/oauth/authorizations', headers: ada.headers })
  const [mine] = own
    .json<{ authorizations: { identityId: string; createdAt: string; lastAuthorizedAt: string }[] }>()
    .authorizations.filter(({ identityId }) => identityId === sibling.identityId)
  const { createdAt, lastAuthorizedAt } = mine ?? assert.fail('the app is not connected')
  assert.deepEqual(apps, [{ clientId: app.clientId, appName: 'Ledger', scope: 'openid', createdAt, lastAuthorizedAt }])
})

test('PEO-33 a look at an identity is in its user’s activity, once in ten minutes', async () => {
  const eve = await world.person('eve')
  await Promise.all(['', '/activity', '/apps', ''].map((path) => directory.ask(`/${eve.identityId}${path}`)))
  const [view, ...more] = await viewedIn(eve)
  assert.deepEqual([view?.identityId, view?.actor, more], [eve.identityId, 'operator', []])
  world.pass(599)
  await directory.ask(`/${eve.identityId}`)
  assert.equal((await viewedIn(eve)).length, 1)
  world.pass(2)
  await directory.ask(`/${eve.identityId}`)
  assert.equal((await viewedIn(eve)).length, 2)
})

test('PEO-34 each list is in the audit log with its query and count', async () => {
  await directory.list({ q: 'ada', emailDomain: 'example.org', limit: '7' })
  const { entries } = (await world.api.inject({ url: '/api/admin/audit?limit=1', headers: world.admin })).json()
  const { action, actor, details } = entries[0]
  assert.deepEqual([action, actor.kind], ['identities.listed', 'break_glass'])
  assert.deepEqual(details, { q: 'ada', emailDomain: 'example.org', count: 0 })
})

test('PEO-34 what a request adds to the parameters of a list is not in the audit log', async () => {
  const query = new URLSearchParams({ q: 'ada', actor: 'system', note: 'approved by the owner' })
  assert.equal((await directory.ask(`?${query}`)).statusCode, 200)
  const { entries } = (await world.api.inject({ url: '/api/admin/audit?limit=1', headers: world.admin })).json()
  assert.deepEqual(Object.keys(entries[0].details).toSorted(), ['count', 'q'])
})

test('PEO-34 each page of the members of a group is in the audit log, and counts like a list', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const { identityId } = await limited.person('member')
  const ask = (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) =>
    limited.api.inject({ method, url: `/api/admin/${url}`, headers: limited.admin, ...(payload && { payload }) })
  const { groupId } = (await ask('POST', 'groups', { key: 'eng', displayName: 'Engineering' })).json()
  assert.equal((await ask('PUT', `groups/${groupId}/members/${identityId}`)).statusCode, 204)
  const list = () => ask('GET', `groups/${groupId}/members?limit=1`)
  assert.equal((await list()).json().members[0].handle, 'member')
  const { entries } = (await ask('GET', 'audit?limit=1')).json()
  const { action, actor, details } = entries[0]
  assert.deepEqual([action, actor.kind, details], ['identities.listed', 'break_glass', { group: 'eng', count: 1 }])
  const unknown = '00000000-0000-7000-8000-000000000000'
  assert.equal((await ask('GET', `groups/${unknown}/members`)).statusCode, 404)
  for (let nth = 2; nth < 120; nth += 1) assert.equal((await list()).statusCode, 200)
  assert.equal((await list()).statusCode, 429)
})

test('PEO-33 a look at the recovery links of an identity is in its user’s activity', async () => {
  const [listed, named] = [await world.person('listed'), await world.person('named')]
  for (const [person, path] of [
    [listed, 'recovery-links'],
    [named, `recovery-links/${randomUUID()}`],
  ] as const) {
    const url = `/api/admin/identities/${person.identityId}/${path}`
    const answer = await world.api.inject({ url, headers: world.admin })
    assert.ok([200, 404].includes(answer.statusCode), answer.body)
    assert.equal((await viewedIn(person)).length, 1, path)
  }
  const url = `/api/admin/identities/${randomUUID()}/recovery-links`
  assert.equal((await world.api.inject({ url, headers: world.admin })).statusCode, 404)
})

test('PEO-34 an operator lists 120 pages a minute', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const list = async () => (await openDirectory(limited).ask('')).statusCode
  for (let nth = 0; nth < 120; nth += 1) assert.equal(await list(), 200)
  assert.equal(await list(), 429)
  limited.pass(61)
  assert.equal(await list(), 200)
})
