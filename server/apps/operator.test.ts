import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld({ rateLimits: true })
})
after(() => world.close())

const listApps = (headers: Record<string, string>, remoteAddress: string) =>
  world.api.inject({ url: '/api/admin/apps', headers, remoteAddress })

test('without the admin token one is asked for it', async () => {
  const basic = `Basic ${Buffer.from('admin:admin').toString('base64')}`
  for (const headers of [{}, { authorization: '' }, { authorization: 'Bearer' }, { authorization: basic }]) {
    const answer = await listApps(headers, '192.0.2.1')
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [401, 'unauthorized'])
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  }
})

test('a token that differs in one letter is wrong', async () => {
  const token = world.kernel.adminToken.reveal()
  for (const near of [token.slice(1), token.slice(0, -1), `${token}0`, token.toUpperCase(), 'undefined', '[secret]']) {
    const answer = await listApps({ authorization: `Bearer ${near}` }, '192.0.2.2')
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [401, 'invalid_token'])
    assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
  }
  assert.equal((await listApps(world.admin, '192.0.2.2')).statusCode, 200)
})

test('who guesses the token is stopped, and the operator elsewhere is not', async () => {
  const guess = () => listApps({ authorization: 'Bearer guess' }, '192.0.2.3')
  for (let count = 0; count < 30; count += 1) assert.equal((await guess()).statusCode, 401)
  const stopped = await guess()
  assert.deepEqual([stopped.statusCode, stopped.json<{ error: string }>().error], [429, 'rate_limited'])
  assert.match(String(stopped.headers['retry-after']), /^[1-9]\d*$/)

  assert.equal((await listApps(world.admin, '192.0.2.3')).statusCode, 429)
  assert.equal((await listApps(world.admin, '192.0.2.4')).statusCode, 200)
})

test('the public metadata of apps are read six hundred times a minute, and then no more', async () => {
  const read = () => world.api.inject({ url: '/api/oauth/app/app_playground', remoteAddress: '192.0.2.5' })
  for (let count = 0; count < 600; count += 1) assert.equal((await read()).statusCode, 200)
  assert.equal((await read()).statusCode, 429)
})
