import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

const local = { host: 'localhost:4401' }

let world: TestWorld
before(async () => {
  world = await createWorld()
  const { headers, identityId } = await world.person('ada')
  const url = `/api/identities/${identityId}/email`
  const sent = await world.api.inject({ method: 'POST', url, headers, payload: { email: 'ada@example.com' } })
  assert.equal(sent.statusCode, 200)
})
after(() => world.close())

test('the developer of a service without a mail server reads its mails at /dev/mail', async () => {
  const page = await world.auth.inject({ url: '/dev/mail', headers: local })
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /"page":"dev-mail"/)
  assert.match(page.body, /"devMail":true/)
  assert.doesNotMatch(page.body, /ada@example\.com/)
  const { mails } = (await world.auth.inject({ url: '/dev/mail/messages', headers: local })).json()
  assert.equal(mails.length, 1)
  assert.equal(mails[0].to, 'ada@example.com')
  assert.match(mails[0].text, /^\d{6}\n/)
})

test('HLP-10 the inbox keeps the latest hundred mails', async () => {
  const { inbox } = world.kernel.mail
  for (let count = 0; count < 120; count += 1) inbox?.receive({ to: 'b@example.com', subject: `${count}`, text: 'x' })
  assert.equal(inbox?.list().length, 100)
  assert.equal(inbox?.list()[0]?.subject, '119')
})

const strangers: Record<string, { remoteAddress?: string; headers: Record<string, string> }> = {
  'another machine': { remoteAddress: '192.168.1.20', headers: local },
  'another machine, over IPv6': { remoteAddress: '2001:db8::1', headers: local },
  'another machine that claims a local address': {
    remoteAddress: '203.0.113.9',
    headers: { ...local, 'x-forwarded-for': '127.0.0.1' },
  },
  'a tunnel of this machine': { headers: { ...local, 'x-forwarded-for': '203.0.113.9' } },
  'a tunnel that claims a local address': { headers: { ...local, 'x-forwarded-for': '127.0.0.1' } },
  'a proxy with the standard header': { headers: { ...local, forwarded: 'for=127.0.0.1' } },
  'a proxy with another header': { headers: { ...local, 'x-real-ip': '127.0.0.1' } },
  'a name that points here': { headers: { host: 'evil.example:4401' } },
  'a name that begins as a local one': { headers: { host: 'localhost.evil.example' } },
  'a name with credentials': { headers: { host: 'localhost@evil.example' } },
}

for (const [who, from] of Object.entries(strangers))
  test(`HLP-04 mails of development do not exist for ${who}`, async () => {
    for (const url of ['/dev/mail', '/dev/mail/messages'])
      for (const trusting of [world, await trustingWorld()]) {
        const answer = await trusting.auth.inject({ url, ...from })
        assert.equal(answer.statusCode, 404, url)
        assert.doesNotMatch(answer.body, /"mails"|"page":"dev-mail"/)
      }
  })

let opened: Promise<TestWorld> | undefined
/** A service that trusts every proxy on this machine. */
function trustingWorld(): Promise<TestWorld> {
  return (opened ??= createWorld({ environment: { TRUST_PROXY: '1' } }))
}
after(async () => (await opened)?.close())

test('HLP-05 a service with a mail server, or with public URLs, has no inbox', async (t) => {
  const hosted = {
    BASE_URL: 'https://api.example.com',
    AUTH_URL: 'https://id.example.com',
    BUSINESS_URL: 'https://business.example.com',
    ALLOW_EMBEDDED: '1',
  }
  const mailed = { SMTP_URL: 'smtp://localhost:2525', MAIL_FROM: 'id@example.com' }
  for (const environment of [hosted, mailed, { AUTH_URL: 'https://id.example.com', ALLOW_EMBEDDED: '1' }]) {
    const other = await createWorld({ environment })
    t.after(() => other.close())
    for (const url of ['/dev/mail', '/dev/mail/messages'])
      assert.equal((await other.auth.inject({ url, headers: local })).statusCode, 404)
    assert.match((await other.auth.inject({ url: '/login' })).body, /"devMail":false/)
  }
})

test('HLP-04 no other site can read the mails, and no page can frame them', async () => {
  const { headers } = await world.auth.inject({
    url: '/dev/mail/messages',
    headers: { ...local, origin: 'http://localhost:4402', 'sec-fetch-site': 'same-site' },
  })
  assert.equal(headers['access-control-allow-origin'], undefined)
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
  for (const host of [world.api, world.business])
    assert.equal((await host.inject({ url: '/dev/mail/messages', headers: local })).statusCode, 421)
})
