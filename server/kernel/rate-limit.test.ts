import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressKey, createRateLimits } from './rate-limit.ts'

test('LOD-05 an address counts as one however it is written, and IPv6 by its network', () => {
  const key = (ip: string) => addressKey({ ip })
  assert.equal(key('::ffff:203.0.113.9'), key('203.0.113.9'))
  assert.equal(key('2001:db8:1:2::1'), key('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.equal(key('2001:db8::1'), key('2001:db8:0:0:9::'))
  assert.notEqual(key('2001:db8:1:2::1'), key('2001:db8:1:3::1'))
  assert.equal(key('fe80::1%eth0'), key('fe80::2'))
})

test('LOD-05 of many attempts at once no more pass than the limit', async () => {
  const limits = createRateLimits(true)
  const attempts = await Promise.allSettled(Array.from({ length: 64 }, () => limits.count('register start', 'here')))
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 10)
  await assert.rejects(limits.check('register start', 'here'), { code: 'rate_limited', status: 429 })
  await limits.count('register start', 'elsewhere')
})
