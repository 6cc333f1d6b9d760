import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import {
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  scimPatch,
  scimUser,
  sessionOf,
  type Enterprise,
} from '#testing/enterprise.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'

let enterprise: Enterprise
let acme: Awaited<ReturnType<Enterprise['organization']>>
before(async () => {
  enterprise = await openEnterprise()
  acme = await enterprise.organization(await enterprise.world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
})
after(() => enterprise.close())

const nothing = '\u200b\u202e\u2066\u00ad'
const address = 'ann@acme.example'
/** Returns the provider's claims and the name that the page shows. */
const names: [said: string, shown: string | null][] = [
  ['Ann \u202eelpmaxE\u202c', 'Ann elpmaxE'],
  ['Ann\u200b Ex\u00adample\u{E0041}', 'Ann Example'],
  ['Ann\nExample', 'Ann Example'],
  [`Ann${'\u0300'.repeat(70)}`, `Ann${'\u0300'.repeat(4)}`],
  ['A\u0336nn', 'Ann'],
  ['x'.repeat(200), 'x'.repeat(80)],
  ['👩🏽‍🚀 می‌خواهم', '👩🏽‍🚀 می‌خواهم'],
  [nothing, 'ann'],
]

async function shownIn(browser: ReturnType<Enterprise['browser']>, arrived: Parameters<typeof flowOf>[0]) {
  const flowId = flowOf(arrived)
  const said = await browser.page('GET', `/api/sso/arrivals/${flowId}`)
  return { flowId, displayName: said.json<{ displayName: string | null }>().displayName }
}

test('NAM-10 a name from an OpenID provider is cleaned, and never blocks the sign-in', async () => {
  const { connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] })
  for (const [name, shown] of names) {
    const browser = enterprise.browser()
    const claims = newClaims({ name, email: address })
    const { flowId, displayName } = await shownIn(browser, await browser.signIn(connectionId, claims))
    assert.equal(displayName, shown, JSON.stringify(name))
    const person = await enterprise.world.person()
    browser.bring(person)
    assert.equal((await linkAs(browser, flowId, person.identityId)).statusCode, 200)
    const later = enterprise.browser()
    await later.signIn(connectionId, claims)
    assert.equal((await sessionOf(later)).user.userId, person.identityId)
  }
  const browser = enterprise.browser()
  const nameless = await browser.signIn(
    connectionId,
    newClaims({ name: nothing, email: 'none', email_verified: false }),
  )
  assert.equal((await shownIn(browser, nameless)).displayName, null)
})

test('NAM-10 a name from a SAML provider is cleaned, whole or in parts', async () => {
  const idp = await startSamlProvider(enterprise.world.now)
  try {
    const path = `/${acme.organizationId}/sso-connections`
    const fresh = { headers: await acme.owner.signIn() }
    const payload = { name: 'Acme SAML', saml: { metadata: await idp.metadata(0) } }
    const made = await enterprise.send(fresh, 'POST', path, payload)
    const { connectionId } = made.json<{ connection: SsoConnection }>().connection
    await idp.register((await enterprise.world.api.inject({ url: `/api/sso/${connectionId}/metadata` })).body)
    const arrive = async (attributes: Record<string, string>) => {
      const browser = enterprise.browser()
      const { location = '' } = (await browser.start(connectionId)).headers
      const { action, fields } = await idp.approve(location, { nameId: randomUUID(), attributes })
      return (await shownIn(browser, await browser.follow(action, fields))).displayName
    }
    for (const [displayName, shown] of names)
      assert.equal(await arrive({ email: address, displayName }), shown, JSON.stringify(displayName))
    assert.equal(await arrive({ email: address, givenName: 'Ann\u202e', surname: 'Ex\u200bample' }), 'Ann Example')
    assert.equal(await arrive({ displayName: nothing }), null)
  } finally {
    await idp.close()
  }
})

