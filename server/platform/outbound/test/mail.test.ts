import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#platform/api-error.ts'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { startService } from '#testing/service.ts'
import { createWorld } from '#testing/world.ts'
import { createAuthenticator } from '#testing/authenticator.ts'

const hosted = {
  BASE_URL: 'https://api.example.com',
  AUTH_URL: 'https://id.example.com',
  BUSINESS_URL: 'https://business.example.com',
  ALLOW_EMBEDDED: '1',
}

test('a hosted service without a mail server reports that in the API and on its pages', async () => {
  const world = await createWorld({ environment: hosted })
  const { headers, identityId } = await world.person()
  const answer = await world.api.inject({
    method: 'POST',
    url: `/api/identities/${identityId}/email`,
    headers,
    payload: { email: 'ada@example.com' },
  })
  assert.deepEqual([answer.statusCode, answer.json().error], [503, 'mail_not_set_up'])
  assert.match((await world.auth.inject({ url: '/account' })).body, /"mail":false/)
  await world.close()
})

test('if no mail server responds, the user can retry and the service keeps running', async () => {
  const mailbox = await openMailbox()
  await mailbox.close()
  const world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  const { headers, identityId } = await world.person()
  const answer = await world.api.inject({
    method: 'POST',
    url: `/api/identities/${identityId}/email`,
    headers,
    payload: { email: 'ada@example.com' },
  })
  assert.deepEqual([answer.statusCode, answer.json().error], [503, 'temporarily_unavailable'])
  assert.equal(answer.headers['retry-after'], '30')
  assert.match((await world.auth.inject({ url: '/account' })).body, /"mail":true/)
  await world.close()
})

test('LOD-10 a mail server that is away is a fault of the service, and a refused recipient is none', async () => {
  const mailbox = await openMailbox()
  const world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  const faultOf = () =>
    world.kernel.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' }).then(
      () => 'sent',
      (error: unknown) => (error instanceof ApiError ? [error.status, error.fault] : error),
    )
  mailbox.refuse(450)
  assert.deepEqual(await faultOf(), [503, undefined])
  await mailbox.close()
  assert.deepEqual(await faultOf(), [503, 'mail_unavailable'])
  await world.close()
})

test('mails are limited per address and per user a day, and no user uses up an address', async () => {
  const mailbox = await openMailbox()
  const world = await createWorld({
    environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com', RATE_LIMIT_NUMBERS: 'mails-per-user=6' },
    rateLimits: true,
  })
  const ask = async ({ headers, identityId }: Awaited<ReturnType<typeof world.person>>, email: string) => {
    const url = `/api/identities/${identityId}/email`
    return (await world.api.inject({ method: 'POST', url, headers, payload: { email } })).statusCode
  }
  const askOften = async (person: Awaited<ReturnType<typeof world.person>>, count: number) => {
    for (let nth = 0; nth < count; nth += 1) assert.equal(await ask(person, 'mailbox@example.com'), 200)
  }
  const [ada, ...others] = await Promise.all(Array.from({ length: 6 }, () => world.person()))
  assert.ok(ada)
  // Half of the limit in each session, and one more after each authentication.
  const again = { ...ada, headers: await ada.signIn() }
  await askOften(ada, 4)
  assert.equal(await ask(ada, 'another@example.com'), 429)
  await askOften(again, 1)
  assert.equal(await ask(again, 'MAILBOX@example.com'), 429)
  assert.equal(await ask(again, 'another@example.com'), 200)
  for (const other of others.slice(0, 3)) await askOften(other, 4)
  const [owner, late] = others.slice(3)
  assert.ok(owner && late)
  await askOften(owner, 3)
  assert.equal(await ask(late, 'MAILBOX@example.com'), 429)
  assert.equal(mailbox.count(), 21)
  await Promise.all([world.close(), mailbox.close()])
})

test('REC-06 a mail contains the configured host, whatever Host a request has', async () => {
  const mailbox = await openMailbox()
  const world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  const { headers, identityId } = await world.person()
  const claimed = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  await world.api.inject({
    method: 'POST',
    url: `/api/identities/${identityId}/email`,
    headers: { ...headers, ...claimed },
    payload: { email: 'ada@example.com' },
  })
  const { headers: sent, text } = await mailbox.take()
  assert.match(text, /localhost:4401/)
  assert.doesNotMatch(sent + text, /evil/)
  await Promise.all([world.close(), mailbox.close()])
})

test('in development mails are logged with their codes', async (t) => {
  const service = await startService({ environment: { LOG_LEVEL: 'info' } })
  t.after(() => service.close())
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return JSON.parse(await answer.text())
  }
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const { flowId, options } = await send('/api/auth/register/start', { handle: 'ada', displayName: 'Ada' })
  const credential = authenticator.register(options)
  const { sessionToken, identities } = await send('/api/auth/register/finish', { flowId, credential })
  const session = { authorization: `Bearer ${sessionToken}` }
  const path = `/api/identities/${identities[0].identityId}/email`
  await send(path, { email: 'ada@example.com' }, session)
  const written = () =>
    service
      .output()
      .split('\n')
      .find((line) => line.includes('SMTP_URL is not set'))
  await service.wrote(() => written() !== undefined)
  const { mail } = JSON.parse(written() ?? '')
  assert.equal(mail.to, 'ada@example.com')
  assert.equal((await send(`${path}/verify`, { code: codeIn(mail) }, session)).email, 'ada@example.com')
})
