import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { parseResponse, sendRequest, ApiError, requestOf, textOf, NetworkError } from '../call.ts'

const base = 'https://api.example'

test('a call fills its path, encodes what it fills in, and sends JSON', () => {
  const given = { params: { identityId: 'a/b?c' }, body: { displayName: 'Ada' } }
  assert.deepEqual(requestOf(base, 'PATCH /api/identities/:identityId', given), {
    url: 'https://api.example/api/identities/a%2Fb%3Fc',
    init: { method: 'PATCH', body: '{"displayName":"Ada"}', headers: { 'content-type': 'application/json' } },
  })
})

test('a call without a body sends none, and its query is encoded', () => {
  const given = { params: { clientId: 'app_1' }, querystring: { identity_id: 'id', scope: 'openid profile' } }
  assert.deepEqual(requestOf(base, 'GET /api/oauth/authorization/:clientId', given), {
    url: 'https://api.example/api/oauth/authorization/app_1?identity_id=id&scope=openid+profile',
    init: { method: 'GET' },
  })
})

test('a refusal tells its status, its code and its sentence', async () => {
  const refusal = Response.json({ error: 'handle_taken', error_description: 'It is taken.' }, { status: 409 })
  await assert.rejects(parseResponse(refusal), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.status, error.code, error.message], [409, 'handle_taken', 'It is taken.'])
    return true
  })
})

test('an answer without content is no failure', async () => {
  assert.equal(await parseResponse(new Response(null, { status: 204 })), null)
})

test('the page of a proxy that stands in for the server counts as no answer', async () => {
  await assert.rejects(parseResponse(new Response('<h1>Bad gateway</h1>', { status: 502 })), NetworkError)
})

test('an answer that is a text comes as it is, and a refusal of it as any other', async () => {
  assert.equal(await textOf(new Response('a.b.c')), 'a.b.c')
  const refusal = Response.json({ error: 'key_not_in_log', error_description: 'Not yet.' }, { status: 409 })
  await assert.rejects(textOf(refusal), (error) => error instanceof ApiError && error.code === 'key_not_in_log')
  const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError('cut off')) })
  await assert.rejects(textOf(new Response(broken)), NetworkError)
})

test('a server that is away is told apart from one that says no', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  assert.ok(typeof address === 'object' && address !== null)
  await assert.rejects(sendRequest(`http://127.0.0.1:${address.port}/`, {}), NetworkError)
})
