import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccountInvitation, NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import { generateToken } from '#platform/crypto/token-format.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator, suspend } from '#testing/operators.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { tablesWith } from '#testing/stored-text.ts'
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

async function send(headers: Headers, method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) {
  const url = `/api/admin/invitations${path}`
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}

async function invited(fields: object = {}, headers: Headers = world.admin) {
  const { status, body } = await send(headers, 'POST', '', { kind: 'link', ...fields })
  assert.equal(status, 201, JSON.stringify(body))
  const { invitation, token = '', url } = body as NewAccountInvitation
  return { invitation, invitationId: invitation.invitationId, token, url }
}

async function groupWith(key: string): Promise<string> {
  const payload = { key, displayName: key }
  const made = await world.api.inject({ method: 'POST', url: '/api/admin/groups', headers: world.admin, payload })
  return made.json<{ groupId: string }>().groupId
}

const membersOf = async (groupId: string) =>
  (await world.api.inject({ url: `/api/admin/groups/${groupId}/members`, headers: world.admin }))
    .json<{ members: { identityId: string }[] }>()
    .members.map(({ identityId }) => identityId)

async function preview(invitation: string) {
  const url = '/api/auth/register/invitation'
  const answer = await world.api.inject({ method: 'POST', url, payload: { invitation } })
  return { status: answer.statusCode, body: answer.json() }
}

/** Asserts that a token opens nothing: neither its invitation nor an account. */
async function assertVoid(token: string): Promise<void> {
  assert.equal((await preview(token)).body.error, 'invitation_expired')
  const refused = await register(world, { invitation: token })
  assert.deepEqual([refused.status, refused.error], [410, 'invitation_expired'])
}

test('LOG-06 the deletion of an identity deletes its used invitation, with name, address and message', async () => {
  const text = { handle: 'erased-one', displayName: 'Erased Name', message: 'Welcome, Erased Name' }
  const email = 'erased-name@example.com'
  const { token } = await invited(text)
  await invited({ ...text, kind: 'mail', email })
  const mailed = /cs_inv_[\w-]+/.exec((await mailbox.take()).text)?.[0] ?? ''
  const added = await world.api.inject({
    ...{ method: 'POST', url: '/api/admin/identities', headers: world.admin },
    payload: { handle: 'erased-three', displayName: 'Erased Name' },
  })
  const accepted = [
    [token, 'erased-one'],
    [mailed, 'erased-two'],
    [added.json().invitation.token ?? added.json().token, 'erased-three'],
  ] as const
  for (const [invitation, handle] of accepted) {
    const { identity } = await register(world, { invitation }, { handle, displayName: 'Erased Name' })
    assert.ok(identity, handle)
    const payload = { confirm: handle, reason: 'Erasure', retainDays: 0, legalErasure: true }
    const url = `/api/admin/identities/${identity.identityId}`
    const deleted = await world.api.inject({ method: 'DELETE', url, headers: world.admin, payload })
    assert.equal(deleted.statusCode, 200, deleted.body)
  }
  assert.deepEqual((await mailbox.take()).to, [email], 'the user gets a mail about the deletion')
  for (const erased of ['Erased Name', email]) assert.deepEqual(await tablesWith(world.db, erased), [], erased)
})

test('REG-07 who has the link registers once, and joins the groups of the invitation', async () => {
  const groupId = await groupWith('guests')
  const fields = { groups: ['guests'], handle: 'grace', displayName: 'Grace', message: 'Welcome to the team.' }
  const { token, url, invitation } = await invited(fields)
  assert.equal(url, `${world.config.authUrl.origin}/register#${token}`)
  assert.match(token, /^cs_inv_/)
  const { invitationId } = invitation
  assert.deepEqual(
    { ...invitation, invitationId: '' },
    {
      ...{ invitationId: '', kind: 'link', email: null, handle: 'grace', displayName: 'Grace', groups: ['guests'] },
      ...{
        language: 'en',
        message: 'Welcome to the team.',
        maxUses: 1,
        useCount: 0,
        status: 'pending',
        voidReason: null,
      },
      ...{ createdAt: world.now().toISOString(), expiresAt: '2030-01-08T12:00:00.000Z', mailedAt: null },
      nextMailAt: null,
      createdBy: null,
      identityId: null,
    },
  )
  const shown = { handle: 'grace', displayName: 'Grace', email: null, message: 'Welcome to the team.' }
  assert.deepEqual((await preview(token)).body, { ...shown, areNamesFixed: false })

  const guest = await register(world, { invitation: token })
  assert.equal(guest.error ?? guest.status, 201)
  assert.deepEqual(await membersOf(groupId), [guest.identity?.identityId])
  await assertVoid(token)
  const after = (await send(world.admin, 'GET', `/${invitationId}`)).body as AccountInvitation
  assert.deepEqual([after.status, after.useCount], ['used', 1])
})

