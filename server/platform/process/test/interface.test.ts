import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { isEndpoint } from '@countersign/protocol/endpoint'
import { endpoints } from '#platform/process/openapi.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const hostsOf = ({ config }: AnyEndpoint) => {
  switch (config.host) {
    case 'api':
    case 'auth':
    case 'business':
      return [world[config.host]]
    case 'every host':
      return [world.api, world.auth, world.business]
  }
}

test('the document describes the event of each webhook', async () => {
  const { schemas } = (await world.api.inject({ url: '/openapi.json' })).json().components
  const events = Object.entries<{ properties?: { type?: { enum?: string[] } } }>(schemas)
  assert.deepEqual(
    events.flatMap(([name, { properties }]) => (name.endsWith('Event') ? (properties?.type?.enum ?? []) : [])),
    [
      ...['signing.signed', 'signing.denied', 'signing.expired'],
      ...['identity.created', 'identity.updated', 'identity.suspended', 'identity.activated'],
      ...['identity.deletion_scheduled', 'identity.restored', 'identity.deleted'],
      ...['group.created', 'group.updated', 'group.deleted'],
      ...['group.member.added', 'group.member.removed', 'webhook.test', 'service.test'],
    ],
  )
})

test('every endpoint is mounted on its host and is in the OpenAPI document', async () => {
  const document = (await world.api.inject({ url: '/openapi.json' })).json()
  assert.equal(document.openapi, '3.1.0')
  assert.ok(endpoints.length > 30)
  for (const { endpoint } of endpoints) {
    for (const host of hostsOf(endpoint))
      assert.ok(host.routes.has(endpoint.method, endpoint.url), `${endpoint.name} is not mounted`)
    const path = endpoint.url.replaceAll(/:(\w+)/g, '{$1}')
    assert.ok(document.paths[path]?.[endpoint.method.toLowerCase()], `${endpoint.name} is not documented`)
  }
})

test('CLI-06 the OpenAPI document names its operations and schemas, and has one spelling per field', async () => {
  const document = (await world.api.inject({ url: '/openapi.json' })).json()
  const operationIds = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  assert.equal(new Set(operationIds).size, operationIds.length)
  for (const name of ['createApp', 'listMembers', 'createSigningRequest']) assert.ok(operationIds.includes(name), name)
  for (const name of ['App', 'Organization', 'Error', 'TokenResponse'])
    assert.ok(document.components.schemas[name]?.properties, name)
  const referenced = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)
  for (const [, name = ''] of referenced) assert.ok(document.components.schemas[name], name)
  for (const [name, { properties = {} }] of Object.entries<{ properties?: object }>(document.components.schemas))
    for (const field of Object.keys(properties)) {
      const standard = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      assert.ok(standard === field || !(standard in properties), `${name} has ${field} and ${standard}`)
    }
})

test('CLI-07 the OpenAPI document declares media types other than JSON, and optional bodies', async () => {
  const document = (await world.api.inject({ url: '/openapi.json' })).json()
  const typesOf = (path: string) => Object.keys(document.paths[path].get.responses[200].content)
  assert.deepEqual(typesOf('/api/transparency/checkpoint'), ['text/plain'])
  assert.deepEqual(typesOf('/api/admin/backup'), ['application/vnd.countersign.backup'])
  assert.deepEqual(typesOf('/api/signing/requests/{requestId}/receipt'), ['application/countersign-receipt+jwt'])
  assert.deepEqual(typesOf('/.well-known/webfinger'), ['application/jrd+json'])
  assert.deepEqual(typesOf('/api/organizations/{organizationId}/audit/export'), ['text/csv', 'application/jsonl'])
  assert.deepEqual(typesOf('/api/organizations/{organizationId}/trail'), ['application/jsonl'])
  assert.equal(document.paths['/api/admin/keys/rotate'].post.requestBody.required, false)
  assert.equal(document.paths['/api/admin/apps'].post.requestBody.required, true)
  const restored = Object.keys(document.paths['/api/admin/restore'].post.requestBody.content)
  assert.deepEqual(restored, ['application/vnd.countersign.backup'])
})

