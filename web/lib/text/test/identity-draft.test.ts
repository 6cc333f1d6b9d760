import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDraft, isComplete, mayBecomeHandle, problemsOf } from '../identity-draft.ts'
import { en } from '../../../locales/en/messages.ts'

const ada = { handle: 'ada', displayName: 'Ada Lovelace', taken: [] }

test('a whole draft has no problem', () => {
  assert.equal(isComplete(ada), true)
  assert.deepEqual(problemsOf(ada, en), { handle: undefined, displayName: undefined })
})

test('an empty draft says what each field needs', () => {
  assert.equal(isComplete(emptyDraft), false)
  assert.deepEqual(problemsOf(emptyDraft, en), {
    handle: en.register.handleRule,
    displayName: en.register.displayNameInvalid,
  })
})

test('a handle that the server called taken is a problem until it is changed', () => {
  const refused = { ...ada, taken: ['ada'] }
  assert.equal(isComplete(refused), false)
  assert.equal(problemsOf(refused, en).handle, en.register.handleTaken)
  assert.equal(isComplete({ ...refused, handle: 'ada2' }), true)
})

test('a username says which of its rules the text breaks', () => {
  const problemOf = (handle: string) => problemsOf({ ...ada, handle }, en).handle
  for (const handle of ['ad', 'ada lovelace', 'ada ', 'müller', 'a'.repeat(33), '--'])
    assert.equal(problemOf(handle), en.register.handleRule, handle)
  for (const handle of ['-ada', 'ada.', '...']) assert.equal(problemOf(handle), en.register.handleEnds, handle)
})

test('a text that no further key makes a username is known before it is complete', () => {
  for (const typed of ['', 'a', 'ad', 'ada-', 'ada.l', 'a'.repeat(32)]) assert.ok(mayBecomeHandle(typed), typed)
  for (const typed of [' ', 'ada ', 'ada l', 'é', '-', '@ada', 'a'.repeat(33)])
    assert.ok(!mayBecomeHandle(typed), typed)
})

test('a name that would disguise itself is not accepted', () => {
  assert.equal(isComplete({ ...ada, displayName: 'Ada \u202egro.elpmaxe' }), false)
})
