import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createRemoteSigner, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { startService, type Service } from '../../server/testing/service.ts'
import { createCountersign, CountersignError, verifySignature, type Countersign } from '../src/server/server.ts'

let service: Service
let settings: Awaited<ReturnType<typeof registerRemoteApp>>
let countersign: Countersign
before(async () => {
  service = await startService()
  settings = await registerRemoteApp(service)
  countersign = createCountersign(settings)
})
after(() => service.close())

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'

test("a user's signature reaches the waiting app, with the proof for third parties", async () => {
  const ada = await createRemoteSigner(service)
  const metadata = { order: 7 }
  const request = await countersign.createSigningRequest({ identityId: ada.identityId, payload, metadata })
  assert.equal(request.signingUrl, `${service.authUrl}/sign?requestId=${request.requestId}`)
  assert.equal(request.publicKey, ada.pair.publicKey)
  const lifetime = Date.parse(request.expiresAt) - Date.now()
  assert.ok(lifetime > 290_000 && lifetime <= 300_000)

  const waiting = countersign.waitForSignature(request)
  await ada.sign(request.requestId, payload)
  const outcome = await waiting
  assert.equal(outcome.status, 'signed')
  const { requestId, identityId, publicKey } = request
  const { resolvedAt, approval, ...evidence } = outcome
  assert.match(approval?.statement ?? '', new RegExp(`"requestId":"${requestId}"`))
  assert.deepEqual(evidence, {
    status: 'signed',
    requestId,
    identityId,
    payload,
    publicKey,
    signature: outcome.signature,
    unproved: [],
  })
  assert.ok(Math.abs(Date.now() - Date.parse(resolvedAt)) < 10_000)
  assert.ok(verifySignature(outcome))
  assert.ok(!verifySignature({ ...outcome, payload: `${payload}.` }))
})

test('SGN-07 a text that could be a message of Countersign itself is rejected before it is sent', async () => {
  const nowhere = createCountersign({ ...settings, baseUrl: 'http://localhost:1' })
  const requested = { identityId: randomUUID(), payload: '{"version":1,"action":"signing_key.rotated","details":{}}' }
  const { identityId: organizationId, payload: reserved } = requested
  for (const refused of [
    nowhere.createSigningRequest(requested),
    nowhere.createOrganizationRequest({ organizationId, payload: reserved }),
  ])
    await assert.rejects(refused, { name: 'CountersignError', code: 'reserved_payload', status: undefined })
})

test('another process can wait for a request from its stored JSON', async () => {
  const ada = await createRemoteSigner(service)
  const request = await countersign.createSigningRequest({ identityId: ada.identityId, payload })
  const kept: typeof request = JSON.parse(JSON.stringify(request))
  await ada.sign(request.requestId, payload)
  assert.equal((await createCountersign(settings).waitForSignature(kept)).status, 'signed')
})

test('a denied request is denied, and an expired one is expired', async () => {
  const ada = await createRemoteSigner(service)
  const { identityId } = ada
  const denied = await countersign.createSigningRequest({ identityId, payload })
  const waiting = countersign.waitForSignature(denied)
  await ada.deny(denied.requestId)
  assert.deepEqual(await waiting, { status: 'denied', requestId: denied.requestId, identityId })

  const ended = await countersign.createSigningRequest({ identityId, payload, expiresInSeconds: 60 })
  await ada.rotate()
  const { requestId } = ended
  assert.deepEqual(await countersign.waitForSignature(ended), { status: 'expired', requestId, identityId })
})

test('an error of the service has its code, status and description', async () => {
  const refused = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof CountersignError)
    assert.match(error.description, /\.$/)
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes(settings.clientSecret))
    return [error.code, error.status]
  }
  const ada = await createRemoteSigner(service)
  const { identityId } = ada
  const unknownUser = { identityId: randomUUID(), payload }
  assert.deepEqual(await refused(countersign.createSigningRequest(unknownUser)), ['identity_not_found', 404])
  const endless = { identityId, payload, expiresInSeconds: 3601 }
  assert.deepEqual(await refused(countersign.createSigningRequest(endless)), ['invalid_request', 400])
  const otherClient = createCountersign({ ...settings, clientSecret: 'cs_wrong' })
  assert.deepEqual(await refused(otherClient.createSigningRequest({ identityId, payload })), ['invalid_client', 401])

  const request = await countersign.createSigningRequest({ identityId, payload })
  const unknown = { ...request, requestId: randomUUID() }
  assert.deepEqual(await refused(countersign.waitForSignature(unknown)), ['request_not_found', 404])
  const other = createCountersign(await registerRemoteApp(service))
  assert.deepEqual(await refused(other.waitForSignature(request)), ['access_denied', 403])
})

test('waiting can be aborted at any time', async () => {
  const { identityId } = await createRemoteSigner(service)
  const request = await countersign.createSigningRequest({ identityId, payload })
  const aborter = new AbortController()
  const waiting = countersign.waitForSignature(request, { signal: aborter.signal })
  const reason = new Error('the shop closes')
  setImmediate(() => aborter.abort(reason))
  await assert.rejects(waiting, reason)
  await assert.rejects(countersign.waitForSignature(request, { signal: aborter.signal }), reason)
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`SIG-28 waiting survives a restart of the service (${signal})`, async () => {
    const ada = await createRemoteSigner(service)
    const request = await countersign.createSigningRequest({ identityId: ada.identityId, payload })
    const waiting = countersign.waitForSignature(request)
    await service.end(signal)
    await service.restart()
    await ada.sign(request.requestId, payload)
    assert.equal((await waiting).status, 'signed')
  })

test('requests with a secret require TLS', () => {
  const { authUrl, clientId, clientSecret } = settings
  for (const baseUrl of ['http://id.example', 'http://localhost.id.example', 'ftp://localhost', 'id.example', ''])
    assert.throws(() => createCountersign({ baseUrl, authUrl, clientId, clientSecret }), TypeError, baseUrl)
  for (const baseUrl of ['https://id.example', 'http://127.0.0.1:4400', 'http://[::1]:4400', 'http://api.localhost'])
    createCountersign({ baseUrl, authUrl, clientId, clientSecret })
  assert.throws(() => createCountersign({ ...settings, clientSecret: '' }), TypeError)
})
