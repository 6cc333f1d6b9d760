import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { setImmediate } from 'node:timers/promises'
import { openBrowser } from '#testing/federated-browser.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { activate, createToken, makeOperator, sibling, suspend } from '#testing/operators.ts'
import { createOrganization, join } from '#testing/organization.ts'
import { openDirectory, verifyAddress } from '#testing/people.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { tablesWith } from '#testing/stored-text.ts'
import { mountModules, openServices } from '../../../services.ts'
import { deleteDue } from '../due.ts'

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

type Named = Pick<Person, 'identityId' | 'handle'>
type Headers = Record<string, string>
type Api = TestWorld['api']
const day = 86_400
const reason = 'Left the company'

type Sender = { headers: Headers; api?: Api }

function send(method: 'GET' | 'POST' | 'DELETE', url: string, { headers, api = world.api }: Sender, payload?: object) {
  return api.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
}
const asAdmin = (api: Api = world.api): Sender => ({ headers: world.admin, api })
const schedule = ({ identityId, handle }: Named, fields: object = {}, sender = asAdmin()) =>
  send('DELETE', `/api/admin/identities/${identityId}`, sender, { confirm: handle, reason, ...fields })
const restore = ({ identityId }: Named, sender = asAdmin()) =>
  send('POST', `/api/admin/identities/${identityId}/restore`, sender)
const read = (person: Pick<Person, 'headers'>) => send('GET', '/api/auth/session', person)

const errorOf = (answer: { statusCode: number; body: string; json: () => { error?: string } }) => [
  answer.statusCode,
  answer.body === '' ? undefined : answer.json().error,
]

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

async function signIn(person: Person) {
  const { flowId, options } = (await send('POST', '/api/auth/login/start', { headers: {} }, {})).json()
  const credential = person.authenticator.authenticate(options)
  return send('POST', '/api/auth/login/finish', { headers: {} }, { flowId, credential })
}

async function entryOf({ identityId }: Named) {
  const answer = await openDirectory(world).ask(`/${identityId}`)
  return answer.statusCode === 200 ? answer.json().identity : undefined
}

async function actionsOf({ identityId }: Named): Promise<string[]> {
  const rows = await world.db
    .selectFrom('audit_event')
    .select(['action', 'actor'])
    .where('identity_id', '=', identityId)
    .where('action', 'like', 'identity.%')
    .orderBy('event_id')
    .execute()
  return rows.flatMap(({ action, actor }) => (action === 'identity.viewed' ? [] : [`${action} ${actor}`]))
}

test('PED-01 a scheduled deletion suspends at once, can be undone, and is whole when due', async () => {
  const person = await world.person('leaver')
  await verifyAddress(world, mailbox, person, 'leaver@example.com')
  const app = await world.app()
  const tokens = await app.tokens(person)
  const answer = await schedule(person)
  const dueAt = new Date(world.now().getTime() + 7 * day * 1000).toISOString()
  assert.deepEqual(answer.json(), {
    identityId: person.identityId,
    reason,
    scheduledAt: world.now().toISOString(),
    dueAt,
  })
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, ['leaver@example.com'])
  assert.match(mail.text, /will delete it with all its data on 8 January 2030 at 12:00 UTC\. Reason: Left the company/)
  assert.equal((await read(person)).statusCode, 401)
  assert.deepEqual(errorOf(await app.refresh(tokens.refresh_token)), [400, 'invalid_grant'])
  const refused = await signIn(person)
  assert.deepEqual([...errorOf(refused), refused.json().reason], [403, 'account_suspended', reason])
  const { status, statusReason, deletionDueAt } = await entryOf(person)
  assert.deepEqual([status, statusReason, deletionDueAt], ['deletion_scheduled', reason, dueAt])
  const directory = openDirectory(world)
  assert.deepEqual(await directory.listAll({ status: 'deletion_scheduled' }), ['leaver'])
  for (const other of ['active', 'suspended'])
    assert.deepEqual(
      (await directory.listAll({ status: other })).filter((handle) => handle === 'leaver'),
      [],
    )

  world.pass(3 * day)
  assert.deepEqual((await schedule(person, { retainDays: 30, reason: 'Again' })).json(), answer.json(), 'a repetition')
  assert.equal((await restore(person)).statusCode, 204)
  assert.equal((await restore(person)).statusCode, 204, 'a repetition')
  assert.equal((await entryOf(person)).status, 'active')
  assert.equal((await signIn(person)).statusCode, 200)
  assert.deepEqual(errorOf(await app.refresh(tokens.refresh_token)), [400, 'invalid_grant'], 'tokens do not return')

  assert.equal((await schedule(person, { retainDays: 1 })).statusCode, 200)
  world.pass(day - 1)
  await deleteDue(world.services)
  assert.equal((await entryOf(person)).status, 'deletion_scheduled')
  const taken = await send(
    'POST',
    '/api/auth/register/start',
    { headers: {} },
    { handle: 'leaver', displayName: 'Someone' },
  )
  assert.deepEqual(errorOf(taken), [409, 'handle_taken'])
  world.pass(1)
  await deleteDue(world.services)
  assert.equal(await entryOf(person), undefined)
  assert.deepEqual(await tablesWith(world.db, person.identityId), ['audit_event'])
  assert.deepEqual(await tablesWith(world.db, person.userId), ['audit_event'])
  assert.deepEqual(await tablesWith(world.db, 'leaver@example.com'), [])
  assert.deepEqual(errorOf(await restore(person)), [404, 'identity_not_found'])
  assert.deepEqual((await actionsOf(person)).slice(-4), [
    'identity.deletion_scheduled operator',
    'identity.restored operator',
    'identity.deletion_scheduled operator',
    'identity.deleted system',
  ])
})

