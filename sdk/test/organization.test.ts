import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test, type TestContext } from 'node:test'
import { foundRemoteOrganization } from '../../server/testing/remote-organization.ts'
import { registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import { newSigningPair } from '../../server/testing/signer.ts'
import {
  createCountersign,
  CountersignError,
  verifyOrganizationReceipt,
  type Countersign,
} from '../src/server/server.ts'

let service: Served
let countersign: Countersign
before(async () => {
  service = await serveHere()
  countersign = createCountersign(await registerRemoteApp(service))
})
after(() => service.close())

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

/** Creates an organization with an owner and another signing member, which requires this many approvals. */
async function acme(approvalsNeeded: number) {
  const { id, owner, others } = await foundRemoteOrganization(service, { approvalsNeeded, others: 1 })
  const [bob] = others
  assert.ok(bob)
  return { id, owner, bob }
}

test("an organization's signature reaches the app with all member signatures, and as a receipt", async () => {
  const { id, owner, bob } = await acme(1)
  const request = await countersign.createOrganizationRequest({ organizationId: id, payload })
  assert.equal(request.signingUrl, `${service.authUrl}/sign?requestId=${request.requestId}`)
  assert.equal(request.approvalsNeeded, 1)
  const waiting = countersign.waitForOrganizationSignature(request)
  await owner.sign(request.requestId, payload, 'sign')
  await bob.approve(request.requestId, payload)
  const outcome = await waiting
  assert.equal(outcome.status, 'signed')
  assert.deepEqual(
    outcome.signatures.map(({ identityId, role }) => [identityId, role]),
    [
      [owner.identityId, 'sign'],
      [bob.identityId, 'approve'],
    ],
  )
  const { requestId } = request
  const kept = await countersign.getOrganizationReceipt({ requestId, organizationId: id, payload })
  const { organization, signatures } = verifyOrganizationReceipt(kept, { logKeys: await countersign.getLogKeys() })
  assert.deepEqual(organization, { id, name: 'Acme' })
  assert.deepEqual(
    signatures.map(({ handle }) => handle),
    [owner.handle, bob.handle],
  )
  const requested = { requestId, organizationId: randomUUID(), payload }
  await assert.rejects(countersign.getOrganizationReceipt(requested), { code: 'unexpected_response' })
})

test("one member's denial is final, and a request without signatories gets an error", async () => {
  const { id, owner, bob } = await acme(1)
  const request = await countersign.createOrganizationRequest({ organizationId: id, payload })
  const waiting = countersign.waitForOrganizationSignature(request)
  await owner.sign(request.requestId, payload, 'sign')
  await bob.deny(request.requestId)
  assert.deepEqual(await waiting, { status: 'denied', requestId: request.requestId, organizationId: id })
  const rejected = countersign.createOrganizationRequest({ organizationId: randomUUID(), payload })
  await assert.rejects(rejected, { code: 'organization_not_found' })
})

const [ann, bob, cyd] = [newSigningPair(), newSigningPair(), newSigningPair()]
const member = ({ publicKey, sign }: typeof ann, role: string, text = payload) => ({
  ...{ identityId: randomUUID(), memberId: randomUUID(), role, publicKey, at: '2030-01-01T12:00:00.000Z' },
  signature: sign(text),
})
const annSigns = member(ann, 'sign')
const bobApproves = member(bob, 'approve')

const unpadded = (base64: string) => base64.replace(/=+$/, '')

/** Replies of a lying service: the app requires one approval. */
const falsified = {
  'too few approvals': [annSigns],
  'approvals without a signature': [member(ann, 'approve'), member(bob, 'approve')],
  'an approval of another text': [annSigns, member(bob, 'approve', 'Pay 1,000 €')],
  'a signature of another text': [member(ann, 'sign', 'Pay 1,000 €'), bobApproves],
  "a signature by another's key": [{ ...annSigns, publicKey: cyd.publicKey }, bobApproves],
  'the same identity twice': [annSigns, { ...bobApproves, identityId: annSigns.identityId }],
  'the same member twice': [annSigns, { ...bobApproves, memberId: annSigns.memberId }],
  'the same key twice': [annSigns, member(ann, 'approve')],
  'the same key in another encoding': [annSigns, { ...member(ann, 'approve'), publicKey: unpadded(ann.publicKey) }],
  'an unknown role': [annSigns, bobApproves, member(cyd, 'watch')],
  'no signatures': [],
}
for (const [what, signatures] of Object.entries(falsified))
  test(`OSG-09 SIG-10 an organization signature with ${what} is rejected`, async (t) => {
    const { app, request } = await openLiar(t, signatures)
    await assert.rejects(app.waitForOrganizationSignature(request), (error) => {
      return error instanceof CountersignError && error.code === 'invalid_signature'
    })
  })

test('a signature and an approval by another member are accepted from the same service', async (t) => {
  const { app, request } = await openLiar(t, [annSigns, bobApproves])
  assert.equal((await app.waitForOrganizationSignature(request)).status, 'signed')
})

test('OSG-09 the outcome of another organization or another request is rejected', async (t) => {
  const { app, request } = await openLiar(t, [annSigns, bobApproves])
  const rejected = app.createOrganizationRequest({ organizationId: randomUUID(), payload })
  await assert.rejects(rejected, { code: 'unexpected_response' })
  await assert.rejects(app.waitForOrganizationSignature({ ...request, requestId: randomUUID() }), {
    code: 'unexpected_response',
  })
})

/** A service with one reply to every request. A pending request claims to need no approvals. */
async function openLiar(t: TestContext, signatures: object[]) {
  const [requestId, organizationId] = [randomUUID(), randomUUID()]
  const expiresAt = new Date(Date.now() + 300_000).toISOString()
  const acme = { id: organizationId, name: 'Acme', isSigned: true, approvals: 1 }
  const server = createServer((incoming, answer) => {
    incoming.resume()
    const isOpening = incoming.method === 'POST'
    const outcome = isOpening ? {} : { status: 'signed', signatures, resolvedAt: expiresAt }
    const organization = { ...acme, approvalsNeeded: isOpening ? 1 : 0 }
    answer.writeHead(isOpening ? 201 : 200).end(JSON.stringify({ requestId, expiresAt, organization, ...outcome }))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the lying service has no port')
  const baseUrl = `http://localhost:${address.port}`
  const app = createCountersign({ baseUrl, authUrl: baseUrl, clientId: 'app_test', clientSecret: 'cs_test' })
  return { app, request: await app.createOrganizationRequest({ organizationId, payload }) }
}
