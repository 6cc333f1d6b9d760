import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import { testKey } from '../../signing/test/key-chain.ts'
import type { Answers } from '../answers.ts'
import { checkSelf } from '../check.ts'
import { isSettled, mayBeOvertaken, type Look } from '../second-look.ts'
import {
  type Checked,
  accepted,
  answersOf,
  codeOf,
  fakeLog,
  identityId,
  leafAt,
  named,
  noteOf,
  now,
  otherIdentityId,
} from './fake-service.ts'

const [first, second, thief] = ['ada 1', 'ada 2', 'thief'].map(testKey)
assert.ok(first && second && thief)

const leaf1 = leafAt(1, first, { proofs: { possession: first } })
const leaf2 = leafAt(2, second, { before: leaf1, proofs: { link: first, possession: second } })
const foreign2 = leafAt(2, thief, { before: leaf1, proofs: { possession: thief } })
const pending = [{ publicKey: first.publicKey, since: '2030-01-01T01:00:00.000Z', promised: null }]
const identities = { [identityId]: { head: null, leaves: 0, pending } }
const [log1, log2, lie2] = [fakeLog(leaf1), fakeLog(leaf1, leaf2), fakeLog(leaf1, foreign2)]
const owned = accepted(answersOf(log1, { keys: [named(first)] }), {
  record: { version: 1, sequence: 1, log: null, identities },
})
const from = [log1]

function look(answers: Answers, { record, memory }: Checked = owned, earlier: string[] = []): Look {
  const answered = record ? { kind: 'record' as const, record } : { kind: 'absent' as const }
  const result = checkSelf(nodeSuite, { answered, memory, answers, earlier, now })
  return { result, answered, ...answers }
}

/** The keys were read before another browser replaced one, and the log after. */
const overtaken = look(answersOf(log2, { from, keys: [named(first)] }))
const lied = look(answersOf(lie2, { from, keys: [named(first)] }))
/** As a check makes the second look: with the heads of the first. */
const again = (before: Look, answers: Answers, known: Checked = owned) =>
  look(
    answers,
    known,
    before.histories.flatMap(({ pages }) => pages.map(({ checkpoint }) => checkpoint)),
  )

test('SLF-40 a key that another browser made between two answers is looked at again, and settles', () => {
  assert.equal(codeOf(overtaken.result), 'foreign_key')
  assert.equal(mayBeOvertaken(overtaken), true)
  const fresh = again(overtaken, answersOf(log2, { from, keys: [named(second)] }))
  assert.equal(codeOf(fresh.result), 'ok')
  assert.equal(isSettled(overtaken, fresh), true)
  const grown = fakeLog(leaf1, leaf2, 'an unrelated leaf')
  const proofs = [log2, grown].flatMap((log) => answersOf(log, { from: [log1, log2] }).proofs)
  const later = again(overtaken, { ...answersOf(grown, { keys: [named(second)] }), proofs })
  assert.equal(codeOf(later.result), 'ok')
  assert.equal(isSettled(overtaken, later), true)
})

test('SLF-41 a key that the service names and that does not open alarms without a second look', () => {
  for (const served of [log1, lie2]) {
    const one = look(answersOf(served, { from, keys: [named(thief, false)] }))
    assert.equal(codeOf(one.result), 'foreign_key')
    assert.equal(mayBeOvertaken(one), false)
  }
  const forked = look(answersOf(fakeLog(leaf1, 'a', 'b'), { keys: [named(first)] }))
  assert.equal(codeOf(forked.result), 'log_forked')
  assert.equal(mayBeOvertaken(forked), false)
  assert.equal(mayBeOvertaken(look(answersOf(log1, { keys: [named(first)] }))), false)
})

test('SLF-41 a service that repeats its lie, takes it back or changes it settles nothing', () => {
  assert.equal(mayBeOvertaken(lied), true)
  const grown = fakeLog(leaf1, leaf2, 'an unrelated leaf')
  const answers: Record<string, Answers> = {
    'the same again': answersOf(lie2, { from, keys: [named(first)] }),
    'the log before the lie': answersOf(log1, { keys: [named(first)] }),
    'an honest log of the same size': answersOf(log2, { from, keys: [named(second)] }),
    'an honest log that is longer': answersOf(grown, { from: [log1, lie2], keys: [named(second)] }),
    'no history': { ...answersOf(log1, { keys: [named(first)] }), histories: [] },
    'another identity': answersOf(log1, { keys: [named(first)], identityIds: [otherIdentityId] }),
    'the key of the thief': answersOf(lie2, { from, keys: [named(thief, false)] }),
  }
  for (const [what, each] of Object.entries(answers)) assert.equal(isSettled(lied, again(lied, each)), false, what)
  // Also if nothing but the heads of the first look contradicted the second one, or nothing but its entries.
  for (const [what, each] of Object.entries(answers)) assert.equal(isSettled(lied, look(each)), false, what)
})

test('SLF-41 an entry that the first look showed of one identity alone is not forgotten by the second', () => {
  const invented = leafAt(2, thief, { of: otherIdentityId, proofs: { possession: thief } })
  const both = [identityId, otherIdentityId]
  const shown = look(answersOf(fakeLog(leaf1, invented), { from, keys: [named(first)], identityIds: both }))
  assert.equal(codeOf(shown.result), 'foreign_key')
  assert.equal(mayBeOvertaken(shown), true)
  const withheld = again(shown, answersOf(fakeLog(leaf1, invented), { from, keys: [named(first)] }))
  assert.equal(codeOf(withheld.result), 'ok')
  assert.equal(isSettled(shown, withheld), false)
})

test('SLF-41 a record that is withheld or older in the second look settles nothing', () => {
  const unproved = fakeLog(leaf1, leafAt(2, thief, { before: leaf1 }))
  const { record } = owned
  const shown = look(answersOf(unproved, { from, keys: [named(first)] }), { record })
  assert.equal(codeOf(shown.result), 'foreign_key')
  const answers = answersOf(unproved, { from, keys: [named(first)] })
  assert.equal(isSettled(shown, again(shown, answers, {})), false)
  const older = { ...record, sequence: record.sequence - 1 }
  const fresh = again(overtaken, answersOf(log2, { from, keys: [named(second)] }), { record: older })
  assert.equal(codeOf(fresh.result), 'ok')
  assert.equal(isSettled(overtaken, fresh), false)
})

test('SLF-41 a log that forks between the two looks settles nothing', () => {
  const fork = { ...log2, leaves: ['another leaf', leaf1, leaf2] }
  const forked = again(overtaken, answersOf(fork, { from, keys: [named(second)] }), {
    record: { ...owned.record, log: null },
  })
  assert.equal(codeOf(forked.result), 'log_forked')
  assert.equal(isSettled(overtaken, forked), false)
  assert.notEqual(noteOf(fork), noteOf(log2))
})
