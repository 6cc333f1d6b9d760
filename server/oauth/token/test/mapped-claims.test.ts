import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { decodeJwt } from 'jose'
import { groupOf, putClaims, putRoles } from '#testing/roles.ts'
import { createWorld, postForm, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const scope = 'openid profile offline_access groups roles'
const newApp = () => world.app({ allowedScopes: ['openid', 'profile', 'offline_access', 'groups', 'roles'] })

async function userinfo(token: string) {
  const answer = await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
  return answer.json<Record<string, unknown>>()
}

async function introspect(app: TestApp, token: string) {
  const answer = await postForm(world.api, '/api/oauth/introspect', { token, ...app.credentials })
  return answer.json<Record<string, unknown>>()
}

const idTokenOf = ({ id_token: token }: { id_token?: string }): Record<string, unknown> => decodeJwt(token ?? '')

/** Gives roles of an app to an identity; the app has others too. */
async function give(app: TestApp, { identityId }: { identityId: string }, ...keys: string[]) {
  const roles = [...new Set([...keys, 'viewer', 'constructor'])].map((key) => ({ key }))
  const roleAssignments = keys.map((role) => ({ role, identities: [identityId] }))
  const answer = await putRoles(world, app, { roles, roleAssignments })
  assert.equal(answer.statusCode, 200, answer.body)
}

test('a string takes the first of its roles that the user has, then its value, else the default', async () => {
  const person = await world.person()
  const app = await newApp()
  const ofRoles = { source: 'roles', scope: 'roles', as: 'string' }
  const map = { admin: 'Admin', editor: 'Editor' }
  await putClaims(world, app, [
    { claim: 'ranked', ...ofRoles, first: ['editor', 'admin'], map, default: 'Viewer' },
    { claim: 'mapped', ...ofRoles, map },
    { claim: 'plain', ...ofRoles },
    { claim: 'list', source: 'roles', scope: 'roles', map, default: 'None' },
    { claim: 'fixed', source: 'literal:eu', scope: 'openid' },
  ])
  const claims = async () => {
    const { ranked, mapped, plain, list, fixed } = idTokenOf(await app.tokens(person, { scope }))
    return { ranked, mapped, plain, list, fixed }
  }
  await give(app, person, 'admin', 'auditor', 'editor')
  assert.deepEqual(await claims(), {
    ...{ ranked: 'Editor', mapped: 'Admin', plain: 'admin', list: ['Admin', 'Editor'], fixed: 'eu' },
  })
  await give(app, person, 'auditor')
  assert.deepEqual(await claims(), {
    ...{ ranked: 'Viewer', mapped: undefined, plain: 'auditor', list: ['None'], fixed: 'eu' },
  })
  await give(app, person)
  assert.deepEqual(await claims(), {
    ...{ ranked: 'Viewer', mapped: undefined, plain: undefined, list: ['None'], fixed: 'eu' },
  })
})

test('CLM-01 a role with the name of a member of objects maps to nothing that no one wrote', async () => {
  const person = await world.person()
  const app = await newApp()
  const ofRoles = { source: 'roles', scope: 'roles', map: { viewer: 'Viewer' } }
  await putClaims(world, app, [
    { claim: 'one', ...ofRoles, as: 'string', first: ['constructor', 'viewer'], default: 'None' },
    { claim: 'all', ...ofRoles },
  ])
  await give(app, person, 'constructor', 'viewer')
  const { one, all } = idTokenOf(await app.tokens(person, { scope }))
  assert.deepEqual([one, all], ['None', ['Viewer']])
})

test('a claim is only where its mapping says, and only with its scope', async () => {
  const person = await world.person()
  const app = await newApp()
  const places = ['id_token', 'userinfo', 'access_token']
  await putClaims(
    world,
    app,
    places.map((place) => ({ claim: `in_${place}`, source: 'roles', scope: 'roles', in: [place] })),
  )
  await give(app, person, 'admin')
  const tokens = await app.tokens(person, { scope })
  const found = async (given: typeof tokens) => {
    const answers = [
      idTokenOf(given),
      await userinfo(given.access_token),
      decodeJwt<Record<string, unknown>>(given.access_token_jwt),
      await introspect(app, given.access_token),
    ]
    return answers.map((claims) => Object.keys(claims).filter((name) => name.startsWith('in_')))
  }
  assert.deepEqual(await found(tokens), [['in_id_token'], ['in_userinfo'], ['in_access_token'], ['in_access_token']])
  assert.deepEqual(await found(await app.tokens(person, { scope: 'openid profile groups' })), [[], [], [], []])
  assert.deepEqual((await userinfo(tokens.access_token))['in_userinfo'], ['admin'])
  await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin },
    payload: { idTokenClaims: false },
  })
  assert.deepEqual((await found(await app.tokens(person, { scope })))[0], [])
})

