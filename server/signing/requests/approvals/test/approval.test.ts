import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { presenceDigest } from '@countersign/protocol/formats/signing/approval'
import { findApprovalError } from '@countersign/protocol/signing/approvals'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { UserId } from '@countersign/protocol/ids'
import { auditEventsOf } from '#testing/audit-events.ts'
import { answerOf, approverOf, sha256 } from '#testing/approver.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop', redirectUris: ['https://shop.example/a', 'https://b.example/'] })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const payload = 'Pay 10 €'

/** A person with a pending request. */
async function openRequest(fields: object = {}) {
  const ada = await createSigner(world)
  const opened = (await shop.request(ada.identityId, fields)).json()
  const { requestId, expiresAt }: { requestId: string; expiresAt: string } = opened
  return { ada, requestId, expiresAt, approver: approverOf(world, ada) }
}

const isPending = async (requestId: string) => (await shop.status(requestId)).json().status === 'pending'

test('SGN-14 an approval states what is shown, and the app verifies it with what it knows by itself', async () => {
  const { ada, requestId, expiresAt, approver } = await openRequest()
  const started = await approver.begin(requestId)
  const statement = JSON.parse(started.statement)
  assert.deepEqual(statement, {
    app: { clientId: shop.clientId, name: 'Shop', origins: ['https://b.example', 'https://shop.example'] },
    challenge: started.challenge,
    challengedAt: started.challengedAt,
    createdAt: '2030-01-01T12:00:00.000Z',
    expiresAt,
    handle: ada.handle,
    identityId: ada.identityId,
    issuer: world.config.authUrl.origin,
    keyVersion: 1,
    organization: null,
    payloadSha256: Buffer.from(sha256(Buffer.from(payload))).toString('base64'),
    publicKey: ada.pair.publicKey,
    requestId,
    role: 'self',
    version: 2,
  })
  const signed = await approver.send(requestId, answerOf(ada, started))
  assert.equal(signed.statusCode, 200, signed.body)
  const { status, approval } = (await shop.status(requestId)).json()
  assert.equal(status, 'signed')
  const expected = {
    ...{ requestId, clientId: shop.clientId, identityId: ada.identityId, issuer: world.config.authUrl.origin },
    ...{ role: 'self' as const, payload, publicKey: ada.pair.publicKey, keyVersion: 1, requiresPresence: true },
  }
  for (const written of [expiresAt, expiresAt.replace('Z', '+00:00'), undefined])
    assert.equal(findApprovalError(nodeSuite, approval, { ...expected, expiresAt: written }), undefined)
  const later = new Date(Date.parse(expiresAt) + 1000).toISOString()
  assert.equal(findApprovalError(nodeSuite, approval, { ...expected, expiresAt: later }), 'other_expiry')
})

test('SGN-15 an approval needs no recent authentication and refreshes none; its signature may be known', async () => {
  const { ada, requestId, approver } = await openRequest({ expiresInSeconds: 3600 })
  const other = signingRequesterOf(world, await world.app({ name: 'Bank' }))
  const second = (await other.request(ada.identityId, { expiresInSeconds: 3600 })).json().requestId
  const third = (await shop.request(ada.identityId, { expiresInSeconds: 3600 })).json().requestId
  world.pass(301)
  assert.equal((await approver.give(requestId)).statusCode, 200)
  const session = await world.api.inject({ url: '/api/auth/session', headers: ada.headers })
  assert.equal(session.json().secondsSinceAuthTime, 301)
  // Ed25519 is deterministic: the signature of the text is the same.
  assert.equal((await approver.give(second)).statusCode, 200)
  assert.deepEqual(errorOf(await ada.sign(third, ada.pair.sign(payload))), [403, 'reauthentication_required'])
  const { signature } = (await other.status(second)).json()
  assert.equal((await shop.status(requestId)).json().signature, signature)
})

test('SGN-16 a signature alone is recorded as before, without an approval', async () => {
  const { ada, requestId } = await openRequest()
  assert.equal((await ada.sign(requestId, ada.pair.sign(payload))).statusCode, 200)
  assert.equal('approval' in (await shop.status(requestId)).json(), false)
})

