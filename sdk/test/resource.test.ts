import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { after, before, test, type TestContext } from 'node:test'
import express from 'express'
import { fastify } from 'fastify'
import { startTokenIssuer } from '../../server/testing/token-issuer.ts'
import {
  createResource,
  protectedResourceMetadata,
  type DelegatedToken,
  type Resource,
} from '../src/resource/resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    delegated: DelegatedToken
  }
}

declare global {
  namespace Express {
    interface Request {
      delegated?: DelegatedToken
    }
  }
}

const audience = 'https://calendar.example/api'
const metadata = {
  scopes: ['calendar.read', 'calendar.write'],
  name: 'Calendar',
  documentation: 'https://calendar.example/docs',
}
const metadataPath = '/.well-known/oauth-protected-resource/api'
const metadataUrl = `https://calendar.example${metadataPath}`

let issuer: Awaited<ReturnType<typeof startTokenIssuer>>
let calendar: Resource
before(async () => {
  issuer = await startTokenIssuer()
  calendar = createResource({ authUrl: issuer.origin, audience, resourceKey: 'calendar', metadata })
})
after(() => issuer.close())

/**
 * The same small API with each framework: `/free` without token, `/events` to read, `/events/write` with a wider scope.
 */
const apis: { name: string; open: (t: TestContext) => Promise<string> }[] = [
  { name: 'Fastify', open: openFastify },
  { name: 'Express', open: openExpress },
  { name: 'node:http', open: openPlain },
]

async function openFastify(t: TestContext): Promise<string> {
  const app = fastify()
  app.get('/free', async () => 'Anybody')
  app.register(calendar.fastifyMetadata())
  app.register(async (guarded) => {
    guarded.route({ method: ['GET', 'POST'], url: '/events', handler: async ({ delegated }) => delegated })
    await guarded.register(calendar.fastify, { scope: 'calendar.read' })
    guarded.get('/events/write', async ({ delegated }) => {
      calendar.requireScope(delegated, 'calendar.write')
      return 'Written'
    })
  })
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

function openExpress(t: TestContext): Promise<string> {
  const app = express()
  app.use(calendar.expressMetadata())
  app.get('/free', (_, response) => void response.send('Anybody'))
  app.use('/events', calendar.express({ scope: 'calendar.read' }))
  app.get('/events', ({ delegated }, response) => void response.json(delegated))
  app.get(
    '/events/write',
    calendar.express({ scope: 'calendar.write' }),
    (_, response) => void response.send('Written'),
  )
  return listen(t, createServer(app))
}

function openPlain(t: TestContext): Promise<string> {
  const [guard, guardWrites, describe] = [
    calendar.express({ scope: 'calendar.read' }),
    calendar.express({ scope: 'calendar.write' }),
    calendar.expressMetadata(),
  ]
  const answer: RequestListener = (
    request: Parameters<RequestListener>[0] & { delegated?: DelegatedToken },
    response,
  ) => {
    const fail = () => response.writeHead(503).end()
    describe(request, response, () => {
      if (request.url === '/free') return response.end('Anybody')
      if (request.url === '/events/write')
        return void guardWrites(request, response, (error) => (error ? fail() : response.end('Written')))
      void guard(request, response, (error) => (error ? fail() : response.end(JSON.stringify(request.delegated))))
    })
  }
  return listen(t, createServer(answer))
}

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the API has no port')
  return `http://127.0.0.1:${address.port}`
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

for (const { name, open } of apis) {
  test(`${name}: a request with a token passes, and the handler gets the user and the app`, async (t) => {
    const origin = await open(t)
    const sub = '01890a5d-ac96-774b-bcce-b302099a8057'
    const response = await fetch(`${origin}/events`, bearer(issuer.issue({ sub })))
    assert.equal(response.status, 200)
    assert.partialDeepStrictEqual(await response.json(), {
      identityId: sub,
      sourceClientId: 'app_assistant',
      scopes: ['calendar.read'],
    })
    assert.equal(await (await fetch(`${origin}/free`)).text(), 'Anybody')
  })

  test(`${name}: JWT-07 a request without a token gets the metadata URL and no error code`, async (t) => {
    const origin = await open(t)
    for (const authorization of ['', 'Basic YTpi', 'Bearer', 'Bearer a b']) {
      const response = await fetch(`${origin}/events`, { headers: { authorization } })
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), `Bearer resource_metadata="${metadataUrl}"`)
      assert.deepEqual(await response.json(), {
        error: 'invalid_token',
        error_description: 'A bearer token is required.',
      })
    }
  })

  test(`${name}: JWT-08 a token in the URL, in a form or in a cookie is ignored`, async (t) => {
    const origin = await open(t)
    const token = issuer.issue()
    const form = new URLSearchParams({ access_token: token })
    const requests = [
      fetch(`${origin}/events?${form.toString()}`),
      fetch(`${origin}/events`, { method: 'POST', body: form }),
      fetch(`${origin}/events`, { headers: { cookie: `access_token=${token}` } }),
    ]
    for (const response of await Promise.all(requests)) assert.equal(response.status, 401)
  })

  test(`${name}: an invalid token is rejected with the reason`, async (t) => {
    const origin = await open(t)
    const response = await fetch(`${origin}/events`, bearer(issuer.issue({ aud: 'https://mail.example' })))
    assert.equal(response.status, 401)
    const reason = 'The token is for another audience.'
    const challenge = `Bearer error="invalid_token", error_description="${reason}", resource_metadata="${metadataUrl}"`
    assert.equal(response.headers.get('www-authenticate'), challenge)
    assert.deepEqual(await response.json(), { error: 'invalid_token', error_description: reason })
  })

  test(`${name}: a token without the scope is rejected with the required scope`, async (t) => {
    const origin = await open(t)
    const url = `${origin}/events/write`
    const response = await fetch(url, bearer(issuer.issue()))
    assert.equal(response.status, 403)
    const challenge = response.headers.get('www-authenticate') ?? ''
    assert.match(challenge, /^Bearer error="insufficient_scope", .+, scope="calendar\.write", resource_metadata=".+"$/)
    const enough = await fetch(url, bearer(issuer.issue({ scope: 'calendar.read calendar.write' })))
    assert.equal(await enough.text(), 'Written')
  })

  test(`${name}: the resource metadata is public, also for pages of other origins`, async (t) => {
    const origin = await open(t)
    const response = await fetch(origin + metadataPath)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    assert.deepEqual(await response.json(), {
      resource: audience,
      authorization_servers: [issuer.origin],
      scopes_supported: metadata.scopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Calendar',
      resource_documentation: metadata.documentation,
    })
    const head = await fetch(origin + metadataPath, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })
}

