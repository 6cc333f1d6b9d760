import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import { businessMessages as german } from '../../../locales/de/pages/business.ts'
import { businessMessages as words } from '../../../locales/en/pages/business.ts'
import { parseSignActionRequest } from '../action.ts'
import type { ActionSubject } from '../subject.ts'
import { describeAction } from '../describe-action.ts'

const charles: ActionSubject = {
  organization: 'Orreries',
  what: { kind: 'member', name: 'Charles Babbage (@charles)' },
  isOwn: false,
}

function describe(action: string, details: object, subject = charles) {
  const message = signedActionMessage(action, { ...details })
  const request = parseSignActionRequest({ type: 'countersign:act', identityId: 'i', message })
  assert.ok(request, action)
  const { does, facts, ends } = describeAction(request, subject, words)
  return { does, ends, facts: facts.map(({ label, value }) => `${label}: ${value}`) }
}

test('an act is told with whom it concerns, by name, and with what it makes of them', () => {
  const details = {
    organizationId: 'o',
    memberId: 'm',
    role: 'owner',
    scopes: ['read', 'sign'],
    signingAuthority: true,
  }
  assert.deepEqual(describe('organization.member.updated', details), {
    does: words.acts['organization.member.updated'],
    ends: undefined,
    facts: [
      'Member: Charles Babbage (@charles)',
      'Organization: Orreries',
      'Role: Owner',
      'Permissions: View the organization and its members, Sign for the organization',
      'Can sign for the organization: Yes',
    ],
  })
})

test('what ends with an act is said, also to who leaves', () => {
  const details = { organizationId: 'o', memberId: 'm' }
  assert.equal(describe('organization.member.removed', details).ends, words.removeWhat)
  const leaving = describe('organization.member.removed', details, { ...charles, isOwn: true })
  assert.deepEqual([leaving.does, leaving.ends], [words.leaveTitle('Orreries'), words.leaveWhat])
})

test('what deceives the eye is left to the exact text, and a secret is in no fact', () => {
  const hostile = describe(
    'organization.updated',
    { name: 'Orreries\u202E seirerrO' },
    { organization: 'Orreries', isOwn: false },
  )
  assert.deepEqual(hostile.facts, ['Organization: Orreries'])
  const oidc = { issuer: 'https://login.example', clientId: 'c', clientSecret: 'unspeakable' }
  assert.doesNotMatch(JSON.stringify(describe('sso.connection.created', { name: 'Login', oidc })), /unspeakable/)
})

test('each act that the guide lists as one to sign has words here, in both languages', async () => {
  const guide = await readFile(new URL('../../../../docs/guides/organizations.md', import.meta.url), 'utf8')
  const [, table = ''] = guide.split('| request | action |')
  const listed = [...table.matchAll(/`((?:organization|sso|scim)\.[a-z_.]+)`/g)].map(([, action]) => action)
  assert.deepEqual(Object.keys(words.acts).toSorted(), listed.toSorted())
  assert.deepEqual(Object.keys(german.acts), Object.keys(words.acts))
})
