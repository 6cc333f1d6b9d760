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
