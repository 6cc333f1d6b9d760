import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { actorOf } from '#testing/actor.ts'
import { startNameServer } from '#testing/name-server.ts'
import { businessRequest, createOrganization, join } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const dns = await startNameServer()
let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DNS_SERVERS: dns.address } })
})
after(async () => {
  await world.close()
  await dns.close()
})

test('where signed actions are required, claiming, verifying and removing a domain need a signed act', async () => {
  const owner = await createSigner(world)
  const { id: organizationId } = await createOrganization(world, owner)
  const path = `/organizations/${organizationId}`
  const actor = actorOf(world, owner)
  assert.equal((await actor.act(`PATCH ${path}`, { requireSignedActions: true })).statusCode, 200)

  const domains = async () =>
    (await businessRequest(world, owner, `GET ${path}/domains`)).json<{ domains: OrganizationDomain[] }>().domains
  /** Checks that a request changes nothing without a signed act, also with a signature of version 1. */
  async function doSigned(what: `POST ${string}` | `DELETE ${string}`, act: string, details: object, payload = {}) {
    const before = await domains()
    const message = signedActionMessage(`organization.domain.${act}`, { organizationId, ...details })
    for (const signed of [{}, { signedAction: { signature: owner.pair.sign(message) } }]) {
      const refused = await businessRequest(world, owner, what, { ...payload, ...signed })
      assert.deepEqual([refused.statusCode, refused.json().error], [403, 'signed_action_required'], what)
    }
    assert.deepEqual(await domains(), before, what)
    const done = await actor.act(what, payload)
    assert.deepEqual([done.statusCode, done.json().action], [200, `organization.domain.${act}`], done.body)
  }

  const domain = { domain: 'signed.example' }
  await doSigned(`POST ${path}/domains`, 'added', domain, domain)
  const [claimed] = await domains()
  assert.ok(claimed)
  const { domainId, challenge } = claimed
  dns.setTexts(challenge.name, challenge.value)
  await doSigned(`POST ${path}/domains/${domainId}/verify`, 'verified', { domainId })
  assert.equal((await domains())[0]?.status, 'verified')

  const again = await businessRequest(world, owner, `POST ${path}/domains/${domainId}/verify`)
  assert.equal(again.statusCode, 200, 'checking a verified domain again is not a signed action')
  dns.setTexts(challenge.name)
  const gone = await businessRequest(world, owner, `POST ${path}/domains/${domainId}/verify`)
  assert.equal(gone.json().error, 'domain_verification_failed', 'nor is recording the result of that check')
  await doSigned(`DELETE ${path}/domains/${domainId}`, 'removed', { domainId })
  assert.deepEqual(await domains(), [])
})

test('ACT-53 an act whose change another member made first ends, and does not count as done', async () => {
  const owner = await createSigner(world)
  const { id: organizationId } = await createOrganization(world, owner)
  const path = `/organizations/${organizationId}`
  const actor = actorOf(world, owner)
  const admin = await createSigner(world)
  await join(world, { id: organizationId, owner, role: 'admin' }, admin)
  assert.equal((await actor.act(`PATCH ${path}`, { requireSignedActions: true })).statusCode, 200)
  assert.equal((await actor.act(`POST ${path}/domains`, { domain: 'shared.example' })).statusCode, 200)
  const listed = await businessRequest(world, owner, `GET ${path}/domains`)
  const [claimed] = listed.json<{ domains: OrganizationDomain[] }>().domains
  assert.ok(claimed)
  dns.setTexts(claimed.challenge.name, claimed.challenge.value)

  const verify = `POST ${path}/domains/${claimed.domainId}/verify` as const
  const trail = async () => (await businessRequest(world, owner, `GET ${path}/trail`)).body
  const started = await actor.start(verify)
  assert.equal((await actorOf(world, admin).act(verify)).statusCode, 200)
  const before = await trail()
  const late = await actor.do(started)
  assert.deepEqual([late.statusCode, late.json().error], [409, 'state_changed'], late.body)
  assert.equal((await actor.do(started)).json().error, 'act_not_found')
  assert.equal(await trail(), before)
})
