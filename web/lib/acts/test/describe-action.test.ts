import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import { organizationScopes } from '@countersign/protocol/formats/role'
import { actMessages as arabic } from '../../../locales/ar/pages/acts.ts'
import { businessMessages as arabicBusiness } from '../../../locales/ar/pages/business.ts'
import { businessMessages as germanBusiness } from '../../../locales/de/pages/business.ts'
import { actMessages as german } from '../../../locales/de/pages/acts.ts'
import { actMessages as acts } from '../../../locales/en/pages/acts.ts'
import { businessMessages as business } from '../../../locales/en/pages/business.ts'
import type { ActionSubject } from '../subject.ts'
import { describeAction } from '../describe-action.ts'

const charles: ActionSubject = {
  organization: 'Orreries',
  what: { kind: 'member', name: 'Charles Babbage (@charles)' },
  isOwn: false,
}
const orreries: ActionSubject = { organization: 'Orreries', isOwn: false }

function describe(action: string, details: JsonObject, subject = charles) {
  const description = describeAction({ action, details }, subject, { acts, business })
  const changes = description.changes.map(({ label, before, value }) =>
    before === undefined ? `${label}: ${value}` : `${label}: ${before} → ${value}`,
  )
  return { ...description, changes }
}

const member = { organizationId: 'o', memberId: 'm' }

test('an act is described in one sentence, with what it changes, and from what', () => {
  const details = { ...member, role: 'admin', scopes: ['read', 'sign'], signingAuthority: true }
  const from = { role: 'viewer', scopes: ['read'], signingAuthority: true }
  assert.deepEqual(describe('organization.member.updated', { ...details, from }), {
    summary: 'Make Charles Babbage (@charles) an admin of Orreries',
    changes: [
      'Role: Viewer → Admin',
      `Permissions: ${business.scopes.read} → ${business.scopes.read}, ${business.scopes.sign}`,
      'Can sign for the organization: Yes',
    ],
    ends: undefined,
    isComplete: true,
  })
  const same = { ...member, role: 'viewer', signingAuthority: false, from: { role: 'viewer', signingAuthority: true } }
  const { summary, changes } = describe('organization.member.updated', same)
  assert.equal(summary, 'Change the permissions of Charles Babbage (@charles) in Orreries')
  assert.deepEqual(changes, ['Role: Viewer', 'Can sign for the organization: Yes → No'])
})

test('a change of one setting says which', () => {
  const sentence = (fields: JsonObject) =>
    describe('organization.updated', { organizationId: 'o', ...fields }, orreries).summary
  assert.equal(sentence({ name: 'Engines', from: { name: 'Orreries' } }), 'Rename Orreries to Engines')
  assert.equal(sentence({ requireSignedActions: false }), 'Make signatures optional in Orreries')
  assert.equal(sentence({ ssoRequired: true }), 'Require SSO in Orreries')
  assert.equal(sentence({ name: 'Engines', slug: 'engines' }), 'Change the settings of Orreries')
})

test('what does not exist yet is named by what is signed', () => {
  const invitation = describe(
    'organization.invitation.created',
    { organizationId: 'o', handle: 'bob', role: 'viewer' },
    orreries,
  )
  assert.equal(invitation.summary, 'Invite @bob to Orreries')
  assert.deepEqual(invitation.changes, ['Username or e-mail address: @bob', 'Role: Viewer'])
  const removal = describe('organization.updated', {
    organizationId: 'o',
    logoUrl: null,
    from: { logoUrl: 'https://a.example/' },
  })
  assert.deepEqual(removal.changes, ['Logo URL: https://a.example/ → none'])
})

test('what ends with an act is said, also to who leaves', () => {
  assert.equal(describe('organization.member.removed', member).ends, business.removeWhat)
  const leaving = describe('organization.member.removed', member, { ...charles, isOwn: true })
  assert.deepEqual([leaving.summary, leaving.ends], ['Leave Orreries', business.leaveWhat])
})

