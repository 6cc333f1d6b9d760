import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyTour, loadTour, stepOf, withDone, withIdentity } from '../tour.ts'

const ada = { sub: '1', name: 'Ada', handle: 'ada' }
const notes = { sub: '2', name: 'A. A. L.', handle: 'notes' }

test('the first sign-in completes one step, and another identity the next', () => {
  const first = withIdentity(emptyTour, ada)
  assert.deepEqual(first.done, ['sign-in'])
  assert.deepEqual(withIdentity(first, ada), first)
  assert.deepEqual(withIdentity(first, notes).done, ['sign-in', 'identity'])
  assert.deepEqual(withDone(first, 'signature').done, ['sign-in', 'signature'])
})

test('a tour is remembered, and anything else counts as none', () => {
  const tour = withIdentity(emptyTour, ada)
  assert.deepEqual(loadTour(JSON.stringify(tour)), tour)
  for (const stored of [null, 'null', '7', '{}', '{"identities":7,"done":[]}'])
    assert.deepEqual(loadTour(stored), emptyTour)
  assert.deepEqual(loadTour('{"identities":[{}],"done":["other"]}'), emptyTour)
})

test('the fragment names the step', () => {
  assert.equal(stepOf('#signature'), 'signature')
  for (const other of ['', '#', '#toString']) assert.equal(stepOf(other), 'sign-in')
})
