import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { editAddress, verifyAddress } from '#testing/people.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' }
  world = await createWorld({ environment, rateLimits: true })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const email = 'bob@acme.example'

async function inviteToRegister(): Promise<number> {
  const payload = { kind: 'mail', email }
  const url = '/api/admin/invitations'
  return (await world.api.inject({ method: 'POST', url, headers: world.admin, payload })).statusCode
}

test('GRW-57 a user who has mailed an address stops neither the mails of operators nor its verification', async () => {
  const [stranger, bob] = [await world.person(), await world.person()]
  const { id } = await createOrganization(world, stranger)
  const invite = async (requester: Pick<Person, 'headers'>): Promise<boolean> => {
    const invitation = { email, role: 'member' }
    return (await businessRequest(world, requester, `POST /organizations/${id}/invitations`, invitation)).json().mailed
  }
  for (let nth = 0; nth < 10; nth += 1) {
    assert.equal(await invite(stranger), true)
    await mailbox.take()
  }
  // Each session has half of `mails-per-user`.
  assert.equal(await invite({ headers: await stranger.signIn() }), false)

  assert.equal(await inviteToRegister(), 201)
  await mailbox.take()
  await editAddress(world, bob.identityId, email)
  await mailbox.take()
  await verifyAddress(world, mailbox, bob, email)
})

test('GRW-57 operators mail an address ten times a day', async () => {
  world.pass(25 * 3600)
  for (let nth = 0; nth < 10; nth += 1) {
    assert.equal(await inviteToRegister(), 201)
    await mailbox.take()
  }
  assert.equal(await inviteToRegister(), 429)
})
