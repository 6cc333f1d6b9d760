import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AccountInvitation, InvitationImport } from '@countersign/protocol/accounts/invitations'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { mailDue } from '../mailing.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Headers = Record<string, string>
type Refusal = { error?: string; error_description?: string }

async function send(text: string | Buffer, query = '', headers: Headers = world.admin) {
  const url = `/api/admin/invitations/import${query}`
  const typed = { 'content-type': 'text/csv', ...headers }
  const answer = await world.api.inject({ method: 'POST', url, headers: typed, payload: text })
  return { status: answer.statusCode, body: answer.json<InvitationImport & Refusal>() }
}

const run = '?dryRun=false'

async function list(): Promise<AccountInvitation[]> {
  const answer = await world.api.inject({ url: '/api/admin/invitations?limit=100', headers: world.admin })
  return answer.json<{ invitations: AccountInvitation[] }>().invitations
}

async function create(payload: object): Promise<void> {
  const url = '/api/admin/groups'
  const answer = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  assert.equal(answer.statusCode, 201, answer.body)
}

const newAddress = () => `${randomBytes(6).toString('hex')}@example.org`

/** Mails everything that waits. */
async function mailAll(): Promise<void> {
  while ((await mailDue(world.kernel)) > 0);
}

test('REG-05 the people of a file are invited like the check has said, each by a mail', async () => {
  await create({ key: 'imported', displayName: 'Imported' })
  const [ada, grace] = [newAddress(), newAddress()]
  const file = [
    '\uFEFFhandle,email,groups,language,expiresInDays,displayName',
    `ada-i,${ada},imported,de,30,"Lovelace, Ada"`,
    '',
    `,${grace},,,,`,
    '',
  ].join('\r\n')
  const checked = await send(file)
  assert.equal(checked.status, 200, JSON.stringify(checked.body))
  const unsent = { status: 'ok', invitationId: null, errors: [] }
  const rows = [
    { row: 2, email: ada, ...unsent },
    { row: 4, email: grace, ...unsent },
  ]
  assert.deepEqual(checked.body, { importId: null, total: 2, ok: 2, failed: 0, rows })
  assert.equal((await list()).length, 0)

  const { status, body } = await send(file, run)
  assert.equal(status, 200)
  const ids = body.rows.map(({ invitationId }) => invitationId)
  assert.deepEqual(
    { ...body, importId: null, rows: body.rows.map((row) => ({ ...row, invitationId: null })) },
    checked.body,
  )
  const [second, first] = await list()
  assert.deepEqual([first?.invitationId, second?.invitationId], ids)
  assert.deepEqual([first?.displayName, first?.handle, first?.groups], ['Lovelace, Ada', 'ada-i', ['imported']])
  assert.deepEqual([first?.expiresAt, second?.expiresAt], ['2030-01-31T12:00:00.000Z', '2030-01-08T12:00:00.000Z'])
  assert.deepEqual([first?.mailedAt, first?.nextMailAt], [null, world.now().toISOString()])

  await mailAll()
  const mails = [await mailbox.take(), await mailbox.take()]
  const toAda = mails.find(({ to }) => to.includes(ada))
  assert.match(toAda?.subject ?? '', /^Einladung zu /)
  assert.deepEqual(
    (await list()).map(({ nextMailAt, mailedAt }) => [nextMailAt, mailedAt]),
    [
      [null, world.now().toISOString()],
      [null, world.now().toISOString()],
    ],
  )
  const token = /register#(cs_inv_[\w-]+)/.exec(toAda?.text ?? '')?.[1] ?? ''
  const registered = await register(world, { invitation: token })
  assert.deepEqual([registered.identity?.email, registered.identity?.emailVerified], [ada, true])
  const events = await world.db
    .selectFrom('audit_event')
    .select('details')
    .where('action', '=', 'invitation.created')
    .execute()
  assert.deepEqual(
    events.map(({ details }) => JSON.parse(JSON.stringify(details)).importId),
    [body.importId, body.importId],
  )

  const again = await send(file, run)
  assert.deepEqual([again.body.ok, again.body.failed, again.body.total], [0, 0, 2])
  assert.ok(again.body.rows.every((row) => row.status === 'already_invited' && row.invitationId === null))
  await mailAll()
  assert.equal((await list()).length, 2)
  assert.equal(mailbox.count(), 0)
})

