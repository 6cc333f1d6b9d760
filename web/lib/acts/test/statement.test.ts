import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proposalDigest, statementDigest } from '@countersign/protocol/formats/acts/act'
import type { TrailPlace } from '@countersign/protocol/formats/acts/follow-trail'
import { type JsonObject, writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { readStated, type ShownAct, stateAct } from '../statement.ts'
import { at, issuer, organizationId, sha256, shown, stateFor } from './act-samples.ts'

const start: TrailPlace = { sequence: 0, head: null, lastAct: null }
const now = Date.parse(at(4))

/** What a page decides that shows an act, if the service states `text`. */
function decide(text: string, { act = shown, place = start, time = now } = {}) {
  const stated = readStated(text)
  if (!stated) return 'unread'
  const result = stateAct(issuer, act, { text, stated, place }, time)
  return 'differs' in result ? result.differs : 'signs'
}

test('ACT-70 a page signs the statement of what it shows', () => {
  assert.equal(decide(stateFor(shown)), 'signs')
  const lastAct = statementDigest(sha256, 'before')
  const place = { sequence: 4, head: statementDigest(sha256, 'head'), lastAct }
  const trail = { head: place.head, sequence: place.sequence }
  assert.equal(decide(stateFor(shown, { trail, previousAct: lastAct }), { place }), 'signs')
  const unknown = { ...place, lastAct: undefined }
  assert.equal(decide(stateFor(shown, { trail, previousAct: lastAct }), { place: unknown }), 'signs')
})

const digest = statementDigest(sha256, 'other')
const other = '01934c2e-7a00-7abc-8def-0123456789ff'
const lies: [string, JsonObject][] = [
  ['another action', { action: 'organization.deleted' }],
  ['other details', { details: digest }],
  ['another organization', { organizationId: other }],
  ['another identity', { identityId: other }],
  ['another service', { issuer: 'https://id.example.org' }],
  ['another role', { role: 'approve' }],
  ['a proposal', { proposal: digest }],
  ['an earlier act', { previousAct: digest }],
  ['another trail', { trail: { head: digest, sequence: 1 } }],
  ['a longer time', { expiresAt: at(9) }],
  ['no time', { expiresAt: at(3) }],
  ['another version', { version: 1 }],
  ['more than a verifier knows', { note: 'x' }],
]

test('ACT-70 if the service states anything else than the page shows, nothing is signed', () => {
  for (const [what, lie] of lies) assert.equal(decide(stateFor(shown, lie)), 'statement', what)
  const malformed: JsonObject[] = [{ nonce: 'short' }, { at: '2030-01-01' }, { keyVersion: 0 }, { trail: null }]
  for (const lie of malformed) assert.equal(decide(stateFor(shown, lie)), 'unread')
  assert.equal(decide(` ${stateFor(shown)}`), 'unread', 'another spelling')
  const elsewhere = { ...shown, details: { ...shown.details, organizationId: other } }
  assert.equal(decide(stateFor(elsewhere), { act: elsewhere }), 'statement', 'details of another organization')
  const unsalted = { ...shown, salt: '' }
  assert.equal(decide(stateFor(unsalted), { act: unsalted }), 'statement', 'no salt')
})

test('ACT-70 a device whose clock differs by more than ten minutes signs nothing', () => {
  for (const minutes of [-8, 14]) assert.equal(decide(stateFor(shown), { time: Date.parse(at(minutes)) }), 'clock')
})

/** A proposal of an act, by this identity. */
function propose(act: ShownAct, identityId: string, changes: JsonObject = {}) {
  const proposal: JsonObject = {
    ...{ version: 2, issuer, organizationId, identityId, action: act.action },
    ...{ details: JSON.parse(stateFor(act)).details, nonce: 'n', createdAt: at(1), expiresAt: at(100), ...changes },
  }
  return { text: writeCanonicalJson(proposal), digest: proposalDigest(sha256, proposal) }
}

test('ACT-70 an approval is of the proposal that is shown, and a member does only what they have proposed', () => {
  const theirs = propose(shown, other)
  const approving: ShownAct = { ...shown, role: 'approve', proposal: theirs.text }
  const long = { expiresAt: at(100) }
  const approval = (changes: JsonObject = {}) => stateFor(approving, { proposal: theirs.digest, ...long, ...changes })
  assert.equal(decide(approval(), { act: approving }), 'signs')
  assert.equal(decide(approval({ proposal: digest }), { act: approving }), 'statement', 'another proposal')
  assert.equal(decide(approval({ previousAct: digest }), { act: approving }), 'statement', 'an order')
  const without = { ...approving, proposal: null }
  assert.equal(decide(approval({ proposal: null }), { act: without }), 'statement', 'no proposal')
  for (const changes of [{ action: 'organization.deleted' }, { details: digest }, { organizationId: other }]) {
    const lie = propose(shown, other, changes)
    const act = { ...approving, proposal: lie.text }
    assert.equal(decide(approval({ proposal: lie.digest }), { act }), 'statement', Object.keys(changes).join())
  }
  const own = propose(shown, shown.identityId)
  const doing: ShownAct = { ...shown, proposal: own.text }
  assert.equal(decide(stateFor(doing, { proposal: own.digest }), { act: doing }), 'signs')
  const stolen: ShownAct = { ...shown, proposal: theirs.text }
  assert.equal(decide(stateFor(stolen, { proposal: theirs.digest }), { act: stolen }), 'statement')
})
