import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { createConnectors } from '#testing/connectors.ts'
import { exchange, newParams, openBrowser } from '#testing/federated-browser.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const admin = (method: Method, path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) })
const change = (app: Pick<TestApp, 'clientId'>, payload: object) => admin('PATCH', `apps/${app.clientId}`, payload)

let groupsMade = 0
async function newGroup(...members: Pick<Person, 'identityId'>[]) {
  groupsMade += 1
  const { groupId, key } = (await admin('POST', 'groups', { key: `g${groupsMade}`, displayName: 'G' })).json<Group>()
  for (const { identityId } of members) await admin('PUT', `groups/${groupId}/members/${identityId}`)
  const remove = (person: Person) => admin('DELETE', `groups/${groupId}/members/${person.identityId}`)
  return { groupId, key, remove, delete: () => admin('DELETE', `groups/${groupId}`) }
}

/** An app that only the members of a group may use, and one of them. */
async function restricted() {
  const person = await world.person()
  const group = await newGroup(person)
  const app = await world.app()
  const answer = await change(app, { access: { mode: 'restricted', groups: [group.key], contact: 'it@example.com' } })
  assert.equal(answer.statusCode, 200, answer.body)
  return { person, group, app }
}

function authorize(app: TestApp, person: Pick<Person, 'headers' | 'identityId'>, requested: object = {}) {
  const { clientId, redirectUri } = app
  const payload = { clientId, redirectUri, identityId: person.identityId, scope: 'openid profile', ...requested }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers: person.headers, payload })
}

const refusalOf = (answer: { statusCode: number; json: () => { error: string } }) => [
  answer.statusCode,
  answer.json().error,
]

test('the operator sets who may use an app, and each part of it stays until it is changed', async () => {
  const [app, one, two] = [await world.app(), await newGroup(), await newGroup()]
  const shown = async () => (await admin('GET', `apps/${app.clientId}`)).json()
  assert.deepEqual((await shown()).access, { mode: 'everyone', groups: [], organizations: [], contact: null })
  await change(app, { access: { mode: 'restricted', groups: [two.key, one.key], contact: 'Ada' } })
  await change(app, { access: { mode: 'none' } })
  assert.deepEqual((await shown()).access, {
    mode: 'none',
    groups: [one.key, two.key],
    organizations: [],
    contact: 'Ada',
  })
  await change(app, { name: 'Renamed' })
  await change(app, { access: { contact: null, groups: [one.key] } })
  assert.deepEqual((await shown()).access, { mode: 'none', groups: [one.key], organizations: [], contact: null })
  assert.deepEqual(refusalOf(await change(app, { access: { groups: ['no-such-group'] } })), [404, 'group_not_found'])
  assert.deepEqual(refusalOf(await change(app, { access: { contact: 'a\u202eb' } })), [400, 'invalid_request'])
  const made = await admin('POST', 'apps', {
    ...{ name: 'Closed', redirectUris: ['https://app.example/callback'] },
    access: { mode: 'restricted', groups: [one.key] },
  })
  assert.deepEqual(made.json().access, { mode: 'restricted', groups: [one.key], organizations: [], contact: null })
})

test('ACC-01 the owner of an app cannot change who may use it, or which groups it learns', async () => {
  const [owner, group] = [await world.person(), await newGroup()]
  const own = (method: Method, path: string, payload: object) =>
    world.api.inject({ method, url: `/api/developer/apps${path}`, headers: owner.headers, payload })
  const base = { name: 'Mine', redirectUris: ['https://app.example/callback'] }
  const created = await own('POST', '', base)
  assert.equal(created.statusCode, 201, created.body)
  for (const change of [{ access: { groups: [group.key] } }, { groupsClaim: { include: 'all' } }]) {
    assert.equal((await own('PATCH', `/${created.json().clientId}`, change)).statusCode, 400)
    assert.equal((await own('POST', '', { ...base, ...change })).statusCode, 400)
  }
})

