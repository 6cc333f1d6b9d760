import assert from 'node:assert/strict'
import { after, before, beforeEach, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import type { IdentityId } from '@countersign/protocol/ids'
import { join, createOrganization } from '#testing/organization.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { startLogoutSender } from '#oauth/logout/sender.ts'

let world: TestWorld
let ada: Person
let identityIds: [IdentityId, IdentityId, IdentityId]
before(async () => {
  world = await createWorld()
})
after(() => world.close())
beforeEach(async () => {
  ada = await world.person()
  identityIds = [ada.identityId, await anotherOf(ada), await anotherOf(ada)]
})

async function anotherOf({ handle, headers }: Person): Promise<IdentityId> {
  const payload = { handle: `${handle}-${identityCount++}`, displayName: 'Another' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(made.statusCode, 201, made.body)
  return made.json<{ identityId: IdentityId }>().identityId
}
let identityCount = 0

/** Collects the logout tokens of apps from now on, by the clock of the world. */
async function listen(t: TestContext) {
  const receiver = await startWebhookReceiver()
  const sender = startLogoutSender({ kernel: world.kernel, keys: await loadTokenSigningKeys(world.kernel) })
  t.after(() => receiver.close())
  t.after(() => sender.stop())
  const heard = () =>
    receiver.received.map(({ body }) => {
      const { sub = '', iat = 0, aud } = decodeJwt(new URLSearchParams(body).get('logout_token') ?? '')
      return { sub, iat, aud }
    })
  return { url: receiver.url, heard, has: receiver.has }
}

const ends: Record<string, (headers: Record<string, string>) => Promise<{ statusCode: number }>> = {
  'a sign-out': (headers) => world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers }),
  'a sign-out everywhere': () =>
    world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: ada.headers }),
  'the deletion of the account': () =>
    world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers }),
}
for (const [named, end] of Object.entries(ends))
  test(`BCL-11 ${named} is reported for each further identity at a random delay of minutes`, async (t) => {
    const { url, heard, has } = await listen(t)
    const apps = [await world.app({ backchannelLogoutUri: url }), await world.app({ backchannelLogoutUri: url })]
    const perIdentity = apps.length
    const sessions = [await ada.signIn(), await ada.signIn()]
    for (const [nth, identityId] of identityIds.entries())
      // One session per identity if more than one ends.
      for (const app of apps) {
        const headers = named === 'a sign-out' ? sessions[0] : sessions[nth % 2]
        await app.tokens({ headers: headers ?? {}, identityId }, { scope: 'openid' })
        world.pass(1)
      }
    const endedAt = world.now().getTime() / 1000
    assert.ok((await end(sessions[0] ?? {})).statusCode < 300)
    await has(perIdentity)
    const first = identityIds.at(-1)
    assert.deepEqual(new Set(heard().map(({ sub }) => sub)), new Set([first]), 'the one used last, at once')
    for (const nth of [2, 3]) {
      world.pass(await secondsUntilNext())
      await has(nth * perIdentity)
    }
    assert.equal(heard().length, perIdentity * 3)
    const times = identityIds.map((id) =>
      heard()
        .filter(({ sub }) => sub === id)
        .map(({ iat }) => iat - endedAt),
    )
    for (const own of times) assert.equal(own.length, perIdentity)
    const moments = times.map((own) => Math.min(...own)).toSorted((a, b) => a - b)
    for (const [nth, moment] of moments.entries())
      if (nth > 0) assert.ok(moment - (moments[nth - 1] ?? 0) >= 30, `${moments.join(', ')} seconds after the end`)
  })

