import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { sql } from 'kysely'
import { newHandle, openInvited } from '#testing/invited.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator, suspend } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { mailDue } from '../../mailing.ts'

let mailbox: Mailbox
let world: TestWorld
let operator: ReturnType<typeof openInvited>
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  operator = openInvited(world)
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

const again = (identityId: string, headers: Record<string, string> = world.admin) =>
  operator.operate('POST', `identities/${identityId}/invitation`, {}, headers)

test('REG-14 no one but operators sees an invited identity, except that its username is taken', async () => {
  const email = `${newHandle()}@example.org`
  const { identityId, names } = await operator.add({ email })
  await mailedToken()
  const { handle } = names
  const free = newHandle()
  const ada = await world.person()
  const ask = async (of: { handle: string; identityId: string }) => {
    const { headers } = ada
    const recoveryAuth = Buffer.alloc(32).toString('base64url')
    const requests = [
      { url: `/api/signing/public-key/${of.handle}` },
      { url: `/api/encryption/identity-key/${of.handle}` },
      { url: `/api/identities/${of.identityId}`, headers },
      { method: 'POST', url: '/api/auth/recover/start', payload: { handle: of.handle, recoveryAuth } },
      {
        method: 'POST',
        url: '/api/admin/operators',
        headers: world.admin,
        payload: { handle: of.handle, role: 'apps' },
      },
      { method: 'PUT', url: `/api/admin/groups/${randomUUID()}/members/${of.identityId}`, headers: world.admin },
    ] as const
    const answers = []
    for (const request of requests) {
      const { statusCode, body } = await world.api.inject(request)
      const text = body.replaceAll(of.handle, '').replaceAll(of.identityId, '')
      answers.push([statusCode, text.replaceAll(/[\w-]{36,}/g, '')])
    }
    const resource = `acct:${of.handle}@${world.config.authUrl.host}`
    const finger = await world.auth.inject({ url: '/.well-known/webfinger', query: { resource } })
    return [...answers, finger.statusCode]
  }
  assert.deepEqual(await ask({ handle, identityId }), await ask({ handle: free, identityId: randomUUID() }))
  const availability = await world.api.inject({
    method: 'POST',
    url: '/api/auth/register/available',
    payload: { handle },
  })
  assert.deepEqual(availability.json(), { available: false })
  for (const url of ['/api/account/export', '/api/account/activity', '/api/identities'])
    assert.ok(!(await world.api.inject({ url, headers: ada.headers })).body.includes(handle), url)
})

test('REG-15 what acts on an account refuses an invited identity, and changes nothing', async () => {
  const { identityId, token, names } = await operator.add()
  const reason = 'Left the company'
  const acts = [
    ['POST', '/suspension', { reason }],
    ['DELETE', '/suspension'],
    ['POST', '/sign-out', { scope: 'identity' }],
    ['POST', '/recovery-links', { delivery: 'mail', reason }],
    ['GET', '/recovery-links'],
    ['POST', '/restore'],
    ['GET', '/export'],
  ] as const
  for (const [method, path, payload] of acts) {
    const refused = await operator.operate(method, `identities/${identityId}${path}`, payload)
    assert.deepEqual([refused.status, refused.error], [409, 'identity_invited'], `${method} ${path}`)
  }
  const headers = { ...world.admin, 'if-match': '"1"' }
  const edited = await operator.operate('PATCH', `identities/${identityId}`, { displayName: 'Root' }, headers)
  assert.deepEqual([edited.status, edited.error], [409, 'identity_invited'])
  const apps = await operator.operate('GET', `identities/${identityId}/apps`)
  assert.deepEqual(apps.answer.json(), { apps: [] })
  const { answer } = await operator.operate('GET', `identities/${identityId}/activity`)
  const { entries } = answer.json<{ entries: { action: string }[] }>()
  assert.deepEqual(entries.map(({ action }) => action).toSorted(), ['identity.invited', 'identity.viewed'])
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
})

