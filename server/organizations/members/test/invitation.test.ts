import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, createOrganization, membersOf, reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { pruneInvitations } from '#organizations/members/invitations/invitation.ts'

let mailbox: Mailbox
let world: TestWorld
let owner: Person
let id: OrganizationId
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  owner = await world.person()
  id = (await createOrganization(world, owner)).id
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const invite = (payload: object, person: Pick<Person, 'headers'> = owner) =>
  businessRequest(world, person, `POST /organizations/${id}/invitations`, payload)

const accept = (token: string, { headers, identityId }: Pick<Person, 'headers' | 'identityId'>) =>
  businessRequest(world, { headers }, `POST /invitations/${token}/accept`, { identityId })

const open = (token: string, person: Person) => businessRequest(world, person, `GET /invitations/${token}`)

async function invited(person: Person, role = 'member'): Promise<{ token: string; invitationId: string }> {
  const answer = await invite({ handle: person.handle, role })
  assert.equal(answer.statusCode, 201, answer.body)
  return { token: answer.json().token, invitationId: answer.json().invitation.invitationId }
}

async function isMember({ identityId }: Person): Promise<boolean> {
  return (await membersOf(world, id, owner)).some((member) => member.identityId === identityId)
}

async function proveEmail({ headers, identityId }: Person, email: string): Promise<void> {
  const post = (step: string, payload: object) =>
    world.api.inject({ method: 'POST', url: `/api/identities/${identityId}/email${step}`, headers, payload })
  await post('', { email })
  const proved = await post('/verify', { code: codeIn(await mailbox.take()) })
  assert.equal(proved.statusCode, 200, proved.body)
}

test('a user invited by handle sees organization, inviter and identity, and joins with one request', async () => {
  const person = await world.person()
  const answer = await invite({ handle: person.handle.toUpperCase(), role: 'signer' })
  const { invitation, token, url, mailed } = answer.json()
  assert.deepEqual(
    [invitation.handle, invitation.email, invitation.role, mailed],
    [person.handle, null, 'signer', false],
  )
  assert.equal(url, `http://localhost:4402/invitations/${token}`)
  assert.match(token, /^cs_invite_[\w-]{92}$/)
  const opened = (await open(token, person)).json().invitation
  assert.deepEqual(
    [opened.organization.name, opened.invitedBy.handle, opened.role, opened.identityIds],
    ['Acme', owner.handle, 'signer', [person.identityId]],
  )
  const accepted = await accept(token, person)
  assert.equal(accepted.statusCode, 201, accepted.body)
  assert.deepEqual([accepted.json().organization.id, accepted.json().organization.role], [id, 'signer'])
})

test('a user invited by e-mail gets a mail, and joins as the identity that verifies the address', async () => {
  const email = `ada-${randomBytes(4).toString('hex')}@acme.example`
  const answer = await invite({ email: email.replace('acme', 'ACME'), role: 'admin' })
  const { invitation, token, mailed } = answer.json()
  assert.deepEqual([invitation.email, invitation.handle, mailed], [email, null, true])
  const mail = await mailbox.take()
  assert.ok(mail.to.includes(email) && mail.text.includes('/invitations/cs_invite_') && !mail.text.includes(token))
  const person = await world.person()
  const early = await accept(token, person)
  assert.deepEqual([early.statusCode, early.json().error], [403, 'invitation_not_for_you'])
  await proveEmail(person, email)
  assert.equal((await accept(token, person)).statusCode, 201)
})

test('the invitation mail is in the language of the inviter', async () => {
  const headers = { ...owner.headers, 'accept-language': 'de' }
  await invite({ email: 'ada@acme.example', role: 'viewer' }, { headers })
  assert.match((await mailbox.take()).text, /lädt dich ein, Acme beizutreten/)
})

test('ORG-08 only the invited identity can accept an invitation', async () => {
  const [person, stranger] = [await world.person(), await world.person()]
  const { token } = await invited(person)
  const foreign = await accept(token, stranger)
  assert.deepEqual([foreign.statusCode, foreign.json().error], [403, 'invitation_not_for_you'])
  assert.deepEqual((await open(token, stranger)).json().invitation.identityIds, [])
  const asThem = await accept(token, { headers: stranger.headers, identityId: person.identityId })
  assert.deepEqual([asThem.statusCode, asThem.json().error], [404, 'identity_not_found'])
  assert.equal(await isMember(stranger), false)
  assert.equal((await accept(token, person)).statusCode, 201, 'and attempts by other identities do not consume it')
})

test('REC-03 ORG-08 an invitation is consumed by its first use', async () => {
  const person = await world.person()
  const { token } = await invited(person)
  assert.equal((await accept(token, person)).statusCode, 201)
  const again = await accept(token, person)
  assert.deepEqual([again.statusCode, again.json().error], [404, 'invitation_not_found'])
  const opened = await world.business.inject({ url: `/api/invitations/${token}`, headers: person.headers })
  assert.deepEqual([opened.statusCode, opened.json().error], [404, 'invitation_not_found'])
  const url = '/api/auth/passkeys'
  const { passkeys } = (await world.api.inject({ url, headers: person.headers })).json()
  assert.equal(passkeys.length, 1, 'and does not register a passkey')
  const other = await invite({ handle: person.handle, role: 'owner' })
  assert.deepEqual([other.statusCode, other.json().error], [409, 'already_member'])
})

