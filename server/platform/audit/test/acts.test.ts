import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let person: Person
let app: TestApp
before(async () => {
  world = await createWorld()
  person = await world.person()
  app = await world.app()
})
after(() => world.close())

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Sends a request as the user and requires success. */
async function ask(method: Method, url: string, payload?: object, headers: Record<string, string> = person.headers) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  assert.ok(answer.statusCode < 300, `${method} ${url}: ${answer.body}`)
  return answer.body === '' ? {} : answer.json()
}

async function readEntries(): Promise<AuditEvent[]> {
  const answer = await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })
  return answer.json<{ entries: AuditEvent[] }>().entries
}

/** Returns the audit events that an action adds. */
async function recordedBy(act: () => Promise<unknown>): Promise<string[]> {
  const before = new Set((await readEntries()).map(({ entryId }) => entryId))
  await act()
  return (await readEntries()).filter(({ entryId }) => !before.has(entryId)).map(({ action }) => action)
}

async function reauthenticate(): Promise<void> {
  const { flowId, options } = await ask('POST', '/api/auth/reauthenticate/start')
  const credential = person.authenticator.authenticate(options)
  await ask('POST', '/api/auth/reauthenticate/finish', { flowId, credential })
}

async function addIdentity(): Promise<string> {
  const requested = { handle: `other-${randomBytes(6).toString('hex')}`, displayName: 'Other' }
  return (await ask('POST', '/api/identities', requested)).identityId
}

const newHandle = () => `moved-${randomBytes(6).toString('hex')}`
const wraps = { keyWraps: [{ kind: 'recovery_code', ciphertext: 'a.b.c.d.e' }] }
const recovery = () => ({ recoveryAuth: randomBytes(32).toString('base64url'), ciphertext: 'a.b.c.d.e' })
const admin = (method: Method, path: string, payload?: object) =>
  ask(method, `/api/admin/apps${path}`, payload, world.admin)

/** Every action with its preparation, and the single event that it records. */
const acts: Record<string, () => Promise<() => Promise<unknown>>> = {
  'account.created': async () => () => world.person(),
  'session.created': async () => () => person.signIn(),
  'session.reauthenticated': async () => reauthenticate,
  'session.others_revoked': async () => {
    await person.signIn()
    return () => ask('DELETE', '/api/auth/sessions')
  },
  'session.revoked': async () => {
    const headers = await person.signIn()
    return () => ask('DELETE', '/api/auth/session', undefined, headers)
  },
  'identity.created': async () => addIdentity,
  'identity.updated': async () => () =>
    ask('PATCH', `/api/identities/${person.identityId}`, { displayName: 'Another name' }),
  'identity.handle.updated': async () => () =>
    ask('PATCH', `/api/identities/${person.identityId}`, { handle: newHandle() }),
  'identity.deleted': async () => {
    const identityId = await addIdentity()
    return () => ask('DELETE', `/api/identities/${identityId}`)
  },
  'account.key_wraps.replaced': async () => () => ask('PUT', '/api/account/key-wraps', wraps),
  'account.recovery_code.created': async () => {
    const recovering = await world.person()
    return () => ask('PUT', '/api/account/recovery', { ...recovery(), ifNone: true }, recovering.headers)
  },
  'account.recovery_code.replaced': async () => () => ask('PUT', '/api/account/recovery', recovery()),
  'passkey.renamed': async () => {
    const answer = await world.api.inject({ url: '/api/auth/passkeys', headers: person.headers })
    const { credentialId } = answer.json().passkeys[0]
    return () => ask('PATCH', `/api/auth/passkeys/${credentialId}`, { name: 'Blue key' })
  },
  'app.created': async () => () => world.app(),
  'app.updated': async () => () => admin('PATCH', `/${app.clientId}`, { name: 'Another app' }),
  'app.deleted': async () => {
    const other = await world.app()
    return () => admin('DELETE', `/${other.clientId}`)
  },
  'app.webhook.updated': async () => () =>
    admin('PUT', `/${app.clientId}/webhook`, { url: 'https://app.example/hook' }),
  'app.webhook.secret_rotated': async () => {
    await admin('PUT', `/${app.clientId}/webhook`, { url: 'https://app.example/hook' })
    return () => admin('POST', `/${app.clientId}/webhook/secret`)
  },
  'app.webhook.redelivered': async () => {
    await admin('PUT', `/${app.clientId}/webhook`, { url: 'https://app.example/hook' })
    const { deliveryId } = await admin('POST', `/${app.clientId}/webhook/test`)
    await world.db.updateTable('webhook_delivery').set({ state: 'failed', next_attempt_at: null }).execute()
    return () => admin('POST', `/${app.clientId}/webhook/deliveries/${deliveryId}/send`)
  },
  'app.webhook.removed': async () => {
    await admin('PUT', `/${app.clientId}/webhook`, { url: 'https://app.example/hook' })
    return () => admin('DELETE', `/${app.clientId}/webhook`)
  },
  'app.authorized': async () => () => app.code(person),
  'app.signed_in': async () => {
    await app.code(person)
    return () => app.code(person)
  },
  'app.disconnected': async () => {
    await app.tokens(person)
    const answer = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
    const { id } = answer.json().authorizations[0]
    return () => ask('DELETE', `/api/oauth/authorizations/${id}`)
  },
  'token_family.revoked': async () => {
    const { refresh_token: token } = await app.tokens(person)
    return () => postForm(world.api, '/api/oauth/revoke', { token, ...app.credentials })
  },
  'token_family.reuse_detected': async () => {
    const { refresh_token: spent } = await app.tokens(person)
    await app.refresh(spent)
    world.pass(11)
    return () => Promise.all([app.refresh(spent), app.refresh(spent)])
  },
  'account.deleted': async () => {
    const leaving = await world.person()
    return () => ask('DELETE', '/api/account', undefined, leaving.headers)
  },
}

