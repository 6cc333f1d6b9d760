import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { openDomains } from '#testing/registration-domains.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
let domains: ReturnType<typeof openDomains>
before(async () => {
  mailbox = await openMailbox()
  const environment = { REGISTRATION: 'domains', REGISTRATION_DOMAINS: 'acme.example' }
  world = await createWorld({
    environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com', ...environment },
    rateLimits: true,
  })
  domains = openDomains(world, mailbox)
})
after(async () => {
  await world.close()
  await mailbox.close()
})

/** Begins a time in which nothing was counted yet. */
function nextDay(): void {
  world.pass(25 * 3600)
}

const codesOtherThan = (code: string, count: number) =>
  Array.from({ length: count }, (_, index) => String((Number(code) + 1 + index) % 100_000_000).padStart(8, '0'))

test('REG-19 a code works once, also for many requests at once', async () => {
  const { verificationId, code } = await domains.mailed('once@acme.example')
  const answers = await Promise.all(Array.from({ length: 8 }, () => domains.verify(verificationId, code)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const { status, body } of answers.filter((each) => each.status !== 200))
    assert.deepEqual([status, body.error], [400, 'invalid_code'])
  assert.equal((await domains.verify(verificationId, code)).body.error, 'invalid_code')
})

test('REG-19 of many guesses at once five are checked, and then the correct code is rejected too', async () => {
  const { verificationId, code } = await domains.mailed('guessed@acme.example')
  const answers = await Promise.all(codesOtherThan(code, 16).map((guess) => domains.verify(verificationId, guess)))
  for (const { status, body } of answers) assert.deepEqual([status, body.error], [400, 'invalid_code'])
  const { attempts } = await world.db
    .selectFrom('registration_email')
    .select('attempts')
    .where('verification_id', '=', verificationId)
    .executeTakeFirstOrThrow()
  assert.equal(attempts, 5)
  assert.equal((await domains.verify(verificationId, code)).body.error, 'invalid_code')
})

test('REG-19 a code is accepted at the fifth attempt, and never after ten minutes', async () => {
  nextDay()
  const fifth = await domains.mailed('fifth@acme.example')
  for (const guess of codesOtherThan(fifth.code, 4))
    assert.equal((await domains.verify(fifth.verificationId, guess)).status, 400)
  assert.equal((await domains.verify(fifth.verificationId, fifth.code)).status, 200)
  const late = await domains.mailed('late@acme.example')
  world.pass(600)
  assert.equal((await domains.verify(late.verificationId, late.code)).body.error, 'invalid_code')
})

test('REG-19 a code of another request, address or purpose proves nothing', async () => {
  nextDay()
  const ada = await domains.mailed('ada@acme.example')
  const again = await domains.mailed('ada@acme.example')
  const eve = await domains.mailed('eve@acme.example')
  for (const [verificationId, code] of [
    [ada.verificationId, eve.code],
    [eve.verificationId, ada.code],
    [again.verificationId, ada.code],
    ['0191f5a2-0000-7000-8000-000000000000', ada.code],
  ] as const)
    assert.equal((await domains.verify(verificationId, code)).body.error, 'invalid_code')
  // Each of two codes for one address works for its own request.
  assert.equal((await domains.verify(ada.verificationId, ada.code)).status, 200)
  const person = await register(world, { emailProof: await domains.prove('grace@acme.example') })
  const headers = { authorization: `Bearer ${person.sessionToken}` }
  const url = `/api/identities/${person.identity?.identityId}/email`
  const requested = await world.api.inject({ method: 'POST', url, headers, payload: { email: 'new@acme.example' } })
  assert.equal(requested.statusCode, 200, requested.body)
  const ofIdentity = codeIn(await mailbox.take())
  assert.equal((await domains.verify(again.verificationId, ofIdentity)).body.error, 'invalid_code')
  const presented = { method: 'POST', url: `${url}/verify`, headers, payload: { code: again.code } } as const
  assert.equal((await world.api.inject(presented)).json().error, 'invalid_code')
})

test('REG-19 a proof registers one account, also for many registrations at once', async () => {
  nextDay()
  const emailProof = await domains.prove('proof@acme.example')
  const begun = []
  for (let index = 0; index < 6; index += 1) begun.push(await startRegistration(world, { emailProof }))
  const results = await Promise.all(begun.map((each) => each.finish()))
  assert.equal(results.filter(({ status }) => status === 201).length, 1)
  for (const { status, error } of results.filter((each) => each.status !== 201))
    assert.deepEqual([status, error], [403, 'email_verification_required'])
  assert.equal((await register(world, { emailProof })).error, 'email_verification_required')
})

test('REG-19 the end of a registration needs a proof, and one of another address brings that address', async () => {
  nextDay()
  const [one, other] = [await domains.prove('one@acme.example'), await domains.prove('other@acme.example')]
  const begun = await startRegistration(world, { emailProof: one })
  const bare = await startRegistration(world, { emailProof: one })
  assert.equal((await bare.finish({})).error, 'email_verification_required')
  assert.equal((await begun.finish({ emailProof: other })).identity?.email, 'other@acme.example')
})

test('REG-19 neither a code nor a proof is stored in clear', async () => {
  nextDay()
  const { verificationId, code } = await domains.mailed('stored@acme.example')
  const { body } = await domains.verify(verificationId, code)
  const { rows } = { rows: await world.db.selectFrom('registration_email').selectAll().execute() }
  const stored = JSON.stringify(rows, (_, value) => (value?.type === 'Buffer' ? Buffer.from(value).toString() : value))
  assert.ok(!stored.includes(code) && !stored.includes(body.emailProof))
  const event = await world.db.selectFrom('audit_event').selectAll().execute()
  assert.ok(!JSON.stringify(event).includes('stored@acme.example'))
})

test('REG-20 one network gets five codes a day for a mailbox, and its user, elsewhere, others', async () => {
  nextDay()
  for (const network of ['192.0.2.1', '2001:db8:7:1::1']) {
    for (let nth = 0; nth < 5; nth += 1) {
      assert.equal((await domains.request('bob@acme.example', network)).status, 200)
      await mailbox.take()
    }
    assert.deepEqual((await domains.request('bob+1@acme.example', network)).body.error, 'rate_limited')
  }
  assert.equal((await domains.request('bob@acme.example', '2001:db8:7:2::1')).status, 429, 'the same /48')
  const { status, body } = await domains.request('bob@acme.example', '198.51.100.20')
  assert.equal(status, 200)
  assert.equal((await domains.verify(body.verificationId, codeIn(await mailbox.take()))).status, 200)
})

test('REG-20 one mailbox gets 30 codes a day, and one source address sends 30 an hour', async () => {
  nextDay()
  for (let index = 0; index < 30; index += 1) {
    assert.equal((await domains.request('full@acme.example', `192.0.2.${index}`)).status, 200)
    await mailbox.take()
  }
  for (const spelling of ['full@acme.example', 'FULL@ACME.example', 'full@acme.example.', 'full+1@acme.example']) {
    const refused = await domains.request(spelling, '192.0.2.99')
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited'], spelling)
    assert.ok(Number(refused.headers['retry-after']) > 0)
  }
  nextDay()
  const from = '198.51.100.7'
  for (let index = 0; index < 30; index += 1) await domains.request(`probe@x${index}.example`, from)
  assert.equal((await domains.request('ada@acme.example', from)).status, 429)
  assert.equal((await domains.request('ada@acme.example', '198.51.100.8')).status, 200)
  await mailbox.take()
})

test('REG-20 wrong codes of one source address are limited over all requests, and right ones are not', async () => {
  nextDay()
  const from = '203.0.113.5'
  const { verificationId, code } = await domains.mailed('limited@acme.example')
  for (let index = 0; index < 60; index += 1)
    assert.equal((await domains.verify('0191f5a2-0000-7000-8000-000000000000', '00000000', from)).status, 400)
  assert.equal((await domains.verify(verificationId, code, from)).status, 429)
  assert.equal((await domains.verify(verificationId, code, '203.0.113.6')).status, 200)
})

test('REG-21 the answer and the mail are the same for an address that an identity has', async () => {
  nextDay()
  assert.equal((await register(world, { emailProof: await domains.prove('known@acme.example') })).status, 201)
  const answers = []
  for (const email of ['known@acme.example', 'fresh@acme.example']) {
    const { status, body } = await domains.request(email)
    const { subject, text } = await mailbox.take()
    answers.push({ status, fields: Object.keys(body), subject, text: text.replace(/^\d{8}$/m, 'code') })
  }
  assert.deepEqual(answers[0], answers[1])
})

test('REG-19 a mail that is not accepted leaves no code', async () => {
  nextDay()
  mailbox.refuse(550)
  assert.equal((await domains.request('nowhere@acme.example')).body.error, 'undeliverable')
  mailbox.refuse(451)
  assert.equal((await domains.request('nowhere@acme.example')).body.error, 'temporarily_unavailable')
  mailbox.refuse()
  const rows = await world.db.selectFrom('registration_email').select('email').execute()
  assert.ok(rows.every(({ email }) => email !== 'nowhere@acme.example'))
})