test('REG-11 an import replaces invitations that are void, and no others', async () => {
  const [lost, used] = [newAddress(), newAddress()]
  const file = `email\n${lost}\n${used}\n`
  const former = await makeOperator(world, await world.person(), 'people')
  const first = await send(file, run, former.page)
  assert.equal(first.body.ok, 2)
  await mailAll()
  const mails = [await mailbox.take(), await mailbox.take()]
  const toUsed = mails.find(({ to }) => to.includes(used))
  const invitation = /register#(cs_inv_[\w-]+)/.exec(toUsed?.text ?? '')?.[1] ?? ''
  assert.equal((await register(world, { invitation })).status, 201)
  const url = `/api/admin/operators/${former.identityId}`
  await world.api.inject({ method: 'DELETE', url, headers: world.admin })

  const successor = await makeOperator(world, await world.person(), 'people')
  const statuses = ({ body }: Awaited<ReturnType<typeof send>>) => body.rows.map(({ status }) => status)
  assert.deepEqual(statuses(await send(file, '', successor.page)), ['ok', 'already_invited'])
  const before = await list()
  assert.ok(
    before.some(({ email, status }) => email === lost && status === 'void'),
    'a check deletes nothing',
  )
  assert.deepEqual(statuses(await send(file, run, successor.page)), ['ok', 'already_invited'])
  assert.deepEqual(
    (await list()).filter(({ email }) => email === lost).map(({ status, createdBy }) => [status, createdBy]),
    [['pending', successor.identityId]],
  )
  await mailAll()
  assert.deepEqual((await mailbox.take()).to, [lost])
  assert.deepEqual(statuses(await send(file, run, successor.page)), ['already_invited', 'already_invited'])
})

test('REG-05 of two imports of a file at once, one invites each address', async () => {
  const file = `email\n${newAddress()}\n${newAddress()}\n`
  const both = await Promise.all([send(file, run), send(file, run)])
  assert.deepEqual(both.map(({ body }) => body.ok).toSorted(), [0, 2])
  await mailAll()
  await mailbox.take()
  await mailbox.take()
  assert.equal(mailbox.count(), 0)
})