test('REG-01 of 50 registrations at once by a link for 3, three succeed', async () => {
  const { token, invitationId } = await invited({ maxUses: 3 })
  const begun = await Promise.all(Array.from({ length: 50 }, () => startRegistration(world, { invitation: token })))
  const results = await Promise.all(begun.map((each) => each.finish()))
  assert.equal(results.filter(({ status }) => status === 201).length, 3)
  assert.ok(results.every(({ status, error }) => status === 201 || error === 'invitation_expired'))
  assert.equal((await send(world.admin, 'GET', `/${invitationId}`)).body.useCount, 3)
})

test('REG-07 the mailed token proves the address, once, and no operator sees it', async () => {
  const { invitation, token, url } = await invited({ kind: 'mail', email: 'Ada@example.org', language: 'de' })
  assert.deepEqual([token, url, invitation.maxUses], ['', undefined, 1])
  assert.equal(invitation.mailedAt, world.now().toISOString())
  const mail = await mailbox.take()
  assert.match(mail.subject, /^Einladung zu /)
  const mailed = /register#(cs_inv_[\w-]+)/.exec(mail.text)?.[1] ?? ''
  assert.equal((await preview(mailed)).body.email, 'Ada@example.org')

  const resent = await send(world.admin, 'POST', `/${invitation.invitationId}/resend`)
  assert.equal(resent.status, 200)
  const again = /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
  assert.notEqual(again, mailed)
  await assertVoid(mailed)
  const ada = await register(world, { invitation: again })
  assert.deepEqual([ada.identity?.email, ada.identity?.emailVerified], ['Ada@example.org', true])
  await assertVoid(again)
  const used = await send(world.admin, 'POST', `/${invitation.invitationId}/resend`)
  assert.deepEqual([used.status, used.body.error], [409, 'invitation_not_mailed'])
})

test('REG-07 deleted, expired, foreign and made-up tokens open nothing', async () => {
  const [deleted, expired] = [await invited(), await invited({ expiresAt: '2030-01-01T13:00:00Z' })]
  const begun = await startRegistration(world, { invitation: deleted.token })
  assert.equal((await send(world.admin, 'DELETE', `/${deleted.invitationId}`)).status, 204)
  assert.equal((await begun.finish()).error, 'invitation_expired')
  await assertVoid(deleted.token)
  await assertVoid(generateToken('accountInvitation'))
  await assertVoid(generateToken('setup'))
  const again = await send(world.admin, 'DELETE', `/${deleted.invitationId}`)
  assert.deepEqual([again.status, again.body.error], [404, 'invitation_not_found'])
  world.pass(3600)
  await assertVoid(expired.token)
  assert.equal((await send(world.admin, 'GET', `/${expired.invitationId}`)).body.status, 'expired')
})

test('REG-07 an invitation counts only while the operator who made it may invite, and manage its groups', async () => {
  const groupId = await groupWith('inner')
  const operator = await makeOperator(world, await world.person(), 'people')
  const [lost, kept] = [await invited({ groups: ['inner'] }, operator.page), await invited({}, operator.page)]
  const begun = await startRegistration(world, { invitation: lost.token })
  const path = `/api/admin/operators/${operator.identityId}`
  const as = (role: string) => world.api.inject({ method: 'PATCH', url: path, headers: world.admin, payload: { role } })
  await as('auditor')
  assert.equal((await begun.finish()).error, 'invitation_expired')
  await assertVoid(lost.token)
  await as('people')
  await suspend(world, operator)
  await assertVoid(kept.token)
  assert.deepEqual(await membersOf(groupId), [])

  const inviting = await createToken(world, ['people.invite'])
  const refused = await send(inviting.headers, 'POST', '', { kind: 'link', groups: ['inner'] })
  assert.deepEqual([refused.status, refused.body.permission], [403, 'groups.manage'])
  const byToken = await invited({}, inviting.headers)
  await world.api.inject({ method: 'DELETE', url: `/api/admin/tokens/${inviting.tokenId}`, headers: world.admin })
  await assertVoid(byToken.token)
})

test('REG-07 an invitation into a group that is or becomes protected needs an owner, for one use', async () => {
  const groupId = await groupWith('vault')
  const people = await makeOperator(world, await world.person(), 'people')
  const early = await invited({ groups: ['vault'] }, people.page)
  const many = await invited({ groups: ['vault'], maxUses: 2 })
  const url = `/api/admin/groups/${groupId}`
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { protected: true } })
  await assertVoid(early.token)
  await assertVoid(many.token)
  const late = await send(people.page, 'POST', '', { kind: 'link', groups: ['vault'] })
  assert.deepEqual([late.status, late.body.permission], [403, 'operators.manage'])
  const forMany = await send(world.admin, 'POST', '', { kind: 'link', groups: ['vault'], maxUses: 2 })
  assert.equal(forMany.body.error, 'invalid_request')
  const guest = await register(world, { invitation: (await invited({ groups: ['vault'] })).token })
  assert.deepEqual(await membersOf(groupId), [guest.identity?.identityId])
})

