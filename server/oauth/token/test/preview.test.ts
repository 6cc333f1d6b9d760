import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ClaimsPreview } from '@countersign/protocol/clients/claims'
import { decodeJwt } from 'jose'
import { createToken, makeOperator, sibling } from '#testing/operators.ts'
import { groupOf, putClaims, putRoles } from '#testing/roles.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({
    allowedScopes: ['openid', 'profile', 'email', 'user_id', 'groups', 'roles'],
    access: { mode: 'restricted', groups: [(await groupOf(world, 'readers')).key] },
  })
})
after(() => world.close())

const preview = (payload: object, headers: Record<string, string> = world.admin, clientId: string = app.clientId) =>
  world.api.inject({ method: 'POST', url: `/api/admin/apps/${clientId}/claims/preview`, headers, payload })

test('a preview has the claims that the app then gets, and no token', async () => {
  const person = await world.person()
  const group = await groupOf(world, 'writers', person)
  await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin },
    payload: { access: { groups: ['readers', 'writers'] } },
  })
  await putRoles(world, app, { roles: [{ key: 'admin' }], roleAssignments: [{ role: 'admin', groups: [group.key] }] })
  const places = { in: ['id_token', 'userinfo', 'access_token'] }
  await putClaims(world, app, [{ claim: 'level', source: 'roles', scope: 'roles', as: 'string', ...places }])
  const answer = await preview({ identityId: person.identityId, scope: 'openid profile groups roles email phone' })
  assert.equal(answer.statusCode, 200, answer.body)
  const shown = answer.json<ClaimsPreview>()
  assert.deepEqual([shown.scope, shown.hasAccess], ['openid profile groups roles email', true])
  const tokens = await app.tokens(person, { scope: 'openid profile groups roles' })
  const idToken = decodeJwt(tokens.id_token ?? '')
  for (const [name, value] of Object.entries(shown.idToken)) assert.deepEqual(idToken[name], value, name)
  assert.deepEqual(
    [shown.idToken['groups'], shown.idToken['roles'], shown.idToken['level']],
    [['writers'], ['admin'], 'admin'],
  )
  assert.deepEqual(shown.accessToken, { sub: person.identityId, level: 'admin' })
  assert.deepEqual(shown.omitted, [])
  assert.ok(!/eyJ/.test(answer.body), 'no JWT')
})

test('CLM-06 a preview never names the user, and tells nothing of a sibling', async () => {
  const person = await world.person()
  const own = await sibling(world, person)
  await groupOf(world, 'of-sibling', own)
  const first = await preview({ identityId: person.identityId })
  assert.ok(!first.body.includes('user_id') && !first.body.includes(person.userId), first.body)
  const other = await preview({ identityId: own.identityId, scope: 'openid user_id' })
  assert.ok(!other.body.includes(person.userId) && !other.body.includes(person.identityId), other.body)
  assert.equal(first.json<ClaimsPreview>().hasAccess, false)
})

test('CLM-06 a preview needs apps.manage and people.read, and is in the audit log and the activity', async () => {
  const person = await world.person()
  const { identityId } = person
  const apps = await makeOperator(world, await world.person(), 'apps')
  const owner = await makeOperator(world, await world.person(), 'owner')
  const token = await createToken(world, ['apps.manage'])
  for (const headers of [apps.page, token.headers]) {
    const refused = await preview({ identityId }, headers)
    const { error, permission } = refused.json<Record<string, string>>()
    assert.deepEqual([refused.statusCode, error, permission], [403, 'permission_denied', 'people.read'])
  }
  const unseen = await world.api.inject({ url: '/api/account/activity?kind=apps', headers: person.headers })
  assert.deepEqual(unseen.json().entries, [])
  assert.equal((await preview({ identityId, scope: 'openid' }, owner.page)).statusCode, 200)
  const activity = await world.api.inject({ url: '/api/account/activity?kind=apps', headers: person.headers })
  const [entry] = activity.json<{ entries: { action: string; clientId: string; details: object }[] }>().entries
  assert.ok(entry)
  assert.deepEqual(
    [entry.action, entry.clientId, entry.details],
    ['app.claims.previewed', app.clientId, { scope: 'openid' }],
  )
  assert.equal((await preview({ identityId: randomUUID() })).json().error, 'identity_not_found')
  assert.equal((await preview({ identityId }, world.admin, 'app_unknown')).json().error, 'app_not_found')
})
