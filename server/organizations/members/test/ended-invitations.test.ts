import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, membersOf } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

const domain = `${randomBytes(6).toString('hex')}.example`
let mailbox: Mailbox
let enterprise: Enterprise
let world: Enterprise['world']
let acme: Awaited<ReturnType<Enterprise['organization']>>
let owner: Person
let id: OrganizationId
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' }
  enterprise = await openEnterprise({ environment })
  ;({ world } = enterprise)
  owner = await world.person()
  acme = await enterprise.organization(owner)
  id = acme.organizationId
  await enterprise.verifyDomain(acme, domain)
})
after(async () => {
  await enterprise.close()
  await mailbox.close()
})

const newEmail = (at = 'mail.example') => `bob-${randomBytes(6).toString('hex')}@${at}`
const ask = (person: Person, what: Parameters<typeof businessRequest>[2], payload?: object) =>
  businessRequest(world, person, what, payload)

async function invite(to: { handle: string } | { email: string }, role: OrganizationRole, by = owner) {
  const answer = await ask(by, `POST /organizations/${id}/invitations`, { ...to, role })
  assert.equal(answer.statusCode, 201, answer.body)
  if ('email' in to) await mailbox.take()
  return { token: String(answer.json().token), invitationId: String(answer.json().invitation.invitationId) }
}

const accept = ({ token }: { token: string }, person: Person) =>
  ask(person, `POST /invitations/${token}/accept`, { identityId: person.identityId })

async function joinBy(invitation: { token: string }, person: Person): Promise<string> {
  const joined = await accept(invitation, person)
  assert.equal(joined.statusCode, 201, joined.body)
  return memberIdOf(person)
}

async function memberIdOf({ identityId }: Person): Promise<string> {
  const found = (await membersOf(world, id, owner)).find((member) => member.identityId === identityId)
  return found?.memberId ?? assert.fail('not a member')
}

const change = (memberId: string, permissions: object) =>
  ask(owner, `PATCH /organizations/${id}/members/${memberId}`, permissions)

async function isOpen({ invitationId }: { invitationId: string }): Promise<boolean> {
  const { invitations } = (await ask(owner, `GET /organizations/${id}/invitations`)).json()
  return invitations.some((invitation: Invitation) => invitation.invitationId === invitationId)
}

/** Lists who has revoked an invitation, according to the audit log. */
async function revokersOf({ invitationId }: { invitationId: string }): Promise<unknown[]> {
  const { entries } = (await ask(owner, `GET /organizations/${id}/audit?action=organization.invitation.revoked`)).json()
  type Entry = { identityId: string | null; actor: string; details: { invitationId: string } }
  return entries
    .filter(({ details }: Entry) => details.invitationId === invitationId)
    .map(({ identityId, actor }: Entry) => identityId ?? actor)
}

/** Checks that nothing is left of an invitation to someone who has left, but its revocation in the audit log. */
async function requireEnded(invitation: { token: string; invitationId: string }, person: Person, by: string) {
  const refused = await accept(invitation, person)
  assert.deepEqual([refused.statusCode, refused.json().error], [404, 'invitation_not_found'])
  const listed = await world.api.inject({ url: '/api/account/invitations', headers: person.headers })
  assert.deepEqual(listed.json().invitations, [])
  assert.equal(await isOpen(invitation), false)
  assert.deepEqual(await revokersOf(invitation), [by])
}

async function proveEmail({ headers, identityId }: Person, email: string): Promise<void> {
  const post = (step: string, payload: object) =>
    world.api.inject({ method: 'POST', url: `/api/identities/${identityId}/email${step}`, headers, payload })
  await post('', { email })
  const proved = await post('/verify', { code: codeIn(await mailbox.take()) })
  assert.equal(proved.statusCode, 200, proved.body)
}

