import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import type { OwnedResource, Resource } from '@countersign/protocol/clients/resources'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { createResourceDirectory } from '#clients/resources/settings.ts'
import { findActiveResource } from '#clients/resources/resource.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>
type Body = Resource & { clientId: string; resource: OwnedResource; resources: Resource[]; error: string }

async function send(method: Method, url: string, headers: Headers = {}, payload?: object) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json<Body>() }
}
const admin = (method: Method, path: string, payload?: object) =>
  send(method, `/api/admin/apps/${path}`, world.admin, payload)
const portal = (method: Method, path: string, { headers }: Pick<Person, 'headers'>, payload?: object) =>
  send(method, `/api/developer/apps/${path}`, headers, payload)
const outcomeOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body?.error]

let count = 0
/** Returns settings of a unique resource. */
function anyResource(settings: object = {}) {
  count += 1
  return {
    resourceKey: `calendar-${count}`,
    displayName: 'Calendar',
    scopes: ['events.read', 'events.write'],
    audience: `https://calendar-${count}.example/api`,
    ...settings,
  }
}
const newApp = async () => (await world.app()).clientId

async function newOwnApp(person: Person): Promise<string> {
  const payload = { name: 'Calendar', redirectUris: ['https://calendar.example/callback'] }
  const { status, body } = await send('POST', '/api/developer/apps', person.headers, payload)
  assert.ok(status === 201 && body, JSON.stringify(body))
  return body.clientId
}

describe('the life cycle of a resource', () => {
  test('a resource is created, read, changed, disabled and enabled', async () => {
    const { clientId } = await world.app({
      name: 'Planner',
      description: 'Plans.',
      websiteUrl: 'https://planner.example/',
    })
    const requested = anyResource({
      description: 'What you do when.',
      scopeDescriptions: { 'events.read': 'See your events', 'events.write': 'Change your events' },
    })
    const resource = { ...requested, status: 'active' }
    assert.deepEqual(await admin('POST', `${clientId}/resources`, requested), { status: 201, body: resource })
    const owner = {
      ownerAppClientId: clientId,
      ownerAppName: 'Planner',
      ownerAppDescription: 'Plans.',
      ownerAppIconUrl: null,
      ownerAppWebsiteUrl: 'https://planner.example/',
    }
    const publicly = () => send('GET', `/api/oauth/resource/${requested.resourceKey}`)
    const ofApp = async () => (await send('GET', `/api/oauth/app/${clientId}`)).body?.resources
    assert.deepEqual(await publicly(), { status: 200, body: { resource: { ...resource, ...owner } } })
    assert.deepEqual(await ofApp(), [resource])

    const path = `${clientId}/resources/${requested.resourceKey}`
    const changed = await admin('PATCH', path, { displayName: 'Agenda', description: null, scopes: ['events.read'] })
    const after = {
      ...resource,
      displayName: 'Agenda',
      description: null,
      scopes: ['events.read'],
      scopeDescriptions: { 'events.read': 'See your events' },
    }
    assert.deepEqual(changed, { status: 200, body: after })
    assert.deepEqual((await publicly()).body?.resource, { ...after, ...owner })

    assert.equal((await admin('PATCH', path, { status: 'disabled' })).body?.status, 'disabled')
    assert.deepEqual(outcomeOf(await publicly()), [404, 'resource_not_found'])
    assert.deepEqual(await ofApp(), [])
    assert.deepEqual((await admin('GET', `${clientId}/resources`)).body?.resources, [{ ...after, status: 'disabled' }])
    assert.equal((await admin('PATCH', path, { status: 'active' })).status, 200)
    assert.deepEqual(await ofApp(), [after])
  })

  test('a resource of a disabled or deleted app is not found', async () => {
    const { clientId } = await world.app()
    const { resourceKey } = anyResource()
    await admin('POST', `${clientId}/resources`, anyResource({ resourceKey }))
    const publicly = () => send('GET', `/api/oauth/resource/${resourceKey}`)
    await admin('PATCH', clientId, { status: 'disabled' })
    assert.deepEqual(outcomeOf(await publicly()), [404, 'resource_not_found'])
    await admin('PATCH', clientId, { status: 'active' })
    assert.equal((await publicly()).status, 200)
    assert.equal((await admin('DELETE', clientId)).status, 204)
    assert.deepEqual(outcomeOf(await publicly()), [404, 'resource_not_found'])
    assert.equal((await admin('POST', `${await newApp()}/resources`, anyResource({ resourceKey }))).status, 201)
  })

  test('changes by another process are visible within five seconds', async () => {
    const clientId = await newApp()
    const requested = anyResource()
    await admin('POST', `${clientId}/resources`, requested)
    const there = createResourceDirectory(world.kernel)
    const seen = async () => [
      (await there.find(requested.resourceKey))?.displayName,
      ...(await there.listOf(clientId)).map(({ displayName }) => displayName),
    ]
    assert.deepEqual(await seen(), ['Calendar', 'Calendar'])
    await admin('PATCH', `${clientId}/resources/${requested.resourceKey}`, { displayName: 'Agenda' })
    assert.deepEqual(await seen(), ['Calendar', 'Calendar'])
    world.pass(5)
    assert.deepEqual(await seen(), ['Agenda', 'Agenda'])
  })

  test('deleting an account deletes the resources of its apps', async () => {
    const ada = await world.person()
    const requested = anyResource()
    await portal('POST', `${await newOwnApp(ada)}/resources`, ada, requested)
    assert.equal((await send('DELETE', '/api/account?apps=delete', ada.headers)).status, 204)
    assert.equal((await send('GET', `/api/oauth/resource/${requested.resourceKey}`)).status, 404)
    assert.equal((await admin('POST', `${await newApp()}/resources`, requested)).status, 201)
  })
})

