import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createConnectors } from '#testing/connectors.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { activate, makeOperator, sibling, suspend } from '#testing/operators.ts'
import { editAddress, openDirectory, verifyAddress } from '#testing/people.ts'
import * as recovery from '#testing/recovery.ts'
import { day, newAuthenticator, redeem, signIn, startRedemption } from '#testing/recovery.ts'
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

type Headers = Record<string, string>
const get = (url: string, headers: Headers) => recovery.send(world, url, { method: 'GET', headers })
const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const stateOf = async ({ identityId }: Pick<Person, 'identityId'>, id: string) =>
  (await get(`/api/admin/identities/${identityId}/recovery-links/${id}`, world.admin)).body.state
const stopOwn = (id: string, headers: Headers) =>
  recovery.send(world, `/api/account/recovery-links/${id}`, { method: 'DELETE', headers })
const stopByMail = (stop: string) =>
  recovery.send(world, '/api/recovery-links/stop', { method: 'POST', payload: { stop } })
const isSignedIn = async (headers: Headers) => (await get('/api/auth/session', headers)).status === 200

/** Takes the notices of a completed recovery. */
async function takeNotices(count: number): Promise<void> {
  for (let taken = 0; taken < count;) if (/was recovered/.test((await mailbox.take()).subject)) taken += 1
}

test('PEO-02 a link is redeemed once, also by many at once and by two browsers that both started', async () => {
  const person = await world.person()
  const { token, stop, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
  const started = []
  for (let browser = 0; browser < 3; browser++) started.push(await startRedemption(world, token))
  const finish = ({ body }: Awaited<ReturnType<typeof startRedemption>>) => {
    const { flowId, options } = body
    const payload = { token, flowId, credential: newAuthenticator(world).register(options) }
    return recovery.send(world, '/api/recovery-links/redemption/finish', { method: 'POST', payload })
  }
  const answers = await Promise.all(started.map(finish))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers)
    if (answer.status !== 200) assert.deepEqual(errorOf(answer), [410, 'recovery_link_used'])
  assert.equal(await stateOf(person, recoveryLinkId), 'redeemed')
  assert.deepEqual(errorOf(await startRedemption(world, token)), [410, 'recovery_link_used'])
  assert.equal((await stopByMail(stop)).status, 204)
})

