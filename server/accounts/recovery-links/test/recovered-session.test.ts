import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { endpoints } from '#platform/process/openapi.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { makeOperator, sibling } from '#testing/operators.ts'
import { createOrganization } from '#testing/organization.ts'
import { verifyAddress } from '#testing/people.ts'
import * as recovery from '#testing/recovery.ts'
import { day, signIn } from '#testing/recovery.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { advanceDue } from '../completion.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com', DEVELOPER_PORTAL: 'on' }
  world = await createWorld({ environment })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Headers = Record<string, string>
const get = (url: string, headers: Headers) => recovery.send(world, url, { method: 'GET', headers })
const post = (url: string, headers: Headers, payload: object) =>
  recovery.send(world, url, { method: 'POST', headers, payload })
const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const newCode = () => randomBytes(32).toString('base64url')

/** Creates a user with two identities and a recovery code, and recovers the first. */
async function recoveredWithSibling() {
  const person = await world.person()
  const other = await sibling(world, person)
  const recoveryAuth = newCode()
  const kept = { method: 'PUT', url: '/api/account/recovery', headers: person.headers } as const
  const code = await world.api.inject({ ...kept, payload: { recoveryAuth, ciphertext: 'sealed' } })
  assert.equal(code.statusCode, 200, code.body)
  const link = await recovery.recover(world, mailbox, person)
  assert.match((await mailbox.take()).subject, /recovered/)
  const signedIn = await signIn(world, link.authenticator)
  assert.equal(signedIn.status, 200, signedIn.text)
  return { person, other, recoveryAuth, ...link, signedIn, headers: signedIn.headers }
}