describe('the settings of a resource', () => {
  const refused: [what: string, settings: object][] = [
    ['a key of one character', { resourceKey: 'a' }],
    ['a key of 65 characters', { resourceKey: 'a'.repeat(65) }],
    ['a key in capitals', { resourceKey: 'Calendar' }],
    ['a key that begins with a dot', { resourceKey: '.calendar' }],
    ['a name that can’t be seen', { displayName: '\u200b' }],
    ['a name that turns the text around it', { displayName: 'Cal\u202eendar' }],
    ['a description that turns the text around it', { description: 'Cal\u202eendar' }],
    ['no scopes', { scopes: [] }],
    ['a scope twice', { scopes: ['read', 'read'] }],
    ['51 scopes', { scopes: Array.from({ length: 51 }, (_, nth) => `read.${nth}`) }],
    ['a scope of 101 characters', { scopes: ['r'.repeat(101)] }],
    ['two scopes in one', { scopes: ['read write'] }],
    ['a scope with a quote', { scopes: ['"read"'] }],
    ['a scope of ours', { scopes: ['read', 'openid'] }],
    ['a scope of encryption', { scopes: ['e2ee:anything'] }],
    ['words for a scope that it has not', { scopeDescriptions: { delete: 'Delete everything' } }],
    ['words for what every object has', { scopeDescriptions: { constructor: 'Construct' } }],
    ['words that turn the text around them', { scopeDescriptions: { 'events.read': 'See\u202e' } }],
    ['no URI', { audience: 'calendar' }],
    ['a relative URI', { audience: '//calendar.example/' }],
    ['a URI with a space', { audience: 'https://calendar.example/a b' }],
    ['a URI with a fragment', { audience: 'https://calendar.example/#a' }],
    ['a URI with an empty fragment', { audience: 'https://calendar.example/#' }],
    ['a URI with a password', { audience: 'https://ada:secret@calendar.example/' }],
    ['an origin written otherwise', { audience: 'https://CALENDAR.example/' }],
    ['an origin that a parser reads otherwise', { audience: 'https:calendar.example' }],
    ['our API', { audience: 'http://localhost:4400' }],
    ['our issuer', { audience: 'http://localhost:4401' }],
    ['our issuer with a slash', { audience: 'http://localhost:4401/' }],
    ['our issuer by another scheme', { audience: 'https://localhost:4401/' }],
    ['our issuer by its address', { audience: 'http://127.0.0.1:4401/api' }],
    ['what could be the key of another', { audience: 'urn:calendar' }],
    ['a setting that there is not', { ownerAppName: 'Bank' }],
  ]
  for (const [what, settings] of refused)
    test(`RES-05 ${what} is rejected on creation and on change`, async () => {
      const clientId = await newApp()
      assert.deepEqual(outcomeOf(await admin('POST', `${clientId}/resources`, anyResource(settings))), [
        400,
        'invalid_request',
      ])
      const before = anyResource()
      await admin('POST', `${clientId}/resources`, before)
      const path = `${clientId}/resources/${before.resourceKey}`
      assert.deepEqual(outcomeOf(await admin('PATCH', path, settings)), [400, 'invalid_request'])
      const { resources = [] } = (await admin('GET', `${clientId}/resources`)).body ?? {}
      assert.deepEqual(resources, [{ ...before, description: null, scopeDescriptions: {}, status: 'active' }])
    })

  test('RES-02 the hosts of the service are rejected by name, on any port', async (t) => {
    const hosted = await createWorld({
      environment: {
        BASE_URL: 'https://api.example.com',
        AUTH_URL: 'https://id.example.com',
        BUSINESS_URL: 'https://business.example.com',
        ALLOW_EMBEDDED: '1',
      },
    })
    t.after(() => hosted.close())
    const { clientId } = await hosted.app()
    const url = `/api/admin/apps/${clientId}/resources`
    const offer = async (audience: string) =>
      (await hosted.api.inject({ method: 'POST', url, headers: hosted.admin, payload: anyResource({ audience }) }))
        .statusCode
    for (const name of ['api', 'id', 'business'])
      for (const end of ['', '/', '/mcp', ':8443', './'])
        assert.equal(await offer(`https://${name}.example.com${end}`), 400, name + end)
    assert.equal(await offer('https://mcp.example.com'), 201)
    assert.equal(await offer('http://localhost:4401'), 201)
  })

  test('any scope-token is accepted as a scope, even with a reserved name as its part', async () => {
    const clientId = await newApp()
    const scopes = ['__proto__', 'constructor', 'https://calendar.example/read', 'openid.read', '!#[]^~']
    const scopeDescriptions = { constructor: 'Construct' }
    const { body } = await admin('POST', `${clientId}/resources`, anyResource({ scopes, scopeDescriptions }))
    assert.deepEqual([body?.scopes, body?.scopeDescriptions], [scopes, scopeDescriptions])
  })

  test('an audience of another scheme is accepted if it cannot be the key of another resource', async () => {
    const clientId = await newApp()
    const named = anyResource({ resourceKey: 'urn:example:planner', audience: 'urn:example:planner' })
    for (const requested of [
      named,
      anyResource({ audience: 'urn:example:Calendar' }),
      anyResource({ audience: 'mcp://tools' }),
    ])
      assert.equal((await admin('POST', `${clientId}/resources`, requested)).status, 201, requested.audience)
  })

  test('an app has at most twenty resources, also under concurrency', async () => {
    const clientId = await newApp()
    const answers = await Promise.all(
      Array.from({ length: limits.resourcesPerAppMax + 4 }, () =>
        admin('POST', `${clientId}/resources`, anyResource()),
      ),
    )
    const refusals = answers.filter(({ status }) => status !== 201).map(outcomeOf)
    assert.deepEqual(
      refusals,
      Array.from({ length: 4 }, () => [409, 'too_many_resources']),
    )
  })
})