/** Sends a request as the owner of an organization, on the business host. */
async function asOwner(method: Method, path: string, payload?: object) {
  const answer = await businessRequest(world, person, `${method} /organizations${path}`, payload)
  assert.ok(answer.statusCode < 300, `${method} ${path}: ${answer.body}`)
  return answer.body === '' ? {} : answer.json()
}
const oversee = (id: string, status: 'suspended' | 'active') =>
  ask('PATCH', `/api/admin/organizations/${id}`, { status }, world.admin)

/** Creates an organization of the user with one more member. */
async function organizationOfTwo() {
  const { id } = await createOrganization(world, person)
  const { memberId } = await join(world, { id, owner: person, role: 'viewer' }, await world.person())
  return { id, memberId }
}

const organizationActs: typeof acts = {
  'organization.created': async () => () => createOrganization(world, person),
  'organization.updated': async () => {
    const { id } = await createOrganization(world, person)
    return () => asOwner('PATCH', `/${id}`, { name: 'Another name' })
  },
  'organization.deleted': async () => {
    const { id } = await createOrganization(world, person)
    await reauthenticate()
    return () => asOwner('DELETE', `/${id}`)
  },
  'organization.suspended': async () => {
    const { id } = await createOrganization(world, person)
    return () => oversee(id, 'suspended')
  },
  'organization.reactivated': async () => {
    const { id } = await createOrganization(world, person)
    await oversee(id, 'suspended')
    return () => oversee(id, 'active')
  },
  'organization.invitation.created': async () => {
    const { id } = await createOrganization(world, person)
    return () => asOwner('POST', `/${id}/invitations`, { email: 'ann@acme.example', role: 'viewer' })
  },
  'organization.invitation.revoked': async () => {
    const { id } = await createOrganization(world, person)
    const sent = { email: 'ann@acme.example', role: 'viewer' }
    const { invitation } = await asOwner('POST', `/${id}/invitations`, sent)
    return () => asOwner('DELETE', `/${id}/invitations/${invitation.invitationId}`)
  },
  'organization.member.joined': async () => {
    const { id } = await createOrganization(world, person)
    const { headers, handle, identityId } = await world.person()
    const { token } = await asOwner('POST', `/${id}/invitations`, { handle, role: 'viewer' })
    return () => businessRequest(world, { headers }, `POST /invitations/${token}/accept`, { identityId })
  },
  'organization.member.updated': async () => {
    const { id, memberId } = await organizationOfTwo()
    return () => asOwner('PATCH', `/${id}/members/${memberId}`, { role: 'signer' })
  },
  'organization.member.removed': async () => {
    const { id, memberId } = await organizationOfTwo()
    return () => asOwner('DELETE', `/${id}/members/${memberId}`)
  },
  'organization.domain.added': async () => {
    const { id } = await createOrganization(world, person)
    return () => asOwner('POST', `/${id}/domains`, { domain: 'acme.example' })
  },
  'organization.domain.removed': async () => {
    const { id } = await createOrganization(world, person)
    const { domain } = await asOwner('POST', `/${id}/domains`, { domain: 'acme.example' })
    return () => asOwner('DELETE', `/${id}/domains/${domain.domainId}`)
  },
}
for (const [action, prepare] of Object.entries({ ...acts, ...organizationActs }))
  test(`LOG-02 an action is in the audit log once: ${action}`, async () => {
    const act = await prepare()
    assert.deepEqual(await recordedBy(act), [action])
  })

test('LOG-02 a rejected action and one without effect are not recorded', async () => {
  const victim = await world.person()
  const refused = await recordedBy(async () => {
    const attempts: [Method, string, object?][] = [
      ['PATCH', `/api/identities/${victim.identityId}`, { displayName: 'Mine now' }],
      ['DELETE', `/api/identities/${victim.identityId}`],
      ['PATCH', '/api/auth/passkeys/bm9uZQ', { name: 'Mine' }],
      ['DELETE', `/api/oauth/authorizations/${victim.identityId}`],
    ]
    for (const [method, url, payload] of attempts) {
      const answer = await world.api.inject({ method, url, headers: person.headers, ...(payload && { payload }) })
      assert.equal(answer.statusCode, 404, `${method} ${url}: ${answer.body}`)
    }
    await postForm(world.api, '/api/oauth/revoke', { token: 'cs_refresh_none', ...app.credentials })
    assert.equal((await app.redeem('cs_code_none')).statusCode, 400)
  })
  assert.deepEqual(refused, [])
})

test('LOG-03 no request changes or deletes audit events', async () => {
  const before = await readEntries()
  const entryId = before[0]?.entryId ?? ''
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
    for (const url of ['/api/admin/audit', `/api/admin/audit/${entryId}`, '/api/account/activity'])
      for (const headers of [world.admin, person.headers]) {
        const answer = await world.api.inject({ method, url, headers, payload: {} })
        assert.ok([404, 405].includes(answer.statusCode), `${method} ${url}: ${answer.statusCode}`)
      }
  assert.deepEqual(await readEntries(), before)
})
