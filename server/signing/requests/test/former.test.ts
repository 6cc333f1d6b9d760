import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signingRequesterOf, createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld } from '#testing/world.ts'
import { expireFormerRequests, expireRequests } from '#signing/requests/identities/request.ts'

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
  const before = await Promise.all(opened.map(async (requestId) => (await shop.status(requestId)).json()))
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
  const after = await Promise.all(opened.map(async (requestId) => (await shop.status(requestId)).json()))
  assert.deepEqual(after, before, 'each unchanged')
  const moments: [string, string][] = []
  for (const seconds of [540, 600, 600]) {
    world.pass(seconds)
    moments.unshift(['signing.expired', world.now().toISOString()])
    assert.deepEqual(await outcomeOf(), moments)
  }
})
