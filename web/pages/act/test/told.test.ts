import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import { businessDe } from '../../../locales/business-de.ts'
import { businessEn as words } from '../../../locales/business-en.ts'
import { readAct } from '../act.ts'
import type { Concern } from '../subject.ts'
import { tellAct } from '../describe-action.ts'

const charles: Concern = {
  organization: 'Orreries',
  what: { kind: 'member', name: 'Charles Babbage (@charles)' },
  isOwn: false,
}

function told(action: string, details: object, concern = charles) {
  const message = signedActionMessage(action, { ...details })
  const asked = readAct({ type: 'countersign:act', identityId: 'i', message })
  assert.ok(asked, action)
  const { does, facts, ends } = tellAct(asked, concern, words)
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
  assert.deepEqual(told('organization.member.changed', details), {
    does: words.acts['organization.member.changed'],
    ends: undefined,
    facts: [
      'Member: Charles Babbage (@charles)',
      'Organization: Orreries',
      'Role: Owner',
      'May: See the organization and its members, Sign',
      'Signs for the organization: Yes',
    ],
  })
})

test('what ends with an act is said, also to who leaves', () => {
  const details = { organizationId: 'o', memberId: 'm' }
  assert.equal(told('organization.member.removed', details).ends, words.removeWhat)
  const leaving = told('organization.member.removed', details, { ...charles, isOwn: true })
  assert.deepEqual([leaving.does, leaving.ends], [words.leaveTitle('Orreries'), words.leaveWhat])
})

test('what deceives the eye is left to the exact text, and a secret is in no fact', () => {
  const hostile = told(
    'organization.changed',
    { name: 'Orreries\u202E seirerrO' },
    { organization: 'Orreries', isOwn: false },
  )
  assert.deepEqual(hostile.facts, ['Organization: Orreries'])
  const oidc = { issuer: 'https://login.example', clientId: 'c', clientSecret: 'unspeakable' }
  assert.doesNotMatch(JSON.stringify(told('sso.connection_created', { name: 'Login', oidc })), /unspeakable/)
})

test('each act that the guide lists as one to sign has words here, in both languages', async () => {
  const guide = await readFile(new URL('../../../../docs/guides/organizations.md', import.meta.url), 'utf8')
  const [, table = ''] = guide.split('| request | action |')
  const listed = [...table.matchAll(/`((?:organization|sso)\.[a-z_.]+)`/g)].map(([, action]) => action)
  assert.deepEqual(Object.keys(words.acts).toSorted(), listed.toSorted())
  assert.deepEqual(Object.keys(businessDe.acts), Object.keys(words.acts))
})