test('ORG-08 an edited, expired or revoked invitation, or one of a deleted organization, is invalid', async () => {
  const person = await world.person()
  const { token } = await invited(person)
  const edited = `${token.slice(0, 20)}${token[20] === 'A' ? 'B' : 'A'}${token.slice(21)}`
  const withdrawn = await invited(person)
  const url = `/organizations/${id}/invitations/${withdrawn.invitationId}`
  assert.equal((await businessRequest(world, owner, `DELETE ${url}`)).statusCode, 204)
  const gone = await createOrganization(world, owner, 'Gone')
  const ofGone = await businessRequest(world, owner, `POST /organizations/${gone.id}/invitations`, {
    handle: person.handle,
    role: 'member',
  })
  assert.equal((await businessRequest(world, owner, `DELETE /organizations/${gone.id}`)).statusCode, 204)
  for (const dead of [edited, 'cs_invite_none', withdrawn.token, ofGone.json().token]) {
    const answer = await accept(dead, person)
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'invitation_not_found'])
    assert.equal((await open(dead, person)).statusCode, 404)
  }
  world.pass(7 * 24 * 3600)
  person.headers = await person.signIn()
  assert.equal((await accept(token, person)).statusCode, 404)
  assert.equal(await isMember(person), false)
  assert.ok((await pruneInvitations(world.db, world.now(), 100)) > 0)
  owner.headers = await owner.signIn()
})

test('ORG-08 sixteen concurrent uses of one invitation create one member', async () => {
  const email = 'everybody@acme.example'
  const { token } = (await invite({ email, role: 'member' })).json()
  await mailbox.take()
  const people = await Promise.all([world.person(), world.person(), world.person(), world.person()])
  for (const person of people) await proveEmail(person, email)
  const answers = await Promise.all(Array.from({ length: 16 }, (_, nth) => accept(token, people[nth % 4] ?? owner)))
  const codes = answers.map(({ statusCode }) => statusCode).toSorted()
  assert.deepEqual(codes, [201, ...Array.from({ length: 15 }, () => 404)])
  const joined = await Promise.all(people.map(isMember))
  assert.equal(joined.filter(Boolean).length, 1)
})

test('ORG-09 the token of an invitation is returned once, and cannot be read later', async () => {
  const { token, invitationId } = await invited(await world.person())
  const url = `/organizations/${id}/invitations`
  const [list, one] = [
    await businessRequest(world, owner, `GET ${url}`),
    await businessRequest(world, owner, `GET ${url}/${invitationId}`),
  ]
  assert.ok(list.json().invitations.some((each: { invitationId: string }) => each.invitationId === invitationId))
  for (const { body } of [list, one]) assert.ok(!body.includes(token.slice(-20)))
  const shown = ['invitationId', 'role', 'handle', 'email', 'expiresAt', 'createdAt', 'invitedBy', 'mailedAt']
  assert.deepEqual(Object.keys(one.json().invitation), shown)
})

test('ORG-02 every invitation requires recent authentication, whatever its role', async () => {
  const { handle } = await world.person()
  const headers = await signInByOrganization(world, owner, { organizationId: id })
  const roles = ['owner', 'admin', 'signer', 'member', 'viewer']
  world.pass(301)
  for (const role of roles) {
    const stale = await invite({ handle, role })
    assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'], role)
    const named = await invite({ handle, role }, { headers })
    assert.deepEqual([named.statusCode, named.json().error], [403, 'passkey_required'], role)
  }
  await reauthenticate(world, owner)
  for (const role of roles) assert.equal((await invite({ handle, role })).statusCode, 201, role)
})

test('pending invitations are revoked when their creator loses the permission', async () => {
  const [admin, person] = [await world.person(), await world.person()]
  const { token } = await invited(admin, 'admin')
  await accept(token, admin)
  const theirs = (await invite({ handle: person.handle, role: 'member' }, admin)).json().token
  const [member] = (await membersOf(world, id, owner)).filter(({ identityId }) => identityId === admin.identityId)
  const path = `/organizations/${id}/members/${member?.memberId}`
  assert.equal((await businessRequest(world, owner, `PATCH ${path}`, { role: 'member' })).statusCode, 200)
  assert.equal((await accept(theirs, person)).statusCode, 404)
})

test('an invitation needs exactly one of a known handle and a valid address', async () => {
  const { handle } = await world.person()
  const wrong: [object, number, string][] = [
    [{ role: 'member' }, 400, 'invalid_request'],
    [{ handle, email: 'a@acme.example', role: 'member' }, 400, 'invalid_request'],
    [{ email: 'a@acme', role: 'member' }, 400, 'invalid_email'],
    [{ handle: 'nobody-of-this-name', role: 'member' }, 404, 'identity_not_found'],
    [{ handle, role: 'king' }, 400, 'invalid_request'],
  ]
  for (const [payload, status, error] of wrong) {
    const answer = await invite(payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [status, error], JSON.stringify(payload))
  }
})
