import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScopeSet } from '../scope-set.ts'

test('a list of scopes is parsed without duplicates and written in its order', () => {
  const scopes = ScopeSet.parse('  profile openid  profile email ')
  assert.equal(scopes.toString(), 'profile openid email')
  assert.deepEqual([...scopes], ['profile', 'openid', 'email'])
  assert.deepEqual([scopes.size, scopes.has('email'), scopes.has('mail')], [3, true, false])
  assert.deepEqual([ScopeSet.parse('').size, new ScopeSet().toString()], [0, ''])
})

test('a set of scopes is compared and combined in its own order, whichever set is larger', () => {
  const [requested, granted] = [ScopeSet.parse('email openid profile'), ScopeSet.parse('profile email')]
  assert.deepEqual([granted.isWithin(requested), requested.isWithin(granted)], [true, false])
  assert.equal(new ScopeSet().isWithin(granted), true)
  assert.equal(requested.intersection(granted).toString(), 'email profile')
  assert.equal(granted.intersection(requested).toString(), 'profile email')
  assert.equal(requested.without(granted).toString(), 'openid')
  assert.equal(granted.union(requested).toString(), 'profile email openid')
  assert.equal(requested.toString(), 'email openid profile')
})
