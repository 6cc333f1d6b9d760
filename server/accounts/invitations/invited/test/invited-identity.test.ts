import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newHandle, openInvited } from '#testing/invited.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { mailDue } from '../../mailing.ts'

let mailbox: Mailbox
let world: TestWorld
let operate: ReturnType<typeof openInvited>['operate']
let add: ReturnType<typeof openInvited>['add']
let acceptFurther: ReturnType<typeof openInvited>['acceptFurther']
let entryOf: ReturnType<typeof openInvited>['entryOf']
let preview: ReturnType<typeof openInvited>['preview']
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  ;({ operate, add, acceptFurther, entryOf, preview } = openInvited(world))
})
after(async () => {
  await world.close()
  await mailbox.close()
})

/** Takes the token out of the mail of an invitation. */
async function mailedToken(): Promise<string> {
  while ((await mailDue(world.kernel)) > 0);
  return /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
}

test('REG-12 the answer has the entry of the identity, and the link once', async () => {
  const { identity, invitation, token, url, names } = await add()
  assert.deepEqual(identity, await entryOf(identity.identityId))
  assert.deepEqual(
    { ...identity, identityId: '', handle: '' },
    {
      ...{ identityId: '', handle: '', displayName: 'Grace Hopper', avatarUrl: null, email: null },
      ...{ emailVerified: false, status: 'invited', statusReason: null, statusAt: null, deletionDueAt: null },
      managedBy: 'self',
      ...{ createdAt: world.now().toISOString(), lastSeenOn: null, groups: [], organizations: [] },
      ...{ hasPasskey: false, hasRecoveryCode: false, hasSigningKey: false, suspensions: [], version: 1 },
    },
  )
  assert.equal(url, `${world.config.authUrl.origin}/register#${token}`)
  const { kind, maxUses, identityId } = invitation
  assert.deepEqual({ kind, maxUses, identityId }, { kind: 'link', maxUses: 1, identityId: identity.identityId })
  assert.deepEqual(await preview(token), { ...names, email: null, message: null, areNamesFixed: true })
  const again = (await operate('GET', `invitations/${invitation.invitationId}`)).answer
  assert.ok(!again.body.includes(token))
})

test('REG-12 a new account gets the identity: its ID, names, groups and the proved address', async () => {
  await operate('POST', 'groups', { key: 'staff', displayName: 'Staff' })
  const email = `${newHandle()}@example.org`
  const { identityId, names, token, url } = await add({ email, groups: ['staff'] })
  assert.deepEqual([token, url], ['', undefined], 'a mailed token proves the address')
  const registered = await register(world, { invitation: await mailedToken() }, names)
  assert.equal(registered.error ?? registered.status, 201)
  const { handle, displayName } = names
  const entry = await entryOf(identityId)
  const { status, groups, emailVerified } = entry
  assert.deepEqual(
    { handle: entry.handle, displayName: entry.displayName, email: entry.email },
    { handle, displayName, email },
  )
  assert.deepEqual({ status, groups, emailVerified }, { status: 'active', groups: ['staff'], emailVerified: true })
  assert.equal(registered.identity?.identityId, identityId)
})

test('REG-12 an account accepts with a further identity, which has the ID, names and groups', async () => {
  await operate('POST', 'groups', { key: 'further', displayName: 'Further' })
  const email = `${newHandle()}@example.org`
  const { identityId, names } = await add({ email, groups: ['further'] })
  const ada = await world.person()
  const accepted = await acceptFurther(ada, await mailedToken(), names)
  assert.equal(accepted.status, 201)
  assert.deepEqual(
    [accepted.identityId, accepted.handle, accepted.displayName, accepted.email, accepted.emailVerified],
    [identityId, names.handle, names.displayName, email, true],
  )
  assert.deepEqual((await entryOf(identityId)).groups, ['further'])
  assert.equal((await entryOf(identityId)).status, 'active')
})

test('REG-12 the recipient chooses neither the username, the name nor the ID', async () => {
  const { identityId, token, names } = await add()
  const bob = await world.person()
  const others = [
    { ...names, handle: newHandle() },
    { ...names, handle: names.handle.toUpperCase() },
    { ...names, displayName: 'Root' },
  ]
  for (const other of others) {
    const refused = await register(world, { invitation: token }, other)
    assert.deepEqual([refused.status, refused.error], [400, 'invalid_request'])
    const further = await acceptFurther(bob, token, other)
    assert.deepEqual([further.status, further.error], [400, 'invalid_request'])
  }
  const accepted = await acceptFurther(bob, token, { ...names, identityId: bob.identityId, groups: ['staff'] })
  assert.deepEqual([accepted.status, accepted.identityId], [201, identityId])
  const payload = { handle: newHandle(), displayName: 'Chosen', identityId: (await add()).identityId }
  const own = await world.api.inject({ method: 'POST', url: '/api/identities', headers: bob.headers, payload })
  assert.notEqual(own.json().identityId, payload.identityId)
})

test('REG-12 no other invitation, and none at all, finishes the registration that the link has begun', async () => {
  const { identityId, token, names } = await add()
  const { answer } = await operate('POST', 'invitations', { kind: 'link' })
  const other = answer.json<{ token: string }>().token
  for (const changed of [{}, { invitation: other }, { invitation: (await add()).token }]) {
    const begun = await startRegistration(world, { invitation: token }, names)
    assert.equal(begun.status, 200)
    const finished = await begun.finish(changed)
    assert.deepEqual([finished.status, finished.error], [410, 'invitation_expired'])
  }
  // The other way round: what has begun as another registration does not end as this identity.
  const begun = await startRegistration(world, { invitation: other })
  assert.equal((await begun.finish({ invitation: token })).error, 'invitation_expired')
  assert.equal((await entryOf(identityId)).status, 'invited')
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  assert.equal((await register(world, { invitation: token }, names)).error, 'invitation_expired')
})

