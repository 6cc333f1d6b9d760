import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import { hashOf, testKey, type TestKey } from '../../signing/test/key-chain.ts'
import type { AnsweredRecord } from '../answers.ts'
import { checkSelf, findContradictionWithoutLog } from '../check.ts'
import type { SelfRecord } from '../record.ts'
import {
  accepted,
  answersOf,
  check,
  codeOf,
  fakeLog,
  identityId,
  leafAt,
  named,
  noteOf,
  now,
  otherIdentityId,
  promiseFor,
  verifierKey,
} from './fake-service.ts'

const [first, second, third, thief] = ['ada 1', 'ada 2', 'ada 3', 'thief'].map(testKey)
assert.ok(first && second && third && thief)

const leaf1 = leafAt(1, first, { proofs: { possession: first } })
const leaf2 = leafAt(2, second, { before: leaf1, proofs: { link: first, possession: second } })
const foreign2 = leafAt(2, thief, { before: leaf1, proofs: { possession: thief } })
const unproved1 = leafAt(1, first)

/** The record that a registration stores: the key is made, and not yet in the log. */
const registered: SelfRecord = {
  version: 1,
  sequence: 1,
  log: null,
  identities: {
    [identityId]: {
      head: null,
      leaves: 0,
      pending: [{ publicKey: first.publicKey, since: '2030-01-01T01:00:00.000Z', promised: null }],
    },
  },
}
const [log1, log2] = [fakeLog(leaf1), fakeLog(leaf1, leaf2)]
const owned = accepted(answersOf(log1, { keys: [named(first)] }), { record: registered })
const rotated = accepted(answersOf(log2, { from: [log1], keys: [named(second)] }), owned)

test('SLF-01 a key that the master key does not open alarms, in the log or named by the service alone', () => {
  const inLog = fakeLog(leaf1, foreign2)
  assert.equal(codeOf(check(answersOf(inLog, { from: [log1], keys: [named(thief, false)] }), owned)), 'foreign_key')
  assert.equal(codeOf(check(answersOf(inLog, { from: [log1], keys: [named(first)] }), owned)), 'foreign_key')
  assert.equal(codeOf(check(answersOf(log1, { keys: [named(thief, false)] }), owned)), 'foreign_key')
  assert.equal(codeOf(check(answersOf(fakeLog(unproved1), { keys: [named(first, false)] }))), 'foreign_key')
  const { evidence } = alarmOf(check(answersOf(inLog, { from: [log1], keys: [named(thief, false)] }), owned))
  assert.equal(evidence.publicKey, thief.publicKey)
  assert.equal(evidence.leaves.length, 2)
})

test('SLF-01 a foreign key between two own ones alarms', () => {
  const last = leafAt(3, second, { before: foreign2, proofs: { possession: second } })
  const served = fakeLog(leaf1, foreign2, last)
  assert.equal(codeOf(check(answersOf(served, { from: [log1], keys: [named(second)] }), owned)), 'foreign_key')
})

test('SLF-01 a first key that the service invents for an identity without one alarms', () => {
  const keyless = { ...registered, identities: { ...registered.identities, [otherIdentityId]: noKey } }
  const invented = leafAt(2, thief, { of: otherIdentityId, proofs: { possession: thief } })
  const served = fakeLog(leaf1, invented)
  const answers = answersOf(served, { keys: [named(first)], identityIds: [identityId, otherIdentityId] })
  assert.equal(codeOf(check(answers, { record: keyless })), 'foreign_key')
  assert.equal(alarmOf(check(answers, { record: keyless })).identityId, otherIdentityId)
})
const noKey = { head: null, leaves: 0, pending: [] }

test('SLF-01 a key after a recovery that the user has not made alarms, whatever key the service then names', () => {
  const foreign = leafAt(2, thief, { before: leaf1, event: 'recovered', proofs: { possession: thief } })
  const served = fakeLog(leaf1, foreign)
  for (const key of [named(thief, false), named(first)]) {
    const answers = answersOf(served, { from: [log1], keys: [key] })
    assert.equal(codeOf(check(answers, owned)), 'foreign_key')
    assert.equal(alarmOf(check(answers, owned)).evidence.publicKey, thief.publicKey)
  }
})

test('SLF-01 a former key that comes into force again alarms, though the user has made it', () => {
  const back = leafAt(3, first, { before: leaf2, proofs: { possession: first } })
  const answers = answersOf(fakeLog(leaf1, leaf2, back), { from: [log2], keys: [named(first)] })
  assert.equal(codeOf(check(answers, rotated)), 'key_used_before')
})

