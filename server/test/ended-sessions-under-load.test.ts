import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createAuthenticator } from '#testing/authenticator.ts'
import { newClaims, openEnterprise, scimUser, type Enterprise } from '#testing/enterprise.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise()
})
after(() => enterprise.close())

type Headers = { authorization: string }
type Answer = { statusCode: number; body: string }
type Act = (headers: Headers) => Promise<Answer>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const send = (method: Method, url: string, headers: Record<string, string>, payload?: object) =>
  enterprise.world.api.inject({ method, url, headers, ...(payload && { payload }) })

const atOnce = 16

/** Runs an action that ends a session while many of its requests are in progress, and returns the answer. */
async function meanwhile(headers: Headers, acts: Act[], end: () => Promise<Answer>): Promise<Answer> {
  const going = new AbortController()
  const begun = Array.from({ length: atOnce }, () => Promise.withResolvers<void>())
  const lanes = begun.map(async ({ resolve }, lane) => {
    for (let turn = lane; !going.signal.aborted; turn += 1) {
      await acts[turn % acts.length]?.(headers)
      resolve()
      // The embedded database answers within the same turn of the event loop.
      await setImmediate()
    }
  })
  await Promise.all(begun.map(({ promise }) => promise))
  try {
    return await end()
  } finally {
    going.abort()
    await Promise.all(lanes)
  }
}

/** Requests that an attacker can repeat at will: each is rejected, or changes nothing, or is unlimited. */
function actsOf(organizationId: string, { identityId }: Person): Act[] {
  const invitation = () => `DELETE /organizations/${organizationId}/invitations/${randomUUID()}` as const
  return [
    (headers) => businessRequest(enterprise.world, { headers }, invitation()),
    (headers) => send('DELETE', `/api/identities/${identityId}/email`, headers),
    (headers) =>
      send('PATCH', `/api/identities/${identityId}`, headers, { displayName: randomBytes(4).toString('hex') }),
    (headers) => businessRequest(enterprise.world, { headers }, `GET /organizations/${organizationId}/members`),
  ]
}

/** Registers a recovery code, and returns a function that recovers with it. */
async function recoverable(person: Person) {
  const recoveryAuth = randomBytes(32).toString('base64url')
  const kept = await send('PUT', '/api/account/recovery', person.headers, { recoveryAuth, ciphertext: 'a.b.c.d.e' })
  assert.equal(kept.statusCode, 200, kept.body)
  const { origin } = enterprise.world.config.authUrl
  const authenticator = createAuthenticator({ origin, rpId: enterprise.world.config.relyingPartyId })
  return async () => {
    const started = await send('POST', '/api/auth/recover/start', {}, { handle: person.handle, recoveryAuth })
    const { flowId, options } = started.json()
    return send('POST', '/api/auth/recover/finish', {}, { flowId, credential: authenticator.register(options) })
  }
}

type Way = (person: Person, own: Headers, stolenId: string) => Promise<() => Promise<Answer>>

const ways: Record<string, Way> = {
  'sign out elsewhere': async (_person, own) => () => send('DELETE', '/api/auth/sessions', own),
  'end that session': async (_person, own, id) => () => send('DELETE', `/api/auth/sessions/${id}`, own),
  'recover by the code': (person) => recoverable(person),
  'delete the account': async (_person, own) => () => send('DELETE', '/api/account', own),
}

for (const [name, way] of Object.entries(ways))
  test(`SES-17 the owner can ${name} during any load by a stolen session`, async () => {
    const person = await enterprise.world.person()
    const end = await way(person, await person.signIn(), await currentSession(person.headers))
    const { id } = await createOrganization(enterprise.world, person)
    const answer = await meanwhile(person.headers, actsOf(id, person), end)
    assert.ok(answer.statusCode < 300, answer.body)
    assert.equal((await send('GET', '/api/auth/session', person.headers)).statusCode, 401)
  })

async function currentSession(headers: Headers): Promise<string> {
  const listed = await send('GET', '/api/auth/sessions', headers)
  const { sessions } = listed.json<{ sessions: { sessionId: string; current: boolean }[] }>()
  return sessions.find(({ current }) => current)?.sessionId ?? ''
}

/** Creates an organization, and a member who was provisioned by its directory and signed in with SSO. */
async function employ() {
  const owner = await enterprise.world.person()
  const organization = await enterprise.organization(owner)
  const { organizationId } = organization
  const name = `${randomBytes(4).toString('hex')}.example`
  await enterprise.verifyDomain(organization, name)
  const { connectionId } = await enterprise.connect(organization, { domains: [name] })
  await enterprise.confirm(organization, connectionId)
  const directory = await enterprise.provision(organization, connectionId)
  const claims = newClaims({ email: `ann@${name}`, email_verified: true })
  const emails = [{ value: claims.email, primary: true }]
  const added = await directory.ask(
    'POST',
    '/Users',
    scimUser({ userName: claims.email, externalId: claims.sub, emails }),
  )
  const { person } = await enterprise.colleague(connectionId, claims)
  const browser = enterprise.browser()
  await browser.signIn(connectionId, claims)
  const headers = { authorization: `Bearer ${browser.cookies.get('countersign')}` }
  const signedIn = await send('GET', '/api/auth/session', headers)
  assert.equal(signedIn.json().authMethod, 'enterprise_sso', signedIn.body)
  const letGo = () => directory.ask('DELETE', `/Users/${added.json<{ id: string }>().id}`)
  return { owner: { headers: await owner.signIn() }, organizationId, connectionId, person, headers, letGo }
}
type Employed = Awaited<ReturnType<typeof employ>>

const departures: Record<string, (employed: Employed) => Promise<() => Promise<Answer>>> = {
  'that their directory lets them go': async ({ letGo }) => letGo,
  'that an owner removes them': async ({ owner, organizationId, person }) => {
    const listed = await businessRequest(enterprise.world, owner, `GET /organizations/${organizationId}/members`)
    const { members } = listed.json<{ members: { memberId: string; identityId: string }[] }>()
    const memberId = members.find(({ identityId }) => identityId === person.identityId)?.memberId
    return () => businessRequest(enterprise.world, owner, `DELETE /organizations/${organizationId}/members/${memberId}`)
  },
  'that the operator suspends their organization': async ({ organizationId }) => {
    const url = `/api/admin/organizations/${organizationId}`
    return () => send('PATCH', url, enterprise.world.admin, { status: 'suspended' })
  },
  'that they are signed out with their connection': async ({ owner, organizationId, connectionId }) => {
    const path = `/organizations/${organizationId}/sso-connections/${connectionId}` as const
    return () => businessRequest(enterprise.world, owner, `DELETE ${path}`)
  },
}

for (const [name, prepare] of Object.entries(departures))
  test(`SES-18 a change takes effect during any load by a member: ${name}`, async () => {
    const employed = await employ()
    const end = await prepare(employed)
    const answer = await meanwhile(employed.headers, actsOf(employed.organizationId, employed.person), end)
    assert.ok(answer.statusCode < 300, answer.body)
    assert.equal((await send('GET', '/api/auth/session', employed.headers)).statusCode, 401)
  })