test('REG-12 of many recipients of one link, by both ways at once, one gets the identity', async () => {
  const { identityId, token, names } = await add()
  const people = await Promise.all(Array.from({ length: 4 }, () => world.person()))
  const begun = await Promise.all(people.map(() => startRegistration(world, { invitation: token }, names)))
  const results = await Promise.all([
    ...people.map((person) => acceptFurther(person, token, names)),
    ...begun.map((each) => each.finish()),
  ])
  assert.equal(results.filter(({ status }) => status === 201).length, 1)
  for (const { status, error } of results)
    assert.ok(status === 201 || error === 'invitation_expired' || error === 'handle_taken', String(error))
  assert.equal((await entryOf(identityId)).status, 'active')
})

test('REG-15 of many invitations of one identity at once, one accepts it', async () => {
  const { identityId, token, names } = await add()
  const begun = await startRegistration(world, { invitation: token }, names)
  const results = await Promise.all([
    ...Array.from({ length: 5 }, () => operate('POST', `identities/${identityId}/invitation`, {})),
    begun.finish(),
  ])
  const accepted = results.at(-1)?.status === 201
  const refusals = results.slice(0, -1).filter(({ status }) => status !== 201)
  for (const { status, error } of refusals)
    assert.ok(status === 409 && ['state_changed', 'identity_not_invited'].includes(error ?? ''), String(error))
  if (accepted) return
  const tokens = results
    .slice(0, -1)
    .map((each) => ('answer' in each ? each.answer.json<{ token: string }>().token : ''))
  const finished = await Promise.all(tokens.map((invitation) => register(world, { invitation }, names)))
  assert.equal(finished.filter(({ status }) => status === 201).length, 1)
})

test('REG-13 of additions and registrations of one username at once, one gets it', async () => {
  const handle = newHandle()
  const begun = await Promise.all(Array.from({ length: 3 }, () => startRegistration(world, {}, { handle })))
  const ada = await world.person()
  const displayName = 'Raced'
  const results = await Promise.all([
    ...[handle, handle.toUpperCase(), handle].map((each) =>
      operate('POST', 'identities', { handle: each, displayName }),
    ),
    ...begun.map((each) => each.finish()),
    world.api
      .inject({ method: 'POST', url: '/api/identities', headers: ada.headers, payload: { handle, displayName } })
      .then((answer) => ({ status: answer.statusCode, error: answer.json().error })),
  ])
  assert.equal(results.filter(({ status }) => status === 201).length, 1)
  assert.ok(results.every(({ status, error }) => status === 201 || error === 'handle_taken'))
  assert.equal((await operate('POST', 'identities', { handle, displayName })).error, 'handle_taken')
})

test('REG-13 the deletion frees the username at once and ends the invitation', async () => {
  const { identityId, token, names, invitation } = await add()
  assert.equal((await register(world, {}, names)).error, 'handle_taken')
  const begun = await startRegistration(world, { invitation: token }, names)
  const unconfirmed = await operate('DELETE', `identities/${identityId}`, { confirm: 'someone', reason: 'A mistake' })
  assert.deepEqual([unconfirmed.status, unconfirmed.error], [400, 'invalid_request'])
  assert.equal((await entryOf(identityId)).status, 'invited')
  const deleted = await operate('DELETE', `identities/${identityId}`, { confirm: names.handle, reason: 'A mistake' })
  assert.equal(deleted.status, 200, deleted.answer.body)
  assert.equal(deleted.answer.json().dueAt, world.now().toISOString())
  assert.equal((await operate('GET', `identities/${identityId}`)).error, 'identity_not_found')
  assert.equal((await operate('GET', `invitations/${invitation.invitationId}`)).error, 'invitation_not_found')
  assert.equal((await preview(token)).error, 'invitation_expired')
  assert.equal((await begun.finish()).error, 'invitation_expired')
  assert.equal((await register(world, {}, names)).status, 201)
})

test('REG-13 a registration that the deletion overtakes does not bring the identity back', async () => {
  const { identityId, token, names } = await add()
  const begun = await startRegistration(world, { invitation: token }, names)
  await operate('DELETE', `identities/${identityId}`, { confirm: names.handle, reason: 'A mistake' })
  assert.equal((await begun.finish({})).error, 'invitation_expired')
  assert.equal((await operate('GET', `identities/${identityId}`)).error, 'identity_not_found')
})

test('REG-13 of a deletion and an acceptance at once, one happens', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { identityId, token, names } = await add()
    const begun = await startRegistration(world, { invitation: token }, names)
    const [deleted, accepted] = await Promise.all([
      operate('DELETE', `identities/${identityId}`, { confirm: names.handle, reason: 'A mistake' }),
      begun.finish(),
    ])
    const { status } = await operate('GET', `identities/${identityId}`)
    if (accepted.status !== 201) assert.deepEqual([deleted.status, status], [200, 404])
    // The deletion came second: an ordinary one, or one that is refused because the identity was accepted.
    else assert.ok(status === 200 && [200, 409].includes(deleted.status), deleted.answer.body)
  }
})
