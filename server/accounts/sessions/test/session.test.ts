import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { generateToken, uuidToBytes } from '#platform/crypto/token-format.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const session = (headers: Record<string, string>) => world.api.inject({ url: '/api/auth/session', headers })

test('SES-08 AUZ-13 a page of another site cannot make a signed-in browser change anything', async () => {
  const { sessionToken, headers } = await world.person()
  const changing = endpoints.filter(
    ({ endpoint: { config, method } }) => config.security === 'session' && method !== 'GET',
  )
  assert.ok(changing.length >= 6)
  for (const { endpoint } of changing)
    for (const type of ['application/json', 'text/plain']) {
      const host = endpoint.config.host === 'business' ? world.business : world.api
      const answer = await host.inject({
        method: endpoint.method,
        url: endpoint.url.replaceAll(/:\w+/g, randomUUID()),
        headers: { cookie: `countersign=${sessionToken}`, origin: 'https://evil.example', 'content-type': type },
        payload: '{}',
      })
      assert.equal(answer.statusCode, 403, `${endpoint.name}: ${answer.body}`)
      assert.equal(answer.json().error, 'invalid_origin')
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  assert.equal((await session(headers)).statusCode, 200, 'still signed in')
})

test('SES-11 a forged token is rejected, even one that names an existing session', async () => {
  const { headers } = await world.person()
  const [row] = await world.db.selectFrom('session').select('session_id').execute()
  const made = [
    generateToken('session', uuidToBytes(row?.session_id ?? '')),
    ...Array.from({ length: 200 }, () => generateToken('session', randomBytes(16))),
  ]
  for (const token of made) assert.equal((await session({ authorization: `Bearer ${token}` })).statusCode, 401)
  assert.equal((await session(headers)).statusCode, 200)
})

test('a cookie does not replace a wrong bearer token', async () => {
  const { sessionToken } = await world.person()
  const cookie = { cookie: `countersign=${sessionToken}`, origin: 'http://localhost:4401' }
  assert.equal((await session(cookie)).statusCode, 200)
  const around = [`Basic Bearer ${sessionToken}`, `Bearer ${sessionToken} x`, `xBearer ${sessionToken}`]
  for (const authorization of ['Bearer wrong', 'Basic YTpi', '', ...around])
    assert.equal((await session({ ...cookie, authorization })).statusCode, 401, authorization)
})
