import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import { generateToken } from '#platform/crypto/token-format.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { makeOperator, sibling, suspend } from '#testing/operators.ts'
import { editAddress, verifyAddress } from '#testing/people.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const week = 7 * 24 * 3600
const request = { delivery: 'mail', reason: 'Lost the phone' }

type Method = 'GET' | 'POST' | 'DELETE'
async function send(headers: Record<string, string>, method: Method, url: string, payload?: object) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, text: answer.body, body: answer.body === '' ? {} : answer.json() }
}

const linksOf = ({ identityId }: Pick<Person, 'identityId'>) => `/api/admin/identities/${identityId}/recovery-links`
const issue = (of: Pick<Person, 'identityId'>, headers: Record<string, string> = world.admin) =>
  send(headers, 'POST', linksOf(of), request)
const stateOf = async (of: Pick<Person, 'identityId'>, recoveryLinkId: string) =>
  (await send(world.admin, 'GET', `${linksOf(of)}/${recoveryLinkId}`)).body.state
const stop = (secret: string) => send({}, 'POST', '/api/recovery-links/stop', { stop: secret })
const secretsIn = ({ text }: { text: string }) => ({
  token: /recover\/link#(cs_rl_[\w-]+)/.exec(text)?.[1],
  stop: /recover\/stop#(cs_rs_[\w-]+)/.exec(text)?.[1] ?? '',
})

/** Verifies an address of an identity, a week ago. A session lives on, because it is used. */
async function verifiedAWeekAgo(person: Person, email = `${person.handle}@example.org`): Promise<string> {
  await verifyAddress(world, mailbox, person, email)
  world.pass(week)
  return email
}

/** Returns the headers of a session that the user of an account opens now. */
const signedIn = async (person: Person) => ({ ...person, headers: await person.signIn() })

test('RCL-01 the link goes to an address that the user verified a week ago, and no answer has it', async () => {
  const person = await world.person()
  assert.deepEqual((await issue(person)).body.error, 'no_recovery_address')
  await verifyAddress(world, mailbox, person, 'lost@example.org')
  world.pass(week - 1)
  const early = await issue(person)
  assert.deepEqual([early.status, early.body.error], [422, 'no_recovery_address'])
  world.pass(1)
  const issued = await issue(person)
  assert.equal(issued.status, 201, issued.text)
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, ['lost@example.org'])
  const { token = '', stop: secret } = secretsIn(mail)
  assert.match(mail.text, new RegExp(`${world.config.authUrl.origin}/recover/link#cs_rl_`))
  const { recoveryLinkId } = issued.body
  const read = await send(world.admin, 'GET', `${linksOf(person)}/${recoveryLinkId}`)
  assert.deepEqual(read.body, {
    ...{ recoveryLinkId, identityId: person.identityId, state: 'issued', reason: 'Lost the phone' },
    issuedAt: world.now().toISOString(),
    expiresAt: new Date(world.now().getTime() + 3_600_000).toISOString(),
    ...{ completesAt: null, holdUntil: null, endedAt: null },
  })
  for (const { text } of [issued, read]) assert.ok(token !== '' && !text.includes(token) && !text.includes(secret))
  world.pass(3600)
  assert.equal(await stateOf(person, recoveryLinkId), 'expired')
  assert.equal((await issue(person)).status, 201)
  await mailbox.take()
})

test('RCL-01 an operator who changes the address first gets no link there, and a new address waits', async () => {
  const person = await world.person()
  await verifiedAWeekAgo(person)
  await editAddress(world, person.identityId, 'thief@example.org')
  await mailbox.take()
  await mailbox.take()
  assert.equal((await issue(person)).body.error, 'no_recovery_address')
  await verifyAddress(world, mailbox, await signedIn(person), 'thief@example.org')
  assert.equal((await issue(person)).body.error, 'no_recovery_address')
  assert.equal(mailbox.count(), 0)
})

test('RCL-01 an address that an invitation brought gets no link until the user verifies it', async () => {
  const email = 'invited@example.org'
  const invitation = { kind: 'mail', email }
  assert.equal((await send(world.admin, 'POST', '/api/admin/invitations', invitation)).status, 201)
  const token = /#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1]
  const person = await world.person()
  const payload = { invitation: token, handle: `${person.handle}-2`, displayName: 'Invited' }
  const accepted = await send(person.headers, 'POST', '/api/identities/invited', payload)
  assert.equal(accepted.status, 201, accepted.text)
  assert.deepEqual([accepted.body.email, accepted.body.emailVerified], [email, true])
  const invited = { ...person, identityId: accepted.body.identityId }
  world.pass(week)
  assert.equal((await issue(invited)).body.error, 'no_recovery_address')
  const present = { ...invited, headers: await person.signIn() }
  await verifyAddress(world, mailbox, present, email)
  world.pass(week - 1)
  await verifyAddress(world, mailbox, { ...present, headers: await person.signIn() }, email)
  assert.equal((await issue(invited)).body.error, 'no_recovery_address')
  world.pass(1)
  assert.equal((await issue(invited)).status, 201)
  await mailbox.take()
})