test('REG-15 an identity is invited again, by another link or to its address; the one before ends', async () => {
  const first = await operator.add()
  const linked = await again(first.identityId)
  assert.equal(linked.status, 201)
  const { token, invitation } = linked.answer.json<{ token: string; invitation: { identityId: string } }>()
  assert.equal(invitation.identityId, first.identityId)
  assert.equal((await operator.preview(first.token)).error, 'invitation_expired')
  assert.equal((await register(world, { invitation: token }, first.names)).identity?.identityId, first.identityId)
  assert.deepEqual(
    [(await again(first.identityId)).error, (await again(randomUUID())).error],
    ['identity_not_invited', 'identity_not_found'],
  )

  const email = `${newHandle()}@example.org`
  const mailed = await operator.add({ email })
  const early = await mailedToken()
  const renewed = await again(mailed.identityId)
  assert.deepEqual([renewed.status, renewed.answer.json().token], [201, undefined])
  const late = await mailedToken()
  assert.equal((await operator.preview(early)).error, 'invitation_expired')
  assert.equal((await operator.preview(late)).email, email)

  // The invitation is gone: deleted by an operator, or by the cleanup after it expired. The identity stays.
  await operator.operate('DELETE', `invitations/${renewed.answer.json().invitation.invitationId}`)
  assert.equal((await operator.entryOf(mailed.identityId)).status, 'invited')
  assert.equal((await again(mailed.identityId)).status, 201)
  const last = await mailedToken()
  assert.equal((await register(world, { invitation: last }, mailed.names)).identity?.identityId, mailed.identityId)
})

test('REG-15 an expired invitation accepts no more, until it is mailed again', async () => {
  const email = `${newHandle()}@example.org`
  const { identityId, invitation, names } = await operator.add({ email })
  const early = await mailedToken()
  world.pass(8 * 24 * 3600)
  assert.equal((await register(world, { invitation: early }, names)).error, 'invitation_expired')
  assert.equal((await operator.entryOf(identityId)).status, 'invited')
  assert.equal((await register(world, {}, names)).error, 'handle_taken')
  assert.equal((await operator.operate('POST', `invitations/${invitation.invitationId}/resend`)).status, 200)
  const late = /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
  assert.equal((await register(world, { invitation: late }, names)).identity?.identityId, identityId)
})

test('REG-16 groups need the rights of the inviter, at the addition and at the acceptance', async () => {
  for (const key of ['inner', 'vault']) await operator.operate('POST', 'groups', { key, displayName: key })
  const { answer } = await operator.operate('GET', 'groups')
  const vault = answer.json<{ groups: { key: string; groupId: string }[] }>().groups.find(({ key }) => key === 'vault')
  const inviting = await createToken(world, ['people.invite', 'people.read'])
  const people = await makeOperator(world, await world.person(), 'people')
  const addTo = (groups: string[], headers: Record<string, string>) =>
    operator.operate('POST', 'identities', { handle: newHandle(), displayName: 'Grace', groups }, headers)
  const denied = await addTo(['inner'], inviting.headers)
  assert.deepEqual([denied.status, denied.answer.json().permission], [403, 'groups.manage'])
  assert.equal((await addTo(['unknown'], people.page)).error, 'group_not_found')
  const early = await operator.add({ groups: ['vault'] }, people.page)
  await operator.operate('PATCH', `groups/${vault?.groupId}`, { protected: true })
  const late = await addTo(['vault'], people.page)
  assert.deepEqual([late.status, late.answer.json().permission], [403, 'operators.manage'])
  assert.equal((await register(world, { invitation: early.token }, early.names)).error, 'invitation_expired')
  assert.equal((await again(early.identityId, people.page)).status, 403)

  // Who may only invite does not invite into the groups that another operator has chosen.
  const grouped = await operator.add({ groups: ['inner'] })
  const taken = await again(grouped.identityId, inviting.headers)
  assert.deepEqual([taken.status, taken.answer.json().permission], [403, 'groups.manage'])
  assert.equal((await operator.preview(grouped.token)).handle, grouped.names.handle, 'the link before stays')
  const byPeople = await operator.add({ groups: ['inner'] }, people.page)
  await suspend(world, people)
  assert.equal((await register(world, { invitation: byPeople.token }, byPeople.names)).error, 'invitation_expired')
  assert.equal((await operator.entryOf(byPeople.identityId)).status, 'invited')
})

