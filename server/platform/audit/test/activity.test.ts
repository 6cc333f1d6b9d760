import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const read = (headers: Record<string, string>, query = '') =>
  world.api.inject({ url: `/api/account/activity${query}`, headers })

async function page({ headers }: Pick<Person, 'headers'>, query = '') {
  const answer = await read(headers, query)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ entries: ActivityEntry[]; nextCursor: string | null }>()
}

test('a user reads the activity of their account, with app and device', async () => {
  const person = await world.person()
  const app = await world.app({ name: 'The Shop' })
  await app.tokens(person)
  await person.signIn()
  const { entries, nextCursor } = await page(person)
  assert.equal(nextCursor, null)
  assert.deepEqual(
    entries.map(({ action, appName }) => [action, appName]),
    [
      ['session.created', null],
      ['app.authorized', 'The Shop'],
      ['account.created', null],
    ],
  )
  assert.equal(typeof entries[0]?.details['device'], 'string')
  assert.equal(entries[1]?.identityId, person.identityId)
})

test('reuse of a refresh token is in the user’s audit log, though the app presented the token', async () => {
  const person = await world.person()
  const app = await world.app()
  const { refresh_token } = await app.tokens(person)
  const next = (await app.refresh(refresh_token)).json()
  await app.refresh(next.refresh_token)
  await app.refresh(refresh_token)
  const [latest] = (await page(person)).entries
  assert.deepEqual(
    [latest?.action, latest?.actor, latest?.clientId],
    ['token_family.reuse_detected', 'app', app.clientId],
  )
})

test('pages return every event once, newest first, of both kinds', async () => {
  const person = await world.person()
  const { userId, identityId } = person
  for (let count = 0; count < 70; count += 1) {
    const owner = count % 3 === 0 ? {} : { userId }
    await recordAuditEvent(world.db, { action: 'app.authorized', actor: 'user', ...owner, identityId }, world.now())
  }
  const ids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { entries, nextCursor } = await page(person, `?limit=20${cursor ? `&cursor=${cursor}` : ''}`)
    ids.push(...entries.map(({ entryId }) => entryId))
    cursor = nextCursor
  }
  assert.equal(ids.length, 71)
  assert.deepEqual(ids, [...new Set(ids)].toSorted().toReversed())
})

test('a user cannot read the audit log of another user, even with one of its cursors', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const { entries } = await page(ada)
  const own = await page(eve)
  assert.ok(own.entries.every(({ identityId }) => identityId === null || identityId === eve.identityId))
  assert.deepEqual((await page(eve, `?cursor=${entries[0]?.entryId}`)).entries, [])
})

test('an invalid cursor or limit is rejected', async () => {
  const { headers } = await world.person()
  for (const query of ['?limit=0', '?limit=101', '?cursor=x']) {
    const answer = await read(headers, query)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], query)
  }
})

const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36'

/** Signs in with a browser of this user agent. */
async function signInWith({ authenticator }: Person, userAgent: string) {
  const started = await world.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const headers = { 'user-agent': userAgent }
  const finished = await world.api.inject({ method: 'POST', url: '/api/auth/login/finish', headers, payload })
  return { authorization: `Bearer ${finished.json<{ sessionToken: string }>().sessionToken}` }
}

const rename = (clientId: string, name: string) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${clientId}`, headers: world.admin, payload: { name } })

test('ACC-60 an app that renames itself does not change its name in what the user did before', async () => {
  const person = await world.person()
  const app = await world.app({ name: 'Letters & Ledgers' })
  await app.tokens(person)
  assert.equal((await rename(app.clientId, 'Your Bank')).statusCode, 200)
  await app.tokens(person)
  const names = (await page(person)).entries.flatMap(({ appName }) => appName ?? [])
  assert.deepEqual(names, ['Your Bank', 'Letters & Ledgers'])
})

test('ACC-61 a return to a connected app is a sign-in, and only consent is recorded as consent', async () => {
  const person = await world.person()
  const app = await world.app()
  await app.code(person, { scope: 'openid' })
  await app.code(person, { scope: 'openid' })
  await app.code(person, { scope: 'openid', prompt: 'none' })
  await app.code(person, { scope: 'openid profile' })
  await app.code(person, { scope: 'openid', prompt: 'consent' })
  const recorded = (await page(person, '?kind=apps')).entries.map(({ action }) => action)
  assert.deepEqual(recorded, ['app.authorized', 'app.authorized', 'app.signed_in', 'app.signed_in', 'app.authorized'])
})

test('a change names the browser in which the user made it, and an act of an app names none', async () => {
  const person = await world.person()
  const headers = await signInWith(person, agent)
  const url = `/api/identities/${person.identityId}`
  await world.api.inject({ method: 'PATCH', url, headers, payload: { displayName: 'Another name' } })
  const app = await world.app()
  const { refresh_token } = await app.tokens(person)
  await app.refresh(refresh_token)
  await app.refresh(refresh_token)
  const { entries } = await page({ headers })
  const deviceOf = (action: string) => entries.find((entry) => entry.action === action)?.device
  assert.equal(deviceOf('identity.updated'), agent)
  assert.equal(deviceOf('session.created'), agent)
  assert.ok(entries.filter(({ actor }) => actor !== 'user').every(({ device }) => device === null))
})

test('activity is filtered by kind and identity, with pages', async () => {
  const person = await world.person()
  const app = await world.app()
  const payload = { handle: `other-${person.handle}`.slice(0, 30), displayName: 'Other' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  const other: string = added.json().identityId
  await app.code(person)
  await app.code(person)
  await person.signIn()
  const actionsOf = async (query: string) => (await page(person, query)).entries.map(({ action }) => action)
  assert.deepEqual(await actionsOf('?kind=identities'), ['identity.created'])
  assert.deepEqual(await actionsOf(`?identity_id=${other}`), ['identity.created'])
  assert.deepEqual(await actionsOf('?kind=apps'), ['app.signed_in', 'app.authorized'])
  const first = await page(person, '?kind=sign_in&limit=2')
  assert.deepEqual(
    first.entries.map(({ action }) => action),
    ['session.created', 'app.signed_in'],
  )
  assert.deepEqual(await actionsOf(`?kind=sign_in&cursor=${first.nextCursor}`), ['app.authorized', 'account.created'])
  assert.equal((await read(person.headers, '?kind=passwords')).statusCode, 400)
})

test('ACC-62 the filter by an identity of another user finds nothing of theirs', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const app = await world.app()
  await app.tokens(ada)
  assert.deepEqual((await page(eve, `?identity_id=${ada.identityId}`)).entries, [])
})
