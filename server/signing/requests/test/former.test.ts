import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signingRequesterOf, createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld } from '#testing/world.ts'
import { limits } from '@countersign/protocol/formats/limits'
import {
  expireFormerRequests,
  expireRequests,
  pruneFormerRequests,
  pruneRequests,
} from '#signing/requests/identities/request.ts'

test('SIG-50 deleting an account does not reveal to apps which identities belonged to one user', async (t) => {
  const world = await createWorld()
  t.after(() => world.close())
  const ada = await createSigner(world)
  const { headers } = ada
  const payload = { handle: 'somebody-else', displayName: 'Else' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  const { identityId: second } = made.json<{ identityId: string }>()
  const key = { publicKey: newSigningPair().publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await world.api.inject({ method: 'POST', url: `/api/signing/keys/${second}`, headers, payload: key })
  const bystander = await createSigner(world)
  const app = await world.app({ name: 'Shop' })
  const hook = `/api/admin/apps/${app.clientId}/webhook`
  const url = 'https://shop.example/hook'
  await world.api.inject({ method: 'PUT', url: hook, headers: world.admin, payload: { url } })
  const shop = signingRequesterOf(world, app)
  const identityIds = [ada.identityId, second, bystander.identityId]
  const opened: string[] = []
  for (const [nth, identityId] of identityIds.entries())
    opened.push((await shop.request(identityId, { expiresInSeconds: 600 + nth * 600 })).json().requestId)
  const before: object[] = await Promise.all(opened.map(async (requestId) => (await shop.status(requestId)).json()))
  const outcomeOf = async () => {
    while (
      (await expireRequests(world.db, world.now(), 500)) + (await expireFormerRequests(world.db, world.now(), 500))
    );
    const { deliveries } = (await world.api.inject({ url: `${hook}/deliveries`, headers: world.admin })).json()
    return deliveries.map(({ type, createdAt }: { type: string; createdAt: string }) => [type, createdAt])
  }
  world.pass(60)
  assert.equal((await world.api.inject({ method: 'DELETE', url: '/api/account', headers })).statusCode, 204)

  assert.deepEqual(await outcomeOf(), [])
  const statuses = () => Promise.all(opened.map(async (requestId) => (await shop.status(requestId)).json()))
  assert.deepEqual(await statuses(), before, 'each unchanged')
  const moments: [string, string][] = []
  for (const seconds of [540, 600, 600]) {
    world.pass(seconds)
    moments.unshift(['signing.expired', world.now().toISOString()])
    assert.deepEqual(await outcomeOf(), moments)
    const expected = before.map((status, nth) => (nth < moments.length ? { ...status, status: 'expired' } : status))
    assert.deepEqual(await statuses(), expected, 'each as its event said')
  }

  world.pass(limits.signingEndedRememberedSeconds)
  for (const prune of [pruneRequests, pruneFormerRequests]) while ((await prune(world.db, world.now(), 1)) > 0);
  for (const requestId of opened) assert.equal((await shop.status(requestId)).statusCode, 404)
  assert.deepEqual(await world.db.selectFrom('signing_expired_former_request').selectAll().execute(), [])
})
