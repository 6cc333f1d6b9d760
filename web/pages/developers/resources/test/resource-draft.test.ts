import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@countersign/protocol/clients/resources'
import { changeOf, draftOf, emptyDraft, faultsOf, newResourceOf, type ResourceDraft } from '../resource-draft.ts'

const draft: ResourceDraft = {
  displayName: 'Calendar',
  resourceKey: 'calendar',
  audience: 'https://calendar.example',
  scopes: 'events.read See your events\nconstructor\n',
}
const resource: Resource = {
  resourceKey: 'calendar',
  displayName: 'Calendar',
  description: null,
  scopes: ['events.read', 'constructor'],
  scopeDescriptions: { 'events.read': 'See your events' },
  audience: 'https://calendar.example',
  status: 'active',
}

test('what is written becomes a resource, and a resource what was written', () => {
  const untidy = { ...draft, resourceKey: ' calendar ', scopes: '\n  events.read  See your\tevents\r\n\nconstructor ' }
  for (const written of [draft, untidy]) {
    const { scopes, scopeDescriptions, resourceKey } = newResourceOf(written)
    assert.deepEqual(
      [scopes, scopeDescriptions, resourceKey],
      [resource.scopes, resource.scopeDescriptions, 'calendar'],
    )
  }
  assert.equal(draftOf(resource).scopes, 'events.read See your events\nconstructor')
})

test('only what is changed is sent', () => {
  assert.deepEqual(changeOf(resource, draftOf(resource)), {})
  assert.deepEqual(changeOf(resource, { ...draft, displayName: 'Agenda' }), { displayName: 'Agenda' })
  assert.deepEqual(changeOf(resource, { ...draft, audience: 'https://agenda.example' }), {
    audience: 'https://agenda.example',
  })
  assert.deepEqual(changeOf(resource, { ...draft, scopes: 'events.read See them\nconstructor' }), {
    scopes: ['events.read', 'constructor'],
    scopeDescriptions: { 'events.read': 'See them' },
  })
})

test('what cannot be right is said field by field', () => {
  assert.deepEqual([...faultsOf(draft)], [])
  assert.deepEqual([...faultsOf(emptyDraft)], ['displayName', 'resourceKey', 'audience', 'scopes'])
  const wrong: [keyof ResourceDraft, string][] = [
    ['resourceKey', 'Calendar'],
    ['audience', 'calendar.example'],
    ['audience', 'https://calendar.example/#here'],
    ['audience', `https://calendar.example/${'a'.repeat(2000)}`],
    ['scopes', `events.read ${'a'.repeat(201)}`],
    ['scopes', 'openid'],
    ['scopes', 'e2ee:symmetric'],
    ['scopes', '"read"'],
  ]
  for (const [field, text] of wrong) assert.deepEqual([...faultsOf({ ...draft, [field]: text })], [field], text)
})
