import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { startNameServer } from '#testing/name-server.ts'
import { askBusiness, makeOrganization } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type World } from '#testing/world.ts'

const dns = await startNameServer()
let world: World
before(async () => {
  world = await createWorld({ environment: { DNS_SERVERS: dns.address } })
})
after(async () => {
  await world.close()
  await dns.close()
})

test('where signed actions are required a domain is claimed, verified and removed by signature alone', async () => {
  const owner = await createSigner(world)
  const { id: organizationId } = await makeOrganization(world, owner)
  const path = `/organizations/${organizationId}`
  const sign = (action: string, details: object) => ({
    signedAction: { signature: owner.pair.sign(signedActionMessage(action, { organizationId, ...details })) },
  })
  const required = { requireSignedActions: true }
  const on = { ...required, ...sign('organization.changed', required) }
  assert.equal((await askBusiness(world, owner, `PATCH ${path}`, on)).statusCode, 200)

  const domains = async () =>
    (await askBusiness(world, owner, `GET ${path}/domains`)).json<{ domains: OrganizationDomain[] }>().domains
  /** Is refused without a signature and with that of another act, which changes nothing; then with its own is not. */
  async function doSigned(what: `POST ${string}` | `DELETE ${string}`, act: string, details: object, payload = {}) {
    const before = await domains()
    const bare = await askBusiness(world, owner, what, payload)
    assert.deepEqual([bare.statusCode, bare.json().error], [403, 'signed_action_required'], what)
    const wrong = await askBusiness(world, owner, what, { ...payload, ...sign('organization.domain.other', details) })
    assert.deepEqual([wrong.statusCode, wrong.json().error], [403, 'invalid_action_signature'], what)
    assert.deepEqual(await domains(), before, what)
    const done = await askBusiness(world, owner, what, { ...payload, ...sign(`organization.domain.${act}`, details) })
    assert.ok([200, 201, 204].includes(done.statusCode), done.body)
  }

  const domain = { domain: 'signed.example' }
  await doSigned(`POST ${path}/domains`, 'claimed', domain, domain)
  const [claimed] = await domains()
  assert.ok(claimed)
  const { domainId, challenge } = claimed
  dns.setTexts(challenge.name, challenge.value)
  await doSigned(`POST ${path}/domains/${domainId}/verify`, 'verified', { domainId })
  assert.equal((await domains())[0]?.status, 'verified')

  const again = await askBusiness(world, owner, `POST ${path}/domains/${domainId}/verify`)
  assert.equal(again.statusCode, 200, 'to look whether it is still so is no act')
  dns.setTexts(challenge.name)
  const gone = await askBusiness(world, owner, `POST ${path}/domains/${domainId}/verify`)
  assert.equal(gone.json().error, 'domain_not_proved', 'nor is what is found then')
  await doSigned(`DELETE ${path}/domains/${domainId}`, 'removed', { domainId })
  assert.deepEqual(await domains(), [])
})