test('SGN-17 an approval whose passkey did not confirm it here, verified, unframed, is rejected', async () => {
  const { ada, requestId, approver } = await openRequest()
  const bob = await createSigner(world)
  const started = await approver.begin(requestId)
  const reauthentication = (
    await world.api.inject({ method: 'POST', url: '/api/auth/reauthenticate/start', headers: ada.headers })
  ).json().options.challenge
  const place = { origin: world.config.authUrl.origin, rpId: world.config.relyingPartyId }
  for (const assertion of [
    { challenge: reauthentication },
    { challenge: started.challenge },
    { type: 'webauthn.create' },
    { origin: 'https://shop.example' },
    { rpId: 'shop.example' },
    { crossOrigin: true },
    { topOrigin: 'https://shop.example' },
    { userVerified: false },
    { userPresent: false },
    { signature: (bytes: Buffer) => Buffer.from(bytes).fill(0, 40) },
  ])
    assert.deepEqual(
      errorOf(await approver.send(requestId, answerOf(ada, started, { assertion }))),
      [401, 'invalid_credential'],
      JSON.stringify(assertion),
    )
  for (const authenticator of [bob.authenticator, createAuthenticator(place)]) {
    const answer = await approver.send(requestId, answerOf(ada, started, { authenticator }))
    assert.deepEqual(errorOf(answer), [401, 'invalid_credential'])
  }
  assert.ok(await isPending(requestId))
  assert.equal((await approver.send(requestId, answerOf(ada, started))).statusCode, 200)
})

test('PKY-25 a passkey of a known user may leave out the user handle, and may not name another user', async () => {
  const { ada, requestId, approver } = await openRequest()
  const bob = await createSigner(world)
  const send = async (authenticator: typeof ada.authenticator, userHandle: string | null) => {
    const started = await approver.begin(requestId)
    return approver.send(requestId, answerOf(ada, started, { authenticator, assertion: { userHandle } }))
  }
  const invalid = [401, 'invalid_credential']
  const other = Buffer.from('another user').toString('base64url')
  assert.deepEqual(errorOf(await send(ada.authenticator, other)), invalid)
  assert.deepEqual(errorOf(await send(bob.authenticator, null)), invalid)
  assert.equal((await send(ada.authenticator, null)).statusCode, 200)
})

test('SGN-18 an approval for another statement, by another key or over another assertion is rejected', async () => {
  const { ada, requestId, approver } = await openRequest()
  const started = await approver.begin(requestId)
  const send = (bent: Parameters<typeof answerOf>[2]) => approver.send(requestId, answerOf(ada, started, bent))
  for (const statement of [{ requestId: crypto.randomUUID() }, { role: 'approve' }, { issuer: 'https://evil.example' }])
    assert.deepEqual(errorOf(await send({ statement })), [401, 'invalid_credential'])
  const invalid = [400, 'invalid_approval']
  assert.deepEqual(errorOf(await send({ presence: null })), invalid)
  assert.deepEqual(errorOf(await send({ presence: sha256(Buffer.from('other')) })), invalid)
  assert.deepEqual(errorOf(await send({ pair: newSigningPair() })), invalid)
  const right = answerOf(ada, started)
  const given = (signature: string) =>
    approver.send(requestId, { ...right, approval: { ...right.approval, signature } })
  assert.deepEqual(errorOf(await given(ada.pair.sign(payload))), invalid, 'the signature of the text')
  assert.deepEqual(errorOf(await given(ada.pair.sign(started.statement))), invalid, 'of the statement without a frame')
  assert.deepEqual(errorOf(await given('AAAA')), invalid)
  assert.deepEqual(errorOf(await send({ text: 'Pay 1000 €' })), [400, 'invalid_signature'])
  assert.ok(await isPending(requestId))
  assert.equal((await approver.send(requestId, right)).statusCode, 200)
})

