import assert from 'node:assert/strict'
import { createPublicKey, hash } from 'node:crypto'
import { test } from 'node:test'
import { actChallenge, actMessage, detailsDigest, secretCommitment } from '../../../formats/acts/act.ts'
import { approvalMessage, presenceDigest } from '../../../formats/signing/approval.ts'
import { writeCanonicalJson } from '../../../formats/signing/canonical-json.ts'
import { nodeSuite } from '../../receipt-verification.ts'
import { parseActStatement } from '../statements.ts'
import { createTrailVerifier, isActSigned, type TrailRecord } from '../trail-verification.ts'
import * as acting from './acting.ts'
import { vector } from './vector.ts'

const { append, at, approveAct, bytes, proposed, propose, signAct, verify } = acting
const { sha256 } = nodeSuite
const { act, entry, salt, proposal, proposedActs, proposedEntry } = vector
const given: TrailRecord[] = [
  { entry, details: vector.details, salt, acts: [act] },
  { entry: proposedEntry, details: vector.details, salt, acts: proposedActs, proposal },
]
const statement = parseActStatement(act.statement)
assert.ok(statement)
const zeros = Buffer.alloc(32).toString('base64')
const demoted = { memberId: acting.bob, from: { role: 'admin' }, to: { role: 'viewer' } }
const joined = { action: 'organization.member.joined' }

/** A trail of an act, an event without a signature, and the next act, whose signer saw the first entry. */
const first = signAct({})
const second = (changes = {}) =>
  signAct({
    ...{ details: acting.digestOf(demoted), previousAct: acting.digestOfAct(first) },
    ...{ trail: { head: headAfter(1), sequence: 1 }, at: at(5), expiresAt: at(10), ...changes },
  })
const beginning = append(append([], { acts: [first] }), { details: { memberId: acting.ada } }, joined)
const trail = append(beginning, { acts: [second()], details: demoted }, { at: at(5) })

function headAfter(entries: number): string {
  const record = beginning[entries - 1]
  assert.ok(record)
  return acting.headOf(record)
}

test('a trail of another implementation is verified, and its bytes are computed again', () => {
  assert.equal(Buffer.from(actChallenge(sha256, statement)).toString('base64url'), vector.challenge)
  const { evidence } = vector
  const presence = presenceDigest(sha256, {
    publicKey: bytes(evidence.publicKey),
    authenticatorData: bytes(evidence.authenticatorData),
    clientDataJson: new TextEncoder().encode(evidence.clientDataJson),
    signature: bytes(evidence.signature),
  })
  assert.equal(Buffer.from(presence).toString('base64'), act.presence)
  assert.equal(hash('sha256', actMessage(statement, presence), 'base64'), vector.messageSha256)
  assert.deepEqual(signAct({ ...statement }), act)
  assert.equal(detailsDigest(sha256, vector.details, acting.salt), vector.detailsDigest)
  assert.equal(propose(JSON.parse(proposal)).digest, vector.proposalDigest)
  assert.deepEqual(given.map(acting.headOf), [vector.head, vector.proposedHead])
  assert.deepEqual(verify(given), { sequence: 2, head: vector.proposedHead })
})

test('ACT-41 megabytes in place of a salt, digest or signature are refused, and end no verifier', () => {
  const [one] = given
  assert.ok(one)
  const long = 'A'.repeat(9_000_000)
  assert.equal(verify([{ ...one, salt: long }]), 'other_details')
  for (const bent of [
    { ...act, presence: long },
    { ...act, signature: long },
  ]) {
    assert.equal(verify([{ ...one, acts: [bent] }]), 'other_acts')
    assert.equal(isActSigned(nodeSuite, bent, statement, vector.publicKeys.ada), false)
  }
})

test('the head of an entry without signatures is the one in the documentation', () => {
  const records = append([], {}, { action: 'organization.created', actor: 'user' })
  assert.deepEqual(verify(records), { sequence: 1, head: 'M/uxGvtCo9OooNla7Bw/5Fg0Mc/BtWNXyJT7+6DvnMc=' })
})

test('a verifier returns the statements of an entry, the one who did the act first', () => {
  const verifier = createTrailVerifier(nodeSuite, acting.expected)
  const [one, other] = given.map((record) => verifier.add(record))
  assert.ok(one && 'acts' in one && other && 'acts' in other)
  assert.deepEqual(one.acts, [statement])
  assert.deepEqual(
    other.acts.map(({ identityId, role }) => [identityId, role]),
    [
      [acting.ada, 'sign'],
      [acting.bob, 'approve'],
    ],
  )
  assert.equal(other.entry.sequence, 2)
})

