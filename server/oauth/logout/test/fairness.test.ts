import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { fillSessions } from '#testing/many-rows.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { startLogoutSender } from '#oauth/logout/sender.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

type Filling = { owners: number; appsOfOwner: number; sessions: number; senders?: number }
type Saying = NonNullable<Parameters<typeof startWebhookReceiver>[0]>[number]

/** Creates apps of a user whose logout URI never answers, with this many sessions each, and ends these. */
async function fill(
  t: TestContext,
  { owners, appsOfOwner, sessions, senders = 1 }: Filling,
  saying: Saying = 'nothing',
) {
  const silent = await startWebhookReceiver(Array<Saying>(2000).fill(saying))
  t.after(silent.close)
  const eve = await world.person()
  const apps = []
  for (const _ of times(owners)) {
    const owner = await world.person()
    for (const nth of times(appsOfOwner)) {
      const app = await world.app({ name: `App ${nth}`, backchannelLogoutUri: silent.url })
      const own = world.db.updateTable('app').set({ owner_user_id: owner.userId })
      await own.where('client_id', '=', app.clientId).execute()
      apps.push(app)
    }
  }
  await fillSessions(world, eve, sessions)
  const clientIds = apps.map(({ clientId }) => clientId)
  await sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, expires_at)
    select session_id, session_id, ${eve.identityId}::uuid, client_id, expires_at
    from session cross join unnest(${clientIds}::text[]) client_id where user_id = ${eve.userId}`.execute(world.db)
  for (const _ of times(senders)) await startSender(t)
  await world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: eve.headers })
  return silent
}

async function startSender(t: TestContext): Promise<void> {
  const sender = startLogoutSender({ kernel: world.kernel, keys: await loadTokenSigningKeys(world.kernel) })
  t.after(() => sender.stop())
}

/** Measures how long an app of another user waits for its logout token. */
async function millisecondsUntilHeard(t: TestContext): Promise<number> {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const [ada, app] = [await world.person(), await world.app({ backchannelLogoutUri: receiver.url })]
  await app.tokens(ada, { scope: 'openid' })
  using watch = startStopwatch()
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: ada.headers })
  await receiver.has(1)
  return watch.milliseconds()
}

test('FAI-05 six apps of one user that never answer, with 60 logout tokens, delay no other app', async (t) => {
  const silent = await fill(t, { owners: 1, appsOfOwner: 6, sessions: 10 })
  await silent.has(4)
  for (const round of times(2)) {
    const milliseconds = await millisecondsUntilHeard(t)
    assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
  }
})

test('FAI-06 silent apps of six owners occupy every slot for at most one second', async (t) => {
  const silent = await fill(t, { owners: 6, appsOfOwner: 1, sessions: 6 })
  await silent.has(16)
  const milliseconds = await millisecondsUntilHeard(t)
  assert.ok(milliseconds < 3000, `after ${milliseconds} ms`)
})

for (const [owners, senders] of [
  [20, 1],
  [60, 2],
] as const)
  test(`FAI-23 backlogs of ${owners} owners delay no other app, with ${senders} senders`, async (t) => {
    const filling = { owners, appsOfOwner: 1, sessions: 10, senders }
    const late = await fill(t, filling, { status: 200, afterMilliseconds: 850 })
    for (const round of [1, 2]) {
      await late.has(16 * senders * round)
      const milliseconds = await millisecondsUntilHeard(t)
      assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
    }
  })

test('FAI-24 an app that answers at once gets its many tokens despite the backlogs of many silent apps', async (t) => {
  const filling = { owners: 20, appsOfOwner: 1, sessions: 16, senders: 0 }
  const late = await fill(t, filling, { status: 200, afterMilliseconds: 850 })
  const quick = await fill(t, { owners: 1, appsOfOwner: 1, sessions: 24, senders: 0 }, { status: 200 })
  await startSender(t)
  await quick.has(24)
  // Counted by number, each of these apps would have received all of its sixteen before: 320. On a busy machine no app
  // answers at once, so the quick one counts too.
  assert.ok(late.received.length < 200, `${late.received.length} of theirs were sent meanwhile`)
})
