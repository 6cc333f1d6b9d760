import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import type { ClaimMappings } from '@countersign/protocol/clients/claims'
import { limits } from '@countersign/protocol/formats/limits'
import { makeOperator } from '#testing/operators.ts'
import { groupOf, putClaims } from '#testing/roles.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app()
})
after(() => world.close())

const ask = (path: string) => world.api.inject({ url: `/api/admin/${path}`, headers: world.admin })
const claimsOf = async () => (await ask(`apps/${app.clientId}/claims`)).json<ClaimMappings>().claims
const literal = (claim: string) => ({ claim, source: 'literal:x', scope: 'openid' })

test('an operator replaces the mapped claims of an app, which keep their order', async () => {
  const sent = [
    { ...literal('zone'), in: ['userinfo'] },
    {
      ...{ claim: 'grafana_role', source: 'roles', scope: 'roles', as: 'string' },
      ...{ first: ['admin', 'editor'], map: { admin: 'Admin', editor: 'Editor' }, default: 'Viewer' },
    },
    { claim: 'https://example.com/claims/teams', source: 'groups', scope: 'groups' },
  ]
  const answer = await putClaims(world, app, sent)
  assert.equal(answer.statusCode, 200, answer.body)
  const [zone, role, teams] = sent
  const both = { in: ['id_token', 'userinfo'] }
  assert.deepEqual(await claimsOf(), [
    { ...zone, as: 'string' },
    { ...both, ...role },
    { ...both, as: 'array', ...teams },
  ])
  assert.deepEqual(answer.json().claims, await claimsOf())
  assert.deepEqual((await putClaims(world, app, await claimsOf())).json(), answer.json())
  assert.deepEqual((await putClaims(world, app, [])).json(), { claims: [] })
  assert.equal((await ask('apps/app_unknown/claims')).json().error, 'app_not_found')
})

test('CLM-01 a registered claim, one of ours, or a name of prototypes is refused, in any letter case', async () => {
  await putClaims(world, app, [literal('kept')])
  const registered = 'iss sub aud exp nbf iat jti name email email_verified acr amr azp sid cnf act scope client_id'
  const ours = 'groups roles user_id organization claims_omitted grant_id com_mode target_resource active username'
  const ofPrototypes = '__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__'
  const names = [registered, ours, ofPrototypes, '_claim_names _claim_sources _claim_other _sd_alg']
    .join(' ')
    .split(' ')
  for (const name of [...names, ...names.map((each) => each.toUpperCase()), 'Email', 'eMail_Verified', 'Constructor']) {
    const answer = await putClaims(world, app, [literal('kept'), literal(name)])
    const { error, claim } = answer.json<{ error: string; claim?: string }>()
    assert.deepEqual([answer.statusCode, error, claim], [400, 'reserved_claim', name])
  }
  const alike = ['еmail', 'ema\u0131l', '\u212aey', 'roles\u200b', 'a b', '', 'a'.repeat(129), 'a\n', 'a"b', 'a\\b']
  for (const name of alike) {
    const answer = await putClaims(world, app, [literal('kept'), literal(name)])
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(name))
  }
  assert.deepEqual(
    (await claimsOf()).map(({ claim }) => claim),
    ['kept'],
  )
})

test('CLM-01 a mapping outside of the fixed language is refused', async () => {
  const ofRoles = { claim: 'team', source: 'roles', scope: 'roles' }
  const refused: object[][] = [
    [literal('team'), literal('team')],
    [literal('team'), literal('Team')],
    [{ ...ofRoles, scope: 'openid' }],
    [{ ...ofRoles, scope: 'groups' }],
    [{ ...ofRoles, scope: 'offline_access' }],
    [{ ...ofRoles, source: 'attribute:cost_center' }],
    [{ ...ofRoles, source: 'organization.role' }],
    [{ ...ofRoles, source: 'literal:' }],
    [{ ...ofRoles, source: 'user_id' }],
    [{ ...ofRoles, first: ['admin'] }],
    [{ ...ofRoles, as: 'number' }],
    [{ ...ofRoles, in: [] }],
    [{ ...ofRoles, in: ['logout_token'] }],
    [{ ...ofRoles, map: {} }],
    [{ ...ofRoles, map: { admin: 1 } }],
    [{ ...ofRoles, map: { admin: 'x'.repeat(limits.mappedValueCharactersMax + 1) } }],
    [{ ...ofRoles, map: { admin: 'Ad\u202emin' } }],
    [{ ...ofRoles, default: 'a\0b' }],
    [{ ...ofRoles, default: '\ud800' }],
    [{ ...literal('team'), map: { x: 'y' } }],
    [{ ...literal('team'), default: 'y' }],
    [{ ...ofRoles, expression: 'roles[0]' }],
    Array.from({ length: limits.claimsPerAppMax + 1 }, (_, nth) => literal(`c${nth}`)),
  ]
  for (const claims of refused) {
    const answer = await putClaims(world, app, claims)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(claims))
  }
})