test('ACT-01 an entry that is left out, moved or rewritten breaks the trail', () => {
  const [one, two, three] = trail
  assert.ok(one && two && three)
  assert.deepEqual(verify(trail), { sequence: 3, head: acting.headOf(three) })
  assert.equal(verify([one, three]), 'sequence_gap')
  assert.equal(verify([two, three]), 'sequence_gap')
  assert.equal(verify([one, one]), 'sequence_gap')
  assert.equal(verify([{ ...one, entry: one.entry.replace(at(3), at(4)) }, two]), 'broken_trail')
  const renumbered = two.entry.replace('"sequence":2', '"sequence":1')
  assert.equal(verify([{ ...two, entry: renumbered }]), 'malformed_entry')
})

test('ACT-02 a verifier that remembers a head notices a shorter trail, and one that was rewritten', () => {
  const remembered = { sequence: 2, head: headAfter(2) }
  assert.deepEqual(verify(trail, { remembered }), verify(trail))
  assert.equal(verify(trail.slice(0, 1), { remembered }), 'trail_cut')
  assert.equal(verify([], { remembered }), 'trail_cut')
  const other = append(append([], { acts: [first] }), { details: { memberId: acting.bob } }, joined)
  assert.equal(typeof verify(other), 'object')
  assert.equal(verify(other, { remembered }), 'trail_rewritten')
  assert.deepEqual(verify([]), { sequence: 0, head: null })
})

test('ACT-03 an act that was done before is not done again', () => {
  assert.equal(verify(append(trail, { acts: [first] })), 'act_replayed')
  const again = signAct({ nonce: JSON.parse(first.statement).nonce, previousAct: acting.digestOfAct(first) })
  assert.equal(verify(append(append([], { acts: [first] }), { acts: [again] })), 'act_replayed')
  // Also the same nonce twice within one entry.
  const { nonce } = JSON.parse(first.statement)
  assert.equal(verify(proposed({ act: { nonce }, approval: { nonce } })), 'act_replayed')
})

test('ACT-04 acts keep their order', () => {
  const inOrder = (previousAct: string | null) =>
    verify(append(beginning, { acts: [second({ previousAct })], details: demoted }, { at: at(5) }))
  assert.equal(inOrder(null), 'act_out_of_order')
  assert.equal(inOrder(zeros), 'act_out_of_order')
  assert.equal(typeof inOrder(acting.digestOfAct(first)), 'object')
})

test('ACT-05 a signer who saw another trail has not signed for this one', () => {
  const saw = (head: string | null, sequence: number) =>
    verify(append(beginning, { acts: [second({ trail: { head, sequence } })], details: demoted }, { at: at(5) }))
  assert.equal(saw(zeros, 2), 'other_trail')
  assert.equal(saw(headAfter(1), 2), 'other_trail')
  assert.equal(saw(headAfter(2), 3), 'other_trail')
  assert.equal(typeof saw(headAfter(2), 2), 'object')
  assert.equal(typeof saw(null, 0), 'object')
})

test('ACT-06 what was done is what was signed: the action, its details, organization and service', () => {
  const done = { details: acting.digestOf(demoted) }
  assert.equal(verify(append([], { acts: [first], details: demoted })), 'executed_other')
  assert.equal(verify(append([], { acts: [signAct(done)] })), 'executed_other')
  const otherAct = [{ action: 'organization.deleted' }, { organizationId: acting.ada }]
  for (const changes of otherAct) assert.equal(verify(append([], { acts: [signAct(changes)] })), 'other_act')
  const issuer = 'https://auth.example.org'
  assert.equal(verify(append([], { acts: [signAct({ issuer })] })), 'other_issuer')
  assert.equal(verify(trail, { issuer }), 'other_issuer')
  assert.equal(verify(trail, { organizationId: acting.ada }), 'other_organization')
})

test('ACT-07 details that were exchanged are noticed, and erased ones break nothing', () => {
  const [one, ...others] = trail
  assert.ok(one)
  const { details: _details, salt: _salt, ...erased } = one
  assert.deepEqual(verify([erased, ...others]), verify(trail))
  assert.equal(verify([{ ...one, details: demoted }]), 'other_details')
  assert.equal(verify([{ ...erased, details: vector.details }]), 'other_details')
  assert.equal(verify([{ ...erased, salt }]), 'other_details')
  for (const other of [zeros, '', 'AAAA', `${salt}=`])
    assert.equal(verify([{ ...one, salt: other }]), 'other_details', other)
  const longSalt = Buffer.alloc(17)
  const withLongSalt = append([], { acts: [] }, { details: detailsDigest(sha256, vector.details, longSalt) })
  assert.equal(verify(withLongSalt.map((each) => ({ ...each, salt: longSalt.toString('base64') }))), 'other_details')
  assert.equal(verify([{ ...one, details: { half: '\uD800', number: 0.5 } }]), 'other_details')
})

