import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { openDirectory, rename, verifyAddress } from '#testing/people.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
let directory: ReturnType<typeof openDirectory>
let ada: Person
let bob: Person
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@service.example' } })
  directory = openDirectory(world)
  ada = await world.person('Ada_L')
  bob = await world.person('bob-99')
  await rename(world, ada, { displayName: 'Ada Lovelace-Müller' })
  await rename(world, bob, { displayName: 'Bob Ωmega ΟΔΥΣΣΕΥΣ' })
  await verifyAddress(world, mailbox, ada, 'Countess@Analytical.example')
})
after(async () => {
  await world.close()
  await mailbox.close()
})
beforeEach(() => world.pass(60))

const refused = async (q: string) => {
  const answer = await directory.ask('', { q })
  return [answer.statusCode, answer.json<{ error: string }>().error]
}

test('PEO-20 an identity is found by the beginning of its username, address, domain, or name', async () => {
  for (const q of [
    'ada',
    'ADA_l',
    'countess@',
    'countess@analytical.example',
    '@analytical.ex',
    'lovel',
    'Müller',
    'mull',
  ])
    assert.deepEqual(await directory.find(q), ['Ada_L'], q)
  for (const q of ['da_l', 'analytical', 'velace', 'Muller 99']) assert.deepEqual(await directory.find(q), [], q)
})

test('PEO-20 each of up to four words must match, in any order', async () => {
  assert.deepEqual(await directory.find('lovelace ada'), ['Ada_L'])
  assert.deepEqual(await directory.find('l ada countess @analytical'), ['Ada_L'])
  assert.deepEqual(await directory.find('ada bob'), [])
  assert.deepEqual(await refused('ada lovelace countess l mueller'), [400, 'invalid_request'])
  for (const q of ['a', '@', '  ', 'a l', '.,;', '\u200B\u200B'])
    assert.deepEqual(await refused(q), [400, 'invalid_request'], q)
})

test('PEO-20 the ID of an identity finds it alone', async () => {
  assert.deepEqual(await directory.find(ada.identityId), ['Ada_L'])
  assert.deepEqual(await directory.find(` ${ada.identityId.toUpperCase()} `), ['Ada_L'])
  assert.deepEqual(await directory.find(randomUUID()), [])
  assert.deepEqual(await directory.listAll({ q: ada.identityId, emailDomain: 'other.example' }), [])
})

test('PEO-21 full-width, composed, decomposed and invisible characters find the same identity', async () => {
  const tricks = [
    'Ａｄａ',
    'ａｄａ＿ｌ',
    'mu\u0308ller',
    'MU\u0308LLER',
    'a\u200Bd\u00ADa',
    'ﬀ'.replace('ﬀ', 'ada'),
    '𝐀𝐝𝐚',
  ]
  for (const q of tricks) assert.deepEqual(await directory.find(q), ['Ada_L'], q)
  for (const q of ['οδυσ', 'ΟΔΥΣ', 'οδυσσευς', 'ωmega', 'ΩMEGA'])
    assert.deepEqual(await directory.find(q), ['bob-99'], q)
})

test('PEO-22 wildcards, quotes, control characters and SQL are text that no identity has', async () => {
  const texts = [
    '%da',
    'a%',
    'a_a',
    'ada%',
    '*',
    "ada'--",
    `ada' or '1'='1`,
    'ada\\',
    'ada";drop table identity;--',
    '$1$1',
  ]
  for (const q of texts) {
    const answer = await directory.ask('', { q })
    assert.ok([200, 400].includes(answer.statusCode), q)
    if (answer.statusCode === 200 && !/^ada(\b|$)/.test(q)) assert.deepEqual(answer.json().identities, [], q)
  }
  assert.deepEqual(await directory.find('ada\u0085l'), ['Ada_L'], 'a control character separates words')
  assert.deepEqual(await refused('ada\0'), [400, 'invalid_request'])
  assert.deepEqual(await directory.find('\uDBFF\uDFFF\uDBFF\uDFFF\u0061\u0061'), [])
  for (const query of [{ emailDomain: "x'%" }, { emailDomain: '%' }, { emailDomain: '*' }])
    assert.deepEqual((await directory.list(query)).identities, [])
})

test('PEO-22 a search of more than 300 characters is refused, and one of 300 is answered', async () => {
  assert.deepEqual(await refused('a'.repeat(301)), [400, 'invalid_request'])
  for (const q of ['a'.repeat(300), 'ﷺ'.repeat(300), '\u0301'.repeat(300), `${'é'.repeat(150)} ${'x'.repeat(149)}`]) {
    const answer = await directory.ask('', { q })
    assert.ok([200, 400].includes(answer.statusCode), `${answer.statusCode} ${q}`)
  }
})

test('PEO-23 former names and addresses find an identity no more, and a deleted one is not found', async () => {
  const eve = await world.person('eve-first')
  await verifyAddress(world, mailbox, eve, 'eve@old.example')
  await rename(world, eve, { handle: 'eve-second', displayName: 'Zoë' })
  await verifyAddress(world, mailbox, eve, 'eve@new.example')
  for (const q of ['eve-first', 'the', 'eve@old', '@old.example'])
    assert.ok(!(await directory.find(q)).includes('eve-second'), q)
  for (const q of ['eve-second', 'zoe', 'eve@new', '@new.example'])
    assert.deepEqual(await directory.find(q), ['eve-second'], q)
  const { headers } = eve
  const removed = await world.api.inject({ method: 'DELETE', url: `/api/identities/${eve.identityId}/email`, headers })
  assert.equal(removed.statusCode, 200)
  assert.deepEqual(await directory.find('@new.example'), [])
  const payload = { confirm: 'eve-second' }
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers, payload })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.deepEqual(await directory.find('eve-second'), [])
})

test('PEO-24 results come in the order of the terms, each identity once, on pages of any size', async () => {
  const handles = ['zed-c', 'zed-a', 'zed-b', 'zed-d']
  for (const handle of handles) {
    const person = await world.person(handle)
    await rename(world, person, { displayName: `Zed ${handle} Zedd` })
  }
  for (const limit of ['1', '2', '3', '50']) {
    const found = await directory.listAll({ q: 'zed', limit })
    assert.deepEqual(found.toSorted(), handles.toSorted(), limit)
  }
  for (const handle of ['yak-c', 'yak-a', 'yak-b']) await world.person(handle)
  for (const limit of ['1', '50'])
    assert.deepEqual(await directory.listAll({ q: 'yak', limit }), ['yak-a', 'yak-b', 'yak-c'])
  const page = await directory.list({ q: 'zed', limit: '2' })
  assert.deepEqual([page.count, page.countIs, page.identities.length], [4, 'exact', 2])
})
