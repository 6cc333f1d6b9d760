import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import type { OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import { activityMessages as english } from '../../../../locales/en/activity.ts'
import { businessMessages } from '../../../../locales/en/pages/business.ts'
import { organizationActivityMessages as activity } from '../../../../locales/en/pages/organizations/activity.ts'
import { plainText, sentenceOf } from '../sentence.ts'

const [ada, lena] = ['ada', 'lena'].map((id) => asId<IdentityId>(id))
const people = [
  { identityId: ada ?? asId<IdentityId>(''), handle: 'ada', displayName: 'Ada Lovelace', avatarUrl: null },
  { identityId: lena ?? asId<IdentityId>(''), handle: 'lena', displayName: 'Lena', avatarUrl: null },
]
const words = { activity, roles: businessMessages.roles, names: english.activity.acts }

function say(action: string, details: Record<string, unknown>, changes: Partial<OrganizationAuditEntry> = {}): string {
  const entry = {
    entryId: '',
    at: '',
    action,
    actor: 'user',
    identityId: ada ?? null,
    handle: 'ada',
    clientId: null,
    details,
  }
  return plainText(sentenceOf({ ...entry, ...changes }, people, words))
}

test('an event says who did what to which object', () => {
  assert.equal(
    say('organization.invitation.created', { email: 'mina@example.com', role: 'member' }),
    'Ada Lovelace invited mina@example.com as Member',
  )
  assert.equal(
    say('organization.member.updated', { memberIdentityId: 'lena', role: 'member', roleBefore: 'viewer' }),
    'Ada Lovelace changed Lena (@lena) from Viewer to Member',
  )
  assert.equal(say('organization.member.removed', { memberIdentityId: 'ada' }), 'Ada Lovelace left the organization')
  assert.equal(
    say('organization.member.removed', { memberIdentityId: 'lena', by: 'scim' }, { actor: 'system' }),
    'Directory sync removed Lena (@lena)',
  )
})

test('an event of a deleted identity, and one without a sentence, are still said', () => {
  const gone = { identityId: asId<IdentityId>('gone'), handle: null }
  assert.equal(say('organization.created', {}, gone), 'Someone who left created the organization')
  assert.equal(say('token_family.revoked', {}), english.activity.acts['token_family.revoked'])
})
