import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, createOrganization, membersOf, reauthenticate } from '#testing/organization.ts'
import { editAddress } from '#testing/people.ts'
import { openDomains } from '#testing/registration-domains.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

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

const newEmail = () => `ada-${randomBytes(6).toString('hex')}@acme.example`

function tokenIn({ text }: { text: string }): string {
  return /cs_invite_[\w-]{92}/.exec(text)?.[0] ?? ''
}

async function invite(email: string, person: Person = owner) {
  const answer = await businessRequest(world, person, `POST /organizations/${id}/invitations`, {
    email,
    role: 'member',
  })
  assert.equal(answer.statusCode, 201, answer.body)
  const { token, invitation } = answer.json()
  return { link: String(token), mailed: tokenIn(await mailbox.take()), invitationId: String(invitation.invitationId) }
}

async function inviteByHandle({ handle }: Person): Promise<string> {
  const payload = { handle, role: 'member' }
  const answer = await businessRequest(world, owner, `POST /organizations/${id}/invitations`, payload)
  return answer.json().invitation.invitationId
}

const accept = (token: string, { headers, identityId }: Person, verifyEmail = true) =>
  businessRequest(world, { headers }, `POST /invitations/${token}/accept`, { identityId, verifyEmail })

const preview = (token: string) => world.business.inject({ url: `/api/invitations/${token}/preview` })

const answer = (invitationId: string, { headers, identityId }: Person, what: 'accept' | 'decline') =>
  businessRequest(world, { headers }, `POST /organizations/${id}/invitations/${invitationId}/${what}`, { identityId })

const post = (url: string, { headers }: Person, payload: object) =>
  world.api.inject({ method: 'POST', url, headers, payload })

async function emailOf({ headers, identityId }: Person): Promise<{ email: string | null; emailVerified: boolean }> {
  const { identities } = (await world.api.inject({ url: '/api/identities', headers })).json()
  const own = identities.find((identity: { identityId: string }) => identity.identityId === identityId)
  return { email: own.email, emailVerified: own.emailVerified }
}

async function proveEmail(person: Person, email: string): Promise<void> {
  await post(`/api/identities/${person.identityId}/email`, person, { email })
  const code = codeIn(await mailbox.take())
  const proved = await post(`/api/identities/${person.identityId}/email/verify`, person, { code })
  assert.equal(proved.statusCode, 200, proved.body)
}

async function listed(person: Person) {
  const found = await world.api.inject({ url: '/api/account/invitations', headers: person.headers })
  assert.equal(found.statusCode, 200, found.body)
  return found.json().invitations
}

test('a new user accepts an invitation by the mailed link, which verifies the address on the spot', async () => {
  const [email, person] = [newEmail(), await world.person()]
  const { mailed, link } = await invite(email)
  assert.notEqual(mailed, link)
  const shown = (await preview(mailed)).json().invitation
  assert.deepEqual(
    [shown.organization.name, shown.invitedBy.handle, shown.role, shown.email, shown.provesEmail],
    ['Acme', owner.handle, 'member', email, true],
  )
  const accepted = await accept(mailed, person)
  assert.equal(accepted.statusCode, 201, accepted.body)
  assert.deepEqual(await emailOf(person), { email, emailVerified: true })
  const member = (await membersOf(world, id, owner)).find(({ identityId }) => identityId === person.identityId)
  assert.equal(member?.email, email)
})

test('REG-22 an invitation to an address of another domain does not replace the last one that admits', async (t) => {
  const domains = openDomains(world, mailbox)
  const [person, email] = [await world.person(), newEmail()]
  await proveEmail(person, email)
  await domains.allow('acme.example')
  t.after(() => domains.change({ 'registration.mode': 'open' }))
  const { mailed } = await invite('ada@elsewhere.example')
  const refused = await accept(mailed, person)
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'email_domain_required'])
  assert.deepEqual(await emailOf(person), { email, emailVerified: true })
  await domains.change({ 'registration.mode': 'open' })
  assert.equal((await accept(mailed, person)).statusCode, 201)
  await mailbox.take()
})

