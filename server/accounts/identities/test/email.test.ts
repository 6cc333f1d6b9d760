import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})
beforeEach(() => assert.equal(mailbox.count(), 0, 'unexpected mail'))

type Asking = Pick<Person, 'identityId' | 'headers'>

const send = (method: 'GET' | 'POST' | 'DELETE', { identityId, headers }: Asking, path: string, payload?: object) =>
  world.api.inject({
    method,
    url: `/api/identities/${identityId}${path}`,
    headers,
    ...(payload !== undefined && { payload }),
  })
const begin = (person: Asking, email: string) => send('POST', person, '/email', { email })
const verify = (person: Asking, code: string) => send('POST', person, '/email/verify', { code })
const remove = (person: Asking) => send('DELETE', person, '/email')
const read = async (person: Asking) => (await send('GET', person, '')).json<Identity>()

async function prove(person: Asking, email: string): Promise<void> {
  assert.equal((await begin(person, email)).statusCode, 200)
  const verified = await verify(person, codeIn(await mailbox.take()))
  assert.equal(verified.statusCode, 200, verified.body)
}

const codesOtherThan = (code: string, count: number) =>
  Array.from({ length: count }, (_, index) => String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0'))

test('a mailed code verifies the address, and apps then receive it', async () => {
  const person = await world.person()
  const app = await world.app()
  const requested = { scope: 'openid email' }
  await assert.rejects(app.code(person, requested), /email_not_verified/)

  const begun = await begin(person, 'Ada@Example.COM')
  assert.equal(begun.statusCode, 200, begun.body)
  const expiresAt = new Date(world.now().getTime() + 600_000).toISOString()
  assert.deepEqual(begun.json(), { email: 'Ada@example.com', expiresAt })
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, ['Ada@example.com'])
  assert.match(mail.text, new RegExp(`localhost:4401.*@${person.handle}`))
  assert.deepEqual((await read(person)).email, null, 'not before verification')

  const code = codeIn(mail)
  const verified = await verify(person, ` ${code.slice(0, 3)} ${code.slice(3)} `)
  assert.equal(verified.statusCode, 200, verified.body)
  const { email, emailVerified } = verified.json<Identity>()
  assert.deepEqual([email, emailVerified], ['Ada@example.com', true])
  assert.deepEqual(await read(person), verified.json())

  const tokens = await app.tokens(person, requested)
  assert.equal(tokens.user.email, 'Ada@example.com')
  const claims = await world.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  assert.deepEqual([claims.json().email, claims.json().email_verified], ['Ada@example.com', true])
})

test('a verification code works once', async () => {
  const person = await world.person()
  await begin(person, 'once@example.com')
  const code = codeIn(await mailbox.take())
  const answers = await Promise.all(Array.from({ length: 8 }, () => verify(person, code)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 200))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_code'])
})

test('of 32 concurrent attempts five are checked, and then the correct code is rejected too', async () => {
  const person = await world.person()
  await begin(person, 'guessed@example.com')
  const code = codeIn(await mailbox.take())
  const guesses = codesOtherThan(code, 32)
  const answers = await Promise.all(guesses.map((guess) => verify(person, guess)))
  for (const answer of answers) assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_code'])
  const [{ attempts } = { attempts: 0 }] = await world.db
    .selectFrom('identity_email_verification')
    .select('attempts')
    .where('identity_id', '=', person.identityId)
    .execute()
  assert.equal(attempts, 5)
  assert.equal((await verify(person, code)).json().error, 'invalid_code')
  assert.equal((await read(person)).email, null)

  await prove(person, 'guessed@example.com')
})

test('the correct code is accepted at the fifth attempt', async () => {
  const person = await world.person()
  await begin(person, 'fifth@example.com')
  const code = codeIn(await mailbox.take())
  for (const guess of codesOtherThan(code, 4)) assert.equal((await verify(person, guess)).statusCode, 400)
  assert.equal((await verify(person, code)).statusCode, 200)
})

test('a verification code expires after ten minutes', async () => {
  const person = await world.person()
  await begin(person, 'late@example.com')
  const code = codeIn(await mailbox.take())
  world.pass(600)
  assert.equal((await verify(person, code)).json().error, 'invalid_code')
  assert.equal((await read(person)).email, null)
})

test('a new code replaces the last one and verifies the address that it was sent to', async () => {
  const person = await world.person()
  await begin(person, 'first@example.com')
  const first = codeIn(await mailbox.take())
  await begin(person, 'second@example.com')
  const second = codeIn(await mailbox.take())
  if (first !== second) assert.equal((await verify(person, first)).json().error, 'invalid_code')
  assert.equal((await verify(person, second)).json<Identity>().email, 'second@example.com')
})

