import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { approvalMessage } from '@countersign/protocol/formats/signing/approval'
import { writeCanonicalJson, type JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import { createCountersign, createMemoryTrustStore, type TrustSettings } from '../src/server/server.ts'
import { addLeaf, createLog, newKeyPair, sha256, type KeyPair } from '../../server/testing/lying-log.ts'
import { later, openLyingService } from '../../server/testing/lying-service.ts'

const payload = 'Pay 10 € to Bob'
const resolvedAt = '2030-01-01T12:00:00.000Z'
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const presence = base64(sha256(Buffer.from('an assertion')))

/** A service of which the log is honest, and an app that trusts the log. The test decides what was signed. */
async function begin(t: TestContext, changes: Partial<TrustSettings> = {}) {
  const log = createLog()
  const people = [0, 1, 2].map(() => ({ identityId: randomUUID(), memberId: randomUUID(), pair: newKeyPair() }))
  const [ada, bob, cyd] = people
  assert.ok(ada && bob && cyd)
  for (const { identityId, pair } of people) addLeaf(log, identityId, pair, { event: 'created' })
  const service = await openLyingService(t, log, () => ada.pair.publicKey)
  const trust: TrustSettings = { log: log.trusted, store: createMemoryTrustStore(), ...changes }
  const app = createCountersign({ ...service.settings, trust })
  const answerWith = (fields: object) => {
    service.answers.status = (requestId) => ({
      body: { requestId, status: 'signed', expiresAt: later(), resolvedAt, ...fields },
    })
  }
  return { log, ada, bob, cyd, service, trust, app, answerWith }
}

type Stated = { requestId: string; identityId: string; expiresAt: string; publicKey: string; issuer: string }

/** Builds a statement as the page does. */
function statementOf({ requestId, identityId, expiresAt, publicKey, issuer }: Stated, changes: JsonObject = {}) {
  return {
    ...{ version: 2, issuer, requestId, identityId, handle: 'ada', role: 'self', organization: null },
    app: { clientId: 'app_test', name: 'Paper Shop', origins: ['https://app.example'] },
    payloadSha256: base64(sha256(Buffer.from(payload))),
    ...{ publicKey, keyVersion: 1, challenge: Buffer.alloc(32, 7).toString('base64url') },
    ...{ createdAt: resolvedAt, challengedAt: resolvedAt, expiresAt },
    ...changes,
  }
}

/** Signs a statement; `by` null leaves the passkey out. */
function approve(pair: KeyPair, statement: JsonObject, digest: string | null = presence) {
  const bytes = digest === null ? undefined : Buffer.from(digest, 'base64')
  const signature = pair.sign(approvalMessage(statement, bytes))
  return { statement: writeCanonicalJson(statement), signature, ...(digest !== null && { presence: digest }) }
}

/** An approved request of Ada. `changed` signs another statement than the right one. */
async function requestOfAda(t: TestContext, changes: Partial<TrustSettings> = {}) {
  const { ada, app, answerWith, service, ...more } = await begin(t, changes)
  service.answers.opened = () => ({
    status: 201,
    body: { requestId: randomUUID(), publicKey: ada.pair.publicKey, expiresAt: '2040-01-01T12:00:00.000Z' },
  })
  const request = await app.createSigningRequest({ identityId: ada.identityId, payload })
  const issuer = service.settings.authUrl
  const signature = ada.pair.sign(payload)
  const signed = (approval?: object) =>
    answerWith({ signature, publicKey: ada.pair.publicKey, ...(approval && { approval }) })
  const stated = (changed: JsonObject = {}) => statementOf({ ...request, issuer }, changed)
  return { ...more, ada, app, service, request, signed, stated, wait: (by = app) => by.waitForSignature(request) }
}

/** The error of an app that refuses an outcome. That of an approval names the difference. */
function refusal(code: string) {
  const isDifference = /^(other_|out_of_time|no_presence|malformed_approval)/.test(code)
  return isDifference
    ? { name: 'CountersignError', code: 'invalid_approval', description: new RegExp(`: ${code}\\.$`) }
    : { name: 'CountersignError', code }
}

test('TRU-19 a signature with the approval of this request is accepted, and the outcome contains both', async (t) => {
  const { ada, signed, stated, wait } = await requestOfAda(t)
  const approval = approve(ada.pair, stated())
  signed(approval)
  const outcome = await wait()
  assert.ok(outcome.status === 'signed')
  assert.deepEqual(outcome.approval, approval)
})

test('TRU-19 a signature without an approval is refused, unless the app accepts that', async (t) => {
  const { signed, wait, service, trust } = await requestOfAda(t)
  signed()
  await assert.rejects(wait(), { name: 'CountersignError', code: 'no_approval' })
  const lenient = createCountersign({ ...service.settings, trust: { ...trust, approvals: 'any' } })
  assert.equal((await wait(lenient)).status, 'signed')
})

test('TRU-19 an approval of something else is refused, also where none is required', async (t) => {
  const { ada, signed, stated, wait, service, trust, bob } = await requestOfAda(t)
  const lenient = createCountersign({ ...service.settings, trust: { ...trust, approvals: 'any' } })
  const other = randomUUID()
  const organization = { id: other, name: 'Acme', memberId: other, approvalsNeeded: 0 }
  const lies: [string, object][] = [
    ['other_request', approve(ada.pair, stated({ requestId: other }))],
    ['other_app', approve(ada.pair, stated({ app: { clientId: 'app_other', name: 'Paper Shop', origins: [] } }))],
    ['other_identity', approve(ada.pair, stated({ identityId: other }))],
    ['other_issuer', approve(ada.pair, stated({ issuer: 'https://id.example' }))],
    ['other_role', approve(ada.pair, stated({ role: 'sign', organization }))],
    ['other_text', approve(ada.pair, stated({ payloadSha256: base64(sha256(Buffer.from('Pay 1,000 €'))) }))],
    ['other_key', approve(ada.pair, stated({ keyVersion: 2 }))],
    ['other_expiry', approve(ada.pair, stated({ expiresAt: '2040-01-01T13:00:00.000Z' }))],
    ['out_of_time', approve(ada.pair, stated({ challengedAt: '2040-01-01T12:00:00.000Z' }))],
    ['no_presence', approve(ada.pair, stated(), null)],
    ['invalid_approval', approve(bob.pair, stated())],
    ['invalid_approval', { ...approve(ada.pair, stated()), presence: base64(sha256(Buffer.from('another'))) }],
    ['invalid_approval', { ...approve(ada.pair, stated()), signature: ada.pair.sign(payload) }],
    ['malformed_approval', { ...approve(ada.pair, stated()), statement: JSON.stringify(stated()) }],
    ['unexpected_response', { statement: 1, signature: 'none' }],
    ['unexpected_response', { ...approve(ada.pair, stated()), presence: null }],
  ]
  for (const [code, approval] of lies) {
    signed(approval)
    for (const app of [undefined, lenient]) await assert.rejects(wait(app), refusal(code))
  }
})

test('TRU-19 a request that was created without trust is proved when it is awaited', async (t) => {
  const { ada, signed, stated, service, trust, request, log } = await requestOfAda(t)
  const { keyVersion, ...stored } = request
  assert.equal(keyVersion, 1)
  const app = createCountersign({ ...service.settings, trust })
  signed(approve(ada.pair, stated()))
  assert.equal((await app.waitForSignature(stored)).status, 'signed')
  addLeaf(log, ada.identityId, newKeyPair(), { event: 'rotated', linkedBy: ada.pair })
  await assert.rejects(app.waitForSignature(stored), { code: 'key_not_proved' }, 'replaced before it signed')
  assert.equal((await app.waitForSignature(request)).status, 'signed', 'this key was proved at the request')
})

/** Half an hour after the signature: a request lives for an hour at most. */
const expiresAt = '2030-01-01T12:30:00.000Z'
const afterSigning = '2030-01-01T12:20:00.000Z'

test('TRU-19 a request that was created without trust is proved by the key in force when it was signed', async (t) => {
  const { ada, app, answerWith, service, log } = await begin(t)
  const of = async (signer: KeyPair, version: number, expiry = expiresAt) => {
    const request = { requestId: randomUUID(), identityId: ada.identityId, payload, expiresAt: expiry, signingUrl: '' }
    const { publicKey } = signer
    const stated = { ...request, publicKey, issuer: service.settings.authUrl }
    const approval = approve(signer, statementOf(stated, { keyVersion: version }))
    answerWith({ signature: signer.sign(payload), publicKey, approval })
    return app.waitForSignature({ ...request, publicKey })
  }
  const next = newKeyPair()
  addLeaf(log, ada.identityId, next, { event: 'rotated', linkedBy: ada.pair, at: afterSigning })
  assert.equal((await of(ada.pair, 1)).status, 'signed')
  await assert.rejects(of(next, 2), { code: 'key_not_proved' }, 'not in force yet')
  await assert.rejects(of(newKeyPair(), 1), { code: 'key_not_proved' })
  const muchLater = '2030-02-01T12:30:00.000Z'
  await assert.rejects(of(ada.pair, 1, muchLater), { code: 'key_not_proved' }, 'the service names an earlier time')
})

/** A request to an organization that Ada has signed and Bob has approved. */
async function requestOfOrganization(t: TestContext, expiry = '2040-01-01T12:00:00.000Z') {
  const { ada, bob, cyd, app, answerWith, service, log } = await begin(t)
  const organizationId = randomUUID()
  const organization = { id: organizationId, name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 1 }
  const opened = () => ({ requestId: randomUUID(), expiresAt: expiry, organization })
  service.answers.opened = () => ({ status: 201, body: opened() })
  const request = await app.createOrganizationRequest({ organizationId, payload })
  const issuer = service.settings.authUrl
  const of = ({ identityId, memberId, pair }: typeof ada, role: string, changes: JsonObject = {}) => {
    const context = { id: organizationId, name: 'Acme', memberId, approvalsNeeded: 1 }
    const stated = { ...request, identityId, publicKey: pair.publicKey, issuer }
    const statement = statementOf(stated, { role, organization: context, ...changes })
    const signature = { identityId, memberId, role, publicKey: pair.publicKey, signature: pair.sign(payload) }
    return { ...signature, at: resolvedAt, approval: approve(pair, statement) }
  }
  const wait = (signatures: object[]) => {
    answerWith({ signatures, organization: { ...organization, isSigned: true, approvals: 1 } })
    return app.waitForOrganizationSignature(request)
  }
  return { ada, bob, cyd, of, wait, log, organizationId }
}

test('TRU-20 the keys of all members are proved, and each has approved this request in this role', async (t) => {
  const { ada, bob, of, wait } = await requestOfOrganization(t)
  const outcome = await wait([of(ada, 'sign'), of(bob, 'approve')])
  assert.ok(outcome.status === 'signed' && outcome.signatures.every(({ approval }) => approval))
})

test('TRU-20 members whom the service invents, or with other keys or approvals, are refused', async (t) => {
  const { ada, bob, cyd, of, wait, log, organizationId } = await requestOfOrganization(t)
  const signed = of(ada, 'sign')
  const { approval: _, ...alone } = of(bob, 'approve')
  const invented = { identityId: randomUUID(), memberId: randomUUID(), pair: newKeyPair() }
  const context = { id: organizationId, name: 'Acme', memberId: bob.memberId, approvalsNeeded: 1 }
  const lies: [string, object][] = [
    ['key_not_proved', of(invented, 'approve')],
    ['key_not_proved', of({ ...bob, pair: newKeyPair() }, 'approve')],
    ['key_not_proved', of({ ...bob, pair: cyd.pair }, 'approve')],
    ['no_approval', alone],
    ['other_role', { ...alone, approval: of(bob, 'sign').approval }],
    ['other_organization', of(bob, 'approve', { organization: { ...context, approvalsNeeded: 0 } })],
    ['other_organization', of(bob, 'approve', { organization: { ...context, memberId: randomUUID() } })],
    ['other_organization', of(bob, 'approve', { organization: { ...context, id: randomUUID() } })],
    ['other_expiry', of(bob, 'approve', { expiresAt: '2041-01-01T12:00:00.000Z' })],
    ['invalid_approval', { ...alone, approval: of(cyd, 'approve').approval }],
  ]
  for (const [code, second] of lies) await assert.rejects(wait([signed, second]), refusal(code))
  addLeaf(log, bob.identityId, newKeyPair(), { event: 'rotated', linkedBy: bob.pair })
  await assert.rejects(wait([signed, of(bob, 'approve')]), { code: 'key_not_proved' })
})

test('TRU-20 a member may replace the key after signing, also to one that nobody has proved', async (t) => {
  const { ada, bob, of, wait, log } = await requestOfOrganization(t, expiresAt)
  const next = newKeyPair()
  addLeaf(log, ada.identityId, newKeyPair(), { event: 'rotated', linkedBy: ada.pair, at: afterSigning })
  addLeaf(log, bob.identityId, next, { event: 'rotated', provedBy: null, at: afterSigning })
  assert.equal((await wait([of(ada, 'sign'), of(bob, 'approve')])).status, 'signed')
  const later = of({ ...bob, pair: next }, 'approve', { keyVersion: 2 })
  await assert.rejects(wait([of(ada, 'sign'), later]), { code: 'key_not_proved' })
})

test('TRU-20 the key of a member is refused without proofs, also if the next one has them', async (t) => {
  const { ada, cyd, of, wait, log } = await requestOfOrganization(t, expiresAt)
  const dan = { identityId: randomUUID(), memberId: randomUUID(), pair: newKeyPair() }
  addLeaf(log, dan.identityId, dan.pair, { event: 'created', provedBy: null })
  assert.equal((await wait([of(ada, 'sign'), of(cyd, 'approve')])).status, 'signed')
  addLeaf(log, dan.identityId, newKeyPair(), { event: 'rotated', linkedBy: dan.pair, at: afterSigning })
  await assert.rejects(wait([of(ada, 'sign'), of(dan, 'approve')]), { code: 'key_not_proved' })
})