test('CLM-03 no mapped value has a name of Kubernetes or of an organization', async () => {
  const ofGroups = { claim: 'team', source: 'groups', scope: 'groups' }
  const refused = [
    { ...literal('team'), source: 'literal:system:masters' },
    { ...ofGroups, map: { eng: 'system:masters' } },
    { ...ofGroups, default: 'org:acme:admins' },
  ]
  for (const mapping of refused)
    assert.equal((await putClaims(world, app, [mapping])).json().error, 'invalid_request', JSON.stringify(mapping))
})

test('CLM-03 a group to which a claim gives a meaning becomes protected, until an owner says otherwise', async () => {
  const { groupId } = await groupOf(world, 'cluster-users')
  const url = `/api/admin/groups/${groupId}`
  const isProtected = async () => (await ask(`groups/${groupId}`)).json<Group>().protected
  const operator = await makeOperator(world, await world.person(), 'apps')
  const mapping = { claim: 'level', source: 'groups', scope: 'groups', as: 'string', map: { 'cluster-users': 'user' } }
  assert.equal((await putClaims(world, app, [mapping], operator.page)).statusCode, 200)
  assert.equal(await isProtected(), true)
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { protected: false } })
  assert.equal((await putClaims(world, app, [mapping, literal('zone')], operator.page)).statusCode, 200)
  assert.equal(await isProtected(), false)
})

test('CLM-07 a group whose key a claim names is protected when it is created, also at the same time', async () => {
  const [apps, people] = [
    await makeOperator(world, await world.person(), 'apps'),
    await makeOperator(world, await world.person(), 'people'),
  ]
  const member = await world.person()
  const create = (key: string) => {
    const payload = { key, displayName: key }
    return world.api.inject({ method: 'POST', url: '/api/admin/groups', headers: people.page, payload })
  }
  const naming = (key: string) => [
    { claim: 'level', source: 'groups', scope: 'groups', as: 'string', map: { [key]: 'Admin' } },
    { claim: 'place', source: 'groups', scope: 'groups', as: 'string', first: [`${key}-first`] },
  ]
  assert.equal((await putClaims(world, app, naming('later'), apps.page)).statusCode, 200)
  for (const key of ['later', 'later-first']) {
    const made = await create(key)
    const { groupId, protected: isProtected } = made.json<Group>()
    assert.deepEqual([made.statusCode, isProtected], [201, true])
    const url = `/api/admin/groups/${groupId}/members/${member.identityId}`
    const added = await world.api.inject({ method: 'PUT', url, headers: people.page })
    assert.deepEqual([added.statusCode, added.json().permission], [403, 'operators.manage'])
  }
  assert.equal((await create('unnamed')).json<Group>().protected, false)

  // A deleted group leaves its key in the claims.
  const { groups } = (await ask('groups?key=later')).json<{ groups: Group[] }>()
  const url = `/api/admin/groups/${groups[0]?.groupId}`
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers: world.admin })).statusCode, 204)
  assert.equal((await create('later')).json<Group>().protected, true)

  for (let nth = 0; nth < 10; nth += 1) {
    const key = `raced-${nth}`
    const [made] = await Promise.all([create(key), putClaims(world, app, naming(key), apps.page)])
    const { groupId } = made.json<Group>()
    assert.equal((await ask(`groups/${groupId}`)).json<Group>().protected, true, key)
  }
})