test('REG-05 one bad row, and no one is invited, unless bad rows are skipped', async () => {
  await create({ key: 'guarded', displayName: 'Guarded', protected: true })
  const before = (await list()).length
  const good = newAddress()
  const file = [
    'email,handle,displayName,groups,language,expiresInDays',
    `${good},,,,,`,
    'ada at example.org,,,,,',
    `${newAddress()},@ada,a\u202Eb,no-such-group,fr,91`,
    `${newAddress()},,,,`,
    `${good.toUpperCase()},,,,,`,
    `${newAddress()},,,${Array.from({ length: 21 }, (_, nth) => `g${nth}`).join(';')},,1.5`,
  ].join('\n')
  const checked = await send(file)
  const faults = checked.body.rows.map(({ row, errors }) => [
    row,
    ...errors.map(({ field, code }) => `${field} ${code}`),
  ])
  assert.deepEqual(faults, [
    [2],
    [3, 'email invalid_email'],
    [
      4,
      'handle invalid_handle',
      'displayName invalid_display_name',
      'language invalid_language',
      'expiresInDays invalid_expiry',
      'groups group_not_found',
    ],
    [5, 'null invalid_row'],
    [6, 'email duplicate_email'],
    [7, 'groups too_many_groups', 'expiresInDays invalid_expiry', 'groups group_not_found'],
  ])
  assert.ok(checked.body.rows.flatMap(({ errors }) => errors).every(({ message }) => /^[\w'].*\.$/.test(message)))
  const refused = await send(file, run)
  assert.deepEqual([refused.status, refused.body.error, refused.body.failed], [400, 'invalid_import', 5])
  assert.deepEqual(refused.body.rows, checked.body.rows.slice(1))
  assert.equal((await list()).length, before)

  const skipped = await send(file, `${run}&onError=skip`)
  assert.deepEqual([skipped.status, skipped.body.ok, skipped.body.failed], [200, 1, 5])
  assert.deepEqual((await list()).map(({ email }) => email)[0], good)
  assert.equal((await list()).length, before + 1)
  await mailAll()
  await mailbox.take()
})

test('REG-05 groups of a file need the rights that an invitation needs', async () => {
  const file = `email,groups\n${newAddress()},imported\n${newAddress()},imported;guarded\n${newAddress()},\n`
  const codesFor = async (headers: Headers) =>
    (await send(file, '', headers)).body.rows.map(({ errors }) => errors.map(({ code }) => code).join())
  const inviting = await createToken(world, ['people.invite'])
  assert.deepEqual(await codesFor(inviting.headers), ['permission_denied', 'permission_denied', ''])
  const people = await makeOperator(world, await world.person(), 'people')
  assert.deepEqual(await codesFor(people.page), ['', 'permission_denied', ''])
  const owner = await makeOperator(world, await world.person(), 'owner')
  assert.deepEqual(await codesFor(owner.page), ['', '', ''])
  const auditor = await makeOperator(world, await world.person(), 'auditor')
  assert.equal((await send(file, run, auditor.page)).status, 403)
})

test('REG-05 a file that is no list of invitations is refused as a whole', async () => {
  const many = `email\n${Array.from({ length: 5001 }, (_, nth) => `a${nth}@example.org`).join('\n')}`
  const files: [string | Buffer, number, RegExp][] = [
    ['', 400, /column email/],
    ['email\n', 400, /no row/],
    ['email;handle\na@example.org;ada\n', 400, /separated by commas/],
    ['email,e-mail\n', 400, /column 'e-mail'/],
    ['email,email\na,b\n', 400, /twice/],
    ['handle\nada\n', 400, /column email/],
    ['email\n"a@example.org\n', 400, /line \d/],
    [Buffer.from([0x65, 0xff]), 400, /UTF-8/],
    [many, 400, /at most 5000/],
    [`email\n${'\n'.repeat(20_000)}`, 400, /at most 5000/],
    ['a'.repeat(1024 * 1024 + 1), 413, /1024 KiB/],
  ]
  for (const [file, status, sentence] of files) {
    const answer = await send(file, run)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    assert.match(answer.body.error_description ?? '', sentence)
  }
  const json = await send('{}', run, { ...world.admin, 'content-type': 'application/json' })
  assert.deepEqual([json.status, json.body.error], [415, 'unsupported_media_type'])
})

test('REG-05 5,000 people are invited at once, and 20,000 at most', async () => {
  const fileOf = () => `email\n${Array.from({ length: 5000 }, newAddress).join('\n')}`
  for (let nth = 0; nth < 3; nth += 1) assert.equal((await send(fileOf(), run)).body.ok, 5000)
  for (const query of ['', run]) {
    const refused = await send(fileOf(), query)
    assert.deepEqual([refused.status, refused.body.error], [409, 'too_many_invitations'])
  }
  await world.db.deleteFrom('invitation').execute()
})

test('REG-05 an operator imports ten files an hour, and checks sixty', async (t) => {
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' }
  const limited = await createWorld({ rateLimits: true, environment })
  t.after(() => limited.close())
  const sendTo = async (query: string) => {
    const url = `/api/admin/invitations/import${query}`
    const headers = { ...limited.admin, 'content-type': 'text/csv' }
    const answer = await limited.api.inject({ method: 'POST', url, headers, payload: `email\n${newAddress()}` })
    return answer.statusCode
  }
  for (let nth = 0; nth < 10; nth += 1) assert.equal(await sendTo(run), 200)
  assert.equal(await sendTo(run), 429)
  for (let nth = 0; nth < 60; nth += 1) assert.equal(await sendTo(''), 200)
  assert.equal(await sendTo(''), 429)
  limited.pass(3601)
  assert.equal(await sendTo(run), 200)
})

test('REG-05 mails that fail for now are attempted again; those of void ones are not sent', async () => {
  const token = await createToken(world, ['people.invite'])
  const [first] = (await send(`email\n${newAddress()}\n`, run, token.headers)).body.rows
  mailbox.refuse(450)
  await mailAll()
  const [waiting] = await list()
  assert.deepEqual([waiting?.invitationId, waiting?.mailedAt], [first?.invitationId, null])
  assert.ok(new Date(waiting?.nextMailAt ?? 0) > world.now())
  mailbox.refuse()
  world.pass(60)
  await mailAll()
  assert.equal((await mailbox.take()).to.length, 1)
  assert.equal((await list())[0]?.mailedAt, world.now().toISOString())

  await send(`email\n${newAddress()}\n`, run, token.headers)
  mailbox.refuse(550)
  await mailAll()
  mailbox.refuse()
  const [undeliverable] = await list()
  assert.deepEqual([undeliverable?.mailedAt, undeliverable?.nextMailAt], [null, null])

  await send(`email\n${newAddress()}\n`, run, token.headers)
  const revoked = `/api/admin/tokens/${token.tokenId}`
  await world.api.inject({ method: 'DELETE', url: revoked, headers: world.admin })
  await mailAll()
  const [ended] = await list()
  assert.deepEqual([ended?.status, ended?.mailedAt, ended?.nextMailAt], ['void', null, null])
  assert.equal(mailbox.count(), 0)
})
