import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { contrast } from '@countersign/protocol/formats/looks/accent'
import type { SettingRevision, Settings } from '@countersign/protocol/operations/settings'
import { createToken, makeOperator } from '#testing/operators.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { followSettings, openSettings } from '#platform/settings/current-settings.ts'
import { readRegistrationRule } from '#platform/settings/setting.ts'
import { transaction } from '#platform/database/database.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { SUPPORT_URL: 'mailto:help@example.com' } })
})
after(() => world.close())

const url = '/api/admin/settings'
const read = async () => (await world.api.inject({ url, headers: world.admin })).json<Settings>()
const valueOf = async (key: string) => (await read()).settings[key]?.value

/** Changes settings of a revision, by default the one that applies. */
type Caller = { headers?: Record<string, string>; revision?: number }
async function change(settings: object, { headers = world.admin, revision = -1 }: Caller = {}) {
  const replaced = revision === -1 ? (await read()).revision : revision
  const payload = { settings }
  return world.api.inject({ method: 'PATCH', url, headers: { ...headers, 'if-match': `"${replaced}"` }, payload })
}

async function restore(number: number | string, headers: Record<string, string> = world.admin) {
  const { revision } = await read()
  return world.api.inject({
    method: 'POST',
    url: `${url}/revisions/${number}/restore`,
    headers: { ...headers, 'if-match': `"${revision}"` },
  })
}

