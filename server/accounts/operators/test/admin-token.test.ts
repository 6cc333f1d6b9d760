import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { tokenPermissions } from '@countersign/protocol/formats/registries/permissions'
import { generateToken } from '#platform/crypto/token-format.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ rateLimits: true })
})
after(() => world.close())

let lastAddress = 0
/** Returns an address of its own, so that no limit of another test applies. */
const newAddress = () => `198.51.100.${(lastAddress += 1)}`

const reach = (headers: Record<string, string>, url = '/api/admin/apps', remoteAddress = newAddress()) =>
  world.api.inject({ url, headers, remoteAddress })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function create(headers: Record<string, string>, payload: object) {
  return world.api.inject({
    method: 'POST',
    url: '/api/admin/tokens',
    headers,
    remoteAddress: newAddress(),
    payload: { name: 'A token', permissions: ['apps.read'], ...payload },
  })
}

async function readToken(tokenId: string) {
  const { tokens } = (await reach(world.admin, '/api/admin/tokens')).json()
  return tokens.find((token: { tokenId: string }) => token.tokenId === tokenId)
}

test('OPR-03 a token has its permissions, no secret in any later answer, and records its use by the hour', async () => {
  const { token, tokenId, headers } = await createToken(world, ['apps.read'])
  assert.match(token, /^cs_admin_[\w-]{49}$/)
  assert.equal((await reach(headers, '/api/admin/apps', '203.0.113.9')).statusCode, 200)
  const row = await readToken(tokenId)
  assert.deepEqual([row.lastUsedAt, row.lastUsedAddress], ['2030-01-01T12:00:00.000Z', '203.0.113.9'])
  const all = await reach(world.admin, '/api/admin/tokens')
  assert.ok(!all.body.includes(token.slice(9, 30)) && !/sha256/i.test(all.body))
  assert.equal((await reach(headers, '/api/admin/audit')).json().permission, 'audit.read')
})

test('OPR-03 no token can manage operators or tokens, restore a backup, or outlive a year and a day', async () => {
  for (const payload of [
    { permissions: ['operators.manage'] },
    { permissions: ['tokens.manage'] },
    { permissions: ['backup.restore'] },
    { permissions: [] },
    { permissions: ['apps.read', 'apps.read'] },
    { expiresAt: '2031-01-03T12:00:01.000Z' },
    { expiresAt: '2030-01-01T11:59:59.000Z' },
    { networks: ['192.0.2.0/33'] },
    { networks: ['0.0.0.0/0'] },
    { networks: ['example.com'] },
    { name: '\u200b' },
  ]) {
    const refused = await create(world.admin, payload)
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'], JSON.stringify(payload))
  }
  const { adminToken } = (await create(world.admin, { permissions: tokenPermissions })).json()
  assert.equal(adminToken.expiresAt, '2030-04-01T12:00:00.000Z')
})

test('OPR-03 a token of an operator has no right that its creator has lost', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const { headers } = await createToken(world, ['apps.read', 'audit.read'], { headers: owner.page })
  assert.equal((await reach(headers, '/api/admin/audit')).statusCode, 200)
  const url = `/api/admin/operators/${owner.identityId}`
  await makeOperator(world, await world.person(), 'owner')
  const demoted = { method: 'PATCH', url, headers: world.admin, payload: { role: 'apps', tokens: 'keep' } } as const
  assert.equal((await world.api.inject(demoted)).statusCode, 200)
  assert.equal((await reach(headers)).statusCode, 200)
  assert.equal((await reach(headers, '/api/admin/audit')).json().permission, 'audit.read')

  await world.api.inject({ ...demoted, payload: { role: 'owner' } })
  assert.equal((await reach(headers)).json().error, 'invalid_token', 'revoked by default, also when the role grows')
})