test('the resource metadata is at the URL of RFC 9728', () => {
  const placeOf = (resource: string) => protectedResourceMetadata({ resource, authUrl: issuer.origin, scopes: [] }).url
  const wellKnown = '/.well-known/oauth-protected-resource'
  assert.equal(placeOf('https://calendar.example'), `https://calendar.example${wellKnown}`)
  assert.equal(placeOf('https://calendar.example/'), `https://calendar.example${wellKnown}`)
  assert.equal(placeOf('https://calendar.example:8443/a/b/'), `https://calendar.example:8443${wellKnown}/a/b/`)
  assert.equal(placeOf('https://calendar.example/?of=ada'), `https://calendar.example${wellKnown}?of=ada`)
  for (const resource of ['urn:calendar', 'http://calendar.example/', 'https://calendar.example/#', 'calendar'])
    assert.throws(() => placeOf(resource), TypeError)
})

test('the metadata cannot be served at another path, or without metadata settings', async () => {
  const app = fastify()
  app.register(calendar.fastifyMetadata(), { prefix: '/api' })
  await assert.rejects(async () => app.ready(), TypeError)
  const silent = createResource({ authUrl: issuer.origin, audience })
  assert.throws(() => silent.expressMetadata(), TypeError)
  assert.throws(() => silent.fastifyMetadata(), TypeError)
})

test('Fastify: a scope option of another form throws instead of accepting every token', async () => {
  const app = fastify()
  const requested: object = { scopes: 'calendar.delete' }
  app.register(calendar.fastify, requested)
  app.get('/events', async () => 'Reached')
  assert.equal((await app.inject({ url: '/events', ...bearer(issuer.issue()) })).statusCode, 500)
})

test("Fastify: two resources protect their own scopes, and reject each other's tokens", async (t) => {
  const mail = createResource({ authUrl: issuer.origin, audience: 'https://mail.example' })
  const app = fastify()
  t.after(() => app.close())
  for (const [path, resource] of [
    ['/events', calendar],
    ['/letters', mail],
  ] as const)
    app.register(async (guarded) => {
      guarded.register(resource.fastify)
      guarded.get(path, async ({ delegated }) => delegated.scopes)
    })
  const statusOf = async (url: string, token: string) => (await app.inject({ url, ...bearer(token) })).statusCode
  const [events, letters] = [issuer.issue(), issuer.issue({ aud: 'https://mail.example' })]
  assert.deepEqual([await statusOf('/events', events), await statusOf('/letters', letters)], [200, 200])
  assert.deepEqual([await statusOf('/letters', events), await statusOf('/events', letters)], [401, 401])
})

test("without the keys of the service, the app's error handler responds with 503", async (t) => {
  const gone = await startTokenIssuer()
  await gone.close()
  const resource = createResource({ authUrl: gone.origin, audience })
  const app = fastify()
  app.register(resource.fastify)
  app.get('/events', async () => 'Reached')
  assert.equal((await app.inject({ url: '/events', ...bearer(gone.issue()) })).statusCode, 503)

  const other = express()
  other.set('env', 'test') // Otherwise it writes errors to the terminal.
  other.get('/events', resource.express(), (_, response) => void response.send('Reached'))
  const origin = await listen(t, createServer(other))
  assert.equal((await fetch(`${origin}/events`, bearer(gone.issue()))).status, 503)
})
