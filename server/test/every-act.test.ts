import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { secretCommitment } from '@countersign/protocol/formats/acts/act'
import { isObject } from '@countersign/protocol/formats/json'
import { createTrailVerifier } from '@countersign/protocol/signing/acts/trail-verification'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { actorOf } from '#testing/actor.ts'
import { startCustomerKms } from '#testing/customer-kms.ts'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { createKeyHolder, newSharedKey } from '#testing/key-holder.ts'
import { businessRequest, createOrganization, join } from '#testing/organization.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'
import { newSigningPair } from '#testing/signer.ts'
import { modules } from '../modules.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type What = Parameters<typeof businessRequest>[2]

/** An organization that requires signed acts, and its owner, who signs them. */
async function organized() {
  const holder = await createKeyHolder(world)
  const pair = newSigningPair()
  const created = await world.api.inject({
    method: 'POST',
    url: `/api/signing/keys/${holder.identityId}`,
    headers: holder.headers,
    payload: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
  })
  assert.equal(created.statusCode, 201, created.body)
  const owner = { ...holder, pair }
  const { id } = await createOrganization(world, owner)
  const member = await join(world, { id, owner, role: 'member' }, await createKeyHolder(world))
  return { owner, id, memberId: member.memberId, identityId: member.identityId }
}

const listed = modules.flatMap((module): readonly { endpoint: { name: string } }[] =>
  'acts' in module ? module.acts : [],
)
/** Those of a council need one: the tests of that room do them all (CNC-05, CNC-10, CNC-19). */
const names = listed.map(({ endpoint }) => endpoint.name).filter((name) => !name.includes('/council/'))

/** Returns the name of the endpoint of a request. */
function nameOf(what: What): string {
  const [method, path = ''] = what.split(' ')
  const isIts = (name: string) => new RegExp(`^${name.replaceAll(/:\w+/g, '[^/]+')}$`).test(`${method} /api${path}`)
  const [found, ...others] = names.filter(isIts)
  assert.ok(found !== undefined && others.length === 0, what)
  return found
}

