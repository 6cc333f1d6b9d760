import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectorOf, delegationOf } from './connector-samples.ts'
import { delegationState, scopeTextOf } from '../delegating.ts'

const read = { scope: 'calendar.read', description: 'Read your events' }
const write = { scope: 'calendar.write', description: '' }

test('where nothing was granted, all that is asked for is new', () => {
  const requested = connectorOf({ scopes: [read, write] })
  const granted = { delegation: null, missingScopes: [read.scope, write.scope], covered: false }
  assert.deepEqual(delegationState(requested, granted), {
    fresh: [read, write],
    known: [],
    mode: 'user_present',
    alsoAway: false,
  })
})

test('a wider wish shows what is new apart from all that is granted, in the words of the other app', () => {
  const delegation = delegationOf({ scope: 'calendar.read', scopeDescriptions: { [read.scope]: read.description } })
  const granted = { delegation, missingScopes: [write.scope], covered: false }
  const { fresh, known } = delegationState(connectorOf({ scopes: [write] }), granted)
  assert.deepEqual({ fresh, known }, { fresh: [write], known: [read] })
})

test('who lets an app act while they are away sees everything that it may then do', () => {
  const delegation = delegationOf({ scope: 'calendar.read calendar.write' })
  const granted = { delegation, missingScopes: [], covered: false }
  const comes = delegationState(connectorOf({ scopes: [read], mode: 'background' }), granted)
  assert.deepEqual(
    comes.known.map(({ scope }) => scope),
    ['calendar.read', 'calendar.write'],
  )
  assert.equal(comes.mode, 'background')
  assert.equal(comes.alsoAway, true)
})

test('what is added to a grant for the background is for the background, though only presence was asked for', () => {
  const delegation = delegationOf({ scope: 'calendar.read', communicationMode: 'background' })
  const granted = { delegation, missingScopes: [write.scope], covered: false }
  const comes = delegationState(connectorOf({ scopes: [write], mode: 'user_present' }), granted)
  assert.equal(comes.mode, 'background')
  assert.equal(comes.alsoAway, false)
})

test('the scopes that are sent are those that are shown', () => {
  assert.equal(scopeTextOf(connectorOf({ scopes: [read, write] })), 'calendar.read calendar.write')
})
