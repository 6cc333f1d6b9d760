import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { openTestStorage } from '#testing/database.ts'
import { createStorage, type Storage } from '#platform/database/database.ts'
import { serverPool } from '#platform/database/server-pool.ts'
import {
  clientAddressKey,
  createRateLimits,
  applyRateLimitNumbers,
  noRateLimits,
  type RateLimitPolicy,
  type RateLimits,
} from '#platform/rate-limits/rate-limit.ts'
import { pruneRateLimits } from '#platform/rate-limits/store.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { ConfigError } from '#platform/config-error.ts'
import { rateLimitPolicies as policies } from '../../../modules.ts'

let storage: Storage
before(async () => {
  storage = await openTestStorage()
})
after(() => storage.close())

let now = new Date('2030-01-01T12:00:00.000Z')
const clock = () => now
const pass = (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000))
const refused = { code: 'rate_limited', status: 429 }

/** Creates rate limits of processes that share the database. */
function processes(count: number): RateLimits[] {
  return Array.from({ length: count }, () => createRateLimits({ clock, shared: storage.prepared, policies }))
}
const alone = () => createRateLimits({ clock, shared: undefined, policies })

/** Counts how many of `attempts` concurrent requests pass, spread over the processes. */
async function passing(limits: RateLimits[], attempts: number, key: string): Promise<number> {
  const counted = Array.from({ length: attempts }, async (_, index) => limits[index % limits.length]?.count(what, key))
  return (await Promise.allSettled(counted)).filter(({ status }) => status === 'fulfilled').length
}
const what = 'register-start'