test('SLF-01 a foreign key and a withheld record alarm without the log', () => {
  const record = { kind: 'record', record: owned.record } as const
  const of = (answered: AnsweredRecord, key: TestKey, isOwn: boolean) =>
    findContradictionWithoutLog({ answered, memory: owned.memory, keys: [named(key, isOwn)], now })?.code
  assert.equal(of(record, first, true), undefined)
  assert.equal(of(record, first, false), undefined)
  assert.equal(of(record, thief, false), 'foreign_key')
  assert.equal(of({ kind: 'absent' }, first, true), 'record_missing')
  assert.equal(of({ kind: 'damaged' }, first, true), 'record_damaged')
})

test('SLF-02 a leaf that was seen and is not shown any more alarms, by the record and by the device', () => {
  const hidden = answersOf(log2, { from: [log1], keys: [named(first)] })
  const [history] = hidden.histories
  history?.pages[0]?.events.pop()
  assert.equal(codeOf(check(hidden, { record: rotated.record })), 'leaf_missing')
  const stale = { ...owned.record, sequence: rotated.memory.sequence }
  assert.equal(codeOf(check(hidden, { record: stale, memory: rotated.memory })), 'leaf_missing')
  const { evidence } = alarmOf(check(hidden, { record: rotated.record }))
  assert.deepEqual(evidence.remembered, { head: hashOf(leaf2), leaves: 2 })
})

test('SLF-02 an answer that leaves out an identity of the record alarms', () => {
  const answers = { ...answersOf(log1, { keys: [] }), histories: [], identityIds: [] }
  assert.equal(codeOf(check(answers, owned)), 'leaf_missing')
  // A new device knows of the identity from the record alone.
  assert.equal(codeOf(check(answers, { record: owned.record })), 'leaf_missing')
  // A device remembers an identity that its record lacks.
  const withoutIdentity = { ...owned.record, identities: {} }
  assert.equal(codeOf(check(answers, { record: withoutIdentity, memory: owned.memory })), 'leaf_missing')
})

test('SLF-03 a second chain of the identity alarms', () => {
  const other = leafAt(1, thief, { proofs: { possession: thief } })
  const served = fakeLog(leaf1, other)
  const answers = answersOf(served, { from: [log1], keys: [named(first)] })
  assert.equal(codeOf(check(answers, owned)), 'version_twice')
  answers.histories[0]?.pages[0]?.events.shift()
  assert.equal(codeOf(check(answers, owned)), 'history_rewritten')
})

test('SLF-04 a log of the same size with another root alarms, and both signed heads are evidence', () => {
  const forked = fakeLog(leaf1)
  forked.leaves[0] = 'another leaf'
  const { code, evidence } = alarmOf(check(answersOf(forked, { keys: [named(first)] }), owned))
  assert.equal(code, 'log_forked')
  assert.deepEqual(evidence.checkpoints, [noteOf(log1), noteOf(forked)])
})

test('SLF-04 a longer log that does not contain the known one alarms, with a false proof and without', () => {
  const forked = fakeLog(leaf1, leaf2)
  forked.leaves[0] = 'another leaf'
  const answers = answersOf(forked, { from: [log1], keys: [named(second)] })
  assert.equal(codeOf(check(answers, owned)), 'log_forked')
  assert.equal(codeOf(check({ ...answers, proofs: [] }, owned)), 'log_forked')
})

test('SLF-04 two answers of one check from different trees alarm', () => {
  const forked = fakeLog(leaf1)
  forked.leaves[0] = 'another leaf'
  const [one, other] = [answersOf(log1, { keys: [named(first)] }), answersOf(forked)]
  const second = other.histories.map((history) => ({ ...history, identityId: otherIdentityId }))
  const answers = { ...one, histories: [...one.histories, ...second] }
  assert.equal(codeOf(check(answers, { record: registered })), 'log_forked')
})

test('SLF-05 a log with fewer entries than before alarms', () => {
  const answers = answersOf(log1, { keys: [named(second)] })
  const proofs = answersOf(log2, { from: [log1] }).proofs
  assert.equal(codeOf(check({ ...answers, proofs }, rotated)), 'log_rolled_back')
})

test('SLF-06 a head that the remembered key of the log has not signed alarms', () => {
  const other = { ...log1, signer: thief }
  assert.equal(codeOf(check(answersOf(other, { keys: [named(first)] }), owned)), 'other_log_key')
  const answers = { ...answersOf(log1, { keys: [named(first)] }), logKey: 'no key' }
  assert.equal(codeOf(check(answers, { record: registered })), 'no_log_key')
})

