import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function send(headers: Headers, method: Method, path: string, payload?: object) {
  const answer = await world.api.inject({ method, url: `/api/admin/${path}`, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}
const operatorOf = async (role: OperatorRole) => makeOperator(world, await world.person(), role)
const listed = async () => (await send(world.admin, 'GET', 'operators')).body.operators

test('OPR-02 ADMIN_TOKEN makes the first owner, who makes, changes and removes operators', async () => {
  const owner = await operatorOf('owner')
  const colleague = await world.person()
  const added = await send(owner.page, 'POST', 'operators', { handle: colleague.handle, role: 'apps' })
  assert.equal(added.status, 201)
  const { identityId, handle } = colleague
  assert.deepEqual(added.body, {
    ...{ identityId, handle, displayName: `The ${handle}`, role: 'apps' },
    ...{ grantedAt: world.now().toISOString(), grantedBy: owner.identityId },
  })
  const again = await send(owner.page, 'POST', 'operators', { handle, role: 'owner' })
  assert.deepEqual([again.status, again.body.error], [409, 'operator_exists'])
  const unknown = await send(owner.page, 'POST', 'operators', { handle: 'no-such-person', role: 'apps' })
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'identity_not_found'])

  const changed = await send(owner.page, 'PATCH', `operators/${identityId}`, { role: 'auditor' })
  assert.equal(changed.body.role, 'auditor')
  assert.equal((await send(owner.page, 'DELETE', `operators/${identityId}`)).status, 204)
  assert.ok(!(await listed()).some((one: { identityId: string }) => one.identityId === identityId))
  const gone = await send(owner.page, 'DELETE', `operators/${identityId}`)
  assert.deepEqual([gone.status, gone.body.error], [404, 'operator_not_found'])
})

test('OPR-02 no operator raises their own role, and a lost role ends at the next request', async () => {
  const [owner, apps] = [await operatorOf('owner'), await operatorOf('apps')]
  for (const [method, path, payload] of [
    ['PATCH', `operators/${apps.identityId}`, { role: 'owner' }],
    ['POST', 'operators', { handle: (await world.person()).handle, role: 'owner' }],
    ['POST', 'tokens', { name: 'Mine', permissions: ['audit.read'] }],
  ] as const) {
    const refused = await send(apps.page, method, path, payload)
    assert.deepEqual([refused.status, refused.body.error], [403, 'permission_denied'], path)
  }
  assert.equal((await send(apps.page, 'GET', 'apps')).status, 200)
  await send(owner.page, 'PATCH', `operators/${apps.identityId}`, { role: 'people' })
  const refused = await send(apps.page, 'GET', 'apps')
  assert.deepEqual([refused.status, refused.body.permission], [403, 'apps.read'])
})

test('OPR-02 the audit log names who acted, and the activity of the user says only that an operator did', async () => {
  const [owner, person] = [await operatorOf('owner'), await world.person()]
  await send(owner.page, 'POST', 'operators', { handle: person.handle, role: 'auditor' })
  const { token, tokenId } = await createToken(world, ['apps.manage'])
  await send({ authorization: `Bearer ${token}` }, 'POST', 'apps', {
    name: 'App',
    redirectUris: ['https://a.example/'],
  })

  const { entries } = (await send(world.admin, 'GET', 'audit?limit=3')).body
  const byAction = (action: string) => entries.find((entry: { action: string }) => entry.action === action)?.actor
  assert.deepEqual(byAction('operator.added'), { kind: 'operator', id: owner.identityId, name: owner.handle })
  assert.deepEqual(byAction('admin_token.created'), { kind: 'break_glass', id: null, name: null })
  assert.deepEqual(byAction('app.created'), { kind: 'token', id: tokenId, name: 'A token' })

  const activity = await world.api.inject({ url: '/api/account/activity', headers: person.headers })
  const [shown] = activity.json().entries
  assert.deepEqual([shown.action, shown.actor, shown.details], ['operator.added', 'operator', { role: 'auditor' }])
  for (const secret of [owner.identityId, owner.handle]) assert.ok(!activity.body.includes(secret))
})

