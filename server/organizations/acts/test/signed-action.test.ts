import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import { actorOf } from '#testing/actor.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization, reauthenticate } from '#testing/organization.ts'
import { createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function signedOrganization() {
  const owner = await createSigner(world)
  const { id, memberId } = await createOrganization(world, owner)
  const sign = (action: string, details: object, pair = owner.pair) => ({
    signedAction: { signature: pair.sign(signedActionMessage(action, { ...details })) },
  })
  const patch = (payload: object) => businessRequest(world, owner, `PATCH /organizations/${id}`, payload)
  return { owner, id, memberId, sign, patch }
}

test('the audit log contains a signed action with its message and signature', async () => {
  const { owner, id, sign } = await signedOrganization()
  const { memberId } = await join(world, { id, owner, role: 'member' }, await world.person())
  const signed = sign('organization.member.removed', { organizationId: id, memberId })
  const removed = await businessRequest(world, owner, `DELETE /organizations/${id}/members/${memberId}`, signed)
  assert.equal(removed.statusCode, 204, removed.body)
  const [entry] = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json().entries
  assert.equal(entry.action, 'organization.member.removed')
  assert.equal(entry.details.signature, signed.signedAction.signature)
  const details = `{"organizationId":"${id}","memberId":"${memberId}"}`
  assert.equal(entry.details.signed, `{"version":1,"action":"organization.member.removed","details":${details}}`)
})

test('the signed message matches the executed action, in schema order, whatever the order of the request', async () => {
  const { id, sign, patch } = await signedOrganization()
  const change = { name: 'Acme AG', logoUrl: null }
  const signed = sign('organization.updated', { organizationId: id, ...change })
  assert.equal((await patch({ logoUrl: null, ...signed, name: 'Acme AG', unknown: 1 })).statusCode, 200)
})

test('a malformed signature, or one of another action or by another key, is rejected and changes nothing', async () => {
  const { owner, id, sign, patch } = await signedOrganization()
  const details = { organizationId: id, name: 'Mine' }
  const wrong = [
    sign('organization.updated', { ...details, name: 'Yours' }),
    sign('organization.deleted', details),
    sign('organization.updated', { name: 'Mine', organizationId: id }),
    sign('organization.updated', details, newSigningPair()),
    { signedAction: { signature: 'A'.repeat(86) } },
    { signedAction: { signature: 'none' } },
  ]
  for (const signed of wrong) {
    const answer = await patch({ name: 'Mine', ...signed })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'invalid_action_signature'])
  }
  assert.equal((await businessRequest(world, owner, `GET /organizations/${id}`)).json().organization.name, 'Acme')
})

test('ACT-51 where signed actions are required, nothing less than a signed act does them', async () => {
  const { owner, id, memberId, sign, patch } = await signedOrganization()
  const actor = actorOf(world, owner)
  const on = { requireSignedActions: true }
  for (const signed of [{}, sign('organization.updated', { organizationId: id, ...on })]) {
    const refused = await patch({ ...on, ...signed })
    assert.deepEqual([refused.statusCode, refused.json().error], [403, 'signed_action_required'])
  }
  const turned = await actor.act(`PATCH /organizations/${id}`, on)
  assert.equal(turned.json().result.organization.requireSignedActions, true)

  const { handle } = await world.person()
  const actions = [
    ['PATCH', '', { name: 'Unsigned' }],
    ['PATCH', '', { requireSignedActions: false }],
    ['PATCH', `/members/${memberId}`, { signingAuthority: true }],
    ['POST', '/invitations', { handle, role: 'member' }],
    ['POST', '/domains', { domain: 'acme.example' }],
    ['DELETE', '', {}],
  ] as const
  for (const [method, path, payload] of actions) {
    const what = `${method} /organizations/${id}${path}` as const
    const bare = await businessRequest(world, owner, what, payload)
    assert.deepEqual([bare.statusCode, bare.json().error], [403, 'signed_action_required'], what)
    const signedAction = { signature: owner.pair.sign(bare.json().message) }
    const noted = await businessRequest(world, owner, what, { ...payload, signedAction })
    assert.deepEqual([noted.statusCode, noted.json().error], [403, 'signed_action_required'], what)
  }
  const invited = await actor.act(`POST /organizations/${id}/invitations`, { handle, role: 'member' })
  assert.equal(invited.statusCode, 200, invited.body)
  assert.match(invited.json().result.url, /invitations/)
})

/** Requests the message to sign for an action. */
const unsigned = { signedAction: {} }