test('RCL-02 the other addresses get a notice that does not name the identity', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await verifyAddress(world, mailbox, other, 'sibling@example.org')
  await verifiedAWeekAgo(person, 'recovered@example.org')
  assert.equal((await issue(person)).status, 201)
  const link = await mailbox.take()
  assert.deepEqual([link.to, link.text.includes(other.handle)], [['recovered@example.org'], false])
  const notice = await mailbox.take()
  assert.deepEqual(notice.to, ['sibling@example.org'])
  assert.ok(notice.text.includes(`@${other.handle}`) && !notice.text.includes(person.handle))
  const { token, stop: secret } = secretsIn(notice)
  assert.deepEqual([token, secret], [undefined, secretsIn(link).stop])
})

test('RCL-03 many requests at once issue one link', async () => {
  const person = await world.person()
  await verifiedAWeekAgo(person)
  const answers = await Promise.all([issue(person), issue(person), issue(person)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409])
  assert.ok(answers.every(({ status, body }) => status === 201 || body.error === 'recovery_in_progress'))
  await mailbox.take()
  assert.equal(mailbox.count(), 0)
})

/** Runs a test in a service with rate limits and a mailbox of its own, which also gets the mails to owners. */
async function withLimits(work: (limited: TestWorld, own: Mailbox) => Promise<void>): Promise<void> {
  const own = await openMailbox()
  const environment = { SMTP_URL: own.url, MAIL_FROM: 'id@example.com' }
  const limited = await createWorld({ environment, rateLimits: true })
  try {
    await work(limited, own)
  } finally {
    await limited.close()
    await own.close()
  }
}

test('RCL-03 an identity gets three links a day, which only those who may recover it use up', async () => {
  await withLimits(async (limited, own) => {
    const owner = await makeOperator(limited, await limited.person(), 'owner')
    await verifyAddress(limited, own, owner, 'owner@example.org')
    limited.pass(week)
    const people = await makeOperator(limited, await limited.person(), 'people')
    const url = linksOf(owner)
    const ask = (headers: Record<string, string>) =>
      limited.api.inject({ method: 'POST', url, headers, payload: request })
    for (let count = 0; count < 4; count++) assert.equal((await ask(people.page)).statusCode, 403)
    const outcomes = []
    for (let count = 0; count < 4; count++) {
      const answer = await ask(limited.admin)
      outcomes.push(answer.statusCode)
      if (answer.statusCode !== 201) continue
      const { recoveryLinkId } = answer.json<{ recoveryLinkId: string }>()
      await limited.api.inject({ method: 'DELETE', url: `${url}/${recoveryLinkId}`, headers: limited.admin })
    }
    assert.deepEqual(outcomes, [201, 201, 201, 429])
  })
})

test('RCL-03 an operator mails ten links an hour', async () => {
  await withLimits(async (limited) => {
    const { page } = await makeOperator(limited, await limited.person(), 'people')
    const url = linksOf(await limited.person())
    const outcomes = []
    for (let count = 0; count < 11; count++)
      outcomes.push((await limited.api.inject({ method: 'POST', url, headers: page, payload: request })).statusCode)
    assert.deepEqual(outcomes, [...Array.from({ length: 10 }, () => 422), 429])
  })
})

test('RCL-04 a session stops a recovery once, and no other account can', async () => {
  const person = await world.person()
  await verifiedAWeekAgo(person)
  const { recoveryLinkId } = (await issue(person)).body
  const { stop: secret } = secretsIn(await mailbox.take())
  const url = `/api/account/recovery-links/${recoveryLinkId}`
  const stranger = await world.person()
  assert.equal((await send(stranger.headers, 'DELETE', url)).status, 404)
  const { headers } = await signedIn(person)
  const listed = await send(headers, 'GET', '/api/account/recovery-links')
  assert.equal(listed.body.recoveryLinks[0].recoveryLinkId, recoveryLinkId)
  assert.deepEqual((await send(stranger.headers, 'GET', '/api/account/recovery-links')).body, { recoveryLinks: [] })
  const stops = await Promise.all([send(headers, 'DELETE', url), send(headers, 'DELETE', url), stop(secret)])
  assert.deepEqual(stops.map(({ status }) => status).toSorted(), [204, 404, 404])
  assert.equal(await stateOf(person, recoveryLinkId), 'cancelled')
  assert.deepEqual((await send(headers, 'GET', '/api/account/recovery-links')).body, { recoveryLinks: [] })
  const again = await send(world.admin, 'DELETE', `${linksOf(person)}/${recoveryLinkId}`)
  assert.deepEqual([again.status, again.body.error], [409, 'state_changed'])
})