/** Waits until a value is as expected, at most for the time in which every process applies a change. */
async function within(seconds: number, isDone: () => boolean) {
  using watch = startStopwatch()
  while (!isDone()) {
    assert.ok(watch.milliseconds() < seconds * 1000, `not within ${seconds} seconds`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('SET-01 a change applies in every process within five seconds, and on its pages', async (t) => {
  const { db, log } = world.kernel
  const processes = await Promise.all([1, 2, 3].map(() => openSettings({ config: world.config, db })))
  const followers = processes.map((settings) => followSettings({ settings, log }))
  t.after(() => Promise.all(followers.map((each) => each.stop())))
  const answer = await change({ 'branding.name': 'Example ID', 'legal.imprint': 'https://example.com/imprint' })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(answer.json<Settings>().settings['branding.name'], {
    value: 'Example ID',
    default: 'Countersign',
    source: 'database',
    editable: true,
  })
  await within(5, () => processes.every((each) => each.values()['branding.name'] === 'Example ID'))

  const page = (await world.auth.inject({ url: '/' })).body
  assert.match(page, /<title>Example ID<\/title>/)
  assert.match(page, /https:\/\/example\.com\/imprint/)
  assert.match((await world.auth.inject({ url: '/help' })).body, /Example ID/)
  assert.match((await world.api.inject({ url: '/api/oauth/fedcm/config' })).body, /Example ID/)
  await world.kernel.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello.\n' })
  assert.match(world.kernel.mail.inbox?.list()[0]?.text ?? '', /^-- \nExample ID\nhelp@example\.com$/m)
})

test('SET-02 the environment wins over the database, and an operator is refused to change what it fixes', async () => {
  const refused = await change({ 'legal.support': 'https://example.com/help' })
  assert.equal(refused.statusCode, 409)
  assert.equal(refused.json().error, 'setting_fixed_by_environment')
  assert.equal(refused.json().environment, 'SUPPORT_URL')
  assert.deepEqual((await read()).settings['legal.support'], {
    value: 'mailto:help@example.com',
    default: null,
    source: 'environment',
    editable: false,
  })
})

test('a mode of registration that does not exist is refused with those that do', async () => {
  const refused = await change({ 'registration.mode': 'friends' })
  const sentence = 'settings.registration.mode must be one of: open, domains, invited, closed.'
  assert.deepEqual([refused.statusCode, refused.json().error_description], [400, sentence])
})

test('SET-03 of two changes of one revision one is made, and the other is refused', async () => {
  const { revision } = await read()
  const names = ['One', 'Two', 'Three', 'Four']
  const answers = await Promise.all(names.map((name) => change({ 'branding.name': name }, { revision })))
  const made = answers.filter(({ statusCode }) => statusCode === 200)
  assert.equal(made.length, 1)
  for (const answer of answers.filter((each) => !made.includes(each)))
    assert.deepEqual([answer.statusCode, answer.json().error], [412, 'version_mismatch'])
  const now = await read()
  assert.equal(now.revision, revision + 1)
  assert.equal(now.settings['branding.name']?.value, made[0]?.json<Settings>().settings['branding.name']?.value)
  const without = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { settings: {} } })
  assert.equal(without.statusCode, 400)
})

test('SET-04 a revision can be restored as a new one, and the history says who changed what', async () => {
  await change({ 'branding.name': 'Before', 'legal.terms': 'https://example.com/terms' })
  const { revision } = await read()
  await change({ 'branding.name': 'After', 'legal.terms': null })
  const restored = await restore(revision)
  assert.equal(restored.statusCode, 200, restored.body)
  assert.equal(restored.json<Settings>().revision, revision + 2)
  assert.equal(await valueOf('branding.name'), 'Before')
  assert.equal(await valueOf('legal.terms'), 'https://example.com/terms')

  const history = await world.api.inject({ url: `${url}/revisions?limit=2`, headers: world.admin })
  const { revisions, nextCursor } = history.json<{ revisions: SettingRevision[]; nextCursor: string }>()
  assert.deepEqual(
    revisions.map(({ changed, restoredFrom, operator }) => ({ changed, restoredFrom, operator: operator.kind })),
    [
      { changed: ['branding.name', 'legal.terms'], restoredFrom: revision, operator: 'break_glass' },
      { changed: ['branding.name', 'legal.terms'], restoredFrom: null, operator: 'break_glass' },
    ],
  )
  assert.equal(nextCursor, String(revision + 1))
  for (const unknown of [99_999, 999_999_999_999, -1, 1.5, 'last', 'NaN']) {
    const refused = await restore(unknown)
    assert.deepEqual([refused.statusCode, refused.json().error], [404, 'setting_revision_not_found'], String(unknown))
  }

  const log = await world.api.inject({ url: '/api/admin/audit?limit=1', headers: world.admin })
  const [event] = log.json().entries
  assert.equal(event.action, 'settings.updated')
  const changed = ['branding.name', 'legal.terms']
  const changes = [
    { path: 'branding.name', from: 'After', to: 'Before' },
    { path: 'legal.terms', from: null, to: 'https://example.com/terms' },
  ]
  assert.deepEqual(event.details, { revision: revision + 2, changed, changes, restoredFrom: revision })
})

test('SET-04 the last 1,000 revisions are kept', async () => {
  const { revision } = await read()
  const added = sql`
    insert into setting_revision (revision, created_at, stored, changed_keys, operator_kind)
    select ${revision} + number, ${world.now()}, '{}', '{}', 'break_glass' from generate_series(1, 1005) number`
  await added.execute(world.db)
  assert.equal((await change({ 'branding.name': 'Later' })).statusCode, 200)
  const { kept } = await world.db
    .selectFrom('setting_revision')
    .select(({ fn }) => fn.countAll<string>().as('kept'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(kept), 1000)
})

test('SET-12 settings of a newer version stay stored when a process of this one changes others', async () => {
  const { revision } = await read()
  await sql`
    insert into setting_revision (revision, created_at, stored, changed_keys, operator_kind)
    select revision + 1, created_at, stored || '{"sessions.daysMax": 7}', '{}', 'break_glass'
    from setting_revision where revision = ${revision}`.execute(world.db)
  assert.equal((await change({ 'legal.terms': 'https://example.com/terms' })).statusCode, 200)
  const newest = sql<{ days: number }>`
    select (stored -> 'sessions.daysMax')::integer as days
    from setting_revision order by revision desc limit 1`
  const { rows } = await newest.execute(world.db)
  assert.equal(rows[0]?.days, 7)
})

test('SET-05 who may register is changed only with operators.manage, by a change or by restoring alike', async () => {
  const before = await read()
  const { headers } = await createToken(world, ['settings.read', 'settings.manage'])
  const refused = await change({ 'registration.mode': 'closed' }, { headers })
  assert.deepEqual([refused.statusCode, refused.json().permission], [403, 'operators.manage'])

  const owner = await makeOperator(world, await world.person(), 'owner')
  const closed = await change({ 'registration.mode': 'closed' }, { headers: owner.page })
  assert.equal(closed.statusCode, 200, closed.body)
  assert.equal((await transaction(world.db, (tx) => readRegistrationRule(tx, world.config))).mode, 'closed')
  assert.equal((await restore(before.revision, headers)).statusCode, 403)
  assert.equal(await valueOf('registration.mode'), 'closed')

  world.pass(301)
  const stale = await change({ 'registration.mode': 'open' }, { headers: owner.page })
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  assert.equal((await restore(before.revision)).statusCode, 200)
  assert.equal(await valueOf('registration.mode'), before.settings['registration.mode']?.value)
})

test('SET-09 a changed color applies on every page at once, and is readable there whatever it is', async () => {
  for (const color of ['blue', '#fff', '#12345g', '#2841ae;}', 'red}body{display:none'])
    assert.equal((await change({ 'branding.accent': color })).statusCode, 400, color)
  const styleOf = async (path: string) => {
    const { body } = await (path === '/docs' ? world.api : world.auth).inject({ url: path })
    return /href="(\/assets\/brand-[\w-]{8}\.css)"/.exec(body)?.[1]
  }
  assert.equal(await styleOf('/'), undefined)
  const changed = await change({ 'branding.accent': '#1A7F37' })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal(changed.json<Settings>().settings['branding.accent']?.value, '#1a7f37')
  const green = await styleOf('/')
  assert.ok(green)
  for (const path of ['/', '/help', '/docs']) assert.equal(await styleOf(path), green, path)
  const fedcm = (await world.api.inject({ url: '/api/oauth/fedcm/config' })).json()
  const style = await world.auth.inject({ url: green })
  assert.equal(style.headers['content-type'], 'text/css; charset=utf-8')
  assert.match(style.body, new RegExp(`--pen:light-dark\\(${fedcm.branding.background_color},`))

  // Too pale for text: the pages draw a darker shade.
  assert.equal((await change({ 'branding.accent': '#ffff00' })).statusCode, 200)
  const yellow = await styleOf('/')
  assert.ok(yellow && yellow !== green)
  const [, pen = ''] = /--pen:light-dark\((#[\da-f]{6}),/.exec((await world.auth.inject({ url: yellow })).body) ?? []
  assert.ok(contrast(pen, '#f8f6ef') >= 4.5, pen)
  assert.equal((await world.auth.inject({ url: green })).statusCode, 200)
  assert.equal((await world.auth.inject({ url: green.replace('1a7f37', '1a7f38') })).statusCode, 404)
  assert.equal((await change({ 'branding.accent': null })).statusCode, 200)
  assert.equal(await styleOf('/help'), undefined)
})

test('SET-06 a link that runs code and a name that disguises text are refused, and markup stays text', async () => {
  for (const link of [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://example.com/',
    'https://u:p@example.com/',
    'x',
  ])
    assert.equal((await change({ 'legal.terms': link })).statusCode, 400, link)
  for (const name of ['', ' ', 'x'.repeat(41), 'Line\r\nBcc: x@example.com', 'Ex\u202Eample', '\u200B'])
    assert.equal((await change({ 'branding.name': name })).statusCode, 400, name)
  assert.equal((await change({ 'branding.unknown': 'x' })).statusCode, 400)

  assert.equal((await change({ 'branding.name': '</title><script>alert(1)' })).statusCode, 200)
  const page = (await world.auth.inject({ url: '/' })).body
  assert.doesNotMatch(page, /<script>alert/)
  assert.doesNotMatch((await world.auth.inject({ url: '/help' })).body, /<script>alert/)
  assert.equal((await change({ 'branding.name': null })).statusCode, 200)
})

test('SET-08 a link is stored as browsers read it, in one line, and adds no other text to mails', async () => {
  const other = await createWorld()
  const set = async (link: string) => {
    const { revision } = (await other.api.inject({ url, headers: other.admin })).json()
    const headers = { ...other.admin, 'if-match': `"${revision}"` }
    const payload = { settings: { 'legal.support': link } }
    const answer = await other.api.inject({ method: 'PATCH', url, headers, payload })
    return answer.statusCode === 200 ? answer.json<Settings>().settings['legal.support']?.value : answer.json().error
  }
  try {
    const kept = 'https://example.com/help'
    for (const [link, stored] of [
      ['https://example.com', 'https://example.com/'],
      ['https://example.com/\n\nYour account is locked:\nhttp://evil.example', undefined],
      ['https://example.com/\u202Ehelp', 'https://example.com/%E2%80%AEhelp'],
      ['https:evil.example', 'https://evil.example/'],
      ['mailto:help@example.com', 'mailto:help@example.com'],
      ['mailto:', undefined],
      ['mailto:help@example.com\nhttp://evil.example', undefined],
      [`https://example.com/${'é'.repeat(500)}`, undefined],
      [kept, kept],
    ] as const)
      assert.equal(await set(link), stored ?? 'invalid_request', link)
    await other.kernel.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello.\n' })
    assert.match(other.kernel.mail.inbox?.list()[0]?.text ?? '', /^Hello\.\n\n-- \nCountersign\nhttps:[^\n]+help\n?$/)
  } finally {
    await other.close()
  }
})
