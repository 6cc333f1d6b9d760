import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { sibling, suspend } from '#testing/operators.ts'
import * as recovery from '#testing/recovery.ts'
import { day, newAuthenticator, signIn, startRedemption } from '#testing/recovery.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { advanceDue } from '../completion.ts'

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
beforeEach(emptyMailbox)

/** Takes the mails that earlier steps have sent. */
async function emptyMailbox(): Promise<void> {
  while (mailbox.count() > 0) await mailbox.take()
}

type Headers = Record<string, string>
const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const stopByMail = (stop: string) =>
  recovery.send(world, '/api/recovery-links/stop', { method: 'POST', payload: { stop } })
const linkOf = ({ identityId }: Person, id: string) => `/api/admin/identities/${identityId}/recovery-links/${id}`
const stateOf = async (person: Person, id: string) =>
  (await recovery.send(world, linkOf(person, id), { method: 'GET', headers: world.admin })).body.state

/** Starts to use a link. Returns what finishes it. */
async function started(token: string) {
  const { status, text, body } = await startRedemption(world, token)
  assert.equal(status, 200, text)
  const authenticator = newAuthenticator(world)
  const payload = { token, flowId: body.flowId, credential: authenticator.register(body.options) }
  const finish = () => recovery.send(world, '/api/recovery-links/redemption/finish', { method: 'POST', payload })
  return { authenticator, finish }
}

/** Ends the cooling-off, and signs in with the passkey of a recovery. */
async function signInAfterDay(authenticator: Parameters<typeof signIn>[1]) {
  world.pass(day)
  await advanceDue(world.services)
  return signIn(world, authenticator)
}

test('PEO-02 a link that is cancelled while it is used brings no passkey', async () => {
  for (const isFinishFirst of [true, false]) {
    const person = await world.person()
    const { token, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
    const { finish, authenticator } = await started(token)
    const cancel = () =>
      recovery.send(world, linkOf(person, recoveryLinkId), { method: 'DELETE', headers: world.admin })
    const acts = isFinishFirst ? ([finish(), cancel()] as const) : ([cancel(), finish()] as const)
    const statuses = (await Promise.all(acts)).map(({ status }) => status)
    assert.ok(statuses.includes(204), String(statuses))
    assert.ok(statuses.includes(200) || statuses.includes(410), String(statuses))
    assert.equal(await stateOf(person, recoveryLinkId), 'cancelled')
    assert.deepEqual(errorOf(await signInAfterDay(authenticator)), [401, 'invalid_credential'])
  }
})

test('PEO-05 a suspension while a link is used or completed is in force for its passkey', async () => {
  const person = await world.person()
  const { token } = await recovery.mailedLink(world, mailbox, person)
  const { finish, authenticator } = await started(token)
  const [finished] = await Promise.all([finish(), suspend(world, person)])
  assert.equal(finished.status, 200, finished.text)
  assert.deepEqual(errorOf(await signInAfterDay(authenticator)), [403, 'account_suspended'])
  await emptyMailbox()

  const other = await world.person()
  const link = await recovery.mailedLink(world, mailbox, other)
  const made = await started(link.token)
  assert.equal((await made.finish()).status, 200)
  world.pass(day)
  await Promise.all([advanceDue(world.services), suspend(world, other)])
  assert.deepEqual(errorOf(await signIn(world, made.authenticator)), [403, 'account_suspended'])
})

test('PEO-05 an address that is removed while its link is used is either late, or makes the link void', async () => {
  const person = await world.person()
  const { token, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
  const { finish, authenticator } = await started(token)
  const removal = { method: 'DELETE', headers: await person.signIn() } as const
  const [removed, finished] = await Promise.all([
    recovery.send(world, `/api/identities/${person.identityId}/email`, removal),
    finish(),
  ])
  assert.equal(removed.status, 200, removed.text)
  const isUsed = finished.status === 200
  if (!isUsed) assert.deepEqual(errorOf(finished), [410, 'recovery_link_used'])
  assert.equal(await stateOf(person, recoveryLinkId), isUsed ? 'redeemed' : 'issued')
  assert.equal((await signInAfterDay(authenticator)).status, isUsed ? 200 : 401)
})

test('PEO-06 of an acceptance and an undoing at once, exactly one counts', async () => {
  for (const isStopFirst of [true, false]) {
    const person = await world.person()
    const { stop, recoveryLinkId, authenticator } = await recovery.recover(world, mailbox, person)
    await emptyMailbox()
    const old = await person.signIn()
    const url = `/api/account/recovery-links/${recoveryLinkId}/acceptance`
    const accept = () => recovery.send(world, url, { method: 'POST', headers: old, payload: {} })
    const acts = isStopFirst ? [stopByMail(stop), accept()] : [accept(), stopByMail(stop)]
    const statuses = (await Promise.all(acts)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [204, 404])
    const state = await stateOf(person, recoveryLinkId)
    const { status } = await signIn(world, authenticator)
    assert.deepEqual([state, status].join(), state === 'settled' ? 'settled,200' : 'undone,401')
  }
})

test('PEO-06 two tabs that enter the recovery code at once lift the limit once', async () => {
  const person = await world.person()
  await sibling(world, person)
  const recoveryAuth = randomBytes(32).toString('base64url')
  const payload = { recoveryAuth, ciphertext: 'sealed' }
  const kept = { method: 'PUT', url: '/api/account/recovery', headers: person.headers, payload } as const
  assert.equal((await world.api.inject(kept)).statusCode, 200)
  const { authenticator } = await recovery.recover(world, mailbox, person)
  const { headers } = await signIn(world, authenticator)
  const lift = (by: Headers) =>
    recovery.send(world, '/api/account/recovery-limit/lift', { method: 'POST', headers: by, payload: { recoveryAuth } })
  const answers = await Promise.all([lift(headers), lift(headers)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 409])
  const { body } = await recovery.send(world, '/api/auth/passkeys', { method: 'GET', headers })
  assert.equal(body.passkeys.length, 2)
})
