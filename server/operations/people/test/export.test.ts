import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Value } from 'typebox/value'
import { AdminIdentityExport } from '@countersign/protocol/operations/people'
import { asPage, makeOperator } from '#testing/operators.ts'
import { addIdentity, openDirectory, rename } from '#testing/people.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let directory: ReturnType<typeof openDirectory>
before(async () => {
  world = await createWorld()
  directory = openDirectory(world)
})
after(() => world.close())

test('PEO-39 the export of an identity has its profile, names, groups, apps and activity', async () => {
  const carl = await world.person()
  const { handle } = carl
  await rename(world, carl, { handle: 'carl-renamed' })
  const app = await world.app({ name: 'Calendar' })
  await app.tokens(carl)
  const answer = await directory.ask(`/${carl.identityId}/export`)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="countersign-identity.json"')
  const exported = answer.json<AdminIdentityExport>()
  assert.deepEqual(Value.Clean(AdminIdentityExport, answer.json()), exported, 'no undocumented members')
  assert.ok(Value.Check(AdminIdentityExport, exported))
  assert.deepEqual([exported.handle, exported.formerHandles[0]?.handle], ['carl-renamed', handle])
  assert.deepEqual([exported.apps[0]?.appName, exported.grants[0]?.clientId], ['Calendar', app.clientId])
  const actions = exported.activity.map(({ action }) => action)
  assert.deepEqual(actions.toSorted(), ['app.authorized', 'identity.exported', 'identity.handle.updated'])
})

test('PEO-39 OPR-10 an export has nothing that was signed, no keys, nothing of the account or a sibling', async () => {
  const ada = await createSigner(world)
  const app = await world.app({ name: 'Ledger' })
  const tokens = await app.tokens(ada)
  const shop = signingRequesterOf(world, app)
  const signature = ada.pair.sign('Pay 1 €')
  const { requestId } = (await shop.request(ada.identityId, { payload: 'Pay 1 €' })).json()
  assert.equal((await ada.sign(requestId, signature)).statusCode, 200)
  await shop.request(ada.identityId, { payload: 'Pay 2 €' })
  world.pass(60)
  const siblingId = await addIdentity(world, ada, { handle: 'night-owl', displayName: 'Owl' })
  world.pass(60)
  const headers = { ...ada.headers, 'user-agent': 'Browser of Ada' }
  const own = (await world.api.inject({ url: '/api/account/export', headers })).json()
  const [entry] = own.identities.filter(({ identityId }: { identityId: string }) => identityId === ada.identityId)
  assert.deepEqual(entry.signingRequests.map(({ payload }: { payload: string }) => payload).toSorted(), [
    'Pay 1 €',
    'Pay 2 €',
  ])

  const exported = await directory.ask(`/${ada.identityId}/export`)
  const ofSibling = await directory.ask(`/${siblingId}/export`)
  const secrets = [
    ...['Pay 1 €', 'Pay 2 €', signature, ada.pair.publicKey, entry.signingKeys[0].encryptedPrivateKey],
    ...[ada.sessionToken, tokens.access_token, tokens.refresh_token, app.clientSecret, ada.userId],
    ...own.passkeys.map(({ credentialId }: { credentialId: string }) => credentialId),
    ...own.sessions.flatMap((each: { sessionId: string; userAgent: string }) => [each.sessionId, each.userAgent]),
  ]
  for (const secret of secrets) {
    assert.ok(typeof secret === 'string' && secret.length > 4)
    for (const { body } of [exported, ofSibling]) assert.ok(!body.includes(secret), secret.slice(0, 12))
  }
  for (const hidden of [siblingId, 'night-owl']) assert.ok(!exported.body.includes(hidden), hidden)
  for (const hidden of [ada.identityId, ada.handle]) assert.ok(!ofSibling.body.includes(hidden), hidden)
  const { activity } = exported.json<AdminIdentityExport>()
  const ofAccount = activity.filter(({ action }) => /^(account|passkey|session)\./.test(action))
  assert.deepEqual(ofAccount, [])
})

test('PEO-40 an export is in the activity of the user, and is refused to others', async () => {
  const eve = await world.person('eve')
  const owner = await makeOperator(world, await world.person(), 'owner')
  const read = (id: string, headers: Record<string, string>) =>
    world.api.inject({ url: `/api/admin/identities/${id}/export`, headers })
  assert.equal((await read(eve.identityId, owner.page)).statusCode, 200)
  const { entries } = (await world.api.inject({ url: '/api/account/activity', headers: eve.headers })).json()
  assert.deepEqual([entries[0].action, entries[0].identityId], ['identity.exported', eve.identityId])
  for (const headers of [{}, eve.headers, asPage(world, eve.sessionToken)])
    assert.ok([401, 403].includes((await read(eve.identityId, headers)).statusCode))
  for (const id of [randomUUID(), eve.userId]) {
    const missing = await read(id, owner.page)
    assert.deepEqual([missing.statusCode, missing.json().error], [404, 'identity_not_found'])
  }
})

test('PEO-40 an operator exports six identities a minute', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const person = await limited.person()
  const read = async () => (await openDirectory(limited).ask(`/${person.identityId}/export`)).statusCode
  for (let nth = 0; nth < 6; nth += 1) assert.equal(await read(), 200)
  assert.equal(await read(), 429)
  limited.pass(61)
  assert.equal(await read(), 200)
})