test('INV-60 the link that an inviting member sees verifies no address', async () => {
  const victim = newEmail()
  const attacker = await world.person()
  const { link, mailed } = await invite(victim)
  const refused = await accept(link, attacker)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'invitation_not_for_you'])
  assert.deepEqual(await emailOf(attacker), { email: null, emailVerified: false })
  assert.equal((await preview(link)).json().invitation.provesEmail, false)
  assert.equal((await accept(mailed, attacker)).statusCode, 201, 'and uses nothing up')
})

test('PEO-43 INV-60 an address that an operator set accepts no invitation, until its user verifies it', async () => {
  const [email, person] = [newEmail(), await world.person()]
  await editAddress(world, person.identityId, email)
  await mailbox.take()
  const { link, mailed, invitationId } = await invite(email)
  const refused = await accept(link, person)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'invitation_not_for_you'])
  assert.equal((await answer(invitationId, person, 'accept')).statusCode, 404)
  assert.equal((await answer(invitationId, person, 'decline')).statusCode, 404)
  assert.deepEqual(await listed(person), [])
  const shown = await businessRequest(world, person, `GET /invitations/${link}`)
  assert.deepEqual(shown.json().invitation.identityIds, [])
  assert.equal((await accept(mailed, person)).statusCode, 201, 'the mailed link verifies it')
  assert.deepEqual([await emailOf(person), mailbox.count()], [{ email, emailVerified: true }, 0])
})

test('INV-61 no response shows the secret that an invitation mails', async () => {
  const email = newEmail()
  const { mailed, link, invitationId } = await invite(email)
  const path = `/organizations/${id}/invitations`
  const answers = [
    await businessRequest(world, owner, `GET ${path}`),
    await businessRequest(world, owner, `GET ${path}/${invitationId}`),
    await businessRequest(world, owner, `POST ${path}/${invitationId}/mail`),
    await businessRequest(world, owner, `GET /invitations/${link}`),
    await preview(link),
  ]
  const again = tokenIn(await mailbox.take())
  for (const { statusCode, body } of answers) {
    assert.equal(statusCode, 200, body)
    assert.ok(!body.includes(mailed.slice(-30)) && !body.includes(again.slice(-30)))
  }
  const audit = await businessRequest(world, owner, `GET /organizations/${id}/audit`)
  assert.ok(!audit.body.includes(again.slice(-30)))
})

test('INV-62 a mailed link verifies an address once; none after a newer mail, its revocation or its end', async () => {
  const [email, person, other] = [newEmail(), await world.person(), await world.person()]
  const used = await invite(email)
  assert.equal((await accept(used.mailed, person)).statusCode, 201)
  const replaced = await invite(newEmail())
  const path = `/organizations/${id}/invitations`
  assert.equal((await businessRequest(world, owner, `POST ${path}/${replaced.invitationId}/mail`)).statusCode, 200)
  const newer = tokenIn(await mailbox.take())
  const revoked = await invite(newEmail())
  await businessRequest(world, owner, `DELETE ${path}/${revoked.invitationId}`)
  for (const token of [used.mailed, replaced.mailed, revoked.mailed]) {
    assert.equal((await preview(token)).statusCode, 404)
    const refused = await accept(token, other)
    assert.deepEqual([refused.statusCode, refused.json().error], [404, 'invitation_not_found'])
  }
  world.pass(7 * 24 * 3600)
  other.headers = await other.signIn()
  owner.headers = await owner.signIn()
  assert.equal((await accept(newer, other)).statusCode, 404)
  assert.deepEqual(await emailOf(other), { email: null, emailVerified: false })
})

