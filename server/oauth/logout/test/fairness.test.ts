import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type World } from '#testing/world.ts'
import { openSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { startLogoutSender } from '#oauth/logout/sender.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

type Filling = { owners: number; appsOfOwner: number; sessions: number; senders?: number }
type Saying = NonNullable<Parameters<typeof startWebhookReceiver>[0]>[number]

/** Apps of a person whose logout URI answers never, or so, with this many sessions each; ends these. */
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
  for (const _ of times(sessions)) {
    const headers = await eve.signIn()
    for (const app of apps) await app.tokens({ headers, identityId: eve.identityId }, { scope: 'openid' })
  }
  for (const _ of times(senders)) await startSender(t)
  await world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: eve.headers })
  return silent
}

async function startSender(t: TestContext): Promise<void> {
  const sender = startLogoutSender({ kernel: world.kernel, keys: await openSigningKeys(world.kernel) })
  t.after(() => sender.stop())
}

/** How long it takes until the app of an honest user hears of the end of a session. */
async function millisecondsUntilHeard(t: TestContext): Promise<number> {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  const [ada, app] = [await world.person(), await world.app({ backchannelLogoutUri: receiver.url })]
  await app.tokens(ada, { scope: 'openid' })
  const began = performance.now()
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: ada.headers })
  await receiver.has(1)
  return performance.now() - began
}

test('FAI-05 six apps of one person that never answer, with 60 logout tokens, delay no other app', async (t) => {
  const silent = await fill(t, { owners: 1, appsOfOwner: 6, sessions: 10 })
  await silent.has(4)
  for (const round of times(2)) {
    const milliseconds = await millisecondsUntilHeard(t)
    assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
  }
})

test('FAI-06 silent apps of six owners take every slot for a second and no longer', async (t) => {
  const silent = await fill(t, { owners: 6, appsOfOwner: 1, sessions: 6 })
  await silent.has(16)
  const milliseconds = await millisecondsUntilHeard(t)
  assert.ok(milliseconds < 3000, `after ${milliseconds} ms`)
})

for (const [owners, senders] of [
  [20, 1],
  [60, 2],
] as const)
  test(`FAI-23 ${owners} owners with backlogs delay no other app, with ${senders} senders`, async (t) => {
    const filling = { owners, appsOfOwner: 1, sessions: 10, senders }
    const late = await fill(t, filling, { status: 200, afterMilliseconds: 850 })
    for (const round of [1, 2]) {
      await late.has(16 * senders * round)
      const milliseconds = await millisecondsUntilHeard(t)
      assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
    }
  })

test('FAI-24 an app that answers at once gets its many tokens amid the backlogs of many that do not', async (t) => {
  const filling = { owners: 20, appsOfOwner: 1, sessions: 16, senders: 0 }
  const late = await fill(t, filling, { status: 200, afterMilliseconds: 850 })
  const quick = await fill(t, { owners: 1, appsOfOwner: 1, sessions: 24, senders: 0 }, { status: 200 })
  await startSender(t)
  await quick.has(24)
  // Counted by number, each of them would have been sent all its sixteen before: 320. On a busy machine no answer comes
  // at once, which counts for the quick one too.
  assert.ok(late.received.length < 200, `${late.received.length} of theirs were sent meanwhile`)
})