test('SGN-19 a started approval counts once, in its session, for its request, role and five minutes', async () => {
  const { ada, requestId, approver } = await openRequest({ expiresInSeconds: 3600 })
  const second = (await shop.request(ada.identityId, { expiresInSeconds: 3600 })).json().requestId
  const other = await openRequest()
  const started = await approver.begin(requestId)
  const body = answerOf(ada, started)
  const invalid = [400, 'invalid_flow']
  const elsewhere = approverOf(world, ada, { headers: await ada.signIn() })
  assert.deepEqual(errorOf(await elsewhere.send(requestId, body)), invalid, 'another session')
  assert.deepEqual(errorOf(await approver.send(second, body)), invalid, 'another request')
  const othersFlow = answerOf(other.ada, await other.approver.begin(other.requestId), { flowId: started.flowId })
  assert.deepEqual(errorOf(await other.approver.send(other.requestId, othersFlow)), invalid, 'another identity')
  assert.deepEqual(errorOf(await other.approver.start(requestId)), [404, 'request_not_found'])
  for (const role of ['sign', 'approve'] as const)
    assert.deepEqual(errorOf(await approver.start(requestId, role)), [400, 'invalid_request'])
  world.pass(300)
  assert.deepEqual(errorOf(await approver.send(requestId, body)), invalid, 'too late')
  const again = answerOf(ada, await approver.begin(requestId))
  world.pass(299)
  assert.equal((await approver.send(requestId, again)).statusCode, 200)
  assert.deepEqual(errorOf(await approver.send(requestId, again)), [409, 'request_not_pending'])
  assert.deepEqual(errorOf(await approver.start(requestId)), [409, 'request_not_pending'])
})

async function actionsOf(userId: UserId): Promise<string[]> {
  return (await auditEventsOf(world.db, userId)).map(({ action }) => action)
}

test('SGN-20 of concurrent answers with one approval one is recorded, without an alarm about the passkey', async () => {
  const { ada, requestId, approver } = await openRequest()
  const body = answerOf(ada, await approver.begin(requestId), { assertion: { signCount: 7 } })
  const answers = await Promise.all(Array.from({ length: 6 }, () => approver.send(requestId, body)))
  const codes = answers.map((answer) => errorOf(answer).join(' '))
  assert.equal(codes.filter((code) => code === '200 ').length, 1, codes.join())
  // Which of both is gone first for the others depends on when they looked.
  for (const code of codes) assert.match(code, /^(?:200 |409 request_not_pending|400 invalid_flow)$/)
  const actions = await actionsOf(ada.userId)
  assert.equal(actions.filter((action) => action === 'signing.signed').length, 1)
  assert.ok(!actions.includes('passkey.sign_count_regressed'))
})

test('SGN-21 a copied passkey, whose counter stands still, approves nothing', async () => {
  const { ada, requestId, approver } = await openRequest()
  const second = (await shop.request(ada.identityId)).json().requestId
  assert.equal((await approver.give(requestId, { assertion: { signCount: 7 } })).statusCode, 200)
  const copied = await approver.give(second, { assertion: { signCount: 7 } })
  assert.deepEqual(errorOf(copied), [401, 'invalid_credential'])
  assert.ok(await isPending(second))
  assert.ok((await actionsOf(ada.userId)).includes('passkey.sign_count_regressed'))
})

test('SGN-40 an assertion of a copied passkey that is sent often fills no audit log', async () => {
  const limited = await createWorld({ rateLimits: true })
  const bank = signingRequesterOf(limited, await limited.app({ name: 'Bank' }))
  const ada = await createSigner(limited)
  const requests = [(await bank.request(ada.identityId)).json(), (await bank.request(ada.identityId)).json()]
  const [first, second] = requests.map(({ requestId }) => requestId)
  const approver = approverOf(limited, ada)
  await approver.give(first, { assertion: { signCount: 7 } })
  const body = answerOf(ada, await approver.begin(second), { assertion: { signCount: 7 } })
  const codes: unknown[] = []
  for (let index = 0; index < 70; index += 1) codes.push((await approver.send(second, body)).statusCode)
  const events = limited.db.selectFrom('audit_event').where('action', '=', 'passkey.sign_count_regressed')
  const recorded = await events.select('event_id').execute()
  await limited.close()
  assert.ok(recorded.length <= 60, `${recorded.length} events`)
  assert.deepEqual([...new Set(codes)], [401, 429])
})

test('SGN-22 of the approvals that one person starts for one request, also at once, five remain', async () => {
  const { ada, requestId, approver } = await openRequest({ expiresInSeconds: 3600 })
  const first = await approver.begin(requestId)
  world.pass(1)
  const started = await Promise.all(Array.from({ length: 24 }, () => approver.begin(requestId)))
  const flows = world.db.selectFrom('signing_approval_flow').selectAll()
  const rows = await flows.where('identity_id', '=', ada.identityId).execute()
  assert.equal(rows.length, 5)
  assert.deepEqual(errorOf(await approver.send(requestId, answerOf(ada, first))), [400, 'invalid_flow'])
  const kept = started.find(({ flowId }) => rows.some((row) => row.flow_id === flowId))
  assert.ok(kept)
  assert.equal((await approver.send(requestId, answerOf(ada, kept))).statusCode, 200)
})