test('NAM-11 a directory can create, update and deactivate users with any name, and names are cleaned', async () => {
  const { connectionId } = await enterprise.connect(acme)
  const { ask } = await enterprise.provision(acme, connectionId)
  const bad = { displayName: 'Ann\u202e Example', name: { givenName: 'A\u200bnn', familyName: nothing } }
  const userName = `${randomUUID()}@acme.example`
  const whole = scimUser({ userName, externalId: randomUUID(), ...bad })
  const added = await ask('POST', '/Users', whole)
  assert.equal(added.statusCode, 201, added.body)
  const { id, displayName, name } = added.json()
  assert.deepEqual([displayName, name], ['Ann Example', { givenName: 'Ann' }])

  const one = `/Users/${id}`
  const worse = 'Bob\u202e Example'
  const kept = 'Bob Example'
  for (const changed of [
    await ask('PUT', one, { ...whole, displayName: worse }),
    await ask('PATCH', one, scimPatch({ op: 'replace', path: 'displayName', value: worse })),
    await ask('PATCH', one, scimPatch({ op: 'replace', value: { displayName: worse } })),
  ])
    assert.deepEqual([changed.statusCode, changed.json().displayName], [200, kept], changed.body)
  const given = await ask('PATCH', one, scimPatch({ op: 'add', path: 'name.givenName', value: worse }))
  assert.deepEqual(given.json().name, { givenName: kept })
  const family = await ask('PATCH', one, scimPatch({ op: 'replace', path: 'name', value: { familyName: worse } }))
  assert.equal(family.json().name.familyName, kept, family.body)

  const off = await ask('PUT', one, { ...whole, displayName: worse, active: false })
  assert.deepEqual([off.statusCode, off.json().active, off.json().displayName], [200, false, kept])
})

test('NAM-11 users who edit their name in a directory cannot block a role change', async () => {
  const { connectionId } = await enterprise.connect(acme)
  const { ask } = await enterprise.provision(acme, connectionId)
  for (const [name, kept] of [
    ['Evelyn\u200b', 'Evelyn'],
    [nothing, undefined],
    ['   ', undefined],
    ['x'.repeat(300), 'x'.repeat(255)],
  ] as const) {
    const sub = randomUUID()
    const user = scimUser({ userName: `${sub}@acme.example`, externalId: sub, displayName: 'Eve' })
    const made = await ask('POST', '/Users', { ...user, roles: [{ value: 'admin' }] })
    assert.equal(made.statusCode, 201, made.body)
    const lowered = { displayName: name, roles: [{ value: 'viewer' }] }
    const byPut = await ask('PUT', `/Users/${made.json().id}`, { ...user, ...lowered })
    assert.deepEqual([byPut.statusCode, byPut.json().displayName], [200, kept], byPut.body)
    assert.equal(byPut.json().roles[0].value, 'viewer')
    const back = await ask('PATCH', `/Users/${made.json().id}`, scimPatch({ op: 'replace', value: user }))
    assert.equal(back.json().displayName, 'Eve')
    const byPatch = await ask('PATCH', `/Users/${made.json().id}`, scimPatch({ op: 'replace', value: lowered }))
    assert.deepEqual([byPatch.statusCode, byPatch.json().displayName], [200, kept], byPatch.body)

    const person = await enterprise.world.person()
    const browser = enterprise.browser()
    browser.bring(person)
    const arrived = await browser.signIn(connectionId, newClaims({ sub, email: `${sub}@acme.example` }))
    assert.equal((await linkAs(browser, flowOf(arrived), person.identityId)).statusCode, 200)
    const { members } = (await enterprise.send(acme.owner, 'GET', `/${acme.organizationId}/members`)).json()
    const joined = members.find(({ identityId }: { identityId: string }) => identityId === person.identityId)
    assert.equal(joined?.role, 'viewer')
  }
})

test('NAM-11 a hidden character in an old name is removed with any other change of a provisioned user', async () => {
  const { connectionId } = await enterprise.connect(acme)
  const { ask } = await enterprise.provision(acme, connectionId)
  const user = scimUser({ userName: `${randomUUID()}@acme.example`, externalId: randomUUID(), displayName: 'Ann' })
  const { id } = (await ask('POST', '/Users', user)).json()
  await enterprise.world.db
    .updateTable('sso_scim_user')
    .set({ display_name: 'Ann\u202e' })
    .where('scim_user_id', '=', id)
    .execute()
  const changed = await ask('PATCH', `/Users/${id}`, scimPatch({ op: 'add', path: 'name.givenName', value: 'Ann' }))
  assert.deepEqual([changed.statusCode, changed.json().displayName], [200, 'Ann'])
})
