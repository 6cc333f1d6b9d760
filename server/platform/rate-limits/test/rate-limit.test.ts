import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { openTestStorage } from '#testing/database.ts'
import { serverPool, storageOver, type Storage } from '#platform/database/database.ts'
import {
  addressKey,
  createRateLimits,
  limited,
  noRateLimits,
  type RateLimits,
} from '#platform/rate-limits/rate-limit.ts'
import { pruneRateLimits } from '#platform/rate-limits/store.ts'
import { Secret } from '#platform/crypto/secret.ts'

let storage: Storage
before(async () => {
  storage = await openTestStorage()
})
after(() => storage.close())

let now = new Date('2030-01-01T12:00:00.000Z')
const clock = () => now
const pass = (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000))
const refused = { code: 'rate_limited', status: 429 }

/** Processes that share the database, or with none, one alone. */
function processes(count: number): RateLimits[] {
  return Array.from({ length: count }, () => createRateLimits({ clock, shared: storage.prepared }))
}
const alone = () => createRateLimits({ clock, shared: undefined })

/** How many of `attempts` at once pass, spread over the processes. */
async function passing(limits: RateLimits[], attempts: number, key: string): Promise<number> {
  const counted = Array.from({ length: attempts }, async (_, index) => limits[index % limits.length]?.count(what, key))
  return (await Promise.allSettled(counted)).filter(({ status }) => status === 'fulfilled').length
}
const what = 'register start'

test('LOD-05 an address counts as one however it is written, and IPv6 by its network', () => {
  const key = (ip: string) => addressKey({ ip })
  assert.equal(key('::ffff:203.0.113.9'), key('203.0.113.9'))
  assert.equal(key('2001:db8:1:2::1'), key('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.equal(key('2001:db8::1'), key('2001:db8:0:0:9::'))
  assert.notEqual(key('2001:db8:1:2::1'), key('2001:db8:1:3::1'))
  assert.equal(key('fe80::1%eth0'), key('fe80::2'))
})

test('NET-09 an address counts as one whatever port and brackets a proxy writes with it', () => {
  const key = (...ips: string[]) => addressKey({ ip: ips.at(-1) ?? '', ips })
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
  test(`NET-06 an IPv6 network is limited by its /64, and by its /48 at ten times as many: ${named}`, async () => {
    const sharing = limits()
    const site = named === 'one process' ? '2001:db8:6' : '2001:db8:7'
    const network = (nth: number) => addressKey({ ip: `${site}:${nth.toString(16)}::1` })
    assert.equal(await passing(sharing, 200, network(1)), 10, 'of one network')
    let passed = 10
    for (let nth = 2; nth <= 30; nth += 1) passed += await passing(sharing, 5, network(nth))
    assert.equal(passed, 100, 'of all together, whom what one was refused has cost nothing')
    for (const each of sharing) {
      await assert.rejects(each.count(what, network(31)), { ...refused })
      await assert.rejects(each.check(what, network(31)), refused)
    }
    assert.equal(await passing(sharing, 64, addressKey({ ip: `${site.slice(0, -1)}a::1` })), 10, 'another /48')
    pass(60)
    assert.equal(await passing(sharing, 64, network(31)), 10)
  })

for (const [named, limits] of [
  ['one process', () => [alone()]],
  ['two processes over one database', () => processes(2)],
] as const)
  test(`LOD-05 of 64 attempts at once no more pass than the limit: ${named}`, async () => {
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
  test(`CLK-03 a clock that steps an hour forward and back keeps nobody out for an hour: ${named}`, async () => {
    const sharing = limits()
    const key = `an hour ahead at ${named}`
    pass(3600)
    assert.equal(await passing(sharing, 64, key), 10)
    pass(-3600)
    for (const each of sharing) await each.check(what, key)
    assert.equal(await passing(sharing, 64, key), 10, 'and the limit holds')
    for (const each of sharing) await assert.rejects(each.count(what, key), refused)
    pass(60)
    assert.equal(await passing(sharing, 64, key), 10)
  })

test('CLK-01 processes whose clocks are five minutes apart do not open each other’s windows again', async () => {
  const ahead = createRateLimits({ clock: () => new Date(now.getTime() + 300_000), shared: storage.prepared })
  const [behind] = processes(1)
  assert.ok(behind)
  assert.equal(await passing([ahead], 20, 'five minutes apart'), 10)
  assert.equal(await passing([behind, ahead], 40, 'five minutes apart'), 0)
})

test('processes never let more pass than a large limit, and refuse early by less than a lease each', async () => {
  const sharing = processes(3)
  const counted = Array.from({ length: 1500 }, async (_, index) =>
    sharing[index % 7 ? 0 : 1 + (index % 2)]?.count('metadata', 'crowd'),
  )
  const passed = await Promise.allSettled(counted)
  const passes = passed.filter(({ status }) => status === 'fulfilled').length
  assert.ok(passes <= 600 && passes > 600 - 2 * 30, `${passes} passed`)
})

test('a refusal says when to come back, and the window does not move', async () => {
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

test('the settings document every limit with its number', async () => {
  const settings = await readFile(new URL('../../../../docs/operations/settings.md', import.meta.url), 'utf8')
  for (const [name, { points }] of Object.entries(limited))
    assert.match(settings, new RegExp(`^\\| \`${name.replaceAll(' ', '-')}\` \\| ${points} an? `, 'm'), name)
})

test('the numbers are the operator to choose, and off is off', async () => {
  const generous = createRateLimits({ clock, shared: storage.prepared, numbers: { 'register start': 12 } })
  assert.equal(await passing([generous], 64, 'generous'), 12)
  assert.equal(await passing([noRateLimits], 64, 'off'), 64)
})

test('LOD-08 what is stored of a key is its hash, and is swept when its window has ended', async () => {
  await storage.db.deleteFrom('rate_limit_window').execute()
  await passing(processes(1), 1, '203.0.113.9')
  const rows = await storage.db.selectFrom('rate_limit_window').selectAll().execute()
  assert.equal(rows.length, 1)
  assert.equal(rows[0]?.key_sha256.length, 32)
  assert.equal(await pruneRateLimits(storage.db, now, 10), 0)
  pass(60)
  assert.equal(await pruneRateLimits(storage.db, now, 10), 1)
})

test('LOD-08 keys that someone makes up fill no memory: the oldest gives way', async () => {
  const limits = alone()
  assert.equal(await passing([limits], 64, 'oldest'), 10)
  for (let index = 0; index < 20_000; index += 1) await limits.count(what, `made up ${index}`)
  assert.equal(await passing([limits], 64, 'oldest'), 10)
  for (let index = 0; index < 20_000; index += 1) await limits.count('failed sign-in', `made up ${index}`)
  await assert.rejects(limits.check(what, 'oldest'), refused)
})

test('STO-16 while the database is away nothing passes that must be counted; what is known is refused', async () => {
  const [limits] = processes(1)
  assert.ok(limits)
  await passing([limits], 10, 'known')
  const away = storageOver(serverPool(new Secret('postgres://nobody@127.0.0.1:1/none'), () => {}))
  const cut = createRateLimits({ clock, shared: away.prepared })
  await assert.rejects(cut.count(what, 'anyone'), { code: 'ECONNREFUSED' })
  await cut.check(what, 'anyone')
  await assert.rejects(limits.check(what, 'known'), refused)
  await away.close()
})