test('ACT-89 what has no words, or misleads the eye, is left to the exact data, which is then to be read', () => {
  const hostile = describe('organization.updated', { organizationId: 'o', name: 'Orreries\u202E seirerrO' }, orreries)
  assert.deepEqual(hostile, {
    ...{ summary: 'Change the settings of Orreries', changes: [], ends: undefined, isComplete: false },
  })
  const from = { name: 'A\u202E' }
  assert.equal(describe('organization.updated', { organizationId: 'o', name: 'B', from }, orreries).isComplete, false)
  const invited = { organizationId: 'o', email: 'a\u200B@b.example', role: 'owner' }
  assert.equal(describe('organization.invitation.created', invited, orreries).summary, 'Invite … to Orreries')
  for (const fields of [{ extra: 1 }, { role: 'emperor', more: {} }, { scopes: 'all' }, { approvalsNeeded: true }])
    assert.equal(describe('organization.member.updated', { ...member, ...fields }).isComplete, false)
  const unknown = describe('organization.renounced', member)
  assert.deepEqual([unknown.summary, unknown.isComplete], ['organization.renounced in Orreries', false])
})

test('ACT-93 words leave nothing out, and nothing is spelled like the words for something else', () => {
  const commitment = 'KUEHcWgVnUE+Z7iS2F4Teup036QIZgQveFfebX/dJbU='
  const lies: [string, JsonObject][] = [
    ['organization.member.updated', { memberId: 'm', keyId: 'k' }],
    ['organization.member.updated', { memberId: { of: 'another' } }],
    ['organization.member.updated', { memberId: 'm', role: 'Viewer' }],
    ['organization.member.updated', { memberId: 'm', scopes: ['View the organization and its members'] }],
    ['organization.updated', { name: 'Orreries\nRole: Viewer' }],
    ['organization.updated', { constructor: 'a' }],
    ['sso.connection.created', { name: 'Login', oidc: { issuer: { commitment } } }],
    ['sso.connection.created', { name: 'Login', oidc: { clientSecret: { commitment, issuer: 'https://a.example' } } }],
    ['sso.connection.created', { name: 'Login', oidc: { constructor: 'a' } }],
    ['constructor', {}],
  ]
  for (const [action, fields] of lies) {
    const { summary, isComplete } = describe(action, { organizationId: 'o', ...fields })
    assert.deepEqual([typeof summary, isComplete], ['string', false], JSON.stringify(fields))
  }
})

test('a secret is hidden, and everything else about a provider is said', () => {
  const clientSecret = { commitment: 'KUEHcWgVnUE+Z7iS2F4Teup036QIZgQveFfebX/dJbU=' }
  const oidc = { issuer: 'https://login.example', clientId: 'c', clientSecret }
  const connection = describe(
    'sso.connection.created',
    { organizationId: 'o', name: 'Login', domains: [], oidc },
    orreries,
  )
  assert.equal(connection.summary, 'Add the SSO connection Login to Orreries')
  assert.equal(connection.isComplete, true)
  assert.deepEqual(connection.changes, [
    ...['Name: Login', 'Domains: none', 'Issuer: https://login.example', 'Client ID: c', 'Client secret: hidden'],
  ])
})

test('each act that the guide lists as one to sign has words here, in both languages', async () => {
  const guide = await readFile(new URL('../../../../docs/guides/organizations.md', import.meta.url), 'utf8')
  const [, table = ''] = guide.split('| Request | Action |')
  const listed = [...table.matchAll(/`((?:organization|sso|scim)\.[a-z_.]+)`/g)].map(([, action]) => action)
  const ofCouncils = Object.keys(acts.acts).filter((action) => /^organization\.(signatory|council)\./.test(action))
  assert.equal(ofCouncils.length, 4)
  assert.deepEqual(Object.keys(acts.acts).toSorted(), [...listed, ...ofCouncils].toSorted())
  assert.deepEqual(Object.keys(german.acts), Object.keys(acts.acts))
})

test('in each language, permissions and roles have names that hide nothing', () => {
  const details = { ...member, role: 'admin', scopes: [...organizationScopes], signingAuthority: true }
  const catalogues = [
    { acts, business },
    { acts: german, business: germanBusiness },
    { acts: arabic, business: arabicBusiness },
  ]
  for (const words of catalogues)
    assert.ok(describeAction({ action: 'organization.member.updated', details }, charles, words).isComplete)
})
