import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type World } from '#testing/world.ts'
import { openSigningKeys } from '#tokens/signing-keys.ts'
import { startLogoutSender } from './sender.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

/** Apps of a person whose logout URI never answers, with this many sessions each; ends these. */
async function fillBySilence(t: TestContext, owners: number, appsOfOwner: number, sessions: number) {
  const silent = await startWebhookReceiver(Array<'nothing'>(2000).fill('nothing'))
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
  const sender = startLogoutSender({ kernel: world.kernel, keys: await openSigningKeys(world.kernel) })
  t.after(() => sender.stop())
  await world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: eve.headers })
  return silent
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
  const silent = await fillBySilence(t, 1, 6, 10)
  await silent.has(4)
  for (const round of times(2)) {
    const milliseconds = await millisecondsUntilHeard(t)
    assert.ok(milliseconds < 2000, `after ${milliseconds} ms in round ${round}`)
  }
})

test('FAI-06 silent apps of six owners take every slot for a second and no longer', async (t) => {
  const silent = await fillBySilence(t, 6, 1, 6)
  await silent.has(16)
  const milliseconds = await millisecondsUntilHeard(t)
  assert.ok(milliseconds < 3000, `after ${milliseconds} ms`)
})
