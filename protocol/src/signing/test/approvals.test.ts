import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, hash, sign } from 'node:crypto'
import { test } from 'node:test'
import { fromCanonicalBase64 } from '../../formats/base64.ts'
import { approvalChallenge, approvalMessage, presenceDigest } from '../../formats/signing/approval.ts'
import { type JsonObject, writeCanonicalJson } from '../../formats/signing/canonical-json.ts'
import { nodeSuite } from '../receipt-verification.ts'
import { findApprovalError, parseApprovalStatement, type Approval, type ExpectedApproval } from '../approvals.ts'

const { sha256 } = nodeSuite

/** Values that another implementation of the formats computed (with `node:crypto`, from its own JSON and frames). */
const vector = {
  statement: writeCanonicalJson({
    app: {
      clientId: 'app_7Q2Xv',
      name: 'Payroll',
      origins: ['https://payroll.example.org'],
    },
    challenge: 'Skw_YRuzXC4HEhN8sQuWeh3YrfNiq_zck3P1ug9OHhA',
    challengedAt: '2030-01-01T12:05:00.000Z',
    createdAt: '2030-01-01T12:04:00.000Z',
    expiresAt: '2030-01-01T12:09:00.000Z',
    handle: 'ada',
    identityId: '01934c2e-7a00-7abc-8def-0123456789ab',
    issuer: 'https://auth.example.com',
    keyVersion: 2,
    organization: null,
    payloadSha256: 'btGl84DGyK7G9ZGgFdPQUnaUKpTlywfS87+y7v+v+PE=',
    publicKey: '8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw=',
    requestId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    role: 'self',
    version: 2,
  }),
  challenge: '7icvc7r8NuwRuEwicTXv2Jk5azzqgDtMDOguExKEXuU',
  evidence: {
    publicKey: 'MCowBQYDK2VwAyEA2HvK+eeT+sXRa1b2ObEzgDjq1J43BBF3MubzbvWy84Q=',
    authenticatorData: 'o3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUcdAAAAAA==',
    clientDataJson: JSON.stringify({
      type: 'webauthn.get',
      challenge: '7icvc7r8NuwRuEwicTXv2Jk5azzqgDtMDOguExKEXuU',
      origin: 'https://auth.example.com',
      crossOrigin: false,
    }),
    signature: 'tZa/5orB4C6kc7ilBLm5ucUdsm9Jq4NFMYfD5CuLNS3TYJx4UWic64lo4y7Tkp/E/7uI+e7KOOtEK8604jNZDA==',
  },
  presence: 'cIdfdzS0kXwqX0e1sjB7dKOZzgcZzBvpGxEw03aP5L8=',
  messageSha256: 'fdZbH5gjgfqABRN0i+c5H3LE60UPPlhYhNyC4NkHp3I=',
  signature: '/GiSoZm8DkcW5R57YA9VNoY/kh/IzT04aC76+oStDZLqUAw4U16YPyIrdnusN1rn1kSsatAtMSdTl/SIaGbWCA==',
  textSignature: 'LtnYQqeYKKqG8V1Sfadu0prD+QGslsYjp5v5JT7jszpaNvRRySjWBTtbvzmhdNtgwtKgAh3Th/hnzDiWATmRBQ==',
}
const statement = parseApprovalStatement(vector.statement)
assert.ok(statement)
const given: Approval = { statement: vector.statement, signature: vector.signature, presence: vector.presence }
const expected: ExpectedApproval = {
  requestId: statement.requestId,
  clientId: statement.app.clientId,
  identityId: statement.identityId,
  issuer: statement.issuer,
  role: 'self',
  payload: 'Pay 1,200.00 EUR to DE02 1203 0000 0000 2020 51',
  publicKey: statement.publicKey,
  keyVersion: 2,
  expiresAt: statement.expiresAt,
  requiresPresence: true,
}
const organization = { id: '01934c2e-7a00-7abc-8def-00000000ac3e', approvalsNeeded: 1 }

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410 §7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const seed = hash('sha256', 'countersign trust v2 vector: ada 2', 'buffer')
const ownKey = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' })

function bytes(base64: string): Uint8Array {
  const decoded = fromCanonicalBase64(base64)
  assert.ok(decoded)
  return decoded
}

/** Signs the statement of the vector, with changes. */
function approve(changes: JsonObject, { presence = vector.presence, key = ownKey } = {}): Approval {
  const changed: JsonObject = { ...statement, ...changes }
  const signature = sign(null, approvalMessage(changed, bytes(presence)), key).toString('base64')
  return { statement: writeCanonicalJson(changed), signature, presence }
}

const errorOf = (approval: Approval, changes: Partial<ExpectedApproval> = {}) =>
  findApprovalError(nodeSuite, approval, { ...expected, ...changes })