test('every exported endpoint is part of the interface', async () => {
  const folder = join(import.meta.dirname, '../../../../protocol/src')
  const modules = await Promise.all(
    globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] }).map(
      (file): Promise<Record<string, unknown>> => import(join(folder, file)),
    ),
  )
  const written = modules.flatMap((module) => Object.values(module).filter(isEndpoint))
  assert.deepEqual(
    written.map(({ name }) => name).toSorted(),
    endpoints.map(({ endpoint }) => endpoint.name).toSorted(),
  )
})

test('no body has a union of objects, through which unnamed fields could pass', () => {
  const kindsOf = (schema: unknown): unknown[] => {
    if (typeof schema !== 'object' || schema === null) return []
    const inside = Object.values(schema).flatMap(kindsOf)
    const kinds = Object.entries(schema).filter(([keyword]) => ['anyOf', 'oneOf', 'allOf'].includes(keyword))
    return [...inside, ...kinds.map(([, kind]) => kind)]
  }
  for (const { endpoint } of endpoints)
    assert.doesNotMatch(JSON.stringify(kindsOf(endpoint.schema.body)), /"properties"/, endpoint.name)
})

test('endpoints for a session, an access token or the operator reject anonymous requests', async () => {
  const guarded = endpoints.filter(({ endpoint }) =>
    ['session', 'access token', 'admin'].includes(endpoint.config.security),
  )
  assert.ok(guarded.length > 15)
  for (const { endpoint } of guarded) {
    const url = endpoint.url.replaceAll(/:\w+/g, randomUUID())
    for (const host of hostsOf(endpoint)) {
      const bare = await host.inject({
        method: endpoint.method,
        url,
        ...(endpoint.method !== 'GET' && { payload: {} }),
      })
      assert.equal(bare.statusCode, 401, `${endpoint.name}: ${bare.body}`)
      assert.equal(bare.json().error, 'unauthorized', endpoint.name)
      const forged = await host.inject({
        method: endpoint.method,
        url,
        headers: { authorization: 'Bearer cs_session_made-up' },
        ...(endpoint.method !== 'GET' && { payload: { userId: randomUUID(), identityId: randomUUID() } }),
      })
      assert.equal(forged.statusCode, 401, endpoint.name)
    }
  }
})

test('SES-05 a session token is not accepted as an access token, nor the other way round', async () => {
  const person = await world.person()
  const tokens = await (await world.app()).tokens(person)
  const asSession = { authorization: `Bearer ${tokens.access_token}` }
  const asAccess = person.headers
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers: asSession })).statusCode, 401)
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers: asAccess })).statusCode, 401)
})

test('a path of another host responds 421 with the right URL', async () => {
  const onAuth = await world.auth.inject({ method: 'POST', url: '/api/oauth/token' })
  assert.equal(onAuth.statusCode, 421)
  assert.equal(onAuth.json().error, 'misdirected_request')
  assert.match(onAuth.json().error_description, /http:\/\/localhost:4400\/api\/oauth\/token/)
  assert.equal((await world.api.inject({ url: '/.well-known/jwks.json' })).statusCode, 421)
  assert.equal((await world.business.inject({ url: '/signin' })).statusCode, 421)
})