test('SLF-07 a key that the log does not contain after a day alarms, with its promise as evidence', () => {
  const promised = promiseFor(leaf2, '2030-01-01T02:00:00.000Z')
  const pending = [{ publicKey: second.publicKey, since: '2030-01-01T02:00:00.000Z', promised }]
  const entry = owned.record.identities[identityId]
  assert.ok(entry)
  const record = { ...owned.record, identities: { [identityId]: { ...entry, pending } } }
  const answers = answersOf(log1, { keys: [named(second)] })
  const before = new Date('2030-01-02T01:59:59.999Z')
  assert.equal(codeOf(check(answers, { record, at: before })), 'ok')
  const due = new Date('2030-01-02T02:00:00.000Z')
  assert.equal(codeOf(check(answers, { record, at: due })), 'promise_overdue')
  assert.deepEqual(alarmOf(check(answers, { record, at: due })).evidence.promised, promised)
  const kept = answersOf(log2, { from: [log1], keys: [named(second)] })
  assert.equal(codeOf(check(kept, { record, at: due })), 'ok')
  const unsigned = [{ publicKey: second.publicKey, since: '2030-01-01T02:00:00.000Z', promised: null }]
  const unpromised = { ...record, identities: { [identityId]: { ...entry, pending: unsigned } } }
  assert.equal(codeOf(check(answers, { record: unpromised, at: due })), 'promise_overdue')
})

test('SLF-07 a promise that the key of the log has not signed alarms', () => {
  const promised = promiseFor(leaf1, '2030-01-01T02:00:00.000Z', thief)
  const identities = {
    [identityId]: {
      head: null,
      leaves: 0,
      pending: [{ publicKey: first.publicKey, since: '2030-01-01T02:00:00.000Z', promised }],
    },
  }
  const answers = answersOf(fakeLog(), { keys: [named(first)] })
  assert.equal(codeOf(check(answers, { record: { ...registered, identities } })), 'invalid_promise')
})

test('SLF-08 no record alarms where a key was proved, and on a device that has seen one', () => {
  const proved = answersOf(log1, { keys: [named(first)] })
  assert.equal(codeOf(check(proved)), 'record_missing')
  assert.equal(codeOf(check(proved, { memory: owned.memory })), 'record_missing')
})

test('SLF-09 an older record than the device has seen alarms', () => {
  const answers = answersOf(log2, { from: [log1], keys: [named(second)] })
  assert.equal(codeOf(check(answers, { record: owned.record, memory: rotated.memory })), 'record_replayed')
})

test('SLF-10 a record that does not open alarms, and one of a later version is not overwritten', () => {
  const answers = answersOf(log1, { keys: [named(first)] })
  const of = (kind: 'damaged' | 'newer') =>
    codeOf(checkSelf(nodeSuite, { answered: { kind }, memory: undefined, answers, now }))
  assert.equal(of('damaged'), 'record_damaged')
  assert.equal(of('newer'), 'newer_record')
})

test('SLF-11 a key that the record lacks and the master key opens is recorded', () => {
  assert.deepEqual(rotated.record.identities[identityId], { head: hashOf(leaf2), leaves: 2, pending: [] })
  const early = accepted(answersOf(log1, { keys: [named(second)] }), owned)
  const [pending] = early.record.identities[identityId]?.pending ?? []
  assert.deepEqual(pending, { publicKey: second.publicKey, since: now.toISOString(), promised: null })
  const twice = accepted(answersOf(log1, { keys: [named(third)] }), early)
  assert.equal(twice.record.identities[identityId]?.pending.length, 2)
  const leaf3 = leafAt(3, third, { before: leaf2, proofs: { link: second, possession: third } })
  const served = fakeLog(leaf1, leaf2, leaf3)
  const later = accepted(answersOf(served, { from: [log1], keys: [named(third)] }), twice)
  assert.deepEqual(later.record.identities[identityId], { head: hashOf(leaf3), leaves: 3, pending: [] })
})

test('SLF-11 a record made at a recovery continues the history from before, with the new key alone as its own', () => {
  const recovered2 = leafAt(2, second, { before: leaf1, event: 'recovered', proofs: { possession: second } })
  const served = fakeLog(leaf1, recovered2)
  const entry = { head: hashOf(leaf1), leaves: 1, pending: [] }
  const record: SelfRecord = { version: 1, sequence: 2, log: null, identities: { [identityId]: entry } }
  const next = accepted(answersOf(served, { keys: [named(second)] }), { record })
  assert.deepEqual(next.record.identities[identityId], { head: hashOf(recovered2), leaves: 2, pending: [] })
  // The former key does not open under the new master key.
  assert.equal(codeOf(check(answersOf(log1, { keys: [named(thief, false)] }), { record })), 'foreign_key')
})