test('INV-62 sixteen concurrent uses of a mailed link verify the address for one identity', async () => {
  const { mailed } = await invite(newEmail())
  const people = await Promise.all([world.person(), world.person(), world.person(), world.person()])
  const answers = await Promise.all(Array.from({ length: 16 }, (_, nth) => accept(mailed, people[nth % 4] ?? owner)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
  const verified = (await Promise.all(people.map(emailOf))).filter(({ emailVerified }) => emailVerified)
  assert.equal(verified.length, 1)
})

test('INV-63 an address is replaced only if the user asks for it, and its former owner is notified', async () => {
  const [before, email, person] = [newEmail(), newEmail(), await world.person()]
  await proveEmail(person, before)
  const { mailed } = await invite(email)
  const refused = await accept(mailed, person, false)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'invitation_not_for_you'])
  assert.equal((await emailOf(person)).email, before)
  assert.equal((await accept(mailed, person)).statusCode, 201)
  assert.equal((await emailOf(person)).email, email)
  assert.deepEqual((await mailbox.take()).to, [before])
})

test('INV-64 without a session, invitations that do not exist look the same, and guesses are limited', async (t) => {
  const { mailed, link, invitationId } = await invite(newEmail())
  const edited = `${link.slice(0, -3)}${link.endsWith('AAA') ? 'BBB' : 'AAA'}`
  const gone = await invite(newEmail())
  await businessRequest(world, owner, `DELETE /organizations/${id}/invitations/${gone.invitationId}`)
  const bodies = await Promise.all([edited, gone.link, gone.mailed, 'cs_invite_none', invitationId].map(preview))
  assert.deepEqual(new Set(bodies.map(({ statusCode, body }) => `${statusCode} ${body}`)).size, 1)
  assert.equal((await preview(mailed)).statusCode, 200)
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const url = '/api/invitations/cs_invite_none/preview'
  for (let nth = 0; nth < 120; nth += 1) assert.equal((await limited.business.inject({ url })).statusCode, 404)
  assert.equal((await limited.business.inject({ url })).statusCode, 429)
})

test('a user sees the open invitations to their usernames and addresses, and joins or declines them', async () => {
  const [email, person] = [newEmail(), await world.person()]
  assert.deepEqual(await listed(person), [])
  const named = await inviteByHandle(person)
  await invite(email)
  await proveEmail(person, email)
  const invitations = await listed(person)
  assert.deepEqual(
    invitations.map(
      ({ email: to, canJoin, identityIds }: { email: string; canJoin: boolean; identityIds: string[] }) => [
        to,
        canJoin,
        identityIds,
      ],
    ),
    [
      [email, true, [person.identityId]],
      [null, true, [person.identityId]],
    ],
  )
  assert.equal((await answer(named, person, 'decline')).statusCode, 204)
  assert.equal((await answer(named, person, 'accept')).statusCode, 404)
  assert.equal((await answer(invitations[0].invitationId, person, 'accept')).statusCode, 201)
  assert.deepEqual(await listed(person), [])
})

test('INV-65 invitations to others are not listed, and can neither be accepted nor declined', async () => {
  const [email, person, stranger] = [newEmail(), await world.person(), await world.person()]
  const named = await inviteByHandle(person)
  const { invitationId } = await invite(email)
  await post(`/api/identities/${stranger.identityId}/email`, stranger, { email })
  await mailbox.take()
  assert.deepEqual(await listed(stranger), [], 'an address that is not verified counts for nothing')
  for (const each of [named, invitationId])
    for (const what of ['accept', 'decline'] as const) {
      const refused = await answer(each, stranger, what)
      assert.deepEqual([refused.statusCode, refused.json().error], [404, 'invitation_not_found'])
    }
  const asThem = await answer(named, { ...stranger, identityId: person.identityId }, 'decline')
  assert.deepEqual([asThem.statusCode, asThem.json().error], [404, 'identity_not_found'])
})