test('PED-02 a deletion needs the username and a reason, and can be at once only if the law requires it', async () => {
  const person = await world.person()
  for (const wrong of [{ confirm: 'another' }, { reason: '\n' }, { retainDays: 0 }, { retainDays: 31 }])
    assert.deepEqual(errorOf(await schedule(person, wrong)), [400, 'invalid_request'], JSON.stringify(wrong))
  for (const wrong of [{ scope: 'account' }, { retainDays: 0, legalErasure: false }])
    assert.equal((await schedule(person, wrong)).statusCode, 400, JSON.stringify(wrong))
  assert.equal((await read(person)).statusCode, 200)
  assert.equal((await schedule(person)).statusCode, 200)
  assert.deepEqual(errorOf(await schedule(person, { retainDays: 0 })), [400, 'invalid_request'])
  const erased = await schedule(person, { retainDays: 0, legalErasure: true })
  assert.equal(erased.json().dueAt, erased.json().scheduledAt)
  assert.equal(await entryOf(person), undefined)
  assert.deepEqual(await tablesWith(world.db, person.identityId), ['audit_event'])
  assert.deepEqual(errorOf(await schedule(person)), [404, 'identity_not_found'])
  assert.deepEqual((await actionsOf(person)).slice(-2), [
    'identity.deletion_scheduled operator',
    'identity.deleted operator',
  ])
})

test('PED-03 the sibling of an identity that is deleted lives, and nothing tells of it', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  const before = await entryOf(other)
  assert.equal((await schedule(person)).statusCode, 200)
  assert.deepEqual(await entryOf(other), before)
  const alone = await world.person()
  assert.deepEqual(Object.keys((await schedule(alone)).json()), Object.keys((await schedule(person)).json()))
  assert.equal((await signIn(person)).statusCode, 200)
  world.pass(7 * day)
  await deleteDue(world.services)
  assert.equal(await entryOf(person), undefined)
  assert.deepEqual(await entryOf(other), before)
  assert.equal((await signIn(person)).statusCode, 200)
  assert.deepEqual(await tablesWith(world.db, person.identityId), ['audit_event'])
})

test('PED-03 other suspensions stay when a deletion is undone, and end with the identity', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await suspend(world, person, { scope: 'account' })
  await schedule(person)
  await activate(world, person)
  assert.equal((await entryOf(person)).status, 'deletion_scheduled', 'activation does not undo it')
  await suspend(world, person, { scope: 'account' })
  await restore(person)
  assert.equal((await entryOf(person)).status, 'suspended')
  assert.equal((await signIn(person)).statusCode, 403)
  await schedule(person, { retainDays: 0, legalErasure: true })
  assert.equal((await entryOf(other)).status, 'active')
  assert.equal((await signIn(person)).statusCode, 200, 'no operator could activate the account any more')
  const ends = ['identity.activated operator', 'identity.deleted operator']
  assert.deepEqual((await actionsOf(person)).slice(-2), ends, 'the end of the suspension is recorded')
})

