import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { AccountInvitation, NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { makeOperator, suspend } from '#testing/operators.ts'
import { addIdentity } from '#testing/people.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

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

async function operate<Answer>(method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object): Promise<Answer> {
  const sent = { method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) }
  const answer = await world.api.inject(sent)
  assert.ok(answer.statusCode < 300, answer.body)
  return answer.json()
}

const invited = (fields: object = {}) =>
  operate<Required<NewAccountInvitation>>('POST', 'invitations', { kind: 'link', ...fields })

const present = ({ invitationId }: AccountInvitation) =>
  operate<AccountInvitation>('GET', `invitations/${invitationId}`)

const membersOf = async (groupId: string) =>
  (await operate<{ members: { identityId: string }[] }>('GET', `groups/${groupId}/members`)).members.map(
    ({ identityId }) => identityId,
  )

let made = 0
async function accept({ headers }: Pick<Person, 'headers'>, invitation: string) {
  made += 1
  const payload = { invitation, handle: `further-${made}`, displayName: 'Further' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/identities/invited', headers, payload })
  const body = answer.json<Identity & { error?: string }>()
  return { status: answer.statusCode, error: body.error, identity: body }
}

async function identitiesOf({ headers }: Person): Promise<Identity[]> {
  return (await world.api.inject({ url: '/api/identities', headers })).json<{ identities: Identity[] }>().identities
}

test('REG-10 a user accepts with a further identity, to which alone the invitation applies', async () => {
  const { groupId } = await operate<{ groupId: string }>('POST', 'groups', { key: 'guests', displayName: 'Guests' })
  const ada = await world.person()
  await operate('POST', 'invitations', { kind: 'mail', email: 'ada@example.org', groups: ['guests'] })
  const mailed = /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
  const { status, identity } = await accept(ada, mailed)
  assert.equal(status, 201)
  assert.deepEqual([identity.email, identity.emailVerified], ['ada@example.org', true])
  assert.deepEqual(await membersOf(groupId), [identity.identityId])
  const identities = await identitiesOf(ada)
  assert.deepEqual(
    identities.map(({ identityId, email }) => [identityId, email]),
    [
      [ada.identityId, null],
      [identity.identityId, 'ada@example.org'],
    ],
  )
  assert.equal((await accept(ada, mailed)).error, 'invitation_expired')
  assert.equal((await register(world, { invitation: mailed })).error, 'invitation_expired')
  assert.equal((await identitiesOf(ada)).length, 2)
})

test('REG-10 operators see the same of a further identity as of a new account', async () => {
  const ada = await world.person()
  const [one, other] = [await invited(), await invited()]
  const further = await accept(ada, one.token)
  const fresh = await register(world, { invitation: other.token })
  const seen = await Promise.all(
    [
      { invitation: one.invitation, identityId: further.identity.identityId },
      { invitation: other.invitation, identityId: fresh.identity?.identityId },
    ].map(async ({ invitation, identityId }) => {
      const { entries } = await operate<{ entries: { action: string }[] }>('GET', `identities/${identityId}/activity`)
      const { identity } = await operate<{ identity: object }>('GET', `identities/${identityId}`)
      const { invitationId: _, ...shown } = await present(invitation)
      return { shown, fields: Object.keys(identity), actions: entries.map(({ action }) => action) }
    }),
  )
  assert.deepEqual(seen[0], seen[1])
  assert.deepEqual([seen[0]?.shown.status, seen[0]?.shown.useCount], ['used', 1])
  assert.ok(seen[0]?.actions.includes('invitation.accepted'))
  const page = await operate<{ entries: AuditEvent[] }>('GET', 'audit?action=invitation.accepted&limit=2')
  const accepted = page.entries.map((entry) => ({
    ...{ ...entry, entryId: '', sequence: 0, identityId: '', details: {} },
    actor: { ...entry.actor, id: typeof entry.actor.id, name: typeof entry.actor.name },
    object: { ...entry.object, id: typeof entry.object?.id },
    requestId: typeof entry.requestId,
  }))
  assert.equal(accepted.length, 2)
  assert.deepEqual(accepted[0], accepted[1])
  for (const hidden of [ada.identityId, ada.userId]) assert.ok(!JSON.stringify(page).includes(hidden))
})

test('REG-01 of registrations and further identities at once by a link for 3, three succeed', async () => {
  const { token, invitation } = await invited({ maxUses: 3 })
  const people = await Promise.all(Array.from({ length: 8 }, () => world.person()))
  const begun = await Promise.all(people.map(() => startRegistration(world, { invitation: token })))
  const results = await Promise.all([
    ...people.map((person) => accept(person, token)),
    ...begun.map((each) => each.finish()),
  ])
  assert.equal(results.filter(({ status }) => status === 201).length, 3)
  assert.ok(results.every(({ status, error }) => status === 201 || error === 'invitation_expired'))
  assert.equal((await present(invitation)).useCount, 3)
})

test('REG-10 an acceptance that is refused uses nothing and adds no identity', async () => {
  const { token, invitation } = await invited()
  const ada = await world.person()
  await addIdentity(world, ada, { handle: 'second', displayName: 'Second' })
  await suspend(world, ada, { scope: 'identity' })
  const suspended = await accept(ada, token)
  assert.deepEqual([suspended.status, suspended.error], [403, 'identity_suspended'])

  const bob = await world.person()
  const payload = { invitation: token, handle: ada.handle, displayName: 'Bob' }
  const sent = { method: 'POST', url: '/api/identities/invited', payload } as const
  assert.equal((await world.api.inject({ ...sent, headers: bob.headers })).json().error, 'handle_taken')
  assert.equal((await world.api.inject(sent)).statusCode, 401)
  for (const wrong of ['cs_inv_made-up', `${token}x`])
    assert.equal((await accept(bob, wrong)).error, 'invitation_expired')
  assert.equal((await identitiesOf(bob)).length, 1)
  assert.equal((await present(invitation)).useCount, 0)
})

test('REG-10 no operator joins a group by their own invitation with their own account', async () => {
  const { groupId } = await operate<{ groupId: string }>('POST', 'groups', { key: 'board', displayName: 'Board' })
  const person = await world.person()
  const operator = await makeOperator(world, person, 'owner')
  const create = async (fields: object) => {
    const payload = { kind: 'link', ...fields }
    const sent = { method: 'POST', url: '/api/admin/invitations', headers: operator.page, payload } as const
    return (await world.api.inject(sent)).json<Required<NewAccountInvitation>>()
  }
  const [into, plain] = [await create({ groups: ['board'] }), await create({})]
  const refused = await accept(person, into.token)
  assert.deepEqual([refused.status, refused.error], [403, 'operator_protected'])
  assert.equal((await present(into.invitation)).useCount, 0)
  assert.equal((await identitiesOf(person)).length, 1)
  assert.equal((await accept(person, plain.token)).status, 201, 'without groups it changes no rights')
  const { identity } = await accept(await world.person(), into.token)
  assert.deepEqual(await membersOf(groupId), [identity.identityId])
})

test('REG-10 a further identity needs the rights of the operator, and no closed registration', async () => {
  const people = await makeOperator(world, await world.person(), 'people')
  const sent = { method: 'POST', url: '/api/admin/invitations', headers: people.page } as const
  const { token } = (await world.api.inject({ ...sent, payload: { kind: 'link' } })).json<{ token: string }>()
  const ada = await world.person()
  await suspend(world, people)
  assert.equal((await accept(ada, token)).error, 'invitation_expired')

  const { token: another } = await invited()
  const setMode = async (mode: string) => {
    const { revision } = await operate<{ revision: string }>('GET', 'settings')
    const headers = { ...world.admin, 'if-match': `"${revision}"` }
    const payload = { settings: { 'registration.mode': mode } }
    const changed = await world.api.inject({ method: 'PATCH', url: '/api/admin/settings', headers, payload })
    assert.equal(changed.statusCode, 200, changed.body)
  }
  await setMode('closed')
  assert.equal((await accept(ada, another)).error, 'registration_closed')
  await setMode('invited')
  assert.equal((await accept(ada, another)).status, 201)
})