test('INV-66 who once verified an address needs the link in the mail that its present owner receives', async () => {
  const [email, former] = [newEmail(), await world.person()]
  await proveEmail(former, email)
  world.pass(limits.recentEmailProofSeconds)
  former.headers = await former.signIn()
  owner.headers = await owner.signIn()
  const { invitationId } = await invite(email)
  assert.deepEqual(
    (await listed(former)).map(({ canJoin }: { canJoin: boolean }) => canJoin),
    [false],
  )
  for (const what of ['accept', 'decline'] as const) {
    const refused = await answer(invitationId, former, what)
    assert.deepEqual([refused.statusCode, refused.json().error], [403, 'email_proof_outdated'])
  }
})

test('INV-67 a member who may not invite mails nothing again, and sees no addresses', async () => {
  const [email, person] = [newEmail(), await world.person()]
  const { mailed } = await invite(email)
  await accept(mailed, person)
  const { invitationId } = await invite(newEmail())
  const path = `/organizations/${id}/invitations/${invitationId}/mail`
  const refused = await businessRequest(world, person, `POST ${path}`)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'insufficient_scope'])
  const search = `GET /organizations/${id}/members?limit=10&q=${encodeURIComponent(email)}` as const
  assert.equal((await businessRequest(world, person, search)).json().members.length, 0)
  assert.equal((await businessRequest(world, owner, search)).json().members.length, 1)
  assert.ok((await membersOf(world, id, person)).every((member) => !('email' in member)))
})

test('INV-68 an organization does not learn the address of a member that it invited by username', async () => {
  const [email, person] = [newEmail(), await world.person()]
  await proveEmail(person, email)
  const invitationId = await inviteByHandle(person)
  assert.equal((await answer(invitationId, person, 'accept')).statusCode, 201)
  const member = (await membersOf(world, id, owner)).find(({ identityId }) => identityId === person.identityId)
  assert.equal(member?.email, null)
})

test('members are found by name, username and role, with their number', async () => {
  const person = await world.person()
  await answer(await inviteByHandle(person), person, 'accept')
  const find = async (query: string) =>
    (await businessRequest(world, owner, `GET /organizations/${id}/members?${query}`)).json()
  const found = await find(`limit=5&q=${encodeURIComponent(`@${person.handle.toUpperCase()}`)}`)
  assert.deepEqual([found.members[0].identityId, found.members.length, found.total], [person.identityId, 1, 1])
  assert.deepEqual(
    (await find('limit=5&role=owner')).members.map(({ identityId }: Person) => identityId),
    [owner.identityId],
  )
  assert.deepEqual(await find('limit=5&q=%25%25'), { members: [], nextCursor: null, total: 0 })
})

test('the audit log names invitee, member and roles, and is filtered by person and time', async () => {
  const person = await world.person()
  await answer(await inviteByHandle(person), person, 'accept')
  const member = (await membersOf(world, id, owner)).find(({ identityId }) => identityId === person.identityId)
  await reauthenticate(world, owner)
  const path = `/organizations/${id}/members/${member?.memberId}`
  assert.equal((await businessRequest(world, owner, `PATCH ${path}`, { role: 'viewer' })).statusCode, 200)
  const email = newEmail()
  await invite(email)
  const read = async (query: string) =>
    (await businessRequest(world, owner, `GET /organizations/${id}/audit?limit=3&${query}`)).json()
  const { entries, people } = await read('')
  const [invited, changed, joined] = entries
  assert.equal(invited.details.email, email)
  assert.deepEqual(
    [changed.details.memberIdentityId, changed.details.roleBefore, changed.details.role],
    [person.identityId, 'member', 'viewer'],
  )
  assert.deepEqual(
    people.map(({ handle }: { handle: string }) => handle).toSorted(),
    [owner.handle, person.handle].toSorted(),
  )
  const theirs = await read(`by=${person.identityId}`)
  assert.deepEqual(
    theirs.entries.map(({ entryId }: { entryId: string }) => entryId),
    [joined.entryId],
  )
  assert.deepEqual((await read(`before=2000-01-01T00:00:00.000Z`)).entries, [])
})
