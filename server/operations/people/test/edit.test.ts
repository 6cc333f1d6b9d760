import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { asPage, makeOperator, sibling } from '#testing/operators.ts'
import { openDirectory, rename, verifyAddress } from '#testing/people.ts'
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

type Edit = { handle?: string; displayName?: string; email?: string | null }

/** Edits one version of an identity, by default the present one. */
async function edit({ identityId }: Pick<Person, 'identityId'>, payload: Edit, given: { version?: number } = {}) {
  const version = given.version ?? (await read(identityId)).version
  return send(identityId, payload, { ...world.admin, 'if-match': `"${version}"` })
}

const send = (identityId: string, payload: object, headers: Record<string, string>) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/identities/${identityId}`, headers, payload })

async function read(identityId: string): Promise<AdminIdentityDetails> {
  const answer = await openDirectory(world).ask(`/${identityId}`)
  assert.equal(answer.headers['etag'], `"${answer.json().identity.version}"`)
  return answer.json().identity
}

async function mails(count: number) {
  const taken = []
  for (let nth = 0; nth < count; nth += 1) taken.push(await mailbox.take())
  return taken.toSorted((one, other) => String(one.to).localeCompare(String(other.to)))
}

async function activityOf({ headers }: Person) {
  const { entries } = (await world.api.inject({ url: '/api/account/activity', headers })).json()
  return entries.filter(({ action }: { action: string }) => action === 'identity.edited')
}

test('PEO-41 an operator changes username and name, which the user sees, and the log names the operator', async () => {
  const person = await world.person()
  const edited = await edit(person, { handle: 'ada-lovelace', displayName: 'Ada Lovelace' })
  assert.equal(edited.statusCode, 200, edited.body)
  const { identity } = edited.json()
  assert.deepEqual([identity.handle, identity.displayName], ['ada-lovelace', 'Ada Lovelace'])
  assert.deepEqual([edited.headers['etag'], await read(person.identityId)], [`"${identity.version}"`, identity])
  assert.deepEqual(await openDirectory(world).find('lovelace'), ['ada-lovelace'])

  const [entry, ...more] = await activityOf(person)
  assert.deepEqual([entry.actor, entry.details, more], ['operator', { changed: ['handle', 'displayName'] }, []])
  const { entries } = (
    await world.api.inject({ url: '/api/admin/audit?limit=1&action=identity.edited', headers: world.admin })
  ).json()
  assert.deepEqual([entries[0].identityId, entries[0].actor.kind], [person.identityId, 'break_glass'])

  // The former username stays reserved for this identity.
  const other = await world.person()
  const taken = await edit(other, { handle: person.handle })
  assert.deepEqual([taken.statusCode, taken.json().error], [409, 'handle_taken'])
  await rename(world, person, { handle: person.handle })
})

test('PEO-41 an edit without effect changes no version, and leaves no event', async () => {
  const person = await world.person()
  const { version, handle } = await read(person.identityId)
  const same = await edit(person, { handle, email: null })
  assert.deepEqual([same.statusCode, same.json().identity.version], [200, version])
  assert.deepEqual([await activityOf(person), mailbox.count()], [[], 0])
})

test('PEO-41 what a user may not choose, an operator may not either', async () => {
  const person = await world.person()
  const before = await read(person.identityId)
  const refused: [Edit, string][] = [
    [{ handle: 'Support' }, 'invalid_handle'],
    [{ handle: 'a b' }, 'invalid_request'],
    [{ displayName: '\u202E\u200B' }, 'invalid_request'],
    [{ email: 'ada@localhost' }, 'invalid_email'],
    [{ email: 'ada@example.com\r\nBcc: eve@example.com' }, 'invalid_email'],
    [{}, 'invalid_request'],
  ]
  for (const [payload, error] of refused) {
    const answer = await edit(person, payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, error], JSON.stringify(payload))
  }
  const verified = await edit(person, { ...{ emailVerified: true }, email: 'ada@example.com' })
  assert.equal(verified.statusCode, 400, 'no operator verifies an address')
  assert.deepEqual(await read(person.identityId), before)
})

test('PEO-42 an edit replaces only the version that the operator has read', async () => {
  const person = await world.person()
  const { version } = await read(person.identityId)
  await rename(world, person, { displayName: 'Chosen by the user' })
  const late = await edit(person, { displayName: 'Late' }, { version })
  assert.deepEqual([late.statusCode, late.json().error], [412, 'version_mismatch'])
  const unconditional = await send(person.identityId, { displayName: 'Late' }, world.admin)
  assert.equal(unconditional.statusCode, 400)
  const current = await read(person.identityId)
  assert.equal(current.displayName, 'Chosen by the user')

  const names = ['One', 'Two', 'Three', 'Four']
  const raced = await Promise.all(
    names.map((displayName) => edit(person, { displayName }, { version: current.version })),
  )
  const codes = raced.map(({ statusCode }) => statusCode)
  assert.deepEqual(codes.toSorted(), [200, 412, 412, 412])
  assert.equal((await read(person.identityId)).displayName, names[codes.indexOf(200)])
  assert.equal((await activityOf(person)).length, 1)
})

test('PEO-43 an address by an operator is not verified, and both addresses get a mail', async () => {
  const person = await world.person('grace')
  const { identityId } = person
  await verifyAddress(world, mailbox, person, 'grace@example.com')
  const app = await world.app({ name: 'Ledger' })
  const edited = await edit(person, { email: 'grace@Navy.example' })
  assert.equal(edited.statusCode, 200, edited.body)
  const { email, emailVerified } = edited.json().identity
  assert.deepEqual([email, emailVerified], ['grace@navy.example', false])
  const sent = await mails(2)
  assert.deepEqual(sent.map(({ to }) => to).flat(), ['grace@example.com', 'grace@navy.example'])
  for (const { text, to } of sent) {
    assert.match(text, /An operator of .* changed the e-mail address of @grace\./)
    const other = to.includes('grace@example.com') ? 'navy.example' : 'grace@example.com'
    assert.ok(!text.includes(other), 'no mail names the other address')
  }
  const tokens = await app.tokens(person, { scope: 'openid' })
  assert.ok(!JSON.stringify(tokens).includes('navy.example'))
  const [entry] = await activityOf(person)
  assert.deepEqual(entry.details, { changed: ['email'] })

  await verifyAddress(world, mailbox, person, 'grace@navy.example')
  assert.deepEqual([(await read(identityId)).emailVerified, mailbox.count()], [true, 0])
  const removed = await edit(person, { email: null })
  assert.deepEqual([removed.json().identity.email, removed.json().identity.emailVerified], [null, false])
  assert.deepEqual((await mailbox.take()).to, ['grace@navy.example'])
})

test('PEO-43 a code that was mailed before does not verify an address after the operator’s change', async () => {
  const person = await world.person()
  const url = `/api/identities/${person.identityId}/email`
  const { headers } = person
  await world.api.inject({ method: 'POST', url, headers, payload: { email: 'first@example.com' } })
  const code = /^\d{6}$/m.exec((await mailbox.take()).text)?.[0]
  await edit(person, { email: 'second@example.com' })
  await mailbox.take()
  const late = await world.api.inject({ method: 'POST', url: `${url}/verify`, headers, payload: { code } })
  assert.deepEqual([late.statusCode, late.json().error], [400, 'invalid_code'])
  assert.equal((await read(person.identityId)).email, 'second@example.com')
})

test('PEO-43 an address is changed also while the mail server refuses it', async () => {
  const person = await world.person()
  mailbox.refuse(550)
  const edited = await edit(person, { email: 'refused@example.com' })
  mailbox.refuse()
  assert.deepEqual([edited.statusCode, edited.json().identity.email], [200, 'refused@example.com'])
})

test('PEO-44 operators edit neither their own account nor operators with rights that they lack', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const admin = await makeOperator(world, await world.person(), 'people')
  const own = await sibling(world, admin)
  const person = await world.person()
  const by = async (page: Record<string, string>, { identityId }: Person) => {
    const headers = { ...page, 'if-match': `"${(await read(identityId)).version}"` }
    const answer = await send(identityId, { displayName: 'Edited' }, headers)
    return [answer.statusCode, answer.json().error]
  }
  assert.deepEqual(await by(admin.page, owner), [403, 'operator_protected'])
  assert.deepEqual(await by(admin.page, own), [403, 'operator_protected'])
  assert.deepEqual(await by(admin.page, person), [200, undefined])
  assert.deepEqual(await by(owner.page, admin), [200, undefined])
  assert.deepEqual(await by(asPage(world, person.sessionToken), person), [403, 'permission_denied'])
  const missing = await send(randomUUID(), { displayName: 'Edited' }, { ...owner.page, 'if-match': '"1"' })
  assert.deepEqual([missing.statusCode, missing.json().error], [404, 'identity_not_found'])
})
