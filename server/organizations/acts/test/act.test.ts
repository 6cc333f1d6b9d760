import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTrailVerifier } from '@countersign/protocol/signing/acts/trail-verification'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { actorOf, signedActOf } from '#testing/actor.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { businessRequest, join, createOrganization, reauthenticate } from '#testing/organization.ts'
import { createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
type Signer = Awaited<ReturnType<typeof createSigner>>

/** An organization whose owner can sign. */
async function organized() {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const rename = `PATCH /organizations/${id}` as const
  return { owner, id, actor: actorOf(world, owner), rename }
}

async function nameOf(person: Pick<Signer, 'headers'>, id: string): Promise<string> {
  return (await businessRequest(world, person, `GET /organizations/${id}`)).json().organization.name
}

/** Adds a member who can sign. */
async function addAdmin({ id, owner }: { id: string; owner: Signer }, role: 'admin' | 'owner' = 'admin') {
  const admin = await createSigner(world)
  return { ...admin, memberId: (await join(world, { id, owner, role }, admin)).memberId }
}

async function readTrail(person: Pick<Signer, 'headers'>, id: string) {
  const { body } = await businessRequest(world, person, `GET /organizations/${id}/trail`)
  const lines = body.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

/** Verifies a trail with the keys of these people; returns its first error, or its head. */
function verify(records: unknown[], id: string, people: Signer[]) {
  const issuer = world.config.authUrl.origin
  const publicKeyOf = (identityId: string) => people.find((each) => each.identityId === identityId)?.pair.publicKey
  const verifier = createTrailVerifier(nodeSuite, { organizationId: id, issuer, publicKeyOf })
  for (const record of records) verifier.add(record)
  const end = verifier.finish()
  return 'flaw' in end ? end.flaw : end
}

test('ACT-50 an act is done once, in its organization and in the session that started it', async () => {
  const { owner, id, actor, rename } = await organized()
  const started = await actor.start(rename, { name: 'Acme AG' })
  assert.deepEqual(started.details, { organizationId: id, name: 'Acme AG', from: { name: 'Acme' } })
  const signed = signedActOf(owner, started.statement)
  const other = await createOrganization(world, owner, 'Other')
  assert.deepEqual(errorOf(await actor.send(started, signed, other.id)), [404, 'act_not_found'])
  const elsewhere = actorOf(world, { ...owner, headers: await owner.signIn() })
  assert.deepEqual(errorOf(await elsewhere.read(started)), [404, 'act_not_found'])
  assert.deepEqual(errorOf(await elsewhere.send(started, signed)), [404, 'act_not_found'])
  assert.deepEqual(errorOf(await elsewhere.decline(started)), [404, 'act_not_found'])

  const done = await actor.send(started, signed)
  assert.equal(done.statusCode, 200, done.body)
  assert.deepEqual([done.json().action, done.json().result.organization.name], ['organization.updated', 'Acme AG'])
  await businessRequest(world, owner, rename, { name: 'Acme' })
  assert.deepEqual(errorOf(await actor.send(started, signed)), [404, 'act_not_found'])
  // Neither does the signature do the same act, started again.
  const again = await actor.start(rename, { name: 'Acme AG' })
  assert.deepEqual(errorOf(await actor.send(again, signed)), [401, 'invalid_credential'])
  assert.equal(await nameOf(owner, id), 'Acme')
})

test('ACT-52 only the member signs an act, with their key and passkey, for exactly this statement', async () => {
  const { owner, id, actor, rename } = await organized()
  const eve = await addAdmin({ id, owner })
  const started = await actor.start(rename, { name: 'Mine' })
  const other = await actor.start(rename, { name: 'Yours' })
  const stranger = createAuthenticator({ origin: world.config.authUrl.origin, rpId: world.config.relyingPartyId })
  const otherActs = ['action', 'details', 'identityId', 'nonce', 'organizationId', 'issuer', 'role', 'at'].map(
    (field) => ({
      statement: { [field]: 'other' },
    }),
  )
  const assertions = [
    ...otherActs,
    ...[{ authenticator: eve.authenticator }, { authenticator: stranger }],
    ...[{ assertion: { userVerified: false } }, { assertion: { origin: 'https://evil.example' } }],
    ...[{ assertion: { crossOrigin: true } }, { assertion: { challenge: 'bm90IGl0' } }],
  ]
  for (const bent of assertions)
    assert.deepEqual(errorOf(await actor.do(started, bent)), [401, 'invalid_credential'], JSON.stringify(bent))
  const mine = signedActOf(owner, started.statement)
  const yours = signedActOf(owner, other.statement)
  const acts = [
    signedActOf(owner, started.statement, { pair: eve.pair }),
    signedActOf(owner, started.statement, { pair: newSigningPair() }),
    // The same statement, but another assertion than the one that the key has signed.
    { signature: mine.signature, credential: signedActOf(owner, started.statement).credential },
    { signature: yours.signature, credential: mine.credential },
    { signature: owner.pair.sign(started.statement), credential: mine.credential },
    { signature: owner.pair.sign(started.message ?? ''), credential: mine.credential },
    { signature: 'none', credential: mine.credential },
  ]
  for (const act of acts) assert.deepEqual(errorOf(await actor.send(started, act)), [400, 'invalid_act'])
  assert.deepEqual(errorOf(await actor.send(started, yours)), [401, 'invalid_credential'])
  assert.equal(await nameOf(owner, id), 'Acme')
  assert.equal((await actor.send(started, mine)).statusCode, 200)
  assert.equal(await nameOf(owner, id), 'Mine')
})

test('ACT-53 an act is what was signed: of a member who may still do it, from the state that they saw', async () => {
  const { owner, id, actor, rename } = await organized()
  const admin = await addAdmin({ id, owner }, 'owner')
  const path = `/organizations/${id}/members/${admin.memberId}` as const
  const byAdmin = await actorOf(world, admin).start(rename, { name: 'Mine' })
  const demote = await actor.start(`PATCH ${path}`, { role: 'viewer' })
  assert.deepEqual(demote.details['from'], {
    ...{ identityId: admin.identityId, role: 'owner', signingAuthority: true },
    scopes: ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso', 'manage_org'],
  })
  await businessRequest(world, owner, `PATCH ${path}`, { role: 'member' })
  assert.deepEqual(errorOf(await actor.do(demote)), [409, 'state_changed'])
  assert.deepEqual(errorOf(await actorOf(world, admin).do(byAdmin)), [403, 'insufficient_scope'])
  assert.equal(await nameOf(owner, id), 'Acme')

  // Nothing was done, so the act can be done until it expires.
  await businessRequest(world, owner, `PATCH ${path}`, { role: 'owner' })
  assert.equal((await actor.do(demote)).json().result.member.role, 'viewer')
  await businessRequest(world, owner, `DELETE ${path}`)
  assert.deepEqual(errorOf(await actorOf(world, admin).read(byAdmin)), [404, 'organization_not_found'])
})

test('ACT-54 of the acts of two members that were started at once, one is done', async () => {
  const { owner, id, actor, rename } = await organized()
  const admin = await addAdmin({ id, owner })
  const first = await actor.start(rename, { name: 'First' })
  const second = await actorOf(world, admin).start(`POST /organizations/${id}/domains`, { domain: 'acme.example' })
  assert.equal((await actor.do(first)).statusCode, 200)
  assert.deepEqual(errorOf(await actorOf(world, admin).do(second)), [409, 'act_superseded'])
  const domains = await businessRequest(world, owner, `GET /organizations/${id}/domains`)
  assert.deepEqual(domains.json().domains, [])
  const again = await actorOf(world, admin).act(`POST /organizations/${id}/domains`, { domain: 'acme.example' })
  assert.equal(again.statusCode, 200, again.body)
  assert.equal(typeof verify(await readTrail(owner, id), id, [owner, admin]), 'object')
})

test('ACT-56 an act ends after five minutes, by declining it, with its session, and with the key', async () => {
  const { owner, id, actor, rename } = await organized()
  const late = await actor.start(rename, { name: 'Late' })
  const declined = await actor.start(rename, { name: 'Declined' })
  assert.equal((await actor.decline(declined)).statusCode, 204)
  assert.deepEqual(errorOf(await actor.decline(declined)), [404, 'act_not_found'])
  assert.deepEqual(errorOf(await actor.do(declined)), [404, 'act_not_found'])
  world.pass(300)
  assert.deepEqual(errorOf(await actor.read(late)), [404, 'act_not_found'])
  assert.deepEqual(errorOf(await actor.do(late)), [404, 'act_not_found'])

  const before = await actor.start(rename, { name: 'By the former key' })
  await reauthenticate(world, owner)
  const pair = newSigningPair()
  const rotated = await owner.rotate(rotationOf(owner.identityId, owner.pair, pair))
  assert.equal(rotated.statusCode, 200, rotated.body)
  assert.deepEqual(errorOf(await actor.do(before)), [409, 'state_changed'])
  assert.deepEqual(errorOf(await actor.do(before, { pair, statement: { keyVersion: 2 } })), [409, 'state_changed'])

  const signedOut = await actorOf(world, { ...owner, pair }).start(rename, { name: 'Signed out' })
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: owner.headers })
  assert.deepEqual(errorOf(await actor.do(signedOut, { pair })), [401, 'unauthorized'])
  assert.equal(await nameOf({ headers: await owner.signIn() }, id), 'Acme')
})

test('ACT-58 a session without a passkey neither starts nor does an act', async () => {
  const { owner, id, actor, rename } = await organized()
  await actor.act(rename, { requireSignedActions: true })
  const started = await actor.start(rename, { name: 'Mine' })
  const headers = await signInByOrganization(world, owner, { organizationId: id })
  const bySso = actorOf(world, { ...owner, headers })
  for (const body of [{ name: 'Mine' }, { name: 'Mine', signedAction: {} }])
    assert.deepEqual(errorOf(await businessRequest(world, { headers }, rename, body)), [403, 'passkey_required'])
  for (const answer of [await bySso.read(started), await bySso.do(started), await bySso.decline(started)])
    assert.deepEqual(errorOf(answer), [403, 'passkey_required'])
  assert.equal(await nameOf(owner, id), 'Acme')
})
