import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, SessionId } from '@countersign/protocol/ids'
import { cookieIn } from '#testing/federated-browser.ts'
import { limitChangedRows, manyRows } from '#testing/many-rows.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({ backchannelLogoutUri: 'http://localhost:9/logout' })
  await limitChangedRows(world.db, 'session_app', 5000)
})
afterEach(async () => {
  await world.changeMany(sql`delete from session_logout`)
})
after(() => world.close())

/** Adds records of the app, the oldest first: each of a session of its own, or of those that one session continues. */
async function fillRecords(identityId: IdentityId, count: number, sessionId?: SessionId) {
  // The statistics are those of few rows, as they are on a server to which many were added since the last `analyze`.
  await world.changeMany(sql`analyze session_app, session`)
  await world.changeMany(sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, expires_at)
    select coalesce(${sessionId ?? null}::uuid, known_id), known_id, ${identityId}::uuid, ${app.clientId},
      ${world.now()}::timestamptz + interval '1 day' + nth * interval '1 millisecond'
    from (select gen_random_uuid() as known_id, nth from generate_series(1, ${count}::integer) nth) each`)
}

/** Counts the records of identities, and their logout tokens, and at how many times these are sent. */
async function countOf(identityIds: IdentityId[]) {
  const { rows } = await sql<{ records: number; tokens: number; times: number }>`
    select (select count(*)::integer from session_app where identity_id = any(${identityIds}::uuid[])) as records,
      (select count(*)::integer from session_logout where identity_id = any(${identityIds}::uuid[])) as tokens,
      (select count(distinct next_attempt_at)::integer from session_logout
        where identity_id = any(${identityIds}::uuid[])) as times`.execute(world.db)
  return rows[0]
}

const send = (method: 'POST' | 'DELETE', url: string, headers: Record<string, string>, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })

async function signInWith(person: Person, cookie?: string): Promise<string> {
  const { flowId, options } = (await send('POST', '/api/auth/login/start', {}, {})).json()
  const payload = { flowId, credential: person.authenticator.authenticate(options) }
  const origin = world.config.authUrl.origin
  const headers = cookie === undefined ? {} : { cookie: `countersign=${cookie}`, origin }
  const answer = await send('POST', '/api/auth/login/finish', headers, payload)
  assert.equal(answer.statusCode, 200, answer.body)
  return cookieIn(answer, 'countersign') ?? ''
}

test('BCL-10 ending 70,000 sessions at once queues their logout tokens in statements of limited size', async () => {
  const person = await world.person()
  await app.tokens(person, { scope: 'openid' })
  await fillRecords(person.identityId, 70_000)
  const { headers } = person
  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers })
  const [{ id }] = listed.json<{ authorizations: [{ id: string }] }>().authorizations
  const answer = await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers })
  assert.equal(answer.statusCode, 204, answer.body)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from session_logout`.execute(world.db)
  assert.equal(rows[0]?.count, 70_001)
})

test('BLK-30 an account that apps know from more sessions than one statement ends is suspended', async () => {
  const person = await world.person()
  const made = await send('POST', '/api/identities', person.headers, {
    handle: `${person.handle}-2`,
    displayName: 'Another',
  })
  const { identityId: other } = made.json<{ identityId: IdentityId }>()
  await fillRecords(person.identityId, manyRows)
  await fillRecords(other, manyRows / 2)
  const url = `/api/admin/identities/${person.identityId}/suspension`
  const answer = await send('POST', url, world.admin, { reason: 'Abuse', scope: 'account' })
  assert.ok(answer.statusCode < 300, answer.body)
  // All tokens of an identity are sent together, and those of the other one at another time.
  assert.deepEqual(await countOf([person.identityId]), { records: 0, tokens: manyRows, times: 1 })
  assert.deepEqual(await countOf([other]), { records: 0, tokens: manyRows / 2, times: 1 })
  assert.equal((await countOf([person.identityId, other]))?.times, 2)
})

test('BLK-33 a session continues a limited number of sign-ins to apps of those that it replaces', async () => {
  const person = await world.person()
  const first = await signInWith(person)
  const { currentId } = await sessionsOf(first)
  await fillRecords(person.identityId, limits.appsPassedOnMax + 20, currentId)
  const second = await signInWith(person, first)
  const counted = await countOf([person.identityId])
  assert.deepEqual([counted?.records, counted?.tokens], [limits.appsPassedOnMax, 20])
  await send('DELETE', '/api/auth/session', { cookie: `countersign=${second}`, origin: world.config.authUrl.origin })
  const ended = await countOf([person.identityId])
  assert.deepEqual([ended?.records, ended?.tokens], [0, limits.appsPassedOnMax + 20])
})

type Entry = { current: boolean; sessionId: SessionId }

async function sessionsOf(cookie: string) {
  const headers = { cookie: `countersign=${cookie}`, origin: world.config.authUrl.origin }
  const { sessions } = (await world.api.inject({ url: '/api/auth/sessions', headers })).json<{ sessions: Entry[] }>()
  const current = sessions.find((each) => each.current)
  assert.ok(current)
  return { currentId: current.sessionId }
}