test('INV-71 a member who joined by one of several invitations does not come back by another one', async () => {
  const [bob, email] = [await world.person(), newEmail()]
  await proveEmail(bob, email)
  const [first, named, again] = [
    await invite({ email }, 'admin'),
    await invite({ handle: bob.handle }, 'admin'),
    await invite({ email }, 'admin'),
  ]
  const other = await invite({ email: newEmail() }, 'admin')
  const memberId = await joinBy(first, bob)
  assert.deepEqual([await isOpen(named), await isOpen(again), await isOpen(other)], [false, false, true])
  assert.equal((await change(memberId, { role: 'viewer' })).statusCode, 200)
  assert.equal((await ask(bob, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  for (const each of [named, again]) await requireEnded(each, bob, 'system')
})

test('INV-71 an invitation to the address of a member ends when they lose permissions or leave', async () => {
  const [bob, email] = [await world.person(), newEmail()]
  await proveEmail(bob, email)
  const memberId = await joinBy(await invite({ email }, 'admin'), bob)
  const beforeLoss = await invite({ email }, 'admin')
  assert.equal((await change(memberId, { role: 'owner' })).statusCode, 200)
  assert.equal(await isOpen(beforeLoss), true)
  assert.equal((await change(memberId, { role: 'viewer' })).statusCode, 200)
  assert.equal(await isOpen(beforeLoss), false)
  const beforeLeaving = await invite({ email }, 'admin')
  assert.equal((await ask(bob, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  await requireEnded(beforeLoss, bob, owner.identityId)
  await requireEnded(beforeLeaving, bob, bob.identityId)
})

test('INV-71 an invitation to a member with an address in a domain of the organization ends at a removal', async () => {
  const [bob, email] = [await world.person(), newEmail(domain)]
  await proveEmail(bob, email)
  const memberId = await joinBy(await invite({ handle: bob.handle }, 'member'), bob)
  const invitation = await invite({ email }, 'admin')
  assert.equal((await ask(owner, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  await requireEnded(invitation, bob, owner.identityId)
})

test('INV-71 joining by SSO, and a removal by the directory, end the invitations to the member', async () => {
  const { connectionId } = await enterprise.connect(acme, { domains: [domain] })
  owner.headers = await owner.signIn()
  const [bob, claims] = [await world.person(), newClaims({ email: newEmail(domain) })]
  const named = await invite({ handle: bob.handle }, 'admin')
  const browser = enterprise.browser()
  browser.bring(bob)
  const flowId = flowOf(await browser.signIn(connectionId, claims))
  assert.equal((await linkAs(browser, flowId, bob.identityId)).statusCode, 200)
  assert.equal(await isOpen(named), false)
  const email = newEmail(domain)
  await proveEmail(bob, email)
  const later = await invite({ email }, 'admin')
  const directory = await enterprise.provision(acme, connectionId)
  const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: email, externalId: claims.sub }
  assert.equal((await directory.ask('POST', '/Users', { ...user, active: false })).statusCode, 201)
  await assert.rejects(memberIdOf(bob), /not a member/)
  for (const each of [named, later]) await requireEnded(each, bob, 'system')
})

test('INV-71 an invitation ends with a member, however the mailbox was written', async () => {
  const [bob, email] = [await world.person(), newEmail()]
  await proveEmail(bob, email)
  const invitation = await invite({ email: email.replace('bob', 'Bob') }, 'admin')
  const memberId = await joinBy(await invite({ email }, 'member'), bob)
  assert.equal(await isOpen(invitation), false)
  assert.equal((await ask(owner, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  await requireEnded(invitation, bob, 'system')
})

test('INV-71 invitations by and to a member whose account is deleted end with events', async () => {
  const [bob, email] = [await world.person(), newEmail()]
  await proveEmail(bob, email)
  await joinBy(await invite({ email }, 'admin'), bob)
  const byBob = await invite({ email: newEmail() }, 'member', bob)
  const toBob = await invite({ email }, 'member')
  // As if a sign-in by SSO and an invitation had crossed.
  const { db } = world
  const crossed = { email: null, mail_token_sha256: null, identity_id: bob.identityId }
  const { invitationId } = toBob
  await db.updateTable('organization_invitation').set(crossed).where('invitation_id', '=', invitationId).execute()
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: bob.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  for (const each of [byBob, toBob]) {
    assert.equal(await isOpen(each), false)
    assert.deepEqual(await revokersOf(each), ['system'])
  }
})

test('INV-72 the end of a membership does not tell an organization which other address is of the member', async () => {
  const [bob, email] = [await world.person(), newEmail()]
  await proveEmail(bob, email)
  const invitation = await invite({ email }, 'member')
  const memberId = await joinBy(await invite({ handle: bob.handle }, 'admin'), bob)
  assert.equal((await change(memberId, { role: 'viewer' })).statusCode, 200)
  assert.equal((await ask(owner, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  assert.equal(await isOpen(invitation), true)
  assert.deepEqual(await revokersOf(invitation), [])
})

test('INV-73 a member whose permissions change keeps the invitations that they could still create', async () => {
  const ann = await world.person()
  const memberId = await joinBy(await invite({ handle: ann.handle }, 'admin'), ann)
  const toMember = await invite({ email: newEmail() }, 'member', ann)
  const toSigner = await invite({ email: newEmail() }, 'signer', ann)
  const open = async () => [await isOpen(toMember), await isOpen(toSigner)]
  const member = (await membersOf(world, id, owner)).find((each) => each.memberId === memberId)
  const { role, scopes, signingAuthority } = member ?? assert.fail()
  assert.equal((await change(memberId, { role, scopes, signingAuthority })).statusCode, 200)
  assert.deepEqual(await open(), [true, true], 'nothing has changed')
  assert.equal((await change(memberId, { role: 'owner' })).statusCode, 200)
  assert.deepEqual(await open(), [true, true], 'a promotion')
  assert.equal((await change(memberId, { role: 'admin' })).statusCode, 200)
  assert.deepEqual(await open(), [true, true], 'admins invite in these roles too')
  const withoutSign = scopes.filter((scope) => scope !== 'sign')
  assert.equal((await change(memberId, { scopes: withoutSign })).statusCode, 200)
  assert.deepEqual(await open(), [true, false])
  assert.equal((await change(memberId, { role: 'member' })).statusCode, 200)
  assert.deepEqual(await open(), [false, false])
  for (const each of [toMember, toSigner]) assert.deepEqual(await revokersOf(each), [owner.identityId])
})