test('CLM-02 a mapping sees only the groups that the app may know', async () => {
  const person = await world.person()
  await groupOf(world, 'known', person)
  await groupOf(world, 'hidden', person)
  const app = await newApp()
  await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin },
    payload: { access: { groups: ['known'] } },
  })
  const map = { known: 'K', hidden: 'H' }
  await putClaims(world, app, [
    { claim: 'teams', source: 'groups', scope: 'groups' },
    { claim: 'letter', source: 'groups', scope: 'groups', as: 'string', first: ['hidden', 'known'], map },
  ])
  const { teams, letter } = idTokenOf(await app.tokens(person, { scope }))
  assert.deepEqual([teams, letter], [['known'], 'K'])
})

test('CLM-05 the next refresh, userinfo and introspection map what is so now', async () => {
  const person = await world.person()
  const app = await newApp()
  const places = ['id_token', 'userinfo', 'access_token']
  const ofRoles = { source: 'roles', scope: 'roles', in: places }
  await putClaims(world, app, [{ claim: 'level', ...ofRoles, as: 'string', map: { admin: 'A' }, default: 'V' }])
  await give(app, person, 'admin')
  const tokens = await app.tokens(person, { scope })
  assert.equal(idTokenOf(tokens)['level'], 'A')
  await give(app, person)
  assert.equal((await userinfo(tokens.access_token))['level'], 'V')
  assert.equal((await introspect(app, tokens.refresh_token))['level'], 'V')
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  assert.equal(idTokenOf(refreshed)['level'], 'V')
  assert.equal(decodeJwt(refreshed.access_token_jwt)['level'], 'V')
  await putClaims(world, app, [])
  assert.equal((await userinfo(refreshed.access_token))['level'], undefined)
})

test('CLM-04 mapped claims of 4,096 bytes are in a JWT, and of one more some are left out', async () => {
  const person = await world.person()
  const app = await newApp()
  await give(app, person, 'admin')
  const text = 'x'.repeat(limits.mappedValueCharactersMax)
  const literal = (claim: string, value: string) => ({ claim, source: `literal:${value}`, scope: 'openid' })
  const [full, roles] = [JSON.stringify({ c00: text }).length, JSON.stringify(['admin']).length]
  const count = Math.floor((limits.assignedClaimsBytesMax - roles) / full)
  const rest = limits.assignedClaimsBytesMax - roles - count * full - JSON.stringify({ end: '' }).length
  const filling = Array.from({ length: count }, (_, nth) => literal(`c${String(nth).padStart(2, '0')}`, text))
  const put = async (...last: object[]) => {
    const places = { in: ['id_token', 'userinfo', 'access_token'] }
    const answer = await putClaims(
      world,
      app,
      [...filling, ...last].map((each) => ({ ...each, ...places })),
    )
    assert.equal(answer.statusCode, 200, answer.body)
    return app.tokens(person, { scope: 'openid roles' })
  }
  const fitting = idTokenOf(await put(literal('end', 'x'.repeat(rest))))
  assert.deepEqual(
    [fitting['roles'], fitting['end'], fitting['claims_omitted']],
    [['admin'], 'x'.repeat(rest), undefined],
  )

  const larger = await put(literal('end', 'x'.repeat(rest + 1)))
  const { roles: left, end, claims_omitted: omitted } = idTokenOf(larger)
  assert.deepEqual([left, end, omitted], [undefined, 'x'.repeat(rest + 1), ['roles']])
  assert.deepEqual((await userinfo(larger.access_token))['roles'], ['admin'])
  assert.deepEqual((await introspect(app, larger.access_token))['roles'], ['admin'])

  const more = await put(literal('end', 'x'.repeat(rest)), literal('very_last', text))
  assert.deepEqual(idTokenOf(more)['claims_omitted'], ['roles', 'very_last'])
  assert.equal(idTokenOf(more)['end'], 'x'.repeat(rest))
  assert.deepEqual(decodeJwt(more.access_token_jwt)['claims_omitted'], ['very_last'])
  assert.equal((await userinfo(more.access_token))['very_last'], text)
})

test('CLM-04 userinfo has at most 64 KiB of groups and mapped claims', async () => {
  const person = await world.person()
  const app = await newApp()
  await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin },
    payload: { groupsClaim: { include: 'all' } },
  })
  const keys = Array.from({ length: 40 }, (_, nth) => `u${String(nth).padStart(2, '0')}`.padEnd(63, 'x'))
  for (const key of keys) await groupOf(world, key, person)
  const claims = Array.from({ length: limits.claimsPerAppMax }, (_, nth) => ({
    ...{ claim: `copy_${nth}`, source: 'groups', scope: 'groups', in: ['userinfo'] },
  }))
  await putClaims(world, app, claims)
  const { access_token: token } = await app.tokens(person, { scope: 'openid groups' })
  const answer = await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
  assert.ok(answer.body.length < limits.answerClaimsBytesMax + 2000, String(answer.body.length))
  const body = answer.json<Record<string, unknown>>()
  assert.deepEqual(body['copy_0'], keys)
  const omitted = body['claims_omitted']
  assert.ok(Array.isArray(omitted))
  assert.deepEqual(omitted.slice(0, 2), ['groups', 'copy_39'])
})