test('SLF-11 a check that finds nothing new writes nothing, and a longer log can wait', () => {
  const same = check(answersOf(log1, { keys: [named(first)] }), owned)
  assert.ok(same.kind === 'ok')
  assert.equal(same.next, null)
  const grown = fakeLog(leaf1, 'leaf of somebody else')
  const longer = check(answersOf(grown, { from: [log1], keys: [named(first)] }), owned)
  assert.ok(longer.kind === 'ok')
  assert.equal(longer.isUrgent, false)
  assert.equal(longer.next?.log?.checkpoint, noteOf(grown))
})

test('SLF-12 a user whose client makes no proofs and no record gets a first record', () => {
  const unproved2 = leafAt(2, second, { before: unproved1 })
  const first = check(answersOf(fakeLog(unproved1, unproved2), { keys: [named(second)] }))
  assert.ok(first.kind === 'ok' && first.isUrgent)
  assert.equal(first.next?.sequence, 1)
  assert.deepEqual(first.next?.log, { key: verifierKey, checkpoint: noteOf(fakeLog(unproved1, unproved2)) })
  assert.deepEqual(first.changes, [])
})

test('SLF-13 a device tells of each change of a key, also one that the record contains', () => {
  const answers = answersOf(log2, { from: [log1], keys: [named(second)] })
  const found = check(answers, { record: rotated.record, memory: { ...owned.memory, sequence: 1 } })
  assert.ok(found.kind === 'ok')
  assert.deepEqual(found.changes, [{ identityId, handle: 'ada', kind: 'replaced', at: '2030-01-01T02:00:00.000Z' }])
  const early = check(answersOf(log1, { keys: [named(second)] }), owned)
  assert.ok(early.kind === 'ok')
  assert.deepEqual(early.changes, [{ identityId, handle: 'ada', kind: 'replaced', at: null }])
  const again = check(answers, { record: rotated.record, memory: rotated.memory })
  assert.ok(again.kind === 'ok')
  assert.deepEqual(again.changes, [])
})

test('SLF-14 an identity that was removed leaves the record, and the device tells', () => {
  const removal = leafAt(5, first, { before: leaf1, event: 'removed', keyVersion: 1 })
  const served = fakeLog(leaf1, removal)
  const found = check(answersOf(served, { from: [log1], identityIds: [identityId] }), owned)
  assert.ok(found.kind === 'ok')
  assert.deepEqual(found.next?.identities, {})
  assert.equal(found.changes[0]?.kind, 'removed')
  const stillNamed = answersOf(served, { from: [log1], keys: [named(first)] })
  assert.equal(codeOf(check(stillNamed, owned)), 'after_removal')
})

test('SLF-15 members that this version does not know stay in the record', () => {
  const entry = registered.identities[identityId]
  assert.ok(entry)
  const later = { ...registered, apps: { a: 1 }, identities: { [identityId]: { ...entry, note: 'kept' } } }
  const { record } = accepted(answersOf(log1, { keys: [named(first)] }), { record: later })
  assert.deepEqual({ ...record }, { ...record, apps: { a: 1 } })
  assert.equal(Object.entries(record.identities[identityId] ?? {}).find(([name]) => name === 'note')?.[1], 'kept')
})

test('SLF-16 hostile answers never make the check throw or pass', () => {
  const hostile = ['', '{}', 'null', '[]', leaf1.slice(1), leaf1.replace('created', 'renamed'), '\ud800']
  for (const leaf of hostile) {
    const answers = answersOf(log1, { keys: [named(first)] })
    answers.histories[0]?.pages[0]?.events.splice(0, 1, { index: 1, leaf, hashes: ['!'] })
    assert.notEqual(codeOf(check(answers, owned)), 'ok', leaf)
  }
  for (const checkpoint of ['', '\n', 'a\n-1\n\n', noteOf(log1).slice(0, -2)]) {
    const answers = answersOf(log1, { keys: [named(first)] })
    answers.histories[0]?.pages.splice(0, 1, { checkpoint, events: [] })
    assert.equal(codeOf(check(answers, owned)), 'other_log_key')
  }
})

function alarmOf(result: ReturnType<typeof check>) {
  assert.ok(result.kind === 'alarm', JSON.stringify(result))
  return result
}