test('PED-08 a deletion that leaves only suspended identities ends all sessions of the account', async () => {
  for (const retainDays of [0, 1]) {
    const person = await world.person()
    const browser = await openBrowser(world, person)
    await suspend(world, await sibling(world, person), { scope: 'identity' })
    assert.equal((await browser.accounts()).json().accounts.length, 1)
    const begun = (await send('POST', '/api/auth/passkeys/start', person, {})).json()
    assert.equal((await schedule(person, { retainDays, legalErasure: true })).statusCode, 200)
    world.pass(retainDays * day)
    await deleteDue(world.services)
    for (const url of ['/api/auth/session', '/api/auth/passkeys', '/api/account/export'])
      assert.deepEqual(errorOf(await send('GET', url, person)), [401, 'unauthorized'], url)
    const accounts = await browser.accounts()
    assert.deepEqual([accounts.statusCode, accounts.headers['set-login']], [401, 'logged-out'])
    assert.deepEqual(await tablesWith(world.db, begun.flowId), [])
    assert.deepEqual(errorOf(await signIn(person)), [403, 'account_suspended'])
  }
})

test('AUD-01 who leaves organizations by a deletion of an operator did not leave them by themselves', async () => {
  const [alone, owner, member] = [await world.person(), await world.person(), await world.person()]
  await createOrganization(world, alone)
  const { id } = await createOrganization(world, owner)
  await join(world, { id, owner, role: 'viewer' }, member)
  for (const person of [alone, member]) await schedule(person, { retainDays: 0, legalErasure: true })
  const url = '/api/admin/audit?limit=100&action=organization'
  const { entries } = (await world.api.inject({ url, headers: world.admin })).json<{ entries: AuditEvent[] }>()
  const ends = entries.filter(({ action }) => /^organization\.(deleted|member\.removed)$/.test(action)).slice(0, 2)
  assert.deepEqual(
    ends.map(({ action, actor, requestId }) => [action, actor.kind, requestId]),
    [
      ['organization.member.removed', 'operator', null],
      ['organization.deleted', 'operator', null],
    ],
  )
})

test('PED-04 a rule that refuses a deletion refuses its schedule, and postpones it when due', async () => {
  const owner = await world.person()
  const { id } = await createOrganization(world, owner)
  await join(world, { id, owner, role: 'viewer' }, await world.person())
  assert.deepEqual(errorOf(await schedule(owner)), [409, 'last_owner'])
  assert.equal((await read(owner)).statusCode, 200, 'nothing has changed')
  const developer = await world.person()
  const app = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
  assert.equal((await send('POST', '/api/developer/apps', developer, app)).statusCode, 201)
  assert.deepEqual(errorOf(await schedule(developer)), [409, 'owns_apps'])
  assert.deepEqual(errorOf(await schedule(developer, { retainDays: 0, legalErasure: true })), [409, 'owns_apps'])

  const later = await world.person()
  await schedule(later, { retainDays: 1 })
  await world.db.updateTable('app').set({ owner_user_id: later.userId }).where('name', '=', 'Ledger').execute()
  world.pass(day)
  await deleteDue(world.services)
  world.pass(3600)
  await deleteDue(world.services)
  assert.equal((await entryOf(later)).status, 'deletion_scheduled')
  assert.equal((await signIn(later)).statusCode, 403)
  const refusals = (await actionsOf(later)).filter((action) => action === 'identity.deletion_refused system')
  assert.equal(refusals.length, 1, 'two attempts, one event')
  await world.db.updateTable('app').set({ owner_user_id: developer.userId }).where('name', '=', 'Ledger').execute()
  world.pass(3600)
  await deleteDue(world.services)
  assert.equal(await entryOf(later), undefined)
})

test('PED-05 no operator deletes one with rights that they lack, their own account, or the last owner', async () => {
  const alone = await makeOperator(world, await world.person(), 'owner')
  assert.deepEqual(errorOf(await schedule(alone)), [409, 'last_owner'])
  const other = await makeOperator(world, await world.person(), 'owner')
  assert.deepEqual(errorOf(await schedule(other, {}, { headers: other.page })), [403, 'operator_protected'])
  const helper = await makeOperator(world, await world.person(), 'people')
  const asHelper = { headers: helper.page }
  for (const answer of [await schedule(other, {}, asHelper), await restore(other, asHelper)])
    assert.deepEqual(errorOf(answer), [403, 'permission_denied'])
  assert.equal((await schedule(helper, {}, { headers: other.page })).statusCode, 200)
  assert.equal((await send('GET', '/api/admin/identities', asHelper)).statusCode, 401)
  assert.equal((await schedule(alone, {}, { headers: other.page })).statusCode, 200)
  assert.deepEqual(errorOf(await schedule(other)), [409, 'last_owner'], 'a scheduled owner is no active owner')
  world.pass(7 * day)
  await deleteDue(world.services)
  assert.deepEqual(await tablesWith(world.db, helper.identityId), ['audit_event'])
  assert.deepEqual(await tablesWith(world.db, alone.identityId), ['audit_event'])
})

