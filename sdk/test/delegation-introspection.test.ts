import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTokenIssuer } from '../../server/testing/token-issuer.ts'
import { Challenge, createResource, CountersignError, verifyDelegatedToken } from '../src/resource/resource.ts'

const audience = 'https://calendar.example/api'
const introspection = '/api/oauth/introspect'
const app = { clientId: 'app_calendar', clientSecret: 'cs_test' }

async function openCalendar(t: TestContext, everySeconds?: number) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const issuer = await startTokenIssuer()
  t.after(() => issuer.close())
  const introspect = { baseUrl: issuer.origin, ...app, everySeconds }
  const settings = { authUrl: issuer.origin, audience, introspect }
  return {
    ...createResource(settings),
    settings,
    issuer,
    pass: (seconds: number) => t.mock.timers.setTime(Date.now() + seconds * 1000),
    says: (body: unknown) => issuer.says(introspection, { body }),
    requestCount: () => issuer.countOf(introspection),
  }
}

const ended = (error: unknown) => error instanceof Challenge && error.description === 'The delegation has been revoked.'
const cannotVerify = (error: unknown) =>
  error instanceof CountersignError && error.code === 'verification_unavailable' && error.status === 503

test('a revocation takes effect within a minute, before the token expires', async (t) => {
  const calendar = await openCalendar(t)
  const token = calendar.issuer.issue()
  calendar.says({ active: true })
  await calendar.verify(token)
  const { body } = calendar.issuer.requested.at(-1) ?? {}
  assert.equal(body, new URLSearchParams({ token, client_id: 'app_calendar', client_secret: 'cs_test' }).toString())

  calendar.says({ active: false })
  calendar.pass(59)
  await calendar.verify(token)
  assert.equal(calendar.requestCount(), 1)
  calendar.pass(1)
  await assert.rejects(calendar.verify(token), ended)
  await assert.rejects(calendar.verify(token), ended)
  assert.equal(calendar.requestCount(), 2)
})

test('concurrent requests with one token share an introspection, and other tokens do not', async (t) => {
  const calendar = await openCalendar(t)
  calendar.says({ active: true })
  const [token, another] = [calendar.issuer.issue(), calendar.issuer.issue()]
  await Promise.all([calendar.verify(token), calendar.verify(token), calendar.verify(another)])
  assert.equal(calendar.requestCount(), 2)
})

test('an invalid token is not introspected', async (t) => {
  const calendar = await openCalendar(t)
  await assert.rejects(calendar.verify(calendar.issuer.issue({ aud: 'https://mail.example' })), Challenge)
  assert.equal(calendar.requestCount(), 0)
})

test('everySeconds 0 introspects each request', async (t) => {
  const calendar = await openCalendar(t, 0)
  const token = calendar.issuer.issue()
  calendar.says({ active: true })
  await calendar.verify(token)
  calendar.says({ active: false })
  await assert.rejects(calendar.verify(token), ended)
})

test('requests are rejected while the service does not confirm the delegation', async (t) => {
  const calendar = await openCalendar(t)
  const token = calendar.issuer.issue()
  const elsewhere = await startTokenIssuer()
  t.after(() => elsewhere.close())
  elsewhere.says(introspection, { body: { active: true } })
  const location = elsewhere.origin + introspection
  for (const reply of [
    'nothing' as const,
    { status: 503, body: { error: 'temporarily_unavailable' } },
    { status: 401, body: { error: 'invalid_client' } },
    { status: 307, headers: { location }, body: { active: true } },
    { body: '<h1>active</h1>' },
    { body: {} },
    { body: { active: 'true' } },
    { body: null },
  ]) {
    calendar.issuer.says(introspection, reply)
    await assert.rejects(calendar.verify(token), cannotVerify)
  }
  assert.deepEqual(elsewhere.requested, [])
  calendar.says({ active: true })
  await calendar.verify(token)
})

test('the plain function caches by its settings object', async (t) => {
  const { settings, issuer, says, requestCount } = await openCalendar(t)
  says({ active: true })
  const token = issuer.issue()
  for (let time = 0; time < 3; time++) await verifyDelegatedToken(settings, token)
  assert.equal(requestCount(), 1)
  await verifyDelegatedToken({ ...settings }, token)
  assert.equal(requestCount(), 2)
})
