import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { askBusiness, join, makeOrganization, reauthenticate } from '#testing/organization.ts'
import { createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function signedOrganization() {
  const owner = await createSigner(world)
  const { id, memberId } = await makeOrganization(world, owner)
  const sign = (action: string, details: object, pair = owner.pair) => ({
    signedAction: { signature: pair.sign(signedActionMessage(action, { ...details })) },
  })
  const patch = (payload: object) => askBusiness(world, owner, `PATCH /organizations/${id}`, payload)
  return { owner, id, memberId, sign, patch }
}

test('an act that is signed stands in the trail with what was signed, and its signature', async () => {
  const { owner, id, sign } = await signedOrganization()
  const { memberId } = await join(world, { id, owner, role: 'member' }, await world.person())
  const signed = sign('organization.member.removed', { organizationId: id, memberId })
  const removed = await askBusiness(world, owner, `DELETE /organizations/${id}/members/${memberId}`, signed)
  assert.equal(removed.statusCode, 204, removed.body)
  const [entry] = (await askBusiness(world, owner, `GET /organizations/${id}/audit`)).json().entries
  assert.equal(entry.action, 'organization.member.removed')
  assert.equal(entry.details.signature, signed.signedAction.signature)
  const details = `{"organizationId":"${id}","memberId":"${memberId}"}`
  assert.equal(entry.details.signed, `{"version":1,"action":"organization.member.removed","details":${details}}`)
})

test('what was signed is what is done: in the order of the interface, whatever the order of the request', async () => {
  const { id, sign, patch } = await signedOrganization()
  const change = { name: 'Acme AG', logoUrl: null }
  const signed = sign('organization.changed', { organizationId: id, ...change })
  assert.equal((await patch({ logoUrl: null, ...signed, name: 'Acme AG', unknown: 1 })).statusCode, 200)
})

test('a signature of another act, by another key, or malformed, is refused and changes nothing', async () => {
  const { owner, id, sign, patch } = await signedOrganization()
  const details = { organizationId: id, name: 'Mine' }
  const wrong = [
    sign('organization.changed', { ...details, name: 'Yours' }),
    sign('organization.deleted', details),
    sign('organization.changed', { name: 'Mine', organizationId: id }),
    sign('organization.changed', details, newSigningPair()),
    { signedAction: { signature: 'A'.repeat(86) } },
    { signedAction: { signature: 'none' } },
  ]
  for (const signed of wrong) {
    const answer = await patch({ name: 'Mine', ...signed })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'invalid_action_signature'])
  }
  assert.equal((await askBusiness(world, owner, `GET /organizations/${id}`)).json().organization.name, 'Acme')
})

test('where signed actions are required nothing is done without, and only who can sign turns that on', async () => {
  const { owner, id, memberId, sign, patch } = await signedOrganization()
  const on = { requireSignedActions: true }
  const bare = await patch(on)
  assert.deepEqual([bare.statusCode, bare.json().error], [403, 'signed_action_required'])
  // The refusal says what to sign, and as whom.
  const { identityId, message } = bare.json()
  const { signedAction } = sign('organization.changed', { organizationId: id, ...on })
  assert.deepEqual([identityId, owner.pair.sign(message)], [owner.identityId, signedAction.signature])
  const turned = await patch({ ...on, signedAction })
  assert.equal(turned.json().organization.requireSignedActions, true)

  const { handle } = await world.person()
  const acts = [
    ['PATCH', '', { name: 'Unsigned' }],
    ['PATCH', '', { requireSignedActions: false }],
    ['PATCH', `/members/${memberId}`, { signingAuthority: true }],
    ['POST', '/invitations', { handle, role: 'member' }],
    ['POST', '/domains', { domain: 'acme.example' }],
    ['DELETE', '', undefined],
  ] as const
  for (const [method, path, payload] of acts) {
    const answer = await askBusiness(world, owner, `${method} /organizations/${id}${path}`, payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'signed_action_required'], `${method} ${path}`)
  }
  const invited = sign('organization.invitation.created', { organizationId: id, handle, role: 'member' })
  const answer = await askBusiness(world, owner, `POST /organizations/${id}/invitations`, {
    handle,
    role: 'member',
    ...invited,
  })
  assert.equal(answer.statusCode, 201, answer.body)
})