test('ACT-62 every request that takes signedAction can be done as an act, and its answer is the same', async () => {
  const { owner, id, memberId } = await organized()
  const [idp, kms] = [await startSamlProvider(world.now), await startCustomerKms()]
  const actor = actorOf(world, owner)
  const path = `/organizations/${id}` as const
  const done = new Set<string>()
  async function act(what: What, payload: object = {}) {
    const answer = await actor.act(what, payload)
    assert.equal(answer.statusCode, 200, `${what}: ${answer.body}`)
    done.add(nameOf(what))
    return answer.json().result
  }

  const { organization } = await act(`PATCH ${path}`, { requireSignedActions: true })
  assert.equal(organization.requireSignedActions, true)
  assert.equal((await act(`PATCH ${path}/members/${memberId}`, { role: 'admin' })).member.role, 'admin')
  const { handle } = await world.person()
  const invited = await act(`POST ${path}/invitations`, { handle, role: 'viewer' })
  assert.match(invited.url, new RegExp(`/invitations/${invited.token}$`))
  assert.equal(await act(`DELETE ${path}/invitations/${invited.invitation.invitationId}`), null)

  const claimed = (await act(`POST ${path}/domains`, { domain: 'acme.example' })).domain
  enterprise.dns.setTexts(claimed.challenge.name, claimed.challenge.value)
  assert.equal((await act(`POST ${path}/domains/${claimed.domainId}/verify`)).domain.status, 'verified')

  const kmsUrl = { url: kms.url }
  assert.equal((await act(`PUT ${path}/kms`, kmsUrl)).kms.url, kms.url)
  await act(`DELETE ${path}/kms`)
  const first = (await act(`POST ${path}/keys`)).key
  await act(`PATCH ${path}`, { encryptionMode: 'e2ee' })
  const shared = newSharedKey(id)
  const own = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  const { key } = await act(`POST ${path}/keys`, { replaces: first.keyId, ...own })
  await act(`DELETE ${path}/keys/${first.keyId}`)
  const wraps = [{ memberId: organization.memberId, ciphertext: await shared.wrapTo(owner) }]
  assert.equal((await act(`PUT ${path}/keys/${key.keyId}/wraps`, { wraps })).wraps.length, 2)

  const { issuer, clientId, clientSecret } = enterprise.upstream
  const oidc = { name: 'Acme Login', oidc: { issuer, clientId, clientSecret }, domains: ['acme.example'] }
  const { connection } = await act(`POST ${path}/sso-connections`, oidc)
  const one = `${path}/sso-connections/${connection.connectionId}` as const
  assert.equal((await act(`PATCH ${one}`, { name: 'Login' })).connection.name, 'Login')
  assert.notEqual((await act(`POST ${one}/confirm`)).connection.confirmedAt, null)
  assert.match((await act(`POST ${one}/scim-token`, { subjectBy: 'email' })).token, /^cs_/)
  await act(`DELETE ${one}/scim-token`)
  await act(`DELETE ${one}`)
  const metadata = await idp.metadata()
  const saml = (await act(`POST ${path}/sso-connections`, { name: 'SAML', saml: { metadata } })).connection
  const other = `${path}/sso-connections/${saml.connectionId}` as const
  assert.ok((await act(`POST ${other}/encryption-key`)).connection.saml.encryption)
  await act(`DELETE ${other}/encryption-key`)
  await act(`DELETE ${path}/domains/${claimed.domainId}`)
  await act(`DELETE ${path}/members/${memberId}`)

  const { body } = await businessRequest(world, owner, `GET ${path}/trail`)
  const publicKeyOf = () => owner.pair.publicKey
  const origin = world.config.authUrl.origin
  const verifier = createTrailVerifier(nodeSuite, { organizationId: id, issuer: origin, publicKeyOf })
  for (const line of body.split('\n').slice(0, -1)) verifier.add(JSON.parse(line))
  assert.equal('flaw' in verifier.finish(), false)
  for (const secret of [clientSecret, own.ciphertext, metadata]) assert.equal(body.includes(secret), false)

  await act(`DELETE ${path}`)
  assert.deepEqual([...done].toSorted(), names.toSorted())
  await Promise.all([idp.close(), kms.close()])
})

test('ACT-57 a secret of an act is in no answer, trail or table: a commitment stands for it', async () => {
  const { owner, id } = await organized()
  const actor = actorOf(world, owner)
  const { issuer, clientId, clientSecret } = enterprise.upstream
  const body = { name: 'Acme Login', oidc: { issuer, clientId, clientSecret } }
  const started = await actor.start(`POST /organizations/${id}/sso-connections`, body)
  const { message: _unsigned, ...fields } = started
  const read = (await actor.read(started)).json()
  const rows = await world.db.selectFrom('organization_act').selectAll().execute()
  assert.equal(JSON.stringify([fields, read, rows]).includes(clientSecret), false)

  const { oidc } = started.details
  assert.ok(isObject(oidc))
  assert.deepEqual({ issuer: oidc['issuer'], clientId: oidc['clientId'] }, { issuer, clientId })
  const salt = Buffer.from(started.secretSalt ?? '', 'base64')
  assert.deepEqual(oidc['clientSecret'], { commitment: secretCommitment(nodeSuite.sha256, clientSecret, salt) })
  assert.equal(read.secretSalt, started.secretSalt)

  const done = await actor.do(started)
  assert.equal(done.statusCode, 200, done.body)
  const trail = await businessRequest(world, owner, `GET /organizations/${id}/trail`)
  assert.equal(
    [clientSecret, started.secretSalt ?? ''].some((text) => trail.body.includes(text)),
    false,
  )
  // An act without a secret has no salt of one.
  assert.equal((await actor.start(`PATCH /organizations/${id}`, { name: 'A' })).secretSalt, undefined)
})
