import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementDigest } from '@countersign/protocol/formats/acts/act'
import { checkTrail, withOwnAct } from '../trail-check.ts'
import type { RememberedTrail } from '../trail-memory.ts'
import { actAfter, at, organizationId, sha256, trailOf } from './act-samples.ts'

const firstAct = actAfter(null, 1)
const before = trailOf([firstAct, undefined], { sequence: 0, head: null })
const lastAct = statementDigest(sha256, firstAct)
const secondAct = actAfter(lastAct, 4)
const remembered: RememberedTrail = { ...before.end, lastAct, at: at(3), ownAct: null }
const after = trailOf([undefined, secondAct], before.end)
const ownAct = actAfter(lastAct, 3)
const role = 'sign' as const

function check(
  entries = after.entries,
  {
    trail = after.end,
    memory = remembered,
    minute = 10,
  }: { trail?: typeof after.end; memory?: RememberedTrail; minute?: number } = {},
) {
  return checkTrail(organizationId, memory, { at: at(minute), trail, previousAct: null, role }, entries)
}

test('ACT-72 a device follows a trail from the head that it remembers', () => {
  const second = statementDigest(sha256, secondAct)
  assert.deepEqual(check(), { trail: { ...after.end, lastAct: second, at: at(10), ownAct: null } })
  assert.deepEqual(check([], { trail: before.end }), { trail: { ...remembered, at: at(10) } })
  const first = { at: at(10), trail: after.end, previousAct: lastAct, role }
  const known = { ...after.end, lastAct, at: at(10), ownAct: null }
  assert.deepEqual(checkTrail(organizationId, undefined, first, []), { trail: known })
})

test('ACT-72 a trail that does not continue the remembered one raises an alarm', () => {
  const fork = trailOf([undefined, undefined], { ...before.end, head: lastAct })
  const [first, last] = after.entries
  assert.ok(first && last)
  assert.deepEqual(check(fork.entries, { trail: fork.end }), { alarm: 'broken_trail' })
  assert.deepEqual(check(after.entries, { trail: { ...after.end, head: lastAct } }), { alarm: 'trail_rewritten' })
  assert.deepEqual(check([], { trail: { ...before.end, head: lastAct } }), { alarm: 'trail_rewritten' })
  assert.deepEqual(check([first]), { alarm: 'trail_cut' })
  assert.deepEqual(check([last]), { alarm: 'sequence_gap' })
  assert.deepEqual(check([first, { ...last, acts: [] }]), { alarm: 'other_acts' })
  assert.deepEqual(check([first, { ...last, entry: ` ${last.entry}` }]), { alarm: 'malformed_entry' })
  const elsewhere = last.entry.replace(organizationId, organizationId.replace('ac3e', 'ac3f'))
  assert.deepEqual(check([first, { ...last, entry: elsewhere }]), { alarm: 'other_organization' })
  const shorter = { sequence: 1, head: lastAct }
  assert.deepEqual(check([], { trail: shorter }), { alarm: 'trail_cut' })
})

test('LIE-07 LIE-09 an act that is in the trail again, or at another time, raises an alarm', () => {
  const alarmOf = (...acts: (string | undefined)[]) => {
    const { entries, end } = trailOf(acts, before.end)
    return check(entries, { trail: end })
  }
  assert.deepEqual(alarmOf(undefined, firstAct), { alarm: 'act_out_of_order' })
  assert.deepEqual(alarmOf(secondAct.replace(lastAct, 'A'.repeat(43) + '=')), { alarm: 'act_out_of_order' })
  assert.deepEqual(alarmOf(actAfter(lastAct, 3), actAfter(lastAct, 4)), { alarm: 'act_out_of_order' })
  assert.deepEqual(alarmOf(actAfter(lastAct, 4)), { alarm: 'out_of_time' }, 'done before it was signed')
  assert.deepEqual(alarmOf(actAfter(lastAct, -2)), { alarm: 'out_of_time' }, 'done after it expired')
  assert.deepEqual(alarmOf('not a statement'), { alarm: 'malformed_act' })
  const unknown = { ...remembered, lastAct: undefined }
  const followed = check(after.entries, { memory: unknown })
  assert.ok(followed !== 'outdated' && 'trail' in followed)
})

test('ACT-74 an act that was started before the last one that the device knows is not signed', () => {
  const shorter = { sequence: 1, head: lastAct }
  assert.equal(check([], { trail: shorter, minute: 3 }), 'outdated')
  const memory = withOwnAct(remembered, { text: ownAct, expiresAt: at(8) })
  assert.equal(check([], { trail: before.end, memory, minute: 3 }), 'outdated', 'the same statement once more')
  assert.equal(check(after.entries, { memory, minute: 7 }), 'outdated')
})

test('ACT-73 a trail that lacks an act which was done on the device raises an alarm', () => {
  const memory = withOwnAct(remembered, { text: ownAct, expiresAt: at(8) })
  assert.deepEqual(check(after.entries, { memory }), { alarm: 'act_missing' })
  const honest = trailOf([undefined, ownAct, undefined], before.end)
  const lastOwn = statementDigest(sha256, ownAct)
  assert.deepEqual(check(honest.entries, { memory, trail: honest.end }), {
    trail: { ...honest.end, lastAct: lastOwn, at: at(10), ownAct: null },
  })
})
