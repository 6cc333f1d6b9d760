import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { noteAppSession } from '#accounts/backchannel-logout/logout.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { transaction } from '#platform/database/database.ts'
import { startLogoutSender } from '#oauth/logout/sender.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/** A server on this machine, which counts who calls it. */
const canary = createServer((socket) => {
  callers += 1
  socket.destroy()
})
let callers = 0
let url = ''
let world: TestWorld
let stop: () => Promise<void>

before(async () => {
  await once(canary.listen(0, '127.0.0.1'), 'listening')
  const address = canary.address()
  assert.ok(typeof address === 'object' && address !== null)
  url = `https://127.0.0.1:${address.port}/`
  world = await createWorld({
    environment: {
      BASE_URL: 'https://api.id.example.com',
      AUTH_URL: 'https://id.example.com',
      ALLOW_EMBEDDED: '1',
      DEVELOPER_PORTAL: 'on',
      OUTBOUND_NETWORKS: `127.0.0.1:${address.port}`,
    },
  })
  const keys = await loadTokenSigningKeys(world.kernel)
  const senders = [startSender(world.kernel), startLogoutSender({ kernel: world.kernel, keys })]
  stop = async () => {
    for (const sender of senders) await sender.stop()
  }
})
after(async () => {
  await stop()
  await world.close()
  canary.close()
})
beforeEach(() => {
  callers = 0
})

type Answer = { status: number; error: string | undefined; clientId: string }
type Method = 'POST' | 'PUT' | 'PATCH'
async function send(method: Method, path: string, payload: object, headers = world.admin): Promise<Answer> {
  const answer = await world.api.inject({ method, url: path, headers, payload })
  const { error, clientId } = answer.json()
  return { status: answer.statusCode, error, clientId }
}

const app = { name: 'Ledger', redirectUris: ['https://ledger.example.com/callback'] }
/** Registers an app of a user, or of the operator. */
async function register(owner?: Person): Promise<string> {
  const { status, clientId } = owner
    ? await send('POST', '/api/developer/apps', app, owner.headers)
    : await send('POST', '/api/admin/apps', app)
  assert.equal(status, 201)
  return clientId
}

/** Ends a session in which a user signed in to an app. Returns when the first attempt to notify the app is over. */
async function logOut(clientId: string, { userId, identityId, headers }: Person): Promise<void> {
  const now = world.now()
  await transaction(world.db, async (tx) => {
    const sessions = tx.selectFrom('session').select('session_id as sessionId').where('user_id', '=', userId)
    const session = await sessions.executeTakeFirstOrThrow()
    const noted = { ...session, identityId, clientId: asId<ClientId>(clientId), organizationId: undefined }
    noteAppSession(tx, noted, now)
  })
  const ended = await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers })
  assert.equal(ended.statusCode, 204)
  for (;;) {
    const logout = await world.db.selectFrom('session_logout').select('next_attempt_at').executeTakeFirstOrThrow()
    // Before, it is due or leased for longer than the shortest retry.
    const seconds = (logout.next_attempt_at.getTime() - now.getTime()) / 1000
    if (seconds > 0 && seconds < limits.webhookAnswerSeconds) break
    await turn()
  }
  await world.db.deleteFrom('session_logout').execute()
}

/** Sends a test event, and returns when the first attempt is over. */
async function deliver(clientId: string): Promise<void> {
  const path = `/api/admin/apps/${clientId}/webhook`
  assert.equal((await send('POST', `${path}/test`, {})).status, 201)
  const read = async () =>
    (await world.api.inject({ url: `${path}/deliveries`, headers: world.admin })).json().deliveries[0]
  while ((await read()).attempts.length === 0) await turn()
}

test('WHK-27 OUTBOUND_NETWORKS permits its host and port to apps of the operator, not to those of users', async () => {
  const owner = await world.person()
  const [own, foreign] = [await register(), await register(owner)]
  const body = { url }
  assert.equal((await send('PUT', `/api/admin/apps/${own}/webhook`, body)).status, 200)
  const elsewhere = { url: url.replace('127.0.0.1', '127.0.0.2') }
  for (const [path, payload, headers] of [
    [`/api/developer/apps/${foreign}/webhook`, body, owner.headers],
    // Users choose the other URLs of their apps, so the operator gives them no way in.
    [`/api/admin/apps/${foreign}/webhook`, body, world.admin],
    [`/api/admin/apps/${own}/webhook`, elsewhere, world.admin],
  ] as const) {
    const { status, error } = await send('PUT', path, payload, headers)
    assert.deepEqual([status, error], [400, 'invalid_request'], path)
  }
  await send('PUT', `/api/admin/apps/${foreign}/webhook`, { url: 'https://ledger.example.com/hook' })
  await world.db.updateTable('webhook_endpoint').set({ url }).execute()
  await deliver(foreign)
  assert.equal(callers, 0)
  await deliver(own)
  assert.equal(callers, 1)
})

test('BCL-13 a logout URI on a listed network is one of an app of the operator', async () => {
  const owner = await world.person()
  const [own, foreign] = [await register(), await register(owner)]
  const body = { backchannelLogoutUri: url }
  const refused = [400, 'invalid_request']
  for (const [path, headers] of [
    [`/api/developer/apps/${foreign}`, owner.headers],
    [`/api/admin/apps/${foreign}`, world.admin],
  ] as const) {
    const { status, error } = await send('PATCH', path, body, headers)
    assert.deepEqual([status, error], refused, path)
  }
  const made = await send('POST', '/api/developer/apps', { ...app, ...body }, owner.headers)
  assert.deepEqual([made.status, made.error], refused)
  assert.equal((await send('POST', '/api/admin/apps', { ...app, ...body })).status, 201)
  assert.equal((await send('PATCH', `/api/admin/apps/${own}`, body)).status, 200)
  await world.db.updateTable('app').set({ backchannel_logout_uri: url }).execute()
  await logOut(foreign, owner)
  assert.equal(callers, 0)
  await logOut(own, await world.person())
  assert.equal(callers, 1)
})