test('an approval of another implementation is verified, and its bytes are computed again', () => {
  const { evidence, presence } = vector
  assert.equal(Buffer.from(approvalChallenge(sha256, statement)).toString('base64url'), vector.challenge)
  const digest = presenceDigest(sha256, {
    publicKey: bytes(evidence.publicKey),
    authenticatorData: bytes(evidence.authenticatorData),
    clientDataJson: new TextEncoder().encode(evidence.clientDataJson),
    signature: bytes(evidence.signature),
  })
  assert.equal(Buffer.from(digest).toString('base64'), presence)
  assert.equal(hash('sha256', approvalMessage(statement, digest), 'base64'), vector.messageSha256)
  assert.equal(approve({}).signature, vector.signature)
  assert.equal(errorOf(given), undefined)
})

test('SGN-10 an approval counts for its request, app, identity, role, organization and text alone', () => {
  assert.equal(errorOf(given, { requestId: organization.id }), 'other_request')
  assert.equal(errorOf(given, { clientId: 'app_other' }), 'other_app')
  assert.equal(errorOf(given, { identityId: organization.id }), 'other_identity')
  assert.equal(errorOf(given, { handle: 'mallory' }), 'other_handle')
  assert.equal(errorOf(given, { issuer: 'https://auth.example.org' }), 'other_issuer')
  assert.equal(errorOf(given, { organization }), 'other_organization')
  assert.equal(errorOf(given, { payload: `${expected.payload} ` }), 'other_text')
  assert.equal(errorOf(given, { keyVersion: 1 }), 'other_key')
  assert.equal(errorOf(given, { expiresAt: '2030-01-01T13:00:00.000Z' }), 'other_expiry')
  const asMember = (role: 'sign' | 'approve') =>
    approve({ role, organization: { ...organization, name: 'Acme', memberId: organization.id } })
  assert.equal(errorOf(asMember('sign'), { role: 'sign', organization }), undefined)
  assert.equal(errorOf(asMember('approve'), { role: 'sign', organization }), 'other_role')
  assert.equal(errorOf(asMember('sign')), 'other_role')
  const anotherMember = { ...organization, memberId: statement.identityId }
  assert.equal(errorOf(asMember('sign'), { role: 'sign', organization: anotherMember }), 'other_organization')
  const weaker = { ...organization, approvalsNeeded: 2 }
  assert.equal(errorOf(asMember('sign'), { role: 'sign', organization: weaker }), 'other_organization')
})

test('SGN-11 neither the signature of a text nor one without its passkey is an approval', () => {
  assert.equal(errorOf({ ...given, signature: vector.textSignature }), 'invalid_approval')
  assert.equal(errorOf({ ...given, presence: undefined }), 'invalid_approval')
  const other = Buffer.alloc(32).toString('base64')
  assert.equal(errorOf({ ...given, presence: other }), 'invalid_approval')
  assert.equal(errorOf(approve({}, { key: generateKeyPairSync('ed25519').privateKey })), 'invalid_approval')
  const absent = { ...approve({}, { presence: other }), presence: undefined }
  assert.equal(errorOf({ ...absent, presence: other }), 'invalid_approval')
  assert.equal(errorOf(absent), 'no_presence')
  assert.equal(errorOf(absent, { requiresPresence: false }), undefined)
})

test('SGN-12 an approval is given between the creation of its request and its end', () => {
  assert.equal(errorOf(approve({ challengedAt: statement.expiresAt })), 'out_of_time')
  assert.equal(errorOf(approve({ challengedAt: '2030-01-01T12:03:59.999Z' })), 'out_of_time')
  assert.equal(errorOf(approve({ challengedAt: statement.createdAt })), undefined)
})

test('SGN-13 a statement has one spelling, all of its fields and no others', () => {
  const { handle: _, ...without } = statement
  const wrong: string[] = [
    vector.statement.replace('{', '{ '),
    vector.statement.replace('"version":2', '"version":1'),
    ...[without, { ...statement, note: '' }, { ...statement, role: 'sign' }].map(writeCanonicalJson),
    writeCanonicalJson({ ...statement, organization: { ...organization, name: 'Acme', memberId: organization.id } }),
    ...[
      '2030-01-01T12:04:00Z',
      '2029-12-31T24:00:00.000Z',
      '2029-99-99T99:99:99.999Z',
      '+010000-01-01T00:00:00.000Z',
    ].map((createdAt) => writeCanonicalJson({ ...statement, createdAt })),
    writeCanonicalJson({
      ...statement,
      app: { ...statement.app, origins: ['https://b.example', 'https://a.example'] },
    }),
    ...['', 'null', '[]', '{}', '{"version":2'],
  ]
  for (const text of wrong) assert.equal(errorOf({ ...given, statement: text }), 'malformed_approval', text)
})

test('an altered signature, key or digest that is no base64 is no approval, and throws nothing', () => {
  for (const text of ['', '!', 'AAAA', `${vector.signature}=`]) {
    assert.equal(errorOf({ ...given, signature: text }), 'invalid_approval')
    assert.equal(errorOf({ ...given, presence: text }), 'invalid_approval')
    assert.equal(errorOf(given, { publicKey: text }), 'invalid_approval')
  }
})