/** Asks what there is to sign of an act. */
const unsigned = { signedAction: {} }

test('who asks first what to sign is told, nothing is done, and with the signature of that it is', async () => {
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
      askBusiness(world, owner, `${method} /organizations/${id}${path}`, { ...body, ...more })
    const told = (await act(unsigned)).json()
    assert.deepEqual([told.error, told.identityId], ['signed_action_required', owner.identityId], `${method} ${path}`)
    assert.deepEqual(await everythingOf(owner, id), before)
    const signed = await act({ signedAction: { signature: owner.pair.sign(told.message) } })
    assert.ok(signed.statusCode < 300, `${method} ${path}: ${signed.body}`)
  }
})

/** What somebody sees of an organization, and of what was done in it. */
async function everythingOf(person: Person, id: string) {
  const paths = ['', '/members', '/invitations', '/domains', '/keys', '/audit']
  return Promise.all(
    paths.map(async (path) => (await askBusiness(world, person, `GET /organizations/${id}${path}`)).json()),
  )
}

test('who asks what to sign need not have proved anew that it is them, and who signs must', async () => {
  const { owner, id } = await signedOrganization()
  const remove = (payload: object) => askBusiness(world, owner, `DELETE /organizations/${id}`, payload)
  world.pass(600)
  const { error, message } = (await remove(unsigned)).json()
  assert.equal(error, 'signed_action_required')
  const signed = { signedAction: { signature: owner.pair.sign(message) } }
  const stale = await remove(signed)
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  await reauthenticate(world, owner)
  assert.equal((await remove(signed)).statusCode, 204)
})

test('who can’t sign is told so when they ask, and whether they may do without', async () => {
  const keyless = await world.person()
  const { id } = await makeOrganization(world, keyless)
  const rename = (person: Pick<Person, 'headers'>, payload: object) =>
    askBusiness(world, person, `PATCH /organizations/${id}`, { name: 'Renamed', ...payload })
  const told = async (person: Pick<Person, 'headers'>) => {
    const answer = await rename(person, unsigned)
    return [answer.statusCode, answer.json().error, answer.json().signatureRequired]
  }
  assert.deepEqual(await told(keyless), [422, 'no_signing_key', false])
  const headers = await signInByOrganization(world, keyless, { organizationId: id })
  assert.deepEqual(await told({ headers }), [403, 'passkey_required', false])
  assert.equal((await rename(keyless, {})).statusCode, 200)
  const organization = world.db.updateTable('organization').where('organization_id', '=', id)
  await organization.set({ require_signed_actions: true }).execute()
  assert.deepEqual(await told(keyless), [422, 'no_signing_key', true])
  assert.deepEqual(await told({ headers }), [403, 'passkey_required', true])
})

test('SSO-12 a signature from the trail is none in a session that the organization alone opened', async () => {
  const { owner, id, sign, patch } = await signedOrganization()
  const change = (name: string) => ({ name, ...sign('organization.changed', { organizationId: id, name }) })
  await patch(change('First'))
  await patch(change('Second'))
  const headers = await signInByOrganization(world, owner, { organizationId: id })
  const { entries } = (await askBusiness(world, { headers }, `GET /organizations/${id}/audit`)).json()
  const { signature } = entries.find((each: { details: { signed?: string } }) =>
    each.details.signed?.includes('First'),
  ).details
  const again = await askBusiness(world, { headers }, `PATCH /organizations/${id}`, {
    name: 'First',
    signedAction: { signature },
  })
  assert.deepEqual([again.statusCode, again.json().error], [403, 'passkey_required'])
  assert.equal((await askBusiness(world, owner, `GET /organizations/${id}`)).json().organization.name, 'Second')
})

test('a member is read by their id, in their own organization', async () => {
  const { owner, id, memberId } = await signedOrganization()
  const read = (of: string) => askBusiness(world, owner, `GET /organizations/${of}/members/${memberId}`)
  const { member } = (await read(id)).json()
  assert.deepEqual([member.memberId, member.handle, member.role], [memberId, owner.handle, 'owner'])
  const { id: other } = await makeOrganization(world, owner, 'Other')
  assert.deepEqual([(await read(other)).statusCode, (await read(other)).json().error], [404, 'member_not_found'])
})
