import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function send(method: Method, path: string, payload?: object, headers: Headers = world.admin) {
  const url = `/api/admin/${path}`
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}

/** Mails an invitation. Returns its ID and the token in the mail. */
async function mailed(headers: Headers, fields: object = {}) {
  const made = await send('POST', 'invitations', { kind: 'mail', email: 'ada@example.org', ...fields }, headers)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const token = /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
  return { id: (made.body as { invitation: AccountInvitation }).invitation.invitationId, token }
}

async function standing(id: string) {
  const { body } = await send('GET', `invitations/${id}`)
  const listed = (await send('GET', 'invitations?limit=100')).body.invitations as AccountInvitation[]
  const { status, voidReason } = body as AccountInvitation
  assert.deepEqual(
    listed.find(({ invitationId }) => invitationId === id),
    body,
  )
  return [status, voidReason]
}

async function assertDead({ id, token }: { id: string; token: string }, reason: string): Promise<void> {
  assert.deepEqual(await standing(id), ['void', reason])
  assert.equal((await register(world, { invitation: token })).error, 'invitation_expired')
  const sent = mailbox.count()
  const { status, body } = await send('POST', `invitations/${id}/resend`)
  assert.deepEqual([status, body.error, body.reason], [409, 'invitation_void', reason])
  assert.equal(mailbox.count(), sent, 'no mail with a link of no use')
}

test('REG-11 an invitation is void while its operator may not invite, and is not mailed again', async () => {
  const operator = await makeOperator(world, await world.person(), 'people')
  const invitation = await mailed(operator.page)
  const become = (role: string) => send('PATCH', `operators/${operator.identityId}`, { role })
  assert.deepEqual(await standing(invitation.id), ['pending', null])
  await become('auditor')
  await assertDead(invitation, 'rights_lost')
  await become('people')
  assert.deepEqual(await standing(invitation.id), ['pending', null])
  assert.equal((await send('POST', `invitations/${invitation.id}/resend`)).status, 200)
  await mailbox.take()

  await send('DELETE', `operators/${operator.identityId}`)
  world.pass(8 * 86_400)
  assert.deepEqual(await standing(invitation.id), ['void', 'rights_lost'], 'a new link would not help')
})

test('REG-11 an invitation is void once its admin token is revoked or a group is protected', async () => {
  const { tokenId, headers } = await createToken(world, ['people.invite', 'groups.manage'])
  const { groupId } = (await send('POST', 'groups', { key: 'vault', displayName: 'Vault' })).body
  const [ofToken, intoGroup] = [await mailed(headers), await mailed(headers, { groups: ['vault'] })]
  const ofOwner = await mailed(world.admin, { groups: ['vault'] })
  const many = await send('POST', 'invitations', { kind: 'link', groups: ['vault'], maxUses: 2 })
  await send('PATCH', `groups/${groupId}`, { protected: true })
  await assertDead(intoGroup, 'group_protected')
  assert.deepEqual(await standing(ofToken.id), ['pending', null])
  assert.deepEqual(await standing(ofOwner.id), ['pending', null])
  assert.deepEqual(await standing(many.body.invitation.invitationId), ['void', 'group_protected'])

  await send('DELETE', `groups/${groupId}`)
  assert.deepEqual(await standing(intoGroup.id), ['pending', null], 'a deleted group is left out')
  await send('DELETE', `tokens/${tokenId}`)
  await assertDead(ofToken, 'rights_lost')
  assert.equal((await register(world, { invitation: ofOwner.token })).status, 201)
  assert.deepEqual(await standing(ofOwner.id), ['used', null])
})

test('REG-11 an invitation is void once its admin token has expired, also after a registration began', async () => {
  const expiresAt = new Date(world.now().getTime() + 86_400_000).toISOString()
  const { headers } = await createToken(world, ['people.invite'], { expiresAt })
  const [invitation, begun] = [await mailed(headers), await mailed(headers)]
  world.pass(86_340)
  assert.deepEqual(await standing(invitation.id), ['pending', null])
  const registration = await startRegistration(world, { invitation: begun.token })
  assert.equal(registration.status, 200)
  world.pass(60)
  await assertDead(invitation, 'rights_lost')
  assert.equal((await registration.finish()).error, 'invitation_expired')
})
