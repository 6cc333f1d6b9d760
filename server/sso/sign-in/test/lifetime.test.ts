import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import {
  confirmAsShown,
  errorOf,
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  refusalIn,
  sessionOf,
  type Enterprise,
} from '#testing/enterprise.ts'
import { join } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

const refused = [400, 'invalid_sso_flow']

let enterprise: Enterprise
let world: Enterprise['world']
let acme: Awaited<ReturnType<Enterprise['organization']>>
let connectionId: string
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  acme = await enterprise.organization(await world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
  ;({ connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] }))
})
after(() => enterprise.close())

const passLifetime = (difference = 0) => world.pass(limits.flowLifetimeSeconds + difference)

/** Starts a sign-in in a new browser, and returns the redirect of the provider. */
async function startIn(browser: ReturnType<Enterprise['browser']>, claims = newClaims()) {
  const { location = '' } = (await browser.start(connectionId)).headers
  return enterprise.upstream.approve(location, claims).href
}

/** Returns the token of a test sign-in. */
async function newTest(owner: Person, connection: string): Promise<string> {
  const path = `/${acme.organizationId}/sso-connections/${connection}/test`
  const begun = await enterprise.send({ headers: await owner.signIn() }, 'POST', path)
  return new URL(begun.json<{ url: string }>().url).searchParams.get('test') ?? ''
}

test('SSO-01 a response that arrives five minutes after the start signs no user in', async () => {
  const { claims, person } = await enterprise.colleague(connectionId)
  const [soon, late] = [enterprise.browser(), enterprise.browser()]
  const [first, second] = [await startIn(soon, claims), await startIn(late, claims)]
  passLifetime(-1)
  await soon.follow(first)
  assert.equal((await sessionOf(soon)).user.userId, person.identityId)
  world.pass(1)
  assert.deepEqual(refusalIn(await late.follow(second)), refused)
  assert.equal((await sessionOf(late)).error, 'unauthorized')
})

test('SSO-07 five minutes after the response of the provider, no one is signed in, linked or shown by it', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const known = enterprise.browser()
  const { location = '' } = (await known.get(await startIn(known, claims))).headers
  const linking = enterprise.browser()
  const flowId = flowOf(await linking.follow(await startIn(linking)))
  const led = enterprise.browser()
  const confirming = flowOf(await led.signIn(connectionId, claims, {}, 'cross-site'))
  const person = await world.person()
  passLifetime()
  linking.bring({ sessionToken: (await person.signIn()).authorization.replace('Bearer ', '') })
  assert.deepEqual(refusalIn(await known.get(location)), refused)
  assert.deepEqual(errorOf(await linking.page('GET', `/api/sso/arrivals/${flowId}`)), refused)
  assert.deepEqual(errorOf(await linkAs(linking, flowId, person.identityId)), refused)
  assert.deepEqual(errorOf(await confirmAsShown(led, confirming)), refused)
  assert.equal((await sessionOf(led)).error, 'unauthorized')
})

test('SSO-02 the URL of a test sign-in starts one with its own connection, for five minutes', async () => {
  const { connectionId: other } = await enterprise.connect(acme)
  const token = await newTest(acme.owner, connectionId)
  assert.deepEqual(refusalIn(await enterprise.browser().start(other, { test: token })), refused)
  assert.equal((await enterprise.browser().start(connectionId, { test: token })).statusCode, 303)
  const late = await newTest(acme.owner, connectionId)
  passLifetime()
  assert.deepEqual(refusalIn(await enterprise.browser().start(connectionId, { test: late })), refused)
})

test('SIN-07 a test sign-in opens no session, also for a subject that is linked', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const browser = enterprise.browser()
  const tested = await browser.signIn(connectionId, claims, { test: await newTest(acme.owner, connectionId) })
  assert.equal(new URL(tested.headers.location ?? '').pathname, '/sso/link')
  assert.equal((await sessionOf(browser)).error, 'unauthorized')
})

test('SSO-08 a removed member who joins again by invitation is not signed in by their former link', async () => {
  const { claims, person } = await enterprise.colleague(connectionId)
  const asPerson = { ...person, headers: await person.signIn() }
  const asOwner = { headers: await acme.owner.signIn() }
  const { members } = (await enterprise.send(asOwner, 'GET', `/${acme.organizationId}/members`)).json()
  const { memberId } = members.find((each: { identityId: string }) => each.identityId === person.identityId)
  const removed = await enterprise.send(asOwner, 'DELETE', `/${acme.organizationId}/members/${memberId}`)
  assert.equal(removed.statusCode, 204)
  await join(world, { id: acme.organizationId, owner: asOwner, role: 'member' }, asPerson)

  const browser = enterprise.browser()
  const arrived = await browser.signIn(connectionId, claims)
  assert.equal(new URL(arrived.headers.location ?? '').pathname, '/sso/link')
  assert.equal((await sessionOf(browser)).error, 'unauthorized')
  browser.bring({ sessionToken: asPerson.headers.authorization.replace('Bearer ', '') })
  assert.equal((await linkAs(browser, flowOf(arrived), person.identityId)).statusCode, 200)
  const again = enterprise.browser()
  await again.signIn(connectionId, claims)
  assert.equal((await sessionOf(again)).user.userId, person.identityId)
})