test('OPR-03 a removed operator leaves no token, or those that the remover keeps, limited as before', async () => {
  const remover = await makeOperator(world, await world.person(), 'owner')
  for (const tokens of ['revoke', 'keep'] as const) {
    const leaver = await makeOperator(world, await world.person(), 'owner')
    const { tokenId, headers } = await createToken(world, ['apps.read', 'audit.read'], { headers: leaver.page })
    const url = `/api/admin/operators/${leaver.identityId}`
    await world.api.inject({ method: 'PATCH', url, headers: remover.page, payload: { role: 'apps', tokens: 'keep' } })
    const removed = await world.api.inject({ method: 'DELETE', url: `${url}?tokens=${tokens}`, headers: remover.page })
    assert.equal(removed.statusCode, 204)
    assert.equal((await reach(headers)).statusCode, tokens === 'keep' ? 200 : 401)
    if (tokens === 'revoke') continue
    const { createdBy, permissions } = await readToken(tokenId)
    assert.deepEqual([createdBy, permissions], [remover.identityId, ['apps.read']])
    assert.equal((await reach(headers, '/api/admin/audit')).statusCode, 403)
  }
  const own = `/api/admin/operators/${remover.identityId}?tokens=keep`
  const refused = await world.api.inject({ method: 'DELETE', url: own, headers: remover.page })
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'])
})

test('OPR-05 an expired, revoked, mistyped or foreign token, and one in another network, look the same', async () => {
  const { headers: limited } = await createToken(world, ['apps.read'], { networks: ['192.0.2.0/24', '2001:db8::/48'] })
  assert.equal((await reach(limited, undefined, '192.0.2.77')).statusCode, 200)
  assert.equal((await reach(limited, undefined, '::ffff:192.0.2.77')).statusCode, 200)
  assert.equal((await reach(limited, undefined, '2001:db8::1')).statusCode, 200)
  const { token, tokenId, headers } = await createToken(world, ['apps.read'])
  const revoked = await createToken(world, ['apps.read'])
  const gone = { method: 'DELETE', url: `/api/admin/tokens/${revoked.tokenId}`, headers: world.admin } as const
  assert.equal((await world.api.inject(gone)).statusCode, 204)
  assert.equal((await world.api.inject(gone)).json().error, 'token_not_found')
  const { body } = await reach(bearer(generateToken('admin')))
  assert.match(body, /"invalid_token"/)
  const swapped = token.slice(0, 20) + (token[20] === 'A' ? 'B' : 'A') + token.slice(21)
  for (const wrong of [
    swapped,
    token.toUpperCase(),
    `${token}A`,
    token.slice(0, -6),
    tokenId,
    generateToken('session'),
  ])
    assert.equal((await reach(bearer(wrong))).body, body)
  assert.equal((await reach(revoked.headers)).body, body)
  for (const address of ['192.0.3.1', '2001:db9::1'])
    assert.equal((await reach(limited, undefined, address)).body, body)
  world.pass(90 * 24 * 3600)
  assert.equal((await reach(headers)).body, body)
})

test('OPR-05 rotation ends the old secret, at once or after the grace, and extends the token', async () => {
  const { token, tokenId } = await createToken(world, ['apps.read'])
  const url = `/api/admin/tokens/${tokenId}/rotate`
  const rotate = (graceSeconds?: number) =>
    world.api.inject({ method: 'POST', url, headers: world.admin, payload: { graceSeconds } })
  world.pass(24 * 3600)
  const first = (await rotate(3600)).json()
  assert.equal(new Date(first.adminToken.expiresAt).getTime() - world.now().getTime(), 90 * 24 * 3600 * 1000)
  for (const each of [token, first.token]) assert.equal((await reach(bearer(each))).statusCode, 200)
  world.pass(3600)
  assert.equal((await reach(bearer(token))).statusCode, 401)
  const second = (await rotate()).json()
  assert.equal((await reach(bearer(first.token))).statusCode, 401)
  assert.equal((await reach(bearer(second.token))).statusCode, 200)
  assert.equal((await rotate(86_401)).statusCode, 400)
  const unknown = { method: 'POST', url: `/api/admin/tokens/${randomUUID()}/rotate`, headers: world.admin } as const
  assert.equal((await world.api.inject({ ...unknown, payload: {} })).json().error, 'token_not_found')
})