/** Endpoints that the manual names for such a session. */
const documented = new Set(
  readFileSync(new URL('../../../../docs/operations/recovery.md', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line) => /^\| `([A-Z]+ \/[^`]+)` \|/.exec(line)?.[1] ?? []),
)

test('PEO-04 a recovered passkey reaches only the documented endpoints, during the hold and after it', async () => {
  const { other, headers, signedIn } = await recoveredWithSibling()
  const forUsers = endpoints.map(({ endpoint }) => endpoint).filter(({ config }) => config.security === 'session')
  assert.ok(forUsers.length > 100 && documented.size > 8, String(documented.size))
  for (const name of documented)
    assert.ok(
      forUsers.some((endpoint) => endpoint.name === name),
      name,
    )
  const walk = async (refusal: [number, string]) => {
    for (const { name, method, url, config } of forUsers) {
      const isOpen = documented.has(name)
      assert.equal(config.recoveredSession, isOpen, name)
      const ends = name === 'DELETE /api/auth/session'
      if (ends) continue
      const host = config.host === 'business' ? world.business : world.api
      const answer = await host.inject({ method, url: url.replaceAll(/:\w+/g, other.identityId), headers })
      const error = answer.body === '' ? undefined : answer.json().error
      assert.equal(answer.statusCode === refusal[0] && error === refusal[1], !isOpen, `${name}: ${answer.body}`)
      for (const secret of [other.handle, other.identityId])
        assert.ok(!answer.body.includes(secret), `${name} names a sibling: ${answer.body}`)
    }
  }
  await walk([409, 'recovery_hold'])
  world.pass(7 * day)
  await advanceDue(world.services)
  await walk([403, 'recovery_limited'])
  for (const secret of [other.handle, other.identityId]) assert.ok(!signedIn.text.includes(secret))
  assert.equal((await recovery.send(world, '/api/auth/session', { method: 'DELETE', headers })).status, 204)
})

test('PEO-04 a recovered passkey sees and uses its identity alone', async () => {
  const { person, other, headers, signedIn } = await recoveredWithSibling()
  const idsOf = (body: { identities: { identityId: string }[] }) => body.identities.map((each) => each.identityId)
  assert.deepEqual([idsOf(signedIn.body), signedIn.body.keyWraps], [[person.identityId], []])
  const { body: session } = await get('/api/auth/session', headers)
  assert.deepEqual([session.authMethod, idsOf(session)], ['recovered_passkey', [person.identityId]])
  assert.equal(session.recoveryCode, undefined)
  assert.deepEqual(errorOf(await get(`/api/identities/${other.identityId}`, headers)), [404, 'identity_not_found'])
  const app = await world.app()
  assert.ok((await app.tokens({ headers, identityId: person.identityId })).access_token)
  await assert.rejects(app.tokens({ headers, identityId: other.identityId }), /identity_not_found/)
  const linking = await world.app({ allowedScopes: ['openid', 'user_id'] })
  const scope = 'openid user_id'
  await assert.rejects(linking.tokens({ headers, identityId: person.identityId }, { scope }), /recovery_hold/)
  const { id: organizationId } = await createOrganization(world, { ...person, headers: await person.signIn() })
  const url = `/api/oauth/authorization/${app.clientId}?identity_id=${person.identityId}&organization_id=any`
  assert.deepEqual((await get(url, headers)).body.organizations, [])
  await assert.rejects(app.tokens({ headers, identityId: person.identityId }, { organizationId }), /recovery_hold/)
})

test('PEO-04 no operator request, FedCM request or business request is made by a recovered passkey', async () => {
  const { person, signedIn } = await recoveredWithSibling()
  const operator = await makeOperator(world, person, 'people')
  const token: string = signedIn.body.sessionToken
  const cookie = `__Host-countersign=${token}`
  assert.deepEqual(errorOf(await get('/api/admin/identities', { ...operator.page, cookie })), [409, 'recovery_hold'])
  const resolved = await world.api.inject({ url: '/fedcm/resolve', headers: { cookie } })
  assert.equal(resolved.headers['set-login'], 'logged-out', `${resolved.statusCode} ${resolved.body.slice(0, 300)}`)
  const { origin } = world.config.businessUrl
  const headers = { authorization: `Bearer ${token}`, origin }
  assert.deepEqual(errorOf(await post('/api/auth/session/business', headers, {})), [409, 'recovery_hold'])
})

test('PEO-04 the sessions of a recovered passkey and of others do not authenticate each other', async () => {
  const { person, authenticator, headers } = await recoveredWithSibling()
  const old = await person.signIn()
  const reauthenticate = async (session: Headers, by: Pick<typeof authenticator, 'authenticate'>) => {
    const { flowId, options } = (await post('/api/auth/reauthenticate/start', session, {})).body
    const payload = { flowId, credential: by.authenticate(options) }
    return post('/api/auth/reauthenticate/finish', session, payload)
  }
  assert.equal((await reauthenticate(headers, authenticator)).status, 200)
  assert.equal((await reauthenticate(old, person.authenticator)).status, 200)
  assert.deepEqual(errorOf(await reauthenticate(old, authenticator)), [401, 'invalid_credential'])
  assert.deepEqual(errorOf(await reauthenticate(headers, person.authenticator)), [401, 'invalid_credential'])
  const { passkeys } = (await get('/api/auth/passkeys', old)).body
  assert.deepEqual(
    passkeys.map(({ credentialId }: { credentialId: string }) => credentialId),
    [person.authenticator.credentialId],
  )
})

test('PEO-06 the recovery code makes a recovered passkey one of the account, a wrong one does not', async () => {
  const { person, other, recoveryAuth, authenticator, headers } = await recoveredWithSibling()
  const lift = (code: string, by: Headers = headers) =>
    post('/api/account/recovery-limit/lift', by, { recoveryAuth: code })
  assert.deepEqual(errorOf(await lift(newCode())), [401, 'invalid_credential'])
  assert.deepEqual(errorOf(await get('/api/auth/passkeys', headers)), [409, 'recovery_hold'])
  const answers = await Promise.all([lift(recoveryAuth), lift(recoveryAuth)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 409])
  const { body: session } = await get('/api/auth/session', headers)
  assert.deepEqual([session.authMethod, session.identities.length], ['passkey', 2])
  const { passkeys } = (await get('/api/auth/passkeys', headers)).body
  assert.deepEqual(
    passkeys.map(({ credentialId, opensKeys }: { credentialId: string; opensKeys: boolean }) => [
      credentialId,
      opensKeys,
    ]),
    [
      [person.authenticator.credentialId, false],
      [authenticator.credentialId, false],
    ],
  )
  const again = await signIn(world, authenticator)
  assert.equal((await get(`/api/identities/${other.identityId}`, again.headers)).status, 200)
  assert.deepEqual((await get('/api/account/recovery-links', headers)).body, { recoveryLinks: [] })
})

test('PEO-06 only a session of another passkey, recently used, accepts a recovered passkey', async () => {
  const { person, other, authenticator, recoveryLinkId, headers } = await recoveredWithSibling()
  const accept = (by: Headers) => post(`/api/account/recovery-links/${recoveryLinkId}/acceptance`, by, {})
  assert.deepEqual(errorOf(await accept(headers)), [409, 'recovery_hold'])
  const stranger = await world.person()
  assert.deepEqual(errorOf(await accept(stranger.headers)), [404, 'recovery_link_not_found'])
  const old = await person.signIn()
  world.pass(301)
  assert.deepEqual(errorOf(await accept(old)), [403, 'reauthentication_required'])
  assert.equal((await accept(await person.signIn())).status, 204)
  assert.deepEqual(errorOf(await accept(await person.signIn())), [404, 'recovery_link_not_found'])
  const again = await signIn(world, authenticator)
  assert.equal((await get(`/api/identities/${other.identityId}`, again.headers)).status, 200)
})

test('PEO-06 after the hold, the passkey is one of the account if there is no other identity', async () => {
  const person = await world.person()
  const { authenticator } = await recovery.recover(world, mailbox, person)
  await mailbox.take()
  const { headers } = await signIn(world, authenticator)
  const payload = { credentialId: randomUUID() }
  for (const [method, url] of [
    ['DELETE', `/api/auth/passkeys/${person.authenticator.credentialId}`],
    ['DELETE', `/api/identities/${person.identityId}/email`],
    ['POST', `/api/identities/${person.identityId}/email`],
    ['DELETE', '/api/account'],
    ['POST', '/api/account/export'],
    ['GET', '/api/account/export'],
  ] as const) {
    const answer = await world.api.inject({ method, url, headers, ...(method !== 'GET' && { payload }) })
    if (answer.statusCode === 404 || answer.statusCode === 405) continue
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'recovery_hold'], `${method} ${url}`)
  }
  world.pass(7 * day)
  await advanceDue(world.services)
  assert.equal((await get('/api/auth/passkeys', headers)).status, 200)
  const old = await person.signIn()
  assert.deepEqual((await get('/api/account/recovery-links', old)).body, { recoveryLinks: [] })
})

test('PEO-06 a further recovery of the same identity replaces the passkey of the earlier one', async () => {
  const { person, other, authenticator } = await recoveredWithSibling()
  world.pass(7 * day)
  await advanceDue(world.services)
  await verifyAddress(world, mailbox, { ...other, headers: await person.signIn() }, `${other.handle}@example.org`)
  const issued = await recovery.issue(world, person)
  assert.equal(issued.status, 201, issued.text)
  const { token } = recovery.secretsIn(await mailbox.take())
  await mailbox.take()
  const { authenticator: next } = await recovery.redeem(world, token)
  assert.equal((await signIn(world, authenticator)).status, 200)
  world.pass(day)
  await advanceDue(world.services)
  const notices = [await mailbox.take(), await mailbox.take()]
  const notice = notices.find(({ to }) => to[0]?.startsWith(other.handle))
  assert.ok(notice && !notice.text.includes(person.handle))
  assert.deepEqual(errorOf(await signIn(world, authenticator)), [401, 'invalid_credential'])
  assert.equal((await signIn(world, next)).status, 200)
})

test('PEO-04 the recovery of a sibling joins nothing: each passkey opens its own identity', async () => {
  const { person, other, authenticator } = await recoveredWithSibling()
  const both: Person = { ...other, headers: await person.signIn() }
  await recovery.verifiedAWeekAgo(world, mailbox, { person: both })
  await advanceDue(world.services)
  const issued = await recovery.issue(world, other)
  assert.equal(issued.status, 201, issued.text)
  const { token } = recovery.secretsIn(await mailbox.take())
  await mailbox.take()
  const { authenticator: second } = await recovery.redeem(world, token)
  world.pass(day)
  await advanceDue(world.services)
  await mailbox.take()
  await mailbox.take()
  for (const [by, own] of [
    [authenticator, person],
    [second, other],
  ] as const) {
    const { body } = await signIn(world, by)
    assert.deepEqual(
      body.identities.map(({ identityId }: Person) => identityId),
      [own.identityId],
    )
  }
})
