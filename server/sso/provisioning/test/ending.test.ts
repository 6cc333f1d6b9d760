import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import {
  errorOf,
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  refusalIn,
  sessionOf,
  type Enterprise,
} from '#testing/enterprise.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
let acme: { owner: Person; organizationId: OrganizationId }
let connectionId: string
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  acme = await enterprise.organization(await world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
  ;({ connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] }))
})
after(() => enterprise.close())

test('SSO-09 disabling or deleting a connection prevents sign-ins and revokes its sessions', async () => {
  for (const how of ['disable', 'delete'] as const) {
    const connection = (await enterprise.connect(acme, { domains: ['acme.example'] })).connectionId
    const { claims, browser: withPasskey } = await enterprise.colleague(connection, newClaims())
    const signedIn = enterprise.browser()
    await signedIn.signIn(connection, claims)
    const begun = enterprise.browser()
    const back = enterprise.upstream.approve((await begun.start(connection)).headers.location ?? '', claims)
    const proved = enterprise.browser()
    const there = enterprise.upstream.approve((await proved.start(connection)).headers.location ?? '', claims)
    const { location = '' } = (await proved.get(there.href)).headers
    const unknown = enterprise.browser()
    const person = await world.person()
    unknown.bring(person)
    const arrived = await unknown.signIn(connection, newClaims())

    acme.owner.headers = await acme.owner.signIn()
    const path = `/${acme.organizationId}/sso-connections/${connection}`
    const done = await (how === 'disable'
      ? enterprise.send(acme.owner, 'PATCH', path, { enabled: false })
      : enterprise.send(acme.owner, 'DELETE', path))
    assert.ok(done.statusCode < 300, done.body)

    const [gone, code] = how === 'disable' ? [404, 'sso_connection_unavailable'] : [400, 'invalid_sso_flow']
    assert.deepEqual(refusalIn(await begun.get(back.href)), [gone, code], how)
    assert.deepEqual(refusalIn(await proved.get(location)), [gone, code], how)
    assert.deepEqual(errorOf(await linkAs(unknown, flowOf(arrived), person.identityId)), [gone, code])
    assert.deepEqual(refusalIn(await enterprise.browser().start(connection)), [404, 'sso_connection_unavailable'])
    assert.equal((await signedIn.page('GET', '/api/auth/session')).statusCode, 401)
    assert.equal((await withPasskey.page('GET', '/api/auth/session')).statusCode, 200)
  }
})

test('SSO-09 a suspended organization signs no user in', async () => {
  const organization = await enterprise.organization(await world.person(), 'Initech')
  await enterprise.verifyDomain(organization, 'initech.example')
  const domains = ['initech.example']
  const connection = (await enterprise.connect(organization, { domains })).connectionId
  const { claims } = await enterprise.colleague(connection, newClaims({ email: 'ann@initech.example' }))
  const browser = enterprise.browser()
  const back = enterprise.upstream.approve((await browser.start(connection)).headers.location ?? '', claims)
  await world.db
    .updateTable('organization')
    .set({ status: 'suspended' })
    .where('organization_id', '=', organization.organizationId)
    .execute()
  assert.deepEqual(refusalIn(await browser.get(back.href)), [404, 'sso_connection_unavailable'])
  assert.deepEqual(refusalIn(await browser.start(connection)), [404, 'sso_connection_unavailable'])
})

test('a removed member can no longer sign in by SSO, and must join again', async () => {
  const { claims, person } = await enterprise.colleague(connectionId)
  await world.db.deleteFrom('organization_member').where('identity_id', '=', person.identityId).execute()
  const gone = await enterprise.browser().signIn(connectionId, claims)
  assert.equal(new URL(gone.headers.location ?? '').pathname, '/sso/link')
  const back = await enterprise.colleague(connectionId, claims)
  const browser = enterprise.browser()
  await browser.signIn(connectionId, claims)
  assert.equal((await sessionOf(browser)).user.userId, back.person.identityId)
})

test('deleting an account deletes its SSO links', async () => {
  const { person, claims } = await enterprise.colleague(connectionId)
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: person.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  const links = await world.db.selectFrom('sso_link').select('subject').where('subject', '=', claims.sub).execute()
  assert.deepEqual(links, [])
})
