import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { type SessionId, type UserId, asId } from '@countersign/protocol/ids'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { listPending } from '#signing/requests/pending.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Lists the pending requests of a user as a member of organizations, and counts the statements. */
async function list(userId: UserId) {
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const at = world.now()
  const proof = { authTime: at, provedRequestSha256: null, userAgent: null }
  const session = { sessionId: asId<SessionId>(randomUUID()), userId, ...proof, expiresAt: at }
  const db = world.db.withPlugin(counting)
  const { requests } = await listPending(db, { ...session, authMethod: 'passkey' }, { count: 100 }, at)
  return { requests, statements }
}

test('listing requests to two organizations takes no more statements than to one', async () => {
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const ada = await createSigner(world)
  const [acme, bolt] = [await createOrganization(world, ada), await createOrganization(world, ada, 'Bolt')]
  await shop.requestOf(acme.id)
  const one = await list(ada.userId)
  for (const { id } of [acme, bolt, bolt]) await shop.requestOf(id)
  const four = await list(ada.userId)

  const names = ({ requests }: typeof one) => requests.map(({ organization }) => organization?.name).toSorted()
  assert.deepEqual(names(one), ['Acme'])
  assert.deepEqual(names(four), ['Acme', 'Acme', 'Bolt', 'Bolt'])
  assert.equal(four.statements, one.statements)
})

test('SSO-12 a session opened by SSO alone cannot sign, not even with an existing signature', async () => {
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const signature = ada.pair.sign('Pay 10 €')
  const [first, again] = [(await shop.requestOf(id)).json(), (await shop.requestOf(id)).json()]
  const signed = await ada.sign(first.requestId, signature)
  assert.equal(signed.statusCode, 200, signed.body)
  const headers = await signInByOrganization(world, ada, { organizationId: id })
  const answer = (how: string, payload: object) =>
    world.api.inject({ method: 'POST', url: `/api/signing/requests/${again.requestId}/${how}`, headers, payload })
  for (const how of ['sign', 'approve']) {
    const refused = await answer(how, { signature })
    assert.deepEqual([refused.statusCode, refused.json().error], [403, 'passkey_required'])
  }
  assert.equal((await ada.readRequest(again.requestId)).json().organization.answered, null)
  assert.equal((await answer('deny', {})).json().status, 'denied', 'denying requires no key')
})

test('SIG-23 a member signs no request of an app that is disabled, and the request stays pending', async () => {
  const app = await world.app({ name: 'Shop' })
  const shop = signingRequesterOf(world, app)
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const { requestId } = (await shop.requestOf(id)).json()
  const turn = async (status: 'active' | 'disabled') => {
    const url = `/api/admin/apps/${app.clientId}`
    const turned = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status } })
    assert.equal(turned.statusCode, 200, turned.body)
  }
  await turn('disabled')
  const refused = await ada.sign(requestId, ada.pair.sign('Pay 10 €'))
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'app_disabled'])
  assert.equal((await ada.readRequest(requestId)).json().organization.answered, null)
  await turn('active')
  assert.equal((await shop.status(requestId)).json().status, 'pending')
  assert.equal((await ada.sign(requestId, ada.pair.sign('Pay 10 €'))).json().status, 'signed')
})