test('OPR-04 the last owner keeps the role, by each way to lose it', async () => {
  const single = await createWorld()
  try {
    const owner = await makeOperator(single, await single.person(), 'owner')
    const deleting = { method: 'DELETE', headers: owner.headers } as const
    const identity = { method: 'POST', url: '/api/identities', headers: owner.headers } as const
    await single.api.inject({ ...identity, payload: { handle: 'another-identity', displayName: 'Another' } })
    const url = `/api/admin/operators/${owner.identityId}`
    for (const headers of [owner.page, single.admin])
      for (const requested of [
        { method: 'PATCH', url, headers, payload: { role: 'auditor' } },
        { method: 'DELETE', url, headers },
        { ...deleting, url: `/api/identities/${owner.identityId}` },
        { ...deleting, url: '/api/account' },
      ] as const) {
        const refused = await single.api.inject(requested)
        assert.deepEqual([refused.statusCode, refused.json().error], [409, 'last_owner'], requested.url)
      }
    const successor = await makeOperator(single, await single.person(), 'owner')
    const { token } = await createToken(single, ['apps.read'], { headers: owner.page })
    assert.equal((await single.api.inject({ ...deleting, url: '/api/account' })).statusCode, 204)
    const after = await single.api.inject({ url: '/api/admin/operators', headers: successor.page })
    assert.deepEqual(
      after.json().operators.map(({ identityId }: { identityId: string }) => identityId),
      [successor.identityId],
    )
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await single.api.inject({ url: '/api/admin/apps', headers })).statusCode, 401)
  } finally {
    await single.close()
  }
})

test('OPR-04 of twenty owners who remove and demote each other at the same time, one remains', async () => {
  const crowd = await createWorld()
  try {
    const owners: Awaited<ReturnType<typeof makeOperator>>[] = []
    for (let nth = 0; nth < 20; nth += 1) owners.push(await makeOperator(crowd, await crowd.person(), 'owner'))
    const answers = await Promise.all(
      owners.map(({ page }, nth) => {
        const url = `/api/admin/operators/${owners[(nth + 1) % owners.length]?.identityId}`
        const demotion = { method: 'PATCH', payload: { role: 'apps' } } as const
        return crowd.api.inject({ url, headers: page, ...(nth % 2 === 0 ? demotion : { method: 'DELETE' }) })
      }),
    )
    const statuses = new Set(answers.map(({ statusCode }) => statusCode))
    assert.ok(
      [...statuses].every((status) => [200, 204, 403, 409].includes(status)),
      [...statuses].join(' '),
    )
    const { operators } = (await crowd.api.inject({ url: '/api/admin/operators', headers: crowd.admin })).json()
    assert.ok(operators.some(({ role }: { role: string }) => role === 'owner'))
  } finally {
    await crowd.close()
  }
})

test('OPR-04 twenty owners who all leave at the same time leave one behind', async () => {
  const crowd = await createWorld()
  try {
    const owners: Awaited<ReturnType<typeof makeOperator>>[] = []
    for (let nth = 0; nth < 20; nth += 1) owners.push(await makeOperator(crowd, await crowd.person(), 'owner'))
    const answers = await Promise.all(
      owners.map(({ page, headers, identityId }, nth) => {
        if (nth % 2 === 0) return crowd.api.inject({ method: 'DELETE', url: '/api/account', headers })
        return crowd.api.inject({ method: 'DELETE', url: `/api/admin/operators/${identityId}`, headers: page })
      }),
    )
    const refused = answers.filter(({ statusCode }) => statusCode !== 204)
    assert.deepEqual(
      refused.map((answer) => [answer.statusCode, answer.json().error]),
      [[409, 'last_owner']],
    )
  } finally {
    await crowd.close()
  }
})