test('PEO-02 no link is redeemed after an hour, once cancelled, or by another secret', async () => {
  const person = await world.person()
  const { token, stop, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
  for (const wrong of [stop, generateToken('recoveryLink'), `${token}x`])
    assert.deepEqual(errorOf(await startRedemption(world, wrong)), [410, 'recovery_link_used'])
  const started = await startRedemption(world, token)
  world.pass(3600)
  const { flowId, options } = started.body
  const payload = { token, flowId, credential: newAuthenticator(world).register(options) }
  const late = await recovery.send(world, '/api/recovery-links/redemption/finish', { method: 'POST', payload })
  assert.deepEqual(errorOf(late), [400, 'invalid_flow'])
  assert.deepEqual(errorOf(await startRedemption(world, token)), [410, 'recovery_link_used'])
  assert.equal(await stateOf(person, recoveryLinkId), 'expired')
  assert.equal((await recovery.issue(world, person)).status, 201)
  const { token: second } = recovery.secretsIn(await mailbox.take())
  const url = `/api/admin/identities/${person.identityId}/recovery-links`
  const [open] = (await get(url, world.admin)).body.recoveryLinks
  const cancel = { method: 'DELETE', headers: world.admin } as const
  assert.equal((await recovery.send(world, `${url}/${open.recoveryLinkId}`, cancel)).status, 204)
  assert.deepEqual(errorOf(await startRedemption(world, second)), [410, 'recovery_link_used'])
})

test('PEO-02 the options name no passkey and no user of the account', async () => {
  const person = await world.person()
  const { token } = await recovery.mailedLink(world, mailbox, person)
  const [one, two] = [await startRedemption(world, token), await startRedemption(world, token)]
  assert.deepEqual(one.body.options.excludeCredentials, [])
  const userIds = [one, two].map(({ body }) => Buffer.from(body.options.user.id, 'base64url'))
  assert.deepEqual(
    userIds.map((id) => id.length),
    [32, 32],
  )
  assert.notDeepEqual(userIds[0], userIds[1])
  assert.ok(!one.text.includes(person.userId) && !one.text.includes(person.authenticator.credentialId))
})

test('PEO-02 the new passkey does nothing before the end of the cooling-off, and nothing else changes', async () => {
  const person = await world.person()
  const { token, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
  const { body, authenticator } = await redeem(world, token)
  assert.deepEqual(body, {
    validFrom: new Date(world.now().getTime() + day * 1000).toISOString(),
    keysStayClosed: true,
  })
  world.pass(day - 1)
  await advanceDue(world.services)
  assert.deepEqual(errorOf(await signIn(world, authenticator)), [401, 'invalid_credential'])
  assert.ok(await isSignedIn(person.headers))
  // Authenticators delete passkeys that the service does not know.
  const payload = { credentialId: authenticator.credentialId }
  const known = await recovery.send(world, '/api/auth/passkeys/known', { method: 'POST', payload })
  assert.deepEqual(known.body, { known: true }, known.text)
  world.pass(1)
  await advanceDue(world.services)
  await takeNotices(1)
  assert.equal(await stateOf(person, recoveryLinkId), 'completed')
  assert.equal((await signIn(world, authenticator)).status, 200)
  assert.ok(!(await isSignedIn(person.headers)))
  assert.deepEqual(errorOf(await startRedemption(world, token)), [410, 'recovery_link_used'])
})

for (const by of ['session', 'mail'] as const)
  test(`PEO-03 ${by} stops a redeemed recovery, which locks links of the account for a week`, async () => {
    const person = await world.person()
    const other = await sibling(world, person)
    await verifyAddress(world, mailbox, other, `${other.handle}@example.org`)
    const { token, stop, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
    await mailbox.take()
    const { authenticator } = await redeem(world, token)
    const stopped = by === 'mail' ? await stopByMail(stop) : await stopOwn(recoveryLinkId, person.headers)
    assert.equal(stopped.status, 204, stopped.text)
    world.pass(day)
    await advanceDue(world.services)
    assert.deepEqual(errorOf(await signIn(world, authenticator)), [401, 'invalid_credential'])
    // The operator learns nothing of the lock.
    assert.equal((await recovery.issue(world, other)).status, 201)
    const next = recovery.secretsIn(await mailbox.take())
    await mailbox.take()
    const locked = await startRedemption(world, next.token)
    assert.deepEqual(errorOf(locked), [423, 'recovery_locked'])
    assert.deepEqual(errorOf(await startRedemption(world, generateToken('recoveryLink'))), [410, 'recovery_link_used'])
    world.pass(6 * day)
    assert.equal((await recovery.issue(world, other)).status, 201)
    const later = recovery.secretsIn(await mailbox.take())
    await mailbox.take()
    assert.equal((await redeem(world, later.token)).status, 200)
    assert.equal((await stopByMail(later.stop)).status, 204)
  })

for (const by of ['old passkey', 'mail'] as const)
  test(`PEO-03 ${by} undoes a completed recovery until the end of the hold`, async () => {
    const person = await world.person()
    const { stop, recoveryLinkId, authenticator } = await recovery.recover(world, mailbox, person)
    await takeNotices(1)
    const limited = await signIn(world, authenticator)
    assert.equal(limited.status, 200, limited.text)
    world.pass(7 * day - 1)
    const old = await person.signIn()
    const [shown] = (await get('/api/account/recovery-links', old)).body.recoveryLinks
    assert.deepEqual([shown.recoveryLinkId, shown.state], [recoveryLinkId, 'completed'])
    const undone = by === 'mail' ? await stopByMail(stop) : await stopOwn(recoveryLinkId, old)
    assert.equal(undone.status, 204, undone.text)
    assert.equal(await stateOf(person, recoveryLinkId), 'undone')
    assert.ok(!(await isSignedIn(limited.headers)))
    assert.ok(await isSignedIn(old))
    assert.deepEqual(errorOf(await signIn(world, authenticator)), [401, 'invalid_credential'])
    assert.deepEqual(errorOf(await stopByMail(stop)), [404, 'recovery_link_not_found'])
    assert.equal((await recovery.issue(world, person)).status, 201)
    const { token } = recovery.secretsIn(await mailbox.take())
    assert.deepEqual(errorOf(await startRedemption(world, token)), [423, 'recovery_locked'])
  })

test('PEO-03 what a recovered passkey authorized ends when the recovery is undone', async () => {
  const person = await world.person()
  const { recoveryLinkId, authenticator } = await recovery.recover(world, mailbox, person)
  await takeNotices(1)
  const { headers } = await signIn(world, authenticator)
  const app = await world.app()
  const { access_token: token } = await app.tokens({ headers, identityId: person.identityId })
  const userinfo = () => get('/api/oauth/userinfo', { authorization: `Bearer ${token}` })
  assert.equal((await userinfo()).status, 200)
  assert.equal((await stopOwn(recoveryLinkId, await person.signIn())).status, 204)
  assert.equal((await userinfo()).status, 401)
})

for (const by of ['session', 'mail'] as const)
  test(`PEO-03 apps that a recovered passkey connected are disconnected when ${by} undoes the recovery`, async () => {
    const person = await world.person()
    const { source: known, ...connectors } = await createConnectors(world)
    await known.tokens(person, { scope: 'openid' })
    const { stop, recoveryLinkId, authenticator } = await recovery.recover(world, mailbox, person)
    await takeNotices(1)
    const limited = { ...person, headers: (await signIn(world, authenticator)).headers }
    const thief = await world.app()
    await thief.code(limited)
    await known.code(limited, { scope: 'openid profile' })
    const own = { ...person, headers: await person.signIn() }
    assert.equal((await connectors.consent(own)).statusCode, 200)
    const encrypted = await world.app({ supportsE2ee: true })
    const keyed = { scope: 'openid e2ee:symmetric', encryptedAppKey: 'sealed' }
    await encrypted.code(own, keyed)
    const undone = by === 'mail' ? await stopByMail(stop) : await stopOwn(recoveryLinkId, own.headers)
    assert.equal(undone.status, 204, undone.text)

    const { identityId } = person
    const silently = async ({ clientId, redirectUri }: typeof thief, scope: string) => {
      const payload = { clientId, redirectUri, identityId, scope, prompt: 'none' }
      const sent = { method: 'POST', headers: own.headers, payload } as const
      return errorOf(await recovery.send(world, '/api/oauth/authorize', sent))
    }
    assert.deepEqual(await silently(thief, 'openid'), [403, 'consent_required'])
    assert.deepEqual(
      await silently(encrypted, 'openid'),
      [403, 'consent_required'],
      'also those that the user connected since',
    )
    assert.deepEqual(await silently(known, 'openid'), [200, undefined], 'connected before')
    const { authorizations } = (await get('/api/oauth/authorizations', own.headers)).body
    assert.deepEqual(
      authorizations.map(({ clientId }: { clientId: string }) => clientId),
      [known.clientId],
    )
    const keys = world.db.selectFrom('authorization_app_key').select('client_id')
    assert.deepEqual(await keys.where('identity_id', '=', identityId).execute(), [])
    const disconnected = await auditEventsOf(world.db, person.userId, 'app.disconnected')
    assert.deepEqual(
      disconnected.map(({ clientId }) => clientId).toSorted(),
      [thief.clientId, encrypted.clientId].toSorted(),
    )
  })

test('PEO-03 of a stop and the completion at once, exactly one counts', async () => {
  const person = await world.person()
  const { token, stop, recoveryLinkId } = await recovery.mailedLink(world, mailbox, person)
  const { authenticator } = await redeem(world, token)
  world.pass(day)
  const [stopped] = await Promise.all([stopByMail(stop), advanceDue(world.services), advanceDue(world.services)])
  assert.equal(stopped.status, 204)
  const state = await stateOf(person, recoveryLinkId)
  assert.ok(state === 'cancelled' || state === 'undone', state)
  assert.deepEqual(errorOf(await signIn(world, authenticator)), [401, 'invalid_credential'])
  if (state === 'undone') await takeNotices(1)
})

test('PEO-05 a completed recovery ends sessions and tokens, and operators lose their rights', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const other = await sibling(world, owner)
  const added = { handle: other.handle, role: 'auditor' }
  await recovery.send(world, '/api/admin/operators', { method: 'POST', headers: world.admin, payload: added })
  const app = await world.app()
  const { access_token: token, refresh_token: refresh } = await app.tokens(owner)
  const made = { name: 'A token', permissions: ['people.read'] }
  const url = `/api/admin/tokens?identity_id=${owner.identityId}`
  const admin = await recovery.send(world, url, { method: 'POST', headers: owner.page, payload: made })
  assert.equal(admin.status, 201, admin.text)
  const { authenticator } = await recovery.recover(world, mailbox, owner)
  await takeNotices(1)
  assert.equal((await get('/api/oauth/userinfo', { authorization: `Bearer ${token}` })).status, 401)
  assert.equal((await app.refresh(refresh)).statusCode, 400)
  const { operators } = (await get('/api/admin/operators', world.admin)).body
  const left = operators.map(({ identityId }: Person) => identityId)
  assert.ok(!left.includes(owner.identityId) && !left.includes(other.identityId))
  assert.equal((await get('/api/admin/identities', { authorization: `Bearer ${admin.body.token}` })).status, 401)
  const page = { ...owner.page, cookie: `__Host-countersign=${(await signIn(world, authenticator)).body.sessionToken}` }
  assert.deepEqual(errorOf(await get('/api/admin/identities', page)), [409, 'recovery_hold'])
  assert.equal(
    (await recovery.send(world, '/api/account', { method: 'DELETE', headers: await owner.signIn(), payload: {} }))
      .status,
    204,
  )
})

test('PEO-05 no link is redeemed after the address changed, not even back', async () => {
  const person = await world.person()
  const { token } = await recovery.mailedLink(world, mailbox, person)
  const started = await startRedemption(world, token)
  const email = `${person.handle}@example.org`
  await editAddress(world, person.identityId, 'thief@example.org')
  await mailbox.take()
  await mailbox.take()
  await verifyAddress(world, mailbox, { ...person, headers: await person.signIn() }, email)
  await mailbox.take()
  const { flowId, options } = started.body
  const payload = { token, flowId, credential: newAuthenticator(world).register(options) }
  const finished = await recovery.send(world, '/api/recovery-links/redemption/finish', { method: 'POST', payload })
  assert.deepEqual(errorOf(finished), [410, 'recovery_link_used'])
  assert.deepEqual(errorOf(await startRedemption(world, token)), [410, 'recovery_link_used'])
})

test('PEO-05 a suspended account is recovered and stays suspended', async () => {
  const person = await world.person()
  await recovery.verifiedAWeekAgo(world, mailbox, { person })
  await suspend(world, person)
  assert.equal((await recovery.issue(world, person)).status, 201)
  const { token } = recovery.secretsIn(await mailbox.take())
  const { authenticator } = await redeem(world, token)
  world.pass(day)
  await advanceDue(world.services)
  await takeNotices(1)
  assert.deepEqual(errorOf(await signIn(world, authenticator)), [403, 'account_suspended'])
})

test('PEO-05 the sessions of a recovered passkey end with its identity alone', async () => {
  const person = await world.person()
  await sibling(world, person)
  const { authenticator } = await recovery.recover(world, mailbox, person)
  await takeNotices(1)
  const { headers } = await signIn(world, authenticator)
  await suspend(world, person, { scope: 'identity' })
  assert.ok(!(await isSignedIn(headers)))
  assert.deepEqual(errorOf(await signIn(world, authenticator)), [403, 'account_suspended'])
})

test('PEO-05 without a cooling-off, the passkey is valid at once', async () => {
  const own = await openMailbox()
  const environment = { SMTP_URL: own.url, MAIL_FROM: 'id@example.com', RECOVERY_COOLING_OFF_HOURS: '0' }
  const quick = await createWorld({ environment })
  try {
    const person = await quick.person()
    const { token } = await recovery.mailedLink(quick, own, person)
    const { body, authenticator } = await redeem(quick, token)
    assert.equal(body.validFrom, quick.now().toISOString())
    assert.match((await own.take()).subject, /recovered/)
    assert.equal((await signIn(quick, authenticator)).status, 200)
  } finally {
    await quick.close()
    await own.close()
  }
})

test('RCL-08 an identity is listed as recovering from the use of the link on, and its sibling is not', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  const { token, stop } = await recovery.mailedLink(world, mailbox, person)
  const { list } = openDirectory(world)
  const statusOf = async ({ handle }: { handle: string }) => (await list({ q: handle })).identities[0]?.status
  assert.equal(await statusOf(person), 'active')
  await redeem(world, token)
  const { identities } = await list({ status: 'recovering', createdFrom: '2000-01-01T00:00:00Z' })
  const own = identities.find(({ identityId }) => identityId === person.identityId)
  assert.deepEqual([own?.statusReason, own?.statusAt], ['Lost the phone', world.now().toISOString()])
  const listed = async (status: string) => (await list({ status, limit: '100' })).identities.map(({ handle }) => handle)
  assert.ok((await listed('recovering')).every((handle) => handle !== other.handle))
  const active = await listed('active')
  assert.ok(active.includes(other.handle) && !active.includes(person.handle))
  assert.equal(await statusOf(other), 'active')
  await suspend(world, person)
  assert.equal(await statusOf(person), 'suspended')
  assert.ok(!(await listed('recovering')).includes(person.handle))
  await activate(world, person)
  assert.equal(await statusOf(person), 'recovering')
  assert.equal((await stopByMail(stop)).status, 204)
  assert.equal(await statusOf(person), 'active')
})