test('OPR-05 rotation with a grace does not extend the old secret', async () => {
  const expiresAt = new Date(world.now().getTime() + 3_600_000).toISOString()
  const { token, tokenId } = await createToken(world, ['apps.read'], { expiresAt })
  world.pass(3000)
  const url = `/api/admin/tokens/${tokenId}/rotate`
  const payload = { graceSeconds: 86_400 }
  const rotated = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  world.pass(599)
  assert.equal((await reach(bearer(token))).statusCode, 200)
  world.pass(1)
  assert.equal((await reach(bearer(token))).statusCode, 401)
  assert.equal((await reach(bearer(rotated.json().token))).statusCode, 200)
})

test('OPR-03 a rotated token ends with the operator who knows its new secret', async () => {
  const { tokenId } = await createToken(world, ['apps.read'])
  const owner = await makeOperator(world, await world.person(), 'owner')
  const rotation = { method: 'POST', url: `/api/admin/tokens/${tokenId}/rotate`, payload: {} } as const
  const { token, adminToken } = (await world.api.inject({ ...rotation, headers: owner.page })).json()
  assert.equal(adminToken.createdBy, owner.identityId)
  assert.equal((await reach(bearer(token))).statusCode, 200)
  const url = `/api/admin/operators/${owner.identityId}`
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers: world.admin })).statusCode, 204)
  assert.equal((await reach(bearer(token))).statusCode, 401)
})

test('OPR-05 thirty wrong admin tokens of an address end its attempts for a minute', async () => {
  const { headers } = await createToken(world, ['apps.read'])
  const address = newAddress()
  for (let count = 0; count < 30; count += 1)
    assert.equal((await reach(bearer(generateToken('admin')), undefined, address)).statusCode, 401)
  assert.equal((await reach(bearer(randomBytes(32).toString('hex')), undefined, address)).statusCode, 429)
  assert.equal((await reach(headers, undefined, address)).statusCode, 429)
  assert.equal((await reach(headers)).statusCode, 200)
})

test('OPR-05 a token reads 600 times a minute at most', async () => {
  const { headers } = await createToken(world, ['apps.read'])
  for (let count = 0; count < 600; count += 1)
    assert.equal((await reach(headers, '/api/admin/apps', '192.0.2.200')).statusCode, 200)
  assert.equal((await reach(headers)).json().error, 'rate_limited')
})

test('OPR-05 a token changes something 120 times a minute at most, and still reads', async () => {
  const [{ headers }, other] = [
    await createToken(world, ['groups.manage', 'groups.read']),
    await createToken(world, ['groups.manage']),
  ]
  const change = (by: Record<string, string>) =>
    world.api.inject({ method: 'DELETE', url: `/api/admin/groups/${randomUUID()}`, headers: by })
  for (let count = 0; count < 120; count += 1) assert.equal((await change(headers)).statusCode, 404)
  const refused = await change(headers)
  assert.deepEqual([refused.statusCode, refused.json().error], [429, 'rate_limited'])
  assert.equal((await reach(headers, '/api/admin/groups')).statusCode, 200)
  assert.equal((await change(other.headers)).statusCode, 404)
  world.pass(61)
  assert.equal((await change(headers)).statusCode, 404)
})

test('OPR-03 fifty tokens at most exist, however many requests create them at the same time', async () => {
  const single = await createWorld()
  try {
    for (let count = 0; count < 45; count += 1) await createToken(single, ['apps.read'])
    const payload = { name: 'A token', permissions: ['apps.read'] }
    const requested = { method: 'POST', url: '/api/admin/tokens', headers: single.admin, payload } as const
    const answers = await Promise.all(Array.from({ length: 10 }, () => single.api.inject(requested)))
    const refused = answers.filter(({ statusCode }) => statusCode !== 201)
    assert.deepEqual(
      refused.map((answer) => [answer.statusCode, answer.json().error]),
      Array.from({ length: 5 }, () => [409, 'too_many_tokens']),
    )
  } finally {
    await single.close()
  }
})
