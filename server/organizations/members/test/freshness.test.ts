import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { startCustomerKms } from '#testing/customer-kms.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { createKeyHolder, newSharedKey, setMode, type KeyHolder } from '#testing/key-holder.ts'
import { businessRequest, join, reauthenticate } from '#testing/organization.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'
import type { Person, TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

let enterprise: Enterprise
let saml: Awaited<ReturnType<typeof startSamlProvider>>
let kms: Awaited<ReturnType<typeof startCustomerKms>>
let world: TestWorld
before(async () => {
  enterprise = await openEnterprise()
  world = enterprise.world
  saml = await startSamlProvider(world.now)
  kms = await startCustomerKms()
})
after(async () => {
  await Promise.all([saml.close(), kms.close()])
  await enterprise.close()
})

type Requester = Pick<Person, 'headers'>
type Requested = { params?: Record<string, string>; body?: object }
type Scene = Awaited<ReturnType<typeof setScene>>

/** Sends a valid request for the action, which succeeds with recent authentication. */
type Sound = (scene: Scene) => Requested | Promise<Requested>

/**
 * Authentication that each endpoint requires: a recent passkey use, or any session. An endpoint is listed twice if that
 * depends on the request body.
 */
const acts: { name: string; takes: 'a fresh passkey' | 'any session'; sound: Sound }[] = [
  {
    name: 'POST /api/organizations',
    takes: 'any session',
    sound: ({ owner }) => ({ body: { name: 'Another', identityId: owner.identityId } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId',
    takes: 'any session',
    sound: () => ({ body: { logoUrl: null } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId',
    takes: 'a fresh passkey',
    sound: () => ({ body: { name: 'New' } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId',
    takes: 'a fresh passkey',
    sound: () => ({ body: { slug: `new-${randomUUID()}`.slice(0, 40) } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId',
    takes: 'a fresh passkey',
    sound: () => ({ body: { logoUrl: `https://acme.example/${randomUUID()}.png` } }),
  },
  {
    name: 'POST /api/organizations/:organizationId/invitations',
    takes: 'a fresh passkey',
    sound: ({ handle }) => ({ body: { handle, role: 'viewer' } }),
  },
  {
    name: 'DELETE /api/organizations/:organizationId/invitations/:invitationId',
    takes: 'any session',
    sound: async ({ invite }) => ({ params: { invitationId: (await invite()).invitationId } }),
  },
  {
    name: 'POST /api/invitations/:token/accept',
    takes: 'a fresh passkey',
    sound: async ({ invite, second }) => ({
      params: { token: (await invite()).token },
      body: { identityId: second.identityId },
    }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId/members/:memberId',
    takes: 'a fresh passkey',
    sound: () => ({ body: { scopes: ['read', 'sign'] } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId/members/:memberId',
    takes: 'any session',
    sound: () => ({ body: { scopes: ['read'] } }),
  },
  {
    name: 'POST /api/organizations/:organizationId/keys',
    takes: 'a fresh passkey',
    sound: async ({ keyId, owner, next }) => ({
      body: { replaces: keyId, fingerprint: next.fingerprint, ciphertext: await next.wrapTo(owner) },
    }),
  },
  {
    name: 'PUT /api/organizations/:organizationId/keys/:keyId/wraps',
    takes: 'a fresh passkey',
    sound: async ({ shared, member, memberId }) => ({
      body: { wraps: [{ memberId, ciphertext: await shared.wrapTo(member) }] },
    }),
  },
  { name: 'DELETE /api/organizations/:organizationId/keys/:keyId/wraps', takes: 'a fresh passkey', sound: () => ({}) },
  { name: 'DELETE /api/organizations/:organizationId/keys/:keyId', takes: 'a fresh passkey', sound: () => ({}) },
  {
    name: 'PUT /api/organizations/:organizationId/kms',
    takes: 'a fresh passkey',
    sound: () => ({ body: { url: kms.url } }),
  },
  { name: 'DELETE /api/organizations/:organizationId/kms', takes: 'a fresh passkey', sound: () => ({}) },
  {
    name: 'POST /api/organizations/:organizationId/domains',
    takes: 'any session',
    sound: () => ({ body: { domain: `${randomUUID()}.example` } }),
  },
  {
    name: 'POST /api/organizations/:organizationId/domains/:domainId/verify',
    takes: 'any session',
    sound: () => ({}),
  },
  { name: 'DELETE /api/organizations/:organizationId/domains/:domainId', takes: 'any session', sound: () => ({}) },
  {
    name: 'POST /api/organizations/:organizationId/sso-connections',
    takes: 'a fresh passkey',
    sound: async () => ({ body: { name: 'Second', saml: { metadata: await saml.metadata() } } }),
  },
  {
    name: 'PATCH /api/organizations/:organizationId/sso-connections/:connectionId',
    takes: 'a fresh passkey',
    sound: () => ({ body: { name: 'Renamed' } }),
  },
  ...['confirm', 'test', 'encryption-key'].map((step) => ({
    name: `POST /api/organizations/:organizationId/sso-connections/:connectionId/${step}`,
    takes: 'a fresh passkey' as const,
    sound: () => ({}),
  })),
  {
    name: 'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token',
    takes: 'a fresh passkey',
    sound: () => ({ body: { subjectBy: 'email' } }),
  },
  ...['/scim-token', '/encryption-key', ''].map((what) => ({
    name: `DELETE /api/organizations/:organizationId/sso-connections/:connectionId${what}`,
    takes: 'a fresh passkey' as const,
    sound: () => ({}),
  })),
  { name: 'DELETE /api/organizations/:organizationId/members/:memberId', takes: 'any session', sound: () => ({}) },
  {
    name: 'DELETE /api/organizations/:organizationId/members/:memberId',
    takes: 'a fresh passkey',
    sound: ({ otherOwnerId }) => ({ params: { memberId: otherOwnerId } }),
  },
  { name: 'DELETE /api/organizations/:organizationId', takes: 'a fresh passkey', sound: () => ({}) },
]

const organization = '/api/organizations/:organizationId'

/** Endpoints that grant nothing or are signed, each with the reason why a session need not be fresh. */
const withoutFreshness: Record<string, string> = {
  [`POST ${organization}/acts/:actId`]: 'A passkey use for this act is a part of it.',
  [`DELETE ${organization}/acts/:actId`]: 'Nothing is done.',
  [`POST ${organization}/acts/:actId/proposal`]: 'Nothing is done before others approve it by acts.',
  [`DELETE ${organization}/proposals/:proposalId`]: 'Nothing is done.',
  [`POST ${organization}/invitations/:invitationId/accept`]: 'An admin has invited the caller with a fresh session.',
  [`POST ${organization}/invitations/:invitationId/decline`]: 'It ends an invitation of the caller.',
  [`POST ${organization}/invitations/:invitationId/mail`]: 'Only the invited address gets the link.',
  [`POST ${organization}/pictures`]: 'Nothing shows the picture before the organization is changed.',
  [`POST ${organization}/proposals/:proposalId/approval`]: 'It starts an act.',
  [`POST ${organization}/proposals/:proposalId/act`]: 'It starts an act.',
  [`POST ${organization}/council/signatories`]: 'It is always signed, as an act.',
  [`DELETE ${organization}/council/signatories/:identityId`]: 'It is always signed, as an act.',
  [`POST ${organization}/council/reset`]: 'It is always signed, as an act.',
  [`POST ${organization}/council/reset/completion`]: 'It is always signed, as an act.',
  [`DELETE ${organization}/council/reset`]: 'A veto keeps what is.',
}

/** Creates an organization in which every action is possible, and its owner. */
async function setScene() {
  const owner = await createKeyHolder(world)
  const made = await enterprise.organization(owner)
  const { organizationId } = made
  await setMode(world, owner, organizationId, 'e2ee')
  const shared = newSharedKey(organizationId)
  const first = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  const { keyId } = (await businessRequest(world, owner, `POST /organizations/${organizationId}/keys`, first)).json()
    .key
  const member = await createKeyHolder(world)
  const { memberId } = await join(world, { id: organizationId, owner, role: 'viewer' }, member)
  const otherOwner = await world.person()
  const { memberId: otherOwnerId } = await join(world, { id: organizationId, owner, role: 'owner' }, otherOwner)
  const payload = { handle: `second-${randomUUID().slice(0, 8)}`, displayName: 'Second' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: owner.headers, payload })
  const second = { handle: payload.handle, identityId: String(added.json().identityId) }
  const { handle } = await world.person()
  const { domainId } = await enterprise.verifyDomain(made, `${randomUUID()}.example`)
  const provider = { name: 'Acme Login', saml: { metadata: await saml.metadata() } }
  const connected = await enterprise.send(owner, 'POST', `/${organizationId}/sso-connections`, provider)
  return {
    owner,
    member,
    memberId,
    otherOwnerId,
    handle,
    second,
    shared,
    next: newSharedKey(organizationId),
    keyId,
    params: {
      organizationId,
      memberId,
      keyId,
      domainId,
      connectionId: String(connected.json().connection.connectionId),
    },
    /** Invites the owner's second identity, as an owner with recent authentication. */
    async invite(): Promise<{ token: string; invitationId: string }> {
      const fresh = { headers: await otherOwner.signIn() }
      const input = { handle: second.handle, role: 'viewer' }
      const answer = await businessRequest(world, fresh, `POST /organizations/${organizationId}/invitations`, input)
      assert.equal(answer.statusCode, 201, answer.body)
      return { token: answer.json().token, invitationId: answer.json().invitation.invitationId }
    },
  }
}

function ask({ headers }: Requester, name: string, scene: Scene, { params = {}, body }: Requested) {
  const [method = '', path = ''] = name.split(' ')
  const given: Record<string, string> = { ...scene.params, ...params }
  const url = path.replaceAll(/:(\w+)/g, (_, key: string) => given[key] ?? '')
  return world.business.inject({ method: method as 'POST', url, headers, ...(body && { payload: body }) })
}

test('ORG-19 the table contains every endpoint of the business host that changes something', () => {
  const changing = endpoints
    .map(({ endpoint }) => endpoint)
    .filter(({ config }) => config.host === 'business' && config.security === 'session')
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('GET '))
  const listed = new Set([...acts.map(({ name }) => name), ...Object.keys(withoutFreshness)])
  assert.deepEqual(changing.toSorted(), [...listed].toSorted())
})

test('ORG-19 granting members, permissions, credentials or keys requires recent authentication', async () => {
  const scene = await setScene()
  const { owner, params } = scene
  const named = { headers: await signInByOrganization(world, owner, { organizationId: params.organizationId }) }
  for (const { name, takes, sound } of acts) {
    const requested = await sound(scene)
    world.pass(301)
    if (takes === 'a fresh passkey') {
      const stale = await ask(owner, name, scene, requested)
      assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'], name)
      const bySso = await ask(named, name, scene, requested)
      assert.deepEqual([bySso.statusCode, bySso.json().error], [403, 'passkey_required'], name)
      await reauthenticate(world, owner)
    }
    const done = await ask(owner, name, scene, requested)
    assert.ok(done.statusCode < 300, `${name}: ${done.statusCode} ${done.body}`)
  }
})

test("ORG-20 an old session cannot invite a user who would receive the organization's key", async () => {
  const owner = await createKeyHolder(world)
  const { organizationId: id } = await enterprise.organization(owner)
  const made = await businessRequest(world, owner, `POST /organizations/${id}/keys`, {})
  assert.equal(made.statusCode, 201, made.body)
  const thief: KeyHolder = await createKeyHolder(world)
  world.pass(3600)
  const named = { headers: await signInByOrganization(world, owner, { organizationId: id }) }
  for (const [session, error] of [
    [owner, 'reauthentication_required'],
    [named, 'passkey_required'],
  ] as const)
    for (const role of ['member', 'viewer']) {
      const path = `POST /organizations/${id}/invitations` as const
      const invited = await businessRequest(world, session, path, { handle: thief.handle, role })
      assert.deepEqual([invited.statusCode, invited.json().error], [403, error], role)
    }
  const { keyId } = made.json().key
  const fresh = { headers: await thief.signIn() }
  const wraps = await businessRequest(world, fresh, `GET /organizations/${id}/keys/${keyId}/wraps`)
  assert.deepEqual([wraps.statusCode, wraps.json().error], [404, 'organization_not_found'])
})