test('a dry run returns the message and changes nothing, and the request with its signature succeeds', async () => {
  const { owner, id, memberId } = await signedOrganization()
  const { handle } = await world.person()
  const acts = [
    ['PATCH', '', { name: 'Renamed' }],
    ['PATCH', `/members/${memberId}`, { signingAuthority: false }],
    ['POST', '/invitations', { handle, role: 'viewer' }],
    ['POST', '/domains', { domain: 'engines.example' }],
    ['POST', '/keys', {}],
    ['DELETE', '', {}],
  ] as const
  for (const [method, path, body] of acts) {
    const before = await everythingOf(owner, id)
    const act = (more: object) =>
      businessRequest(world, owner, `${method} /organizations/${id}${path}`, { ...body, ...more })
    const outcomeOf = (await act(unsigned)).json()
    assert.deepEqual(
      [outcomeOf.error, outcomeOf.identityId],
      ['signed_action_required', owner.identityId],
      `${method} ${path}`,
    )
    assert.deepEqual(await everythingOf(owner, id), before)
    const signed = await act({ signedAction: { signature: owner.pair.sign(outcomeOf.message) } })
    assert.ok(signed.statusCode < 300, `${method} ${path}: ${signed.body}`)
  }
})

/** Returns an organization and its audit log as a user sees them. */
async function everythingOf(person: Person, id: string) {
  const paths = ['', '/members', '/invitations', '/domains', '/keys', '/audit']
  return Promise.all(
    paths.map(async (path) => (await businessRequest(world, person, `GET /organizations/${id}${path}`)).json()),
  )
}

test('a dry run needs no recent authentication, and the signed request does', async () => {
  const { owner, id } = await signedOrganization()
  const remove = (payload: object) => businessRequest(world, owner, `DELETE /organizations/${id}`, payload)
  world.pass(600)
  const { error, message } = (await remove(unsigned)).json()
  assert.equal(error, 'signed_action_required')
  const signed = { signedAction: { signature: owner.pair.sign(message) } }
  const stale = await remove(signed)
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  await reauthenticate(world, owner)
  assert.equal((await remove(signed)).statusCode, 204)
})

test('a dry run tells a user who cannot sign so, and if the action requires a signature', async () => {
  const keyless = await world.person()
  const { id } = await createOrganization(world, keyless)
  const rename = (person: Pick<Person, 'headers'>, payload: object) =>
    businessRequest(world, person, `PATCH /organizations/${id}`, { name: 'Renamed', ...payload })
  const outcomeOf = async (person: Pick<Person, 'headers'>) => {
    const answer = await rename(person, unsigned)
    return [answer.statusCode, answer.json().error, answer.json().signatureRequired]
  }
  assert.deepEqual(await outcomeOf(keyless), [422, 'no_signing_key', false])
  const headers = await signInByOrganization(world, keyless, { organizationId: id })
  assert.deepEqual(await outcomeOf({ headers }), [403, 'passkey_required', false])
  assert.equal((await rename(keyless, {})).statusCode, 200)
  const organization = world.db.updateTable('organization').where('organization_id', '=', id)
  await organization.set({ require_signed_actions: true }).execute()
  assert.deepEqual(await outcomeOf(keyless), [422, 'no_signing_key', true])
  assert.deepEqual(await outcomeOf({ headers }), [403, 'passkey_required', true])
})

test('SSO-12 a signature copied from the audit log is rejected in a session opened by SSO only', async () => {
  const { owner, id, sign, patch } = await signedOrganization()
  const change = (name: string) => ({ name, ...sign('organization.updated', { organizationId: id, name }) })
  await patch(change('First'))
  await patch(change('Second'))
  const headers = await signInByOrganization(world, owner, { organizationId: id })
  const { entries } = (await businessRequest(world, { headers }, `GET /organizations/${id}/audit`)).json()
  const { signature } = entries.find((each: { details: { signed?: string } }) =>
    each.details.signed?.includes('First'),
  ).details
  const again = await businessRequest(world, { headers }, `PATCH /organizations/${id}`, {
    name: 'First',
    signedAction: { signature },
  })
  assert.deepEqual([again.statusCode, again.json().error], [403, 'passkey_required'])
  assert.equal((await businessRequest(world, owner, `GET /organizations/${id}`)).json().organization.name, 'Second')
})

test('SSO-12 a session opened by SSO only revokes an invitation, but not by a signature from elsewhere', async () => {
  const { owner, id, sign } = await signedOrganization()
  const { handle } = await world.person()
  const path = `/organizations/${id}/invitations` as const
  const invited = await businessRequest(world, owner, `POST ${path}`, { handle, role: 'member' })
  const { invitationId } = invited.json().invitation
  const headers = await signInByOrganization(world, owner, { organizationId: id })
  const revoke = (payload?: object) => businessRequest(world, { headers }, `DELETE ${path}/${invitationId}`, payload)
  const refused = await revoke(sign('organization.invitation.revoked', { organizationId: id, invitationId }))
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'passkey_required'])
  assert.equal((await revoke()).statusCode, 204)
})

test('a member is read by member id, only in their own organization', async () => {
  const { owner, id, memberId } = await signedOrganization()
  const read = (of: string) => businessRequest(world, owner, `GET /organizations/${of}/members/${memberId}`)
  const { member } = (await read(id)).json()
  assert.deepEqual([member.memberId, member.handle, member.role], [memberId, owner.handle, 'owner'])
  const { id: other } = await createOrganization(world, owner, 'Other')
  assert.deepEqual([(await read(other)).statusCode, (await read(other)).json().error], [404, 'member_not_found'])
})
