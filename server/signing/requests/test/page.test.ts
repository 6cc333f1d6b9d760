import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const show = (query: string) => world.auth.inject({ url: `/sign${query}`, headers: { accept: 'text/html' } })
type Shown = Awaited<ReturnType<typeof show>>
const ancestorsOf = ({ headers }: Shown) =>
  /frame-ancestors ([^;]+)/.exec(String(headers['content-security-policy']))?.[1]

/** Creates a request of an app that is registered with these redirect URIs. */
async function ask(redirectUris: string[]) {
  const app = await world.app({ redirectUris })
  const { identityId } = await createSigner(world)
  const { requestId } = (await signingRequesterOf(world, app).request(identityId)).json<{ requestId: string }>()
  return { app, requestId }
}

test('HDR-06 only origins at which its app is registered may frame the signing page', async () => {
  const { requestId, app } = await ask([
    'https://shop.example/callback',
    'https://shop.example/x',
    'https://b.example/y',
  ])
  const framed = await show(`?requestId=${requestId}&embed=1`)
  assert.equal(framed.statusCode, 200)
  assert.deepEqual(ancestorsOf(framed)?.split(' ').toSorted(), ['https://b.example', 'https://shop.example'])
  assert.equal(framed.headers['x-frame-options'], undefined)

  for (const query of [
    `?requestId=${requestId}`,
    `?requestId=${requestId}&embed=2`,
    `?requestId=${randomUUID()}&embed=1`,
  ]) {
    const shown = await show(query)
    assert.equal(ancestorsOf(shown), "'none'", query)
    assert.equal(shown.headers['x-frame-options'], 'DENY')
  }

  const url = `/api/admin/apps/${app.clientId}`
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status: 'disabled' } })
  assert.equal(ancestorsOf(await show(`?requestId=${requestId}&embed=1`)), "'none'")
})

test('the signing page keeps its opener, which waits for its message; pages of its users do not', async () => {
  const { requestId } = await ask(['https://shop.example/callback'])
  assert.equal((await show(`?requestId=${requestId}`)).headers['cross-origin-opener-policy'], 'unsafe-none')
  const policyOf = async (host: typeof world.auth, url: string) =>
    (await host.inject({ url })).headers['cross-origin-opener-policy']
  assert.equal(await policyOf(world.auth, '/act'), 'same-origin')
  assert.equal(await policyOf(world.auth, '/account'), 'same-origin')
  assert.equal(await policyOf(world.business, '/organizations'), 'same-origin')
})

test('SIG-07 SIG-17 the served page contains nothing of the request', async () => {
  const { requestId } = await ask(['https://shop.example/callback'])
  const { body } = await show(`?requestId=${requestId}&embed=1`)
  assert.doesNotMatch(body, /Pay 10|metadata/)
  assert.match(body, new RegExp(requestId))
})

test('a request ID in capitals shows the request, as in the API', async () => {
  const { requestId } = await ask(['https://shop.example/callback'])
  const shown = await show(`?requestId=${requestId.toUpperCase()}&embed=1`)
  assert.equal(shown.statusCode, 200)
  assert.match(shown.body, new RegExp(`"requestId":"${requestId}"`))
  assert.equal(ancestorsOf(shown), 'https://shop.example')
})

test('a malformed request ID gets an error page', async () => {
  for (const query of ['', '?requestId=', '?requestId=1', `?requestId=${randomUUID()}&requestId=${randomUUID()}`]) {
    const refused = await show(query)
    assert.equal(refused.statusCode, 404, query)
    assert.match(refused.body, /"error":"request_not_found"/)
    assert.equal(ancestorsOf(refused), "'none'")
  }
})