test('HLP-01 a browser that opens a page on the wrong host is redirected, and no other request is', async () => {
  const visit = (host: 'api' | 'auth' | 'business', url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    world[host].inject({ method, url, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  const { authUrl, businessUrl } = world.config
  for (const [host, url, location] of [
    ['api', '/', `${authUrl.origin}/`],
    ['api', '/?from=readme', `${authUrl.origin}/?from=readme`],
    ['business', '/login?return=%2Faccount', `${authUrl.origin}/login?return=%2Faccount`],
    ['auth', '/organizations', `${businessUrl.origin}/organizations`],
  ] as const)
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await visit(host, url, method)
      assert.deepEqual([statusCode, headers.location], [302, location], `${method} ${url}`)
    }
  for (const accept of ['application/json', '*/*', ''])
    assert.equal((await world.api.inject({ url: '/', headers: { accept } })).statusCode, 421, accept)
  assert.equal((await visit('business', '/signin', 'POST')).statusCode, 421)
})

test('HLP-01 a browser that opens data of another host reads which host has it, and is not redirected', async () => {
  for (const url of ['/api/auth/session', '/openapi.json']) {
    const { statusCode, headers, body } = await world.auth.inject({ url, headers: { accept: 'text/html' } })
    assert.deepEqual([statusCode, headers.location], [421, undefined], url)
    assert.match(String(headers['content-type']), /^text\/html/)
    assert.ok(body.includes(`This path is on another host: ${world.config.baseUrl.origin}${url}`))
  }
})

test('HLP-01 no path leads a browser to a foreign host', async () => {
  for (const url of ['//evil.example', '//evil.example/login', '/login@evil.example', '/%2F/evil.example'])
    for (const host of [world.api, world.auth, world.business]) {
      const { statusCode, headers } = await host.inject({ url, headers: { accept: 'text/html' } })
      assert.deepEqual([statusCode, headers.location], [404, undefined], url)
    }
})

test('an unknown path responds 404, and a wrong method 405 with the allowed methods', async () => {
  const unknown = await world.api.inject({ url: '/api/nothing' })
  assert.equal(unknown.statusCode, 404)
  assert.equal(unknown.json().error, 'not_found')
  const wrong = await world.api.inject({ method: 'PUT', url: '/api/oauth/token' })
  assert.equal(wrong.statusCode, 405)
  assert.equal(wrong.headers.allow, 'POST')
  assert.equal(wrong.json().error, 'method_not_allowed')
})

test('a built asset is served compressed and immutable, and an unknown one is not found', async () => {
  const { body } = await world.auth.inject({ url: '/login' })
  const url = /src="([^"]+)"/.exec(body)?.[1] ?? ''
  const script = await world.auth.inject({ url, headers: { 'accept-encoding': 'br' } })
  assert.equal(script.statusCode, 200)
  assert.equal(script.headers['content-encoding'], 'br')
  assert.match(String(script.headers['cache-control']), /immutable/)
  const icon = await world.auth.inject({ url: '/assets/icon.svg' })
  assert.equal(icon.headers['cache-control'], 'public, max-age=3600')
  for (const other of ['/assets/none.js', '/assets/', '/assets/../manifest.json', `${url}.br`, url.toUpperCase()])
    assert.equal((await world.auth.inject({ url: other })).statusCode, 404, other)
})