test('PED-05 no deletion frees an operator from the suspension of their account without the rights to it', async () => {
  await makeOperator(world, await world.person(), 'owner')
  const token = await createToken(world, ['people.delete'])
  const person = await world.person()
  const other = await makeOperator(world, await sibling(world, person), 'owner')
  const isSuspended = async () => (await signIn(person)).statusCode === 403

  // Scheduled before the account is suspended, the deletion is due while it is.
  assert.equal((await schedule(person, { retainDays: 1 }, token)).statusCode, 200)
  await suspend(world, person, { scope: 'account', reason: 'Investigation' })
  for (const fields of [{}, { retainDays: 0, legalErasure: true }])
    assert.deepEqual(errorOf(await schedule(person, fields, token)), [403, 'operator_protected'])
  world.pass(day)
  await deleteDue(world.services)
  assert.deepEqual([(await entryOf(person)).status, await isSuspended()], ['deletion_scheduled', true])
  assert.deepEqual((await actionsOf(person)).slice(-1), ['identity.deletion_refused system'])

  // An operator with all rights ends the suspension, and then the deletion succeeds.
  await activate(world, person)
  world.pass(3600)
  await deleteDue(world.services)
  assert.deepEqual([await entryOf(person), await isSuspended()], [undefined, false])
  assert.equal((await entryOf(other)).status, 'active')
})

test('PED-06 deletions, restorations and the duty race: an identity is either whole and usable, or gone', async () => {
  const node = await mountModules(await openServices(world.kernel, world.services.pages), { ping: async () => {} })
  const there = asAdmin(node.api)
  try {
    for (let round = 0; round < 12; round += 1) {
      const person = await world.person()
      const raced = await Promise.all([schedule(person), restore(person, there), schedule(person, {}, there)])
      assert.deepEqual(
        raced.map(({ statusCode }) => statusCode),
        [200, 204, 200],
      )
      const isScheduled = (await entryOf(person)).status === 'deletion_scheduled'
      assert.equal((await signIn(person)).statusCode, isScheduled ? 403 : 200)

      await schedule(person, { retainDays: 1 })
      world.pass(7 * day)
      const turns = Promise.all([deleteDue(world.services), deleteDue(world.services)])
      for (let wait = 0; wait < round; wait += 1) await setImmediate()
      const undone = await restore(person, there)
      await turns
      await requireUsableOrGone(person, undone.statusCode === 404)
    }
  } finally {
    await Promise.all([node.api.close(), node.auth.close(), node.business.close()])
  }
})

/** Asserts that an identity is usable, or that nothing of it is left. */
async function requireUsableOrGone(person: Person, isGone: boolean): Promise<void> {
  const found = await entryOf(person)
  if (isGone || found === undefined) {
    assert.equal(found, undefined)
    assert.deepEqual(await tablesWith(world.db, person.identityId), ['audit_event'])
    return
  }
  assert.equal(found.status, 'active')
  assert.equal((await signIn(person)).statusCode, 200)
}

test('PED-07 what begins while a deletion is scheduled has ended when it is answered', async () => {
  const app = await world.app()
  for (let round = 0; round < 8; round += 1) {
    const person = await world.person()
    const { refresh_token: token } = await app.tokens(person)
    const begun = [signIn(person), app.refresh(token)] as const
    for (let wait = 0; wait < round; wait += 1) await setImmediate()
    assert.equal((await schedule(person)).statusCode, 200)
    const [signedIn, refreshed] = await Promise.all(begun)
    if (signedIn.statusCode === 200) assert.equal((await read(bearer(signedIn.json().sessionToken))).statusCode, 401)
    if (refreshed.statusCode === 200)
      assert.deepEqual(errorOf(await app.refresh(refreshed.json().refresh_token)), [400, 'invalid_grant'])
    assert.equal((await signIn(person)).statusCode, 403)
    assert.deepEqual(errorOf(await app.refresh(token)), [400, 'invalid_grant'])
  }
})