test('ACT-08 nothing but the signature of an act, with its passkey and a key of the log, is one', () => {
  const alone = (signed: typeof act) => verify(append([], { acts: [signed] }))
  assert.equal(typeof alone(first), 'object')
  const asApproval = signAct({}, { message: approvalMessage })
  assert.equal(alone(asApproval), 'invalid_act')
  const asText = signAct({}, { message: (stated) => new TextEncoder().encode(writeCanonicalJson(stated)) })
  assert.equal(alone(asText), 'invalid_act')
  assert.equal(alone(signAct({}, { key: acting.keys.bob })), 'invalid_act')
  assert.equal(alone({ ...first, presence: vector.head }), 'invalid_act')
  // Zeros are what an approval without a passkey signs.
  const withoutPasskey = signAct({}, { message: (stated) => actMessage(stated, new Uint8Array(32)) })
  assert.equal(alone({ ...withoutPasskey, presence: zeros }), 'invalid_act')
  assert.equal(alone(signAct({ keyVersion: 1 })), 'unknown_key')
  assert.equal(alone(signAct({ identityId: acting.organizationId })), 'unknown_key')
  const replacedAt = (instant: string) => ({
    publicKeyOf: (identityId: string, keyVersion: number, signedAt: string) =>
      signedAt < instant ? acting.expected.publicKeyOf(identityId, keyVersion, signedAt) : undefined,
  })
  assert.equal(verify(append([], { acts: [first] }), replacedAt(at(3))), 'unknown_key')
  assert.equal(typeof verify(append([], { acts: [first] }), replacedAt(at(4))), 'object')
  const publicKey = createPublicKey(acting.keys.ada).export({ format: 'jwk' }).x ?? ''
  assert.equal(isActSigned(nodeSuite, act, statement, publicKey), false)
})

test('ACT-09 a signature that is left out, added or exchanged is noticed', () => {
  const [, both] = given
  assert.ok(both)
  const [one, other] = both.acts
  assert.ok(one && other)
  for (const acts of [[], [one], [other], [other, one], [one, other, other]])
    assert.equal(verify([given[0], { ...both, acts }]), 'other_acts')
  const exchanged = { ...one, signature: other.signature }
  assert.equal(verify([given[0], { ...both, acts: [exchanged, other] }]), 'other_acts')
  for (const text of ['', 'AAAA', `${one.signature}=`]) {
    assert.equal(verify([given[0], { ...both, acts: [{ ...one, signature: text }, other] }]), 'other_acts')
    assert.equal(verify([given[0], { ...both, acts: [{ ...one, presence: text }, other] }]), 'other_acts')
  }
})

test('ACT-10 an approval counts for its proposal, once, and is no act', () => {
  assert.equal(typeof verify(proposed({})), 'object')
  const { proposal: text, digest } = propose()
  const approval = approveAct({ proposal: digest, at: at(2) })
  const own = signAct({ proposal: digest })
  assert.equal(verify(append([], { acts: [approval], proposal: text })), 'other_act')
  assert.equal(verify(append([], { acts: [own, signAct({ proposal: digest })], proposal: text })), 'other_act')
  const twice = [own, approval, approveAct({ proposal: digest, at: at(2) })]
  assert.equal(verify(append([], { acts: twice, proposal: text })), 'approved_twice')
  const byOneself = signAct({ role: 'approve', proposal: digest, at: at(2) })
  assert.equal(verify(append([], { acts: [own, byOneself], proposal: text })), 'approved_twice')
  // The approval of another proposal, of the same details.
  assert.equal(verify(append([], { acts: [own, approval], proposal: propose().proposal })), 'other_proposal')
  assert.equal(verify(proposed({ approval: { proposal: propose().digest } })), 'other_proposal')
  assert.equal(verify(proposed({ act: { proposal: propose().digest } })), 'other_proposal')
  assert.equal(verify(append([], { acts: [own, approval] })), 'other_proposal')
  assert.equal(verify(append([], { acts: [signAct({})], proposal: text })), 'other_proposal')
  assert.equal(verify(append([], { acts: [signAct({}), approval] })), 'other_proposal')
  assert.equal(verify(append([], { acts: [own] })), 'other_proposal')
  assert.equal(verify(append([], { acts: [own, approval], proposal: '{}' })), 'other_proposal')
  assert.equal(verify(append([], { proposal: text })), 'other_proposal')
})