test('AUZ-20 every response has the version and the security headers, including no-referrer', async () => {
  for (const host of [world.api, world.auth, world.business])
    for (const url of ['/healthz', '/nowhere']) {
      const { headers } = await host.inject({ url })
      assert.match(String(headers['countersign-version']), /^\d+\.\d+\.\d+$/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
    }
})

test('AUZ-20 pages and redirects with a code send no referrer and are not cached', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const requested = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const at = (path: string, parameters: Record<string, string> = {}) =>
    `${path}?${new URLSearchParams({ ...requested, ...parameters })}`
  const payload = {
    clientId: app.clientId,
    redirectUri: app.redirectUri,
    identityId: person.identityId,
    scope: 'openid',
  }
  const answers = {
    'the sign-in page': await world.auth.inject({ url: at('/signin') }),
    'a redirect to the app': await world.auth.inject({ url: at('/signin', { scope: 'openid nonsense' }) }),
    'the page that posts to the app': await world.auth.inject({
      url: at('/signin', { scope: 'openid nonsense', response_mode: 'form_post' }),
    }),
    'an error page': await world.auth.inject({ url: at('/signin', { redirect_uri: 'https://evil.example/' }) }),
    'the page of connectors': await world.auth.inject({ url: at('/connect', { resource: 'none' }) }),
    'the consent': await world.api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload,
    }),
    'the end of a window': await world.api.inject({ url: '/fedcm/resolve?code=c&state=s' }),
    'the way into a window': await world.api.inject({ url: '/fedcm/continue?request=r' }),
    'the sign-out page': await world.auth.inject({ url: '/logout?state=s' }),
  }
  for (const [what, { headers, body }] of Object.entries(answers)) {
    assert.equal(headers['referrer-policy'], 'no-referrer', what)
    assert.equal(headers['cache-control'], 'no-store', what)
    assert.doesNotMatch(body, /<meta[^>]+referrer|referrerpolicy/i, `${what} has no other referrer policy`)
    assert.equal(headers['refresh'], undefined, what)
  }
  assert.equal(answers['a redirect to the app'].statusCode, 303)
  assert.match(answers['the consent'].json().redirectUrl, /[?&]code=/)
})

test('HDR-01 responses have HSTS where there is TLS, and security headers everywhere', async (t) => {
  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const { headers } = await hosted.auth.inject({ url: '/account' })
  assert.match(String(headers['strict-transport-security']), /^max-age=\d{8,}; includeSubDomains$/)
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
  assert.match(String(headers['permissions-policy']), /camera=\(\).*publickey-credentials-get=\(self\)/)
  assert.match(
    String(headers['content-security-policy']),
    /form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  )
  assert.equal((await world.auth.inject({ url: '/login' })).headers['strict-transport-security'], undefined)
})

test('HDR-01 a popup keeps its opener on every page between an app and its answer, and is never framed', async () => {
  const app = await world.app()
  const requested = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const at = (parameters: Record<string, string> = {}) =>
    `/signin?${new URLSearchParams({ ...requested, ...parameters })}`
  const posted = await world.auth.inject({
    method: 'POST',
    url: '/signin',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...requested, prompt: 'login' }).toString(),
  })
  assert.equal(posted.statusCode, 303)
  assert.equal(posted.headers['cross-origin-opener-policy'], 'unsafe-none')
  for (const url of [
    ...[at(), at({ response_mode: 'form_post', scope: 'nonsense' }), at({ scope: 'nonsense' })],
    ...[at({ redirect_uri: 'https://evil.example/' }), '/connect?resource=none'],
    ...['/sso', '/sso/link', '/sso/confirm'],
  ]) {
    const { headers } = await world.auth.inject({ url })
    assert.equal(headers['cross-origin-opener-policy'], 'unsafe-none', url)
    assert.equal(headers['x-frame-options'], 'DENY', url)
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, url)
  }
})

test('HDR-01 no other page, and no answer of the API, keeps an opener', async () => {
  for (const [host, urls] of [
    [world.auth, ['/', '/account', '/admin', '/developers', '/act', '/logout', '/organization-keys', '/help']],
    [world.api, ['/fedcm/resolve?code=c&state=s', '/api/auth/session', '/.well-known/openid-configuration']],
    [world.business, ['/organizations', '/api/organizations']],
  ] as const)
    for (const url of urls) {
      const { headers } = await host.inject({ url })
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin', url)
    }
})

test('HDR-01 a page allows its own scripts and styles, and nothing inline', async () => {
  const { headers, body } = await world.auth.inject({ url: '/login' })
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /script-src 'self';/)
  assert.match(policy, /style-src 'self';/)
  assert.doesNotMatch(policy, /unsafe/)
  assert.doesNotMatch(body, /<script(?![^>]*(src=|application\/json))/)
  assert.doesNotMatch(body, / on\w+=|style=/)
})