test('LOD-05 an IPv4 address counts as one in any notation, and an IPv6 address by its network', () => {
  const key = (ip: string) => clientAddressKey({ ip })
  assert.equal(key('::ffff:203.0.113.9'), key('203.0.113.9'))
  assert.equal(key('2001:db8:1:2::1'), key('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.equal(key('2001:db8::1'), key('2001:db8:0:0:9::'))
  assert.notEqual(key('2001:db8:1:2::1'), key('2001:db8:1:3::1'))
  assert.equal(key('fe80::1%eth0'), key('fe80::2'))
})

test('NET-09 an address counts as one with any port and brackets that a proxy adds', () => {
  const key = (...ips: string[]) => clientAddressKey({ ip: ips.at(-1) ?? '', ips })
  const socket = '10.0.0.1'
  for (const written of ['203.0.113.9:50001', '::ffff:203.0.113.9', '[::ffff:203.0.113.9]:443', '::FFFF:cb00:7109'])
    assert.equal(key(socket, written), '203.0.113.9', written)
  for (const written of ['[2001:db8::1]', '[2001:db8::1]:443', '[2001:DB8::1%eth0]:443', '2001:db8::1%eth0'])
    assert.equal(key(socket, written), key('2001:db8::2'), written)
  for (const written of [
    '',
    'unknown',
    '_hidden:80',
    '203.0.113',
    '203.0.113.9:',
    '203.0.113.9:x',
    '[2001:db8::1',
    '1:2',
  ])
    assert.equal(key(socket, written), socket, written)
})

for (const [named, limits] of [
  ['one process', () => [alone()]],
  ['two processes over one database', () => processes(2)],
] as const)
  test(`NET-06 an IPv6 network is limited by its /64, and by its /48 at ten times the limit: ${named}`, async () => {
    const sharing = limits()
    const site = named === 'one process' ? '2001:db8:6' : '2001:db8:7'
    const network = (nth: number) => clientAddressKey({ ip: `${site}:${nth.toString(16)}::1` })
    assert.equal(await passing(sharing, 200, network(1)), 10, 'of one network')
    let passed = 10
    for (let nth = 2; nth <= 30; nth += 1) passed += await passing(sharing, 5, network(nth))
    assert.equal(passed, 100, 'of all networks; rejected requests used nothing of the shared limit')
    for (const each of sharing) {
      await assert.rejects(each.count(what, network(31)), { ...refused })
      await assert.rejects(each.check(what, network(31)), refused)
    }
    assert.equal(await passing(sharing, 64, clientAddressKey({ ip: `${site.slice(0, -1)}a::1` })), 10, 'another /48')
    pass(60)
    assert.equal(await passing(sharing, 64, network(31)), 10)
  })

for (const [named, limits] of [
  ['one process', () => [alone()]],
  ['two processes over one database', () => processes(2)],
] as const)
  test(`LOD-05 of 64 concurrent attempts no more than the limit pass: ${named}`, async () => {
    const sharing = limits()
    const key = `64 at ${named}`
    assert.equal(await passing(sharing, 64, key), 10)
    for (const each of sharing) await assert.rejects(each.count(what, key), refused)
    for (const each of sharing) await assert.rejects(each.check(what, key), refused)
    assert.equal(await passing(sharing, 1, `another than ${key}`), 1)
    pass(60)
    assert.equal(await passing(sharing, 64, key), 10)
  })

for (const [named, limits] of [
  ['one process', () => [alone()]],
  ['two processes over one database', () => processes(2)],
] as const)
  test(`CLK-03 a clock that jumps an hour ahead and back blocks no key for an hour: ${named}`, async () => {
    const sharing = limits()
    const key = `an hour ahead at ${named}`
    pass(3600)
    assert.equal(await passing(sharing, 64, key), 10)
    pass(-3600)
    for (const each of sharing) await each.check(what, key)
    assert.equal(await passing(sharing, 64, key), 10, 'the limit still applies')
    for (const each of sharing) await assert.rejects(each.count(what, key), refused)
    pass(60)
    assert.equal(await passing(sharing, 64, key), 10)
  })

test('CLK-01 processes whose clocks differ by five minutes do not reopen each other’s windows', async () => {
  const ahead = createRateLimits({ clock: () => new Date(now.getTime() + 300_000), shared: storage.prepared, policies })
  const [behind] = processes(1)
  assert.ok(behind)
  assert.equal(await passing([ahead], 20, 'five minutes apart'), 10)
  assert.equal(await passing([behind, ahead], 40, 'five minutes apart'), 0)
})

test('processes never exceed a large limit together, and reject early by less than a lease each', async () => {
  const sharing = processes(3)
  const counted = Array.from({ length: 1500 }, async (_, index) =>
    sharing[index % 7 ? 0 : 1 + (index % 2)]?.count('metadata', 'crowd'),
  )
  const passed = await Promise.allSettled(counted)
  const passes = passed.filter(({ status }) => status === 'fulfilled').length
  assert.ok(passes <= 600 && passes > 600 - 2 * 30, `${passes} passed`)
})

test('a rejection has Retry-After, and the window does not move', async () => {
  for (const [limits] of [[alone()], processes(1)]) {
    assert.ok(limits)
    await passing([limits], 10, 'returning')
    pass(20)
    const expected = {
      'retry-after': '40',
      'ratelimit-limit': '10',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '40',
    }
    await assert.rejects(limits.count(what, 'returning'), { ...refused, headers: expected })
    pass(40)
    await limits.count(what, 'returning')
  }
})

test('the settings reference documents every limit with its number', async () => {
  const settings = await readFile(new URL('../../../../docs/operations/settings.md', import.meta.url), 'utf8')
  for (const [name, { points }] of Object.entries<RateLimitPolicy>(policies))
    assert.match(settings, new RegExp(`^\\| \`${name.replaceAll(' ', '-')}\` \\| ${points} an? `, 'm'), name)
})

test('the operator can change the limits and turn them off', async () => {
  const generous = createRateLimits({
    clock,
    shared: storage.prepared,
    policies: applyRateLimitNumbers(policies, { 'register-start': 12 }),
  })
  assert.equal(await passing([generous], 64, 'generous'), 12)
  assert.equal(await passing([noRateLimits], 64, 'off'), 64)
})

test('SUP-05 a number for a limit that does not exist prevents the start with one line that names it', () => {
  assert.throws(
    () => applyRateLimitNumbers(policies, { 'register-start': 10, 'no-such-limit': 3 }),
    (error: Error) =>
      error instanceof ConfigError && /^RATE_LIMIT_NUMBERS names no-such-limit, .*$/.test(error.message),
  )
})

test('LOD-08 a key is stored as a hash, and is deleted when its window has ended', async () => {
  await storage.db.deleteFrom('rate_limit_window').execute()
  await passing(processes(1), 1, '203.0.113.9')
  const rows = await storage.db.selectFrom('rate_limit_window').selectAll().execute()
  assert.equal(rows.length, 1)
  assert.equal(rows[0]?.key_sha256.length, 32)
  assert.equal(await pruneRateLimits(storage.db, now, 10), 0)
  pass(60)
  assert.equal(await pruneRateLimits(storage.db, now, 10), 1)
})

test('LOD-08 made-up keys have bounded memory: the oldest is evicted', async () => {
  const limits = alone()
  assert.equal(await passing([limits], 64, 'oldest'), 10)
  for (let index = 0; index < 20_000; index += 1) await limits.count(what, `made up ${index}`)
  assert.equal(await passing([limits], 64, 'oldest'), 10)
  for (let index = 0; index < 20_000; index += 1) await limits.count('login-failures-per-ip', `made up ${index}`)
  await assert.rejects(limits.check(what, 'oldest'), refused)
})

test('STO-16 while the database is unavailable, counted requests fail and known rejections continue', async () => {
  const [limits] = processes(1)
  assert.ok(limits)
  await passing([limits], 10, 'known')
  const away = createStorage(serverPool(new Secret('postgres://nobody@127.0.0.1:1/none'), () => {}))
  const cut = createRateLimits({ clock, shared: away.prepared, policies })
  await assert.rejects(cut.count(what, 'anyone'), { code: 'ECONNREFUSED' })
  await cut.check(what, 'anyone')
  await assert.rejects(limits.check(what, 'known'), refused)
  await away.close()
})
