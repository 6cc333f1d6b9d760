import assert from 'node:assert/strict'
import { test } from 'node:test'
import { introductionOf } from '../flow.ts'

test('whom an organization introduces is offered their name, and a handle out of their address', () => {
  const ann = { displayName: 'Ann Example', email: 'ann.example+work@acme.example' }
  assert.deepEqual(introductionOf(ann), { handle: 'ann.example-work', displayName: 'Ann Example' })
})

test('what can be no handle or name is not offered', () => {
  const nothing = { handle: '', displayName: '' }
  for (const email of [null, 'a@acme.example', '_!_@acme.example', `${'a'.repeat(40)}@acme.example`])
    assert.deepEqual(introductionOf({ displayName: null, email }), nothing, String(email))
  assert.equal(introductionOf({ displayName: ' ', email: null }).displayName, '')
})
