import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { mailDue } from '#accounts/invitations/mailing.ts'
import { openInvited } from '#testing/invited.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { makeOperator } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { releaseDeleted } from '../release.ts'

const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'

let mailbox: Mailbox
let world: TestWorld
let directory: Directory
let operator: ReturnType<typeof openInvited>
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  directory = await openDirectory(world)
  operator = openInvited(world)
})
after(async () => {
  await world.close()
  await mailbox.close()
})

/** Lets a directory create a user who is invited, with other fields, and a group of this user. */
async function provision(fields: Record<string, unknown> = {}, from = directory) {
  const { id, userName } = await from.created(fields)
  const group = { schemas: [groupUrn], displayName: newName(), members: [{ value: id }] }
  const answer = await from.ask('POST', '/Groups', group)
  assert.equal(answer.statusCode, 201, answer.body)
  const groupId: string = answer.json().id
  return { id, groupId, names: { handle: userName, displayName: userName } }
}

async function protect(groupId: string): Promise<void> {
  assert.equal((await operator.operate('PATCH', `groups/${groupId}`, { protected: true })).status, 200)
}

async function membersOf(groupId: string): Promise<string[]> {
  const { answer } = await operator.operate('GET', `groups/${groupId}/members`)
  return answer.json<{ members: { identityId: string }[] }>().members.map(({ identityId }) => identityId)
}

async function invite(id: string, headers: Record<string, string>) {
  const { status, answer } = await operator.operate('POST', `identities/${id}/invitation`, {}, headers)
  return { status, ...answer.json() }
}

const people = async () => (await makeOperator(world, await world.person(), 'people')).page

test('REG-16 the link of an identity in a protected group of a directory needs the rights over the group', async () => {
  const { id, groupId, names } = await provision()
  await protect(groupId)
  const refused = await invite(id, await people())
  assert.deepEqual([refused.status, refused.permission], [403, 'operators.manage'])
  const owner = await makeOperator(world, await world.person(), 'owner')
  const { status, token } = await invite(id, owner.page)
  assert.equal(status, 201)
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  assert.deepEqual(await membersOf(groupId), [id])
})

test('REG-16 a link becomes void when a directory group of its identity becomes protected', async () => {
  const headers = await people()
  const { id, groupId, names } = await provision()
  const { status, token, invitation } = await invite(id, headers)
  assert.equal(status, 201)
  await protect(groupId)
  const { answer } = await operator.operate('GET', `invitations/${invitation.invitationId}`)
  assert.deepEqual([answer.json().status, answer.json().voidReason], ['void', 'group_protected'])
  assert.equal((await operator.preview(token)).error, 'invitation_expired')
  assert.equal((await register(world, { invitation: token }, names)).error, 'invitation_expired')
  assert.equal((await operator.acceptFurther(await world.person(), token, names)).error, 'invitation_expired')
  assert.deepEqual(await membersOf(groupId), [])
  assert.equal((await operator.entryOf(id)).status, 'invited')
})

test('REG-16 a link becomes void when a directory adds its identity to a protected group', async () => {
  const headers = await people()
  const { id, names } = await provision()
  const { token } = await invite(id, headers)
  const { groupId } = await provision()
  await protect(groupId)
  await directory.patched(`/Groups/${groupId}`, { op: 'add', path: 'members', value: [{ value: id }] })
  assert.equal((await register(world, { invitation: token }, names)).error, 'invitation_expired')
  assert.ok(!(await membersOf(groupId)).includes(id))
})

test('REG-16 a link opens no protected group that a deleted directory has left', async () => {
  const left = await openDirectory(world)
  const { id, groupId, names } = await provision({}, left)
  const { token } = await invite(id, await people())
  await protect(groupId)
  assert.equal((await operator.operate('DELETE', `scim-tokens/${left.tokenId}`)).status, 204)
  while ((await releaseDeleted(world.db, world.now(), 100)) > 0);
  assert.equal((await register(world, { invitation: token }, names)).error, 'invitation_expired')
  assert.deepEqual(await membersOf(groupId), [])
})

test('REG-16 a user of a directory joins its protected group by the mail to their address', async () => {
  const address = `${newName()}@example.org`
  const { id, groupId, names } = await provision({ emails: [{ value: address, primary: true }] })
  await protect(groupId)
  assert.equal((await invite(id, await people())).status, 201)
  while ((await mailDue(world.kernel)) > 0);
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, [address])
  const token = /register#(cs_inv_[\w-]+)/.exec(mail.text)?.[1] ?? ''
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  assert.deepEqual(await membersOf(groupId), [id])
})