test('ACT-11 a proposal is done by the member who made it, as it was proposed', () => {
  for (const proposal of [
    { identityId: acting.bob },
    { details: acting.digestOf(demoted) },
    { action: 'organization.deleted' },
    { organizationId: acting.ada },
    { issuer: 'https://auth.example.org' },
  ])
    assert.equal(verify(proposed({ proposal })), 'other_proposal')
  assert.equal(verify(proposed({ approval: { details: acting.digestOf(demoted) } })), 'executed_other')
})

test('ACT-12 an act is done within five minutes, and a proposal within seven days, the proposer last', () => {
  const doneAt = (minutes: number) => verify(append([], { acts: [first] }, { at: at(minutes) }))
  assert.equal(typeof doneAt(3), 'object')
  assert.equal(doneAt(2), 'out_of_time')
  assert.equal(doneAt(8), 'out_of_time')
  assert.equal(verify(append([], { acts: [signAct({ expiresAt: at(8.1) })] })), 'malformed_act')
  assert.equal(verify(proposed({ proposal: { expiresAt: at(7 * 24 * 60 + 2) } })), 'other_proposal')
  assert.equal(verify(proposed({ approval: { at: at(-1) } })), 'malformed_act')
  assert.equal(verify(proposed({ approval: { at: at(0) } })), 'out_of_time')
  // The approval after the act, and an act that outlives the proposal.
  assert.equal(verify(proposed({ act: { at: at(2.5), expiresAt: at(7) }, approval: { at: at(2.7) } })), 'out_of_time')
  assert.equal(
    verify(proposed({ proposal: { expiresAt: at(6) }, approval: { expiresAt: at(6) }, act: { expiresAt: at(7) } })),
    'out_of_time',
  )
  assert.equal(verify(proposed({ approval: { expiresAt: at(3) } })), 'out_of_time')
})

test('ACT-13 statements, proposals and entries have one spelling, all of their fields and no others', () => {
  const [one] = trail
  assert.ok(one)
  const wrongStatements = [
    first.statement.replace('{', '{ '),
    ...['', 'null', '[]', '{}', '{"version":2'],
    ...[
      { note: '' },
      { version: 1 },
      { at: '2030-01-01T12:03:00Z' },
      { at: at(9) },
      { nonce: 'AAAA' },
      { nonce: 'B'.repeat(43) },
      { previousAct: '' },
      { previousAct: 'B'.repeat(43) + '=' },
      { trail: { head: null, sequence: 1 } },
      { trail: { head: zeros, sequence: 0 } },
      { trail: { head: zeros, sequence: -1 } },
      { role: 'approve' },
      { role: 'approve', proposal: zeros, previousAct: zeros },
      { role: 'self' },
    ].map((changes) => signAct(changes).statement),
  ]
  for (const text of wrongStatements)
    assert.equal(verify(append([], { acts: [{ ...first, statement: text }] })), 'malformed_act', text)
  const wrongEntries = [
    one.entry.replace('{', '{ '),
    ...['', 'null', '[]', '{}'],
    ...[
      { note: '' },
      { version: 1 },
      { at: '2029-12-31T24:00:00.000Z' },
      { previous: zeros },
      { actor: 'operator' },
    ].map((changes) => append([], { acts: [first] }, changes)[0]?.entry ?? ''),
  ]
  for (const text of wrongEntries) assert.equal(verify([{ ...one, entry: text }]), 'malformed_entry', text)
  for (const record of [undefined, null, [], {}, { ...one, note: '' }, { ...one, acts: [null] }, { ...one, acts: {} }])
    assert.equal(verify([record]), 'malformed_entry')
})

test('a verifier that found an error accepts no further record', () => {
  const verifier = createTrailVerifier(nodeSuite, acting.expected)
  assert.deepEqual(verifier.add(undefined), { flaw: 'malformed_entry' })
  assert.deepEqual(verifier.add(given[0]), { flaw: 'malformed_entry' })
  assert.deepEqual(verifier.finish(), { flaw: 'malformed_entry' })
})

test('ACT-14 the commitment of a secret tells neither it nor another secret', () => {
  assert.equal(secretCommitment(sha256, 's3cret', acting.salt), vector.secretCommitment)
  assert.notEqual(secretCommitment(sha256, 's3cres', acting.salt), vector.secretCommitment)
  assert.notEqual(secretCommitment(sha256, 's3cret', new Uint8Array(16)), vector.secretCommitment)
  assert.throws(() => secretCommitment(sha256, '\uD800', acting.salt), RangeError)
})