test("BCL-11 deleting an account that leaves organizations sends each app's logout at its own time", async (t) => {
  const { url, heard, has } = await listen(t)
  const app = await world.app({ backchannelLogoutUri: url })
  const owner = await world.person()
  const [first, second, third] = identityIds
  const { identities } = (
    await world.api.inject({ method: 'GET', url: '/api/identities', headers: ada.headers })
  ).json<{ identities: { identityId: IdentityId; handle: string }[] }>()
  for (const identityId of [first, second]) {
    const { id } = await createOrganization(world, owner)
    const { handle = '' } = identities.find((each) => each.identityId === identityId) ?? {}
    await join(world, { id, owner, role: 'member' }, { ...ada, identityId, handle })
    await app.tokens({ headers: ada.headers, identityId }, { scope: 'openid', organizationId: id })
    world.pass(1)
  }
  await app.tokens({ headers: ada.headers, identityId: third }, { scope: 'openid' })
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers })
  assert.ok(gone.statusCode < 300, gone.body)
  await has(1)
  assert.deepEqual(
    heard().map(({ sub }) => sub),
    [third],
    'the one used last, at once',
  )
  for (const count of [2, 3]) {
    world.pass(await secondsUntilNext())
    await has(count)
  }
  const moments = heard().map(({ iat }) => iat)
  for (const [nth, moment] of moments.entries())
    if (nth > 0) assert.ok(moment - (moments[nth - 1] ?? 0) >= 30, moments.join(', '))
  assert.deepEqual(new Set(heard().map(({ sub }) => sub)), new Set([first, second, third]))
})

/**
 * Returns how long the next token takes to become due, after sent ones are settled: their lease would end in between.
 */
async function secondsUntilNext(): Promise<number> {
  for (;;) {
    // The embedded database answers within the same turn of the event loop.
    await setImmediate()
    const underWay = world.db.selectFrom('session_logout').select('logout_id').where('attempts', '>', 0)
    if (await underWay.executeTakeFirst()) continue
    const waiting = world.db.selectFrom('session_logout').select('next_attempt_at').where('attempts', '=', 0)
    const { next_attempt_at: nextAttemptAt } = await waiting.orderBy('next_attempt_at').executeTakeFirstOrThrow()
    const seconds = (nextAttemptAt.getTime() - world.now().getTime()) / 1000
    if (seconds > 0) return seconds + 1
  }
}

test('BCL-11 the delay of a logout token for a further identity is random each time', async () => {
  const app = await world.app({ backchannelLogoutUri: 'http://localhost:9/out' })
  const later: number[] = []
  for (let nth = 0; nth < 8; nth += 1) {
    const person = await world.person()
    for (const identityId of [person.identityId, await anotherOf(person)])
      await app.tokens({ headers: person.headers, identityId }, { scope: 'openid' })
    await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: person.headers })
    const queued = world.db
      .deleteFrom('session_logout')
      .where('client_id', '=', app.clientId)
      .returning('next_attempt_at')
    const seconds = (await queued.execute()).map(
      ({ next_attempt_at: nextAttemptAt }) => (nextAttemptAt.getTime() - world.now().getTime()) / 1000,
    )
    const [first = -1, second = 0] = seconds.toSorted((a, b) => a - b)
    assert.deepEqual([first, second >= 30, seconds.length], [0, true, 2])
    later.push(Math.round(second))
  }
  assert.ok(new Set(later).size > 3, later.join(', '))
})

test('BCL-12 an identity that its user disconnects from an app is reported at once', async (t) => {
  const { url, heard, has } = await listen(t)
  const app = await world.app({ backchannelLogoutUri: url })
  for (const identityId of identityIds) await app.tokens({ headers: ada.headers, identityId }, { scope: 'openid' })
  const [first] = identityIds
  const { authorizations } = (
    await world.api.inject({ method: 'GET', url: '/api/oauth/authorizations', headers: ada.headers })
  ).json<{ authorizations: { id: string; identityId: IdentityId }[] }>()
  const { id } = authorizations.find(({ identityId }) => identityId === first) ?? {}
  const path = `/api/oauth/authorizations/${id}`
  const gone = await world.api.inject({ method: 'DELETE', url: path, headers: ada.headers })
  assert.ok(gone.statusCode < 300, gone.body)
  await has(1)
  assert.deepEqual(
    heard().map(({ sub }) => sub),
    [first],
  )
})