test('HDR-02 HDR-04 CORS follows the interface specification', async () => {
  const page = 'http://localhost:4401'
  const app = await world.app({ redirectUris: ['https://shop.example/callback'] })
  const ask = async (method: 'GET' | 'POST', url: string, origin: string) => {
    const { headers } = await world.api.inject({ method, url, headers: { origin } })
    return [headers['access-control-allow-origin'], headers['access-control-allow-credentials']]
  }
  assert.deepEqual(await ask('GET', `/api/oauth/app/${app.clientId}`, 'https://any.example'), ['*', undefined])
  assert.deepEqual(await ask('GET', '/api/oauth/userinfo', 'https://any.example'), ['*', undefined])
  for (const origin of ['https://shop.example', page]) {
    assert.deepEqual(await ask('GET', '/api/oauth/organizations', origin), [undefined, undefined])
    assert.deepEqual(await ask('POST', '/api/oauth/workspaces', origin), [undefined, undefined])
    assert.deepEqual(await ask('POST', '/api/oauth/par', origin), [undefined, undefined])
  }
  assert.deepEqual(await ask('POST', '/api/oauth/token', 'https://shop.example'), ['https://shop.example', undefined])
  assert.deepEqual(await ask('POST', '/api/oauth/token', 'https://evil.example'), [undefined, undefined])
  assert.deepEqual(await ask('GET', '/api/auth/session', page), [page, 'true'])
  for (const origin of ['https://shop.example', 'null', 'http://localhost:4400', 'http://localhost:44010'])
    assert.deepEqual(await ask('GET', '/api/auth/session', origin), [undefined, undefined])
  assert.deepEqual(await ask('POST', '/api/admin/apps', page), [page, 'true'])
  for (const origin of ['http://localhost:4402', 'https://shop.example', 'null'])
    assert.deepEqual(await ask('POST', '/api/admin/apps', origin), [undefined, undefined])
})

test('HDR-02 every endpoint has the specified CORS headers for each kind of origin', async () => {
  const [page, registered] = ['http://localhost:4401', 'https://till.example']
  await world.app({ redirectUris: [`${registered}/callback`] })
  // The playground is an app too, and redirects to an origin of this service.
  const readers: Record<AnyEndpoint['config']['cors'], (origin: string) => (string | undefined)[]> = {
    'no origin': () => [undefined, undefined],
    'any origin': () => ['*', undefined],
    // Other requests than those of the browser itself get no header.
    'requesting app': () => [undefined, undefined],
    'first party': (origin) => (origin === page ? [page, 'true'] : [undefined, undefined]),
    'auth host': (origin) => (origin === page ? [page, 'true'] : [undefined, undefined]),
    'redirect URI origins': (origin) =>
      [page, registered].includes(origin) ? [origin, undefined] : [undefined, undefined],
  }
  for (const { endpoint } of endpoints)
    for (const origin of [page, registered, 'https://evil.example', 'https://till.example.evil.example', 'null'])
      for (const host of hostsOf(endpoint)) {
        const url = endpoint.url.replaceAll(/:\w+/g, randomUUID())
        const { headers } = await host.inject({ method: endpoint.method, url, headers: { origin } })
        const received = [headers['access-control-allow-origin'], headers['access-control-allow-credentials']]
        assert.deepEqual(received, readers[endpoint.config.cors](origin), `${endpoint.name} to ${origin}`)
      }
})

test('a preflight response lists the methods and headers of the path', async () => {
  const { statusCode, headers } = await world.api.inject({
    method: 'OPTIONS',
    url: '/api/account/key-wraps',
    headers: { origin: 'http://localhost:4401', 'access-control-request-method': 'PUT' },
  })
  assert.equal(statusCode, 204)
  assert.equal(headers['access-control-allow-origin'], 'http://localhost:4401')
  assert.equal(headers['access-control-allow-credentials'], 'true')
  assert.match(String(headers['access-control-allow-methods']), /PUT/)
})