test('REG-16 wrong additions are refused, and reserve nothing', async () => {
  const ada = await world.person()
  const handle = newHandle()
  const wrong: [object, number, string][] = [
    [{ handle: ada.handle }, 409, 'handle_taken'],
    [{ handle: ada.handle.toUpperCase() }, 409, 'handle_taken'],
    [{ handle: 'admin' }, 400, 'invalid_handle'],
    [{ handle: 'a b' }, 400, 'invalid_request'],
    [{ displayName: '\u202Egnp' }, 400, 'invalid_request'],
    [{ email: 'no address' }, 400, 'invalid_email'],
    [{ groups: ['none'] }, 404, 'group_not_found'],
    [{ maxUses: 5 }, 400, 'invalid_request'],
    [{ identityId: ada.identityId }, 400, 'invalid_request'],
  ]
  for (const [fields, status, error] of wrong) {
    const refused = await operator.operate('POST', 'identities', { handle, displayName: 'Grace', ...fields })
    assert.deepEqual([refused.status, refused.error], [status, error], JSON.stringify(fields))
  }
  assert.equal((await register(world, {}, { handle })).status, 201)
  const url = 'https://id.example.com'
  const hosts = { BASE_URL: url, AUTH_URL: url, BUSINESS_URL: 'https://business.example.com', ALLOW_EMBEDDED: '1' }
  const quiet = await createWorld({ environment: hosts })
  const { operate } = openInvited(quiet)
  const mailed = await operate('POST', 'identities', { handle, displayName: 'Grace', email: 'grace@example.org' })
  assert.deepEqual([mailed.status, mailed.error], [503, 'mail_not_set_up'])
  await quiet.close()
})

test('REG-16 a closed registration accepts no invited identity', async () => {
  const { token, names } = await operator.add()
  const ada = await world.person()
  const setMode = async (mode: string) => {
    const { revision } = (await operator.operate('GET', 'settings')).answer.json<{ revision: string }>()
    const headers = { ...world.admin, 'if-match': `"${revision}"` }
    const changed = await operator.operate('PATCH', 'settings', { settings: { 'registration.mode': mode } }, headers)
    assert.equal(changed.status, 200)
  }
  await setMode('closed')
  assert.equal((await register(world, { invitation: token }, names)).error, 'registration_closed')
  assert.equal((await operator.acceptFurther(ada, token, names)).error, 'registration_closed')
  await setMode('open')
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
})

test('REG-16 there can be 20,000 invited identities', async () => {
  const { identityId, names } = await operator.add()
  await sql`
    insert into invited_identity
    select gen_random_uuid(), 'many', 'Many', null, '{}', now() from generate_series(2, ${limits.invitedIdentitiesMax})
  `.execute(world.db)
  const handle = newHandle()
  const refused = await operator.operate('POST', 'identities', { handle, displayName: 'One more' })
  assert.deepEqual([refused.status, refused.error], [409, 'too_many_invited_identities'])
  await sql`delete from invited_identity where handle = 'many'`.execute(world.db)
  const deleted = await operator.operate('DELETE', `identities/${identityId}`, {
    confirm: names.handle,
    reason: 'Left',
  })
  assert.equal(deleted.status, 200)
  assert.equal((await operator.operate('POST', 'identities', { handle, displayName: 'One more' })).status, 201)
})