test('a code is valid for its own identity only, and not for another user', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  await begin(ada, 'ada@example.com')
  const code = codeIn(await mailbox.take())
  await begin(eve, 'ada@example.com')
  const other = codeIn(await mailbox.take())
  if (code !== other) assert.equal((await verify(eve, code)).json().error, 'invalid_code')
  const asEve = { identityId: ada.identityId, headers: eve.headers }
  for (const answer of [await verify(asEve, code), await begin(asEve, 'eve@example.com'), await remove(asEve)])
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'identity_not_found'])
  assert.equal((await verify(ada, code)).statusCode, 200)
})

test('the old address stays until the new one is verified, and is notified when it is removed', async () => {
  const person = await world.person()
  await prove(person, 'old@example.com')
  await begin(person, 'new@example.com')
  const { email } = await read(person)
  assert.equal(email, 'old@example.com')
  assert.equal((await verify(person, codeIn(await mailbox.take()))).json<Identity>().email, 'new@example.com')
  const notice = await mailbox.take()
  assert.deepEqual(notice.to, ['old@example.com'])
  assert.match(notice.text, new RegExp(`@${person.handle} .*no longer uses this address`))
  assert.doesNotMatch(notice.text, /new@example/)

  const removed = await remove(person)
  assert.deepEqual([removed.json<Identity>().email, removed.json<Identity>().emailVerified], [null, false])
  assert.deepEqual((await mailbox.take()).to, ['new@example.com'])
  assert.equal((await remove(person)).statusCode, 200, 'removing no address succeeds')
})

test('changing or removing an address requires recent authentication', async () => {
  const person = await world.person()
  await prove(person, 'fresh@example.com')
  world.pass(301)
  for (const answer of [await begin(person, 'stale@example.com'), await remove(person)])
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'reauthentication_required'])
  assert.equal((await read(person)).email, 'fresh@example.com')
})

test('a malformed address is rejected and no mail is sent', async () => {
  const person = await world.person()
  const wrong = [
    ...['ada', '@example.com', 'ada@', 'ada@localhost', 'ada@example', 'a b@example.com', 'ada@-a.example'],
    ...['ada@example.com\r\nBcc: eve@example.com', 'ada@example.com,eve@example.com', '<ada@example.com>'],
    ...['Ada <ada@example.com>', '"ada"@example.com', 'ädä@example.com', `${'a'.repeat(65)}@example.com`],
    ...[`a@${'b.'.repeat(130)}example.com`, 'ada@example.com ', 'ada@[127.0.0.1]'],
  ]
  for (const email of wrong) {
    const answer = await begin(person, email)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_email'], email)
  }
})

test('a mail uses the language of the browser and has only the headers of the service', async () => {
  const person = await world.person()
  const headers = { ...person.headers, 'accept-language': 'fr, de-AT;q=0.9, en;q=0.5' }
  await begin({ ...person, headers }, 'deutsch@example.com')
  const mail = await mailbox.take()
  assert.equal(mail.subject, 'Dein Bestätigungscode für Countersign')
  assert.match(mail.text, /für @.* zu bestätigen/)
  assert.match(mail.headers, /^Auto-Submitted: auto-generated$/m)
  assert.match(mail.headers, /^From: Countersign <id@example\.com>$/m)
  assert.doesNotMatch(mail.headers, /^(b?cc|reply-to):/im)
})

test('a failure of the mail server keeps the pending code valid', async () => {
  const person = await world.person()
  await prove(person, 'kept@example.com')
  await begin(person, 'waiting@example.com')
  const code = codeIn(await mailbox.take())

  mailbox.refuse(451)
  const away = await begin(person, 'other@example.com')
  assert.deepEqual([away.statusCode, away.json().error], [503, 'temporarily_unavailable'])
  assert.ok(Number(away.headers['retry-after']) > 0)
  mailbox.refuse(550)
  const unknown = await begin(person, 'nobody@example.com')
  assert.deepEqual([unknown.statusCode, unknown.json().error], [400, 'undeliverable'])
  assert.equal((await read(person)).email, 'kept@example.com')

  const verified = await verify(person, code)
  assert.equal(verified.json<Identity>().email, 'waiting@example.com', 'even if the former address cannot be notified')
  mailbox.refuse()
})

test('every change is in the audit log, without the address', async () => {
  const person = await world.person()
  await prove(person, 'trail@example.com')
  await remove(person)
  await mailbox.take()
  const entries = await world.db
    .selectFrom('audit_event')
    .select(['action', 'details'])
    .where('identity_id', '=', person.identityId)
    .orderBy('event_id')
    .execute()
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['account.created', 'identity.email_verification.requested', 'identity.email.verified', 'identity.email.removed'],
  )
  assert.doesNotMatch(JSON.stringify(entries), /trail@/)
})