test('REG-07 a message cannot contain an address, and other wrong invitations are refused', async () => {
  const refusedMessages = [
    ...['See https://evil.example', 'Go to www.evil', 'Visit evil.example today', 'Mail me@evil.example'],
    ...['Visit evil．example', 'Two\nlines', 'x'.repeat(501), ' ', '\u202Etxt'],
    ...['Visit हिन्दी.com', 'Visit example.भारत', 'Visit i❤.ws', 'Visit ☕.com', 'Visit evil-.com'],
    ...['Open 192.0.2.1/login', 'Mail root@localhost', 'Mail mailto:root', 'See //evil/x'],
  ]
  for (const message of refusedMessages)
    assert.equal(
      (await send(world.admin, 'POST', '', { kind: 'link', message })).body.error,
      'invalid_request',
      message,
    )
  await invited({ message: 'Bring a pen, e.g. a blue one… See you at 9.30 or 10:15, on 26.11.2026, for 1.5 h!' })
  await invited({ message: 'Questions (24/7): ask @ada, or call 06.12.34.56.78. Wait...please.' })
  const mail = { kind: 'mail', email: 'ada@example.org' }
  for (const [fields, error] of [
    [{ kind: 'mail' }, 'invalid_email'],
    [{ kind: 'link', email: 'ada@example.org' }, 'invalid_email'],
    [{ ...mail, email: 'ada@' }, 'invalid_email'],
    [{ ...mail, maxUses: 2 }, 'invalid_request'],
    [{ kind: 'link', maxUses: 1001 }, 'invalid_request'],
    [{ kind: 'link', maxUses: 0 }, 'invalid_request'],
    [{ kind: 'link', groups: ['no-such-group'] }, 'group_not_found'],
    [{ kind: 'link', expiresAt: world.now().toISOString() }, 'invalid_request'],
    [{ kind: 'link', expiresAt: '2031-01-01T00:00:00Z' }, 'invalid_request'],
  ] as const)
    assert.equal((await send(world.admin, 'POST', '', fields)).body.error, error, JSON.stringify(fields))
})

test('REG-08 a mail is sent again only by who could invite so now, however long ago it expired', async () => {
  await groupWith('payroll')
  const payload = { key: 'safe', displayName: 'Safe', protected: true }
  await world.api.inject({ method: 'POST', url: '/api/admin/groups', headers: world.admin, payload })
  const inviting = await createToken(world, ['people.invite'])
  const people = await makeOperator(world, await world.person(), 'people')
  const owner = await makeOperator(world, await world.person(), 'owner')
  const resend = async (invitationId: string, headers: Headers) => {
    const { status, body } = await send(headers, 'POST', `/${invitationId}/resend`)
    return [status, body.permission ?? body.error]
  }
  const expiresAt = new Date(world.now().getTime() + 3_600_000).toISOString()
  const mailed = async (group: string) => {
    const mail = { kind: 'mail', email: `${group}@example.org`, groups: [group], expiresAt }
    const { invitationId } = await invited(mail)
    await mailbox.take()
    return invitationId
  }
  const [payroll, safe] = [await mailed('payroll'), await mailed('safe')]
  world.pass(3600)
  assert.deepEqual(await resend(payroll, inviting.headers), [403, 'groups.manage'])
  for (const headers of [inviting.headers, people.page])
    assert.equal((await resend(safe, headers))[0], 403, 'a protected group')
  assert.deepEqual(await resend(safe, owner.page), [403, 'reauthentication_required'])
  for (const invitationId of [payroll, safe])
    assert.equal((await send(world.admin, 'GET', `/${invitationId}`)).body.status, 'expired')
  assert.equal(mailbox.count(), 0, 'no mail without the right to send it')

  assert.deepEqual(await resend(payroll, people.page), [200, undefined])
  await mailbox.take()
  assert.deepEqual(await resend(safe, world.admin), [200, undefined])
  await mailbox.take()
})

test('REG-07 no table, list or audit event contains a token of an invitation', async () => {
  const { token } = await invited()
  assert.equal((await register(world, { invitation: token })).status, 201)
  const stored = JSON.stringify(await world.db.selectFrom('invitation').selectAll().execute())
  const audit = await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })
  const listed = await send(world.admin, 'GET', '')
  for (const text of [stored, audit.body, JSON.stringify(listed.body)]) assert.ok(!text.includes('cs_inv_'))
  assert.match(audit.body, /invitation\.accepted/)
})

test('invitations are listed newest first, page by page', async () => {
  const made = [await invited(), await invited(), await invited()].map(({ invitationId }) => invitationId)
  const first = await send(world.admin, 'GET', '?limit=2')
  const second = await send(world.admin, 'GET', `?limit=2&cursor=${first.body.nextCursor}`)
  const ids = [...first.body.invitations, ...second.body.invitations].map(
    (each: AccountInvitation) => each.invitationId,
  )
  assert.deepEqual(ids.slice(0, 3), made.toReversed())
})