describe('the names of a resource', () => {
  test('find it by its key and by its audience, exactly', async () => {
    const clientId = await newApp()
    const requested = anyResource({ audience: 'https://found.example' })
    await admin('POST', `${clientId}/resources`, requested)
    for (const name of [requested.resourceKey, 'https://found.example', 'https://found.example/']) {
      const found = await findActiveResource(world.db, name)
      assert.deepEqual([found?.resourceKey, found?.scopeDescriptions], [requested.resourceKey, ['', '']], name)
    }
    const others = [
      requested.resourceKey.toUpperCase(),
      'https://Found.example',
      'https://found.example/api',
      '',
      '\0',
      '%',
    ]
    for (const name of others) assert.equal(await findActiveResource(world.db, name), undefined, name)
    const publicly = await send('GET', `/api/oauth/resource/${encodeURIComponent(requested.audience)}`)
    assert.deepEqual(outcomeOf(publicly), [404, 'resource_not_found'])
  })
})

describe('the management of a resource', () => {
  test('RES-03 is limited to the user’s own apps', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const clientId = await newOwnApp(ada)
    const requested = anyResource()
    const { body } = await portal('POST', `${clientId}/resources`, ada, requested)
    const path = `${clientId}/resources/${requested.resourceKey}`
    assert.deepEqual((await portal('GET', `${clientId}/resources`, ada)).body?.resources, [body])
    assert.equal((await portal('PATCH', path, ada, { displayName: 'Agenda' })).body?.displayName, 'Agenda')

    for (const answer of [
      await portal('POST', `${clientId}/resources`, eve, anyResource()),
      await portal('GET', `${clientId}/resources`, eve),
      await portal('PATCH', path, eve, { displayName: 'Eve' }),
    ])
      assert.deepEqual(outcomeOf(answer), [404, 'app_not_found'])
    const own = await newOwnApp(eve)
    for (const key of [requested.resourceKey, 'none', 'A'.repeat(200)]) {
      const answer = await portal('PATCH', `${own}/resources/${key}`, eve, { displayName: 'Eve' })
      assert.deepEqual(outcomeOf(answer), [404, 'resource_not_found'], key)
    }
    assert.equal((await portal('GET', `${clientId}/resources`, ada)).body?.resources[0]?.displayName, 'Agenda')
  })

  test('OWN-04 does not let the owner enable what the operator has disabled', async () => {
    const ada = await world.person()
    const clientId = await newOwnApp(ada)
    const requested = anyResource()
    const path = `${clientId}/resources/${requested.resourceKey}`
    await portal('POST', `${clientId}/resources`, ada, requested)
    await admin('PATCH', path, { status: 'disabled' })
    for (const change of [{ status: 'active' }, { status: 'active', displayName: 'Agenda' }])
      assert.deepEqual(outcomeOf(await portal('PATCH', path, ada, change)), [403, 'disabled_by_operator'])
    assert.equal((await portal('PATCH', path, ada, { displayName: 'Agenda' })).body?.status, 'disabled')
    assert.equal(await findActiveResource(world.db, requested.resourceKey), undefined)

    await admin('PATCH', path, { status: 'active' })
    await portal('PATCH', path, ada, { status: 'disabled' })
    assert.equal((await portal('PATCH', path, ada, { status: 'active' })).body?.status, 'active')
  })

  test('RES-04 requires recent authentication to change the audience or the status', async () => {
    const ada = await world.person()
    const clientId = await newOwnApp(ada)
    const requested = anyResource()
    const path = `${clientId}/resources/${requested.resourceKey}`
    await portal('POST', `${clientId}/resources`, ada, requested)
    world.pass(600)
    for (const change of [{ audience: 'https://eve.example' }, { status: 'disabled' }])
      for (const others of [{}, { displayName: 'Agenda' }])
        assert.deepEqual(outcomeOf(await portal('PATCH', path, ada, { ...others, ...change })), [
          403,
          'reauthentication_required',
        ])
    const { body: kept } = await portal('PATCH', path, ada, { scopes: ['events.read'] })
    assert.deepEqual([kept?.audience, kept?.status, kept?.displayName], [requested.audience, 'active', 'Calendar'])
    const fresh = { headers: await ada.signIn() }
    assert.equal((await portal('PATCH', path, fresh, { status: 'disabled' })).status, 200)
    world.pass(600)
    const enabled = await portal('PATCH', path, fresh, { status: 'active' })
    assert.deepEqual(outcomeOf(enabled), [403, 'reauthentication_required'])
  })

  test('records every change in the audit log once, as its owner’s', async () => {
    const ada = await world.person()
    const clientId = await newOwnApp(ada)
    const requested = anyResource()
    await portal('POST', `${clientId}/resources`, ada, requested)
    await portal('PATCH', `${clientId}/resources/${requested.resourceKey}`, ada, {
      status: 'disabled',
      description: 'Off',
    })
    const { body } = await world.api.inject({ url: '/api/account/activity', headers: ada.headers })
    const { entries }: { entries: { action: string; actor: string; details: object }[] } = JSON.parse(body)
    assert.partialDeepStrictEqual(entries.slice(0, 3), [
      {
        action: 'resource.updated',
        actor: 'user',
        details: { resource: requested.resourceKey, changed: ['status', 'description'] },
      },
      { action: 'resource.created', actor: 'user', details: { resource: requested.resourceKey } },
      { action: 'app.created' },
    ])
  })

  test('limits the changes of a user per hour', async (t) => {
    const limited = await createWorld({ rateLimits: true })
    t.after(() => limited.close())
    const { headers } = await limited.person()
    const change = () =>
      limited.api.inject({
        method: 'PATCH',
        url: '/api/developer/apps/app_1/resources/calendar',
        headers,
        payload: { displayName: 'Calendar' },
      })
    const answers: { statusCode: number }[] = []
    for (let nth = 0; nth < 70; nth += 1) answers.push(await change())
    assert.equal(answers.filter(({ statusCode }) => statusCode === 404).length, 36)
    assert.equal((await change()).json().error, 'rate_limited')
  })

  test('limits public reads per minute', async (t) => {
    const limited = await createWorld({ rateLimits: true, environment: { RATE_LIMIT_NUMBERS: 'metadata=3' } })
    t.after(() => limited.close())
    const read = () => limited.api.inject({ url: '/api/oauth/resource/calendar' })
    const answers = await Promise.all(Array.from({ length: 5 }, read))
    const statuses = answers.map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses.toSorted(), [404, 404, 404, 429, 429])
  })

  test('is not served without the developer portal', async (t) => {
    const quiet = await createWorld({ environment: { DEVELOPER_PORTAL: 'off' } })
    t.after(() => quiet.close())
    const { headers } = await quiet.person()
    const answer = await quiet.api.inject({ url: '/api/developer/apps/app_1/resources', headers })
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'])
  })
})