test('ACC-02 a user in none of the groups gets no code, and learns only the contact', async () => {
  const { person, app, group } = await restricted()
  assert.equal((await authorize(app, person)).statusCode, 200)
  const stranger = await world.person()
  const refused = await authorize(app, stranger)
  assert.deepEqual(refusalOf(refused), [403, 'app_access_denied'])
  assert.equal(refused.json().contact, 'it@example.com')
  assert.ok(!refused.body.includes(group.key))
  const url = `/api/oauth/authorization/${app.clientId}?identity_id=${stranger.identityId}`
  const read = await world.api.inject({ url, headers: stranger.headers })
  assert.deepEqual(read.json(), {
    ...{ authorization: null, missingScopes: [] },
    accessDenied: { contact: 'it@example.com' },
  })
  await change(app, { access: { mode: 'none' } })
  assert.deepEqual(refusalOf(await authorize(app, person)), [403, 'app_access_denied'])
  await change(app, { access: { mode: 'everyone' } })
  assert.equal((await authorize(app, stranger)).statusCode, 200)
})

test('ACC-03 with prompt=none the answer to the app is access_denied', async () => {
  const { person, app, group } = await restricted()
  await app.tokens(person)
  await group.remove(person)
  assert.deepEqual(refusalOf(await authorize(app, person, { prompt: 'none' })), [403, 'app_access_denied'])
  const query = new URLSearchParams({
    ...{ client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code' },
    ...{ scope: 'openid', prompt: 'none', state: 'kept' },
  })
  const page = await world.auth.inject(`/signin?${query}`)
  assert.match(page.body, /error=access_denied[^"]*state=kept/)
})

test('ACC-04 a code is worth nothing once its user has been removed, and gives no second chance', async () => {
  const { person, app, group } = await restricted()
  const code = await app.code(person)
  await group.remove(person)
  assert.deepEqual(refusalOf(await app.redeem(code)), [400, 'invalid_grant'])
  await admin('PUT', `groups/${group.groupId}/members/${person.identityId}`)
  assert.deepEqual(refusalOf(await app.redeem(code)), [400, 'invalid_grant'])
})

test('CLM-05 a removed member gets no token by a refresh, and the tokens before it end', async () => {
  const { person, app, group } = await restricted()
  const { access_token: token, refresh_token: refreshToken } = await app.tokens(person)
  const userinfo = () => world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
  assert.equal((await userinfo()).statusCode, 200)
  await group.remove(person)
  assert.deepEqual(refusalOf(await app.refresh(refreshToken)), [400, 'invalid_grant'])
  assert.equal((await userinfo()).statusCode, 401)
  await admin('PUT', `groups/${group.groupId}/members/${person.identityId}`)
  assert.deepEqual(refusalOf(await app.refresh(refreshToken)), [400, 'invalid_grant'])
  const activity = await world.api.inject({ url: '/api/account/activity', headers: person.headers })
  const entries = activity.json<{ entries: { action: string; clientId: string | null }[] }>().entries
  const ended = entries.find(({ action }) => action === 'app.access.ended')
  assert.equal(ended?.clientId, app.clientId)
})

test('ACC-05 a member who is removed while a code is redeemed gets no token after the removal', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { person, app, group } = await restricted()
    const [redeemed] = await Promise.all([app.redeem(await app.code(person)), group.remove(person)])
    // Redeemed before the removal, the tokens are good until they are used after it.
    const { refresh_token: refreshToken } = redeemed.json<{ refresh_token?: string }>()
    const last = refreshToken === undefined ? redeemed : await app.refresh(refreshToken)
    assert.deepEqual(refusalOf(last), [400, 'invalid_grant'])
  }
})

test('ACC-06 a browser gets no assertion, and an assertion is worth nothing after a removal', async () => {
  const { person, app, group } = await restricted()
  await app.tokens(person, { scope: 'openid profile' })
  const browser = await openBrowser(world, person)
  const { verifier, params } = newParams('openid profile')
  const issued = await browser.assertion(app, params)
  assert.equal(issued.statusCode, 200, issued.body)
  await group.remove(person)
  const redeemed = await exchange(world, app, issued.json().token, { codeVerifier: verifier })
  assert.deepEqual(refusalOf(redeemed), [400, 'invalid_grant'])
  // Neither an assertion nor a window, whether the user had consented before or not.
  for (const scope of ['openid profile', 'openid profile email']) {
    const refused = await browser.assertion(app, newParams(scope).params)
    assert.equal(refused.statusCode, 403, refused.body)
    assert.equal(refused.json().error.code, 'access_denied')
    assert.match(refused.json().error.url, /code=app_access_denied$/)
  }
})

test('ACC-07 an app cannot act elsewhere for a user who may no longer use it', async () => {
  const notes = await createConnectors(world)
  const { person, subjectToken } = await notes.connected({ requestedScope: 'notes.read notes.write' })
  const group = await newGroup(person)
  await change(notes.source, { access: { mode: 'restricted', groups: [group.key] } })
  assert.equal((await notes.exchange(subjectToken, { scope: 'notes.read' })).statusCode, 200)
  await group.remove(person)
  assert.deepEqual(refusalOf(await notes.exchange(subjectToken, { scope: 'notes.read' })), [403, 'access_denied'])
})

test('ACC-07 no app acts at an app that its user may not use', async () => {
  const notes = await createConnectors(world)
  const { person, subjectToken } = await notes.connected({ requestedScope: 'notes.read' })
  const group = await newGroup(person)
  await change(notes.target, { access: { mode: 'restricted', groups: [group.key] } })
  assert.equal((await notes.exchange(subjectToken)).statusCode, 200)
  await group.remove(person)
  assert.deepEqual(refusalOf(await notes.exchange(subjectToken)), [403, 'access_denied'])
})

test('ACC-07 a user cannot consent that an app acts at an app that they may not use', async () => {
  const notes = await createConnectors(world)
  const { person } = await notes.connected()
  const query = new URLSearchParams({
    ...{ identity_id: person.identityId, requested_resource: notes.resourceKey, requested_scope: 'notes.read' },
  })
  const url = `/api/oauth/authorization/${notes.source.clientId}?${query}`
  const read = async () => (await world.api.inject({ url, headers: person.headers })).json()
  const { connector: allowed } = await read()
  await change(notes.target, { access: { mode: 'none', contact: 'it@example.com' } })
  for (const requested of [{}, { prompt: 'none' }]) {
    const refused = await notes.consent(person, requested)
    assert.deepEqual(refusalOf(refused), [403, 'app_access_denied'])
    assert.equal(refused.json().contact, 'it@example.com')
  }
  const { accessDenied, connector } = await read()
  assert.deepEqual([accessDenied, connector], [undefined, { ...allowed, accessDenied: { contact: 'it@example.com' } }])
  await change(notes.target, { access: { mode: 'everyone' } })
  assert.equal((await notes.consent(person, { prompt: 'none' })).statusCode, 200)
  assert.deepEqual((await read()).connector, allowed)
})

test('ACC-08 a restricted app whose only group is deleted stays closed, also to one with the same key', async () => {
  const { person, app, group } = await restricted()
  const { refresh_token: refreshToken } = await app.tokens(person)
  assert.equal((await group.delete()).statusCode, 204)
  assert.deepEqual(refusalOf(await authorize(app, person)), [403, 'app_access_denied'])
  assert.deepEqual(refusalOf(await app.refresh(refreshToken)), [400, 'invalid_grant'])
  const again = (await admin('POST', 'groups', { key: group.key, displayName: 'Again' })).json<Group>()
  await admin('PUT', `groups/${again.groupId}/members/${person.identityId}`)
  assert.deepEqual(refusalOf(await authorize(app, person)), [403, 'app_access_denied'])
  const shown = (await admin('GET', `apps/${app.clientId}`)).json()
  assert.deepEqual(shown.access, { mode: 'restricted', groups: [], organizations: [], contact: 'it@example.com' })
})

test('ACC-09 another identity of the same user has the access of its own groups', async () => {
  const { person, app } = await restricted()
  const payload = { handle: `${person.handle}-2`, displayName: 'Second' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  const second = { headers: person.headers, identityId: added.json<{ identityId: string }>().identityId }
  const { clientId, redirectUri } = app
  const answer = await world.api.inject({
    ...{ method: 'POST', url: '/api/oauth/authorize', headers: second.headers },
    payload: { clientId, redirectUri, identityId: second.identityId, scope: 'openid' },
  })
  assert.deepEqual(refusalOf(answer), [403, 'app_access_denied'])
})