test('SGN-23 if what was shown has changed since the start, nothing is signed', async () => {
  const changes: [string, (ada: Awaited<ReturnType<typeof createSigner>>) => Promise<unknown>][] = [
    ['the name of the app', () => changeApp({ name: 'Shop GmbH' })],
    ['its addresses', () => changeApp({ redirectUris: ['https://elsewhere.example/'] })],
    ['the username', (ada) => rename(ada)],
  ]
  for (const [what, change] of changes) {
    const { ada, requestId, approver } = await openRequest()
    const body = answerOf(ada, await approver.begin(requestId))
    await change(ada)
    assert.deepEqual(errorOf(await approver.send(requestId, body)), [409, 'approval_changed'], what)
    assert.ok(await isPending(requestId))
    assert.equal((await approver.give(requestId)).statusCode, 200)
  }
})

const changeApp = (payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin, payload })

async function rename({ identityId, headers, handle }: Awaited<ReturnType<typeof createSigner>>) {
  const url = `/api/identities/${identityId}`
  const renamed = await world.api.inject({
    method: 'PATCH',
    url,
    headers,
    payload: { handle: `x${handle.slice(0, 20)}` },
  })
  assert.equal(renamed.statusCode, 200, renamed.body)
}

test('SGN-24 a request that ended, or whose app was disabled, is neither started nor approved', async () => {
  const { ada, requestId, approver } = await openRequest()
  const body = answerOf(ada, await approver.begin(requestId))
  const status = (value: string) => changeApp({ status: value })
  await status('disabled')
  assert.deepEqual(errorOf(await approver.start(requestId)), [409, 'app_disabled'])
  assert.deepEqual(errorOf(await approver.send(requestId, body)), [409, 'app_disabled'])
  await status('active')
  const next = newSigningPair()
  assert.equal((await ada.rotate(rotationOf(ada.identityId, ada.pair, next))).statusCode, 200)
  assert.deepEqual(errorOf(await approver.send(requestId, body)), [409, 'request_not_pending'])
  assert.deepEqual(errorOf(await approver.start(requestId)), [409, 'request_not_pending'])
})

test('SGN-25 the assertion of an approval is in the export of its person alone, and verifies there', async () => {
  const { ada, requestId, approver } = await openRequest()
  const body = answerOf(ada, await approver.begin(requestId))
  await approver.send(requestId, body)
  const exported = (await world.api.inject({ url: '/api/account/export', headers: ada.headers })).json()
  const [{ approval }] = exported.identities[0].signingRequests
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const { evidence } = approval
  assert.equal(evidence.credentialId, ada.authenticator.credentialId)
  const digest = presenceDigest(sha256, {
    publicKey: bytes(evidence.publicKey),
    authenticatorData: bytes(evidence.authenticatorData),
    clientDataJson: bytes(evidence.clientDataJSON),
    signature: bytes(evidence.signature),
  })
  assert.deepEqual(Buffer.from(digest), Buffer.from(fromCanonicalBase64(approval.presence) ?? []))
  const url = `/api/signing/request/${requestId}/receipt?clientId=${shop.clientId}`
  const receipt = Buffer.from((await world.api.inject({ url })).body.split('.')[1] ?? '', 'base64url').toString()
  const texts = [(await shop.status(requestId)).body, receipt, (await ada.readRequest(requestId)).body]
  assert.ok(receipt.includes(approval.signature))
  for (const text of texts)
    for (const secret of [evidence.credentialId, evidence.signature, evidence.publicKey])
      assert.ok(!text.includes(secret), text)
})

test('SGN-26 with an identity, its started approvals and approvals are deleted', async () => {
  const { ada, requestId, approver } = await openRequest()
  const second = (await shop.request(ada.identityId)).json().requestId
  await approver.begin(second)
  await approver.give(requestId)
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers })
  assert.equal(gone.statusCode, 204)
  assert.deepEqual(errorOf(await shop.status(requestId)), [404, 'request_not_found'])
})
