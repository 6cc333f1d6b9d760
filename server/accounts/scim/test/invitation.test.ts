import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { mailDue } from '#accounts/invitations/mailing.ts'
import { openInvited } from '#testing/invited.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { register } from '#testing/registration.ts'
import { type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
let directory: Directory
before(async () => {
  mailbox = await openMailbox()
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com', RATE_LIMIT_NUMBERS: 'scim-requests-per-token=20' }
  world = await createWorld({ environment: mail, rateLimits: true })
  directory = await openDirectory(world)
})
after(async () => {
  await world.close()
  await mailbox.close()
})

async function mailedToken(to: string): Promise<string> {
  while ((await mailDue(world.kernel)) > 0);
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, [to])
  return /register#(cs_inv_[\w-]+)/.exec(mail.text)?.[1] ?? ''
}

test('a user with an address is invited by mail, and again when the address changes', async () => {
  const userName = newName()
  const [first, second] = [`${userName}@one.example`, `${userName}@two.example`]
  const { id } = await directory.created({ userName, emails: [{ value: first, primary: true }] })
  const former = await mailedToken(first)
  await directory.patched(`/Users/${id}`, { op: 'replace', path: 'emails[primary eq true].value', value: second })
  const invitation = await mailedToken(second)
  const names = { handle: userName, displayName: userName }
  assert.equal((await register(world, { invitation: former }, names)).error, 'invitation_expired')
  assert.equal((await register(world, { invitation }, names)).status, 201)
  const { status, email, emailVerified } = await openInvited(world).entryOf(id)
  assert.deepEqual({ status, email, emailVerified }, { status: 'active', email: second, emailVerified: true })
})

test('SCM-10 a directory that sends too many requests is refused in the format of SCIM', async () => {
  const busy = await openDirectory(world)
  for (let sent = 0; sent < 20; sent += 1) assert.equal((await busy.ask('GET', '/Users')).statusCode, 200)
  const refused = await busy.ask('GET', '/Users')
  assert.deepEqual([refused.statusCode, refused.json().status], [429, '429'])
  assert.match(String(refused.headers['content-type']), /^application\/scim\+json/)
  assert.ok(Number(refused.headers['retry-after']) > 0)
})

test('SCM-10 a body of another media type, an unknown path and what is not supported are refused', async () => {
  const other = await openDirectory(world)
  const headers = { authorization: `Bearer ${other.token}`, 'content-type': 'text/plain' }
  const plain = await world.api.inject({ method: 'POST', url: '/scim/v2/Users', headers, payload: 'userName' })
  assert.deepEqual([plain.statusCode, plain.json().status], [415, '415'])
  for (const [method, path, status] of [
    ['GET', '/Me', 501],
    ['POST', '/Bulk', 501],
    ['GET', '/Nothing', 404],
    ['GET', '/Schemas/urn:nothing', 404],
    ['DELETE', '/Users', 405],
  ] as const) {
    const answer = await other.ask(method, path, method === 'POST' ? {} : undefined)
    assert.deepEqual([answer.statusCode, answer.json().status], [status, String(status)], path)
  }
})

test('without a mail server a user is created, and an operator has the link', async (t) => {
  const silent = await createWorld({
    environment: {
      ...{ BASE_URL: 'https://api.example.com', AUTH_URL: 'https://id.example.com' },
      ...{
        BUSINESS_URL: 'https://business.example.com',
        SECRET_KEY: randomBytes(32).toString('base64'),
        ALLOW_EMBEDDED: '1',
      },
    },
  })
  t.after(() => silent.close())
  const quiet = await openDirectory(silent)
  const { id, emails } = await quiet.created({ emails: [{ value: 'ada@example.org' }] })
  assert.deepEqual(emails, [{ value: 'ada@example.org' }])
  const link = await openInvited(silent).operate('POST', `identities/${id}/invitation`, {})
  assert.deepEqual([link.status, link.answer.json<{ invitation: { kind: string } }>().invitation.kind], [201, 'link'])
})
