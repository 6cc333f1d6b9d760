import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, membersOf } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let mailbox: Mailbox
let enterprise: Enterprise
let world: Enterprise['world']
let owner: Person
let id: OrganizationId
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' }
  enterprise = await openEnterprise({ environment })
  ;({ world } = enterprise)
  owner = await world.person()
  id = (await enterprise.organization(owner)).organizationId
})
after(async () => {
  await enterprise.close()
  await mailbox.close()
})

const newEmail = () => `bob-${randomBytes(6).toString('hex')}@mail.example`
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
