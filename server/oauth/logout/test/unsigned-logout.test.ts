import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { startLogoutSender, type LogoutSender } from '#oauth/logout/sender.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

let world: TestWorld
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
let keys: SigningKeys
let sender: LogoutSender
const logged: { level: number; msg: string; reason?: string }[] = []
before(async () => {
  world = await createWorld()
  receiver = await startWebhookReceiver()
  keys = await loadTokenSigningKeys(world.kernel)
  const log = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) })
  sender = startLogoutSender({ kernel: { ...world.kernel, log }, keys })
})
after(async () => {
  await sender.stop()
  await receiver.close()
  await world.close()
})

type Pending = { attempts: number; seconds: number }

/** Resolves with what is pending, once that fulfills a condition. */
async function pendingOnce(isMet: (pending: Pending[]) => boolean): Promise<Pending[]> {
  for (;;) {
    const { rows } = await sql<Pending>`
      select attempts, extract(epoch from next_attempt_at - ${world.now()}::timestamptz)::integer as seconds
      from session_logout`.execute(world.db)
    if (isMet(rows)) return rows
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A row is leased for half a minute while it is attempted. */
const isPostponed = ([pending]: Pending[]) => pending !== undefined && pending.seconds > 0 && pending.seconds !== 30

/**
 * Moves the time from which the keys of the app's algorithm sign by this many days. A distributed database evaluates
 * only immutable functions of columns.
 */
async function moveActivation(days: number): Promise<void> {
  await sql`
    update token_signing_key
    set activates_at = (activates_at at time zone 'UTC' + ${days}::integer * interval '1 day') at time zone 'UTC'
    where algorithm = 'EdDSA'`.execute(world.db)
  await keys.readAnew()
}

/** Signs a user out of an app whose logout tokens cannot be signed. */
async function signOutUnsigned(): Promise<void> {
  const [person, app] = [
    await world.person(),
    await world.app({ backchannelLogoutUri: receiver.url, idTokenSignedResponseAlg: 'EdDSA' }),
  ]
  await app.tokens(person, { scope: 'openid' })
  await moveActivation(30)
  const ended = await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: person.headers })
  assert.equal(ended.statusCode, 204)
}

test('BCL-14 a logout token that could not be signed is signed again after a while, and arrives', async () => {
  await signOutUnsigned()
  const [first] = await pendingOnce(isPostponed)
  assert.ok(first && first.attempts === 1 && first.seconds <= 6, JSON.stringify(first))
  world.pass(6)
  const [second] = await pendingOnce((pending) => isPostponed(pending) && pending[0]?.attempts === 2)
  assert.ok(second && second.seconds >= 300, JSON.stringify(second))
  assert.deepEqual(
    logged.splice(0).map(({ level, msg }) => [level, msg]),
    [[50, 'logout token signing failed']],
    'once, not at each attempt',
  )
  await moveActivation(-30)
  world.pass(400)
  assert.equal((await receiver.has(1)).length, 1)
  await pendingOnce((pending) => pending.length === 0)
})

test('BCL-14 a logout token that cannot be signed is given up after the last attempt', async () => {
  await signOutUnsigned()
  await pendingOnce(isPostponed)
  logged.length = 0
  await sql`update session_logout set attempts = 9, next_attempt_at = ${world.now()}`.execute(world.db)
  await pendingOnce((pending) => pending.length === 0)
  assert.deepEqual(
    logged.map(({ level, msg, reason }) => [level, msg, reason]),
    [[40, 'logout token delivery failed permanently', 'not_signed']],
  )
  const slow = await world.db.selectFrom('session_logout_receiver').select('client_id').execute()
  assert.deepEqual(slow, [], 'the app is not to blame')
  await moveActivation(-30)
})