test('RCL-04 the mailed link stops a recovery, also of a suspended account; others do not', async () => {
  const person = await world.person()
  await verifiedAWeekAgo(person)
  await suspend(world, person)
  const { recoveryLinkId } = (await issue(person)).body
  const { token = '', stop: secret } = secretsIn(await mailbox.take())
  for (const wrong of [token, generateToken('recoveryStop'), `${secret}x`])
    assert.equal((await stop(wrong)).status, 404)
  assert.equal(await stateOf(person, recoveryLinkId), 'issued')
  assert.equal((await stop(secret)).status, 204)
  assert.equal((await stop(secret)).status, 404)
  assert.equal(await stateOf(person, recoveryLinkId), 'cancelled')
})

test('RCL-05 neither a token nor an operator of lower rights recovers an operator, and none themselves', async () => {
  const operatorOf = async (role: OperatorRole) => makeOperator(world, await world.person(), role)
  const [owner, people] = [await operatorOf('owner'), await operatorOf('people')]
  const other = await sibling(world, owner)
  await verifiedAWeekAgo(await signedIn(other))
  const page = async ({ page: old, ...person }: typeof people) => {
    const token = (await person.signIn())['authorization']?.replace('Bearer ', '') ?? ''
    return { ...old, cookie: `__Host-countersign=${token}` }
  }
  for (const target of [owner, other]) {
    const refused = await issue(target, await page(people))
    assert.deepEqual([refused.status, refused.body.error], [403, 'operator_protected'])
    assert.equal((await issue(target, await page(owner))).body.error, 'operator_protected')
  }
  const payload = { name: 'A token', permissions: ['people.recover'] }
  assert.equal((await send(world.admin, 'POST', '/api/admin/tokens', payload)).status, 400)
})

test('RCL-06 a link is neither read nor cancelled through a sibling', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await verifiedAWeekAgo(person)
  const { recoveryLinkId } = (await issue(person)).body
  await mailbox.take()
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = await send(world.admin, method, `${linksOf(other)}/${recoveryLinkId}`)
    assert.deepEqual([answer.status, answer.body.error], [404, 'recovery_link_not_found'])
  }
  assert.equal((await issue(other)).body.error, 'no_recovery_address')
  assert.equal((await send(world.admin, 'DELETE', `${linksOf(person)}/${recoveryLinkId}`)).status, 204)
  assert.equal(await stateOf(person, recoveryLinkId), 'cancelled')
})

test('RCL-07 a link that cannot be mailed is cancelled, and another can follow', async () => {
  const person = await world.person()
  await verifiedAWeekAgo(person)
  mailbox.refuse(550)
  const refused = await issue(person)
  mailbox.refuse()
  assert.equal(refused.body.error, 'undeliverable')
  assert.equal((await issue(person)).status, 201)
  await mailbox.take()
})

test('the links of an identity and of an account end with them', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await verifyAddress(world, mailbox, other, `${other.handle}@example.org`)
  await verifiedAWeekAgo(person)
  assert.equal((await issue(other)).status, 201)
  assert.equal((await issue(person)).status, 201)
  const { headers } = await signedIn(person)
  const left = async () =>
    (await send(headers, 'GET', '/api/account/recovery-links')).body.recoveryLinks.map(
      ({ identityId }: { identityId: string }) => identityId,
    )
  assert.deepEqual((await left()).toSorted(), [person.identityId, other.identityId].toSorted())
  assert.equal((await send(headers, 'DELETE', `/api/identities/${other.identityId}`)).status, 204)
  assert.deepEqual(await left(), [person.identityId])
  const deleted = await send(headers, 'DELETE', '/api/account', {})
  assert.equal(deleted.status, 204, deleted.text)
  const rows = world.db.selectFrom('recovery_link').select('state').where('identity_id', '=', person.identityId)
  assert.deepEqual(await rows.execute(), [])
})
