import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { standardScopes } from '@countersign/protocol/formats/scope'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import { accountMessages as arAccount } from '../../../locales/ar/account.ts'
import { ar } from '../../../locales/ar/messages.ts'
import { accountMessages as deAccount } from '../../../locales/de/account.ts'
import { de } from '../../../locales/de/messages.ts'
import { accountMessages as enAccount } from '../../../locales/en/account.ts'
import { en } from '../../../locales/en/messages.ts'
import { consentFacts, grantableScopes, shortScopeLabels } from '../scope-words.ts'

const ada: Identity = {
  identityId: asId<IdentityId>('identity'),
  handle: 'ada',
  displayName: 'Ada Lovelace',
  avatarUrl: null,
  email: null,
  emailVerified: false,
  createdAt: '2026-01-01T00:00:00.000Z',
}
const reachable: Identity = { ...ada, email: 'ada@example.org', emailVerified: true }
const unverified: Identity = { ...ada, email: 'ada@example.org' }

test('what an app will see is shown with the very values', () => {
  const values = consentFacts(['profile', 'email'], reachable, en).map(({ value }) => value)
  assert.deepEqual(values, ['Ada Lovelace', '@ada', 'ada@example.org'])
})

for (const [what, identity] of Object.entries({ none: ada, 'an unverified one': unverified })) {
  test(`an identity with ${what} for an e-mail shares none, and the page says so`, () => {
    assert.deepEqual(grantableScopes(['openid', 'email', 'profile'], identity), ['openid', 'profile'])
    const [fact] = consentFacts(['email'], identity, en)
    assert.deepEqual(fact, { scope: 'email', label: 'E-mail', value: en.scopes.noEmail, withheld: true })
  })
}

test('an identity with a verified e-mail grants all that is wanted, in the order asked', () => {
  assert.deepEqual(grantableScopes(['email', 'openid'], reachable), ['email', 'openid'])
})

test('every scope that an app may ask for has words, in each language', () => {
  for (const words of [en, de, ar]) {
    for (const scope of standardScopes) {
      assert.ok(
        consentFacts([scope], reachable, words).every(({ label, value }) => label !== scope && value !== ''),
        scope,
      )
    }
  }
  for (const { scopeLabels } of [enAccount, deAccount, arAccount])
    for (const scope of standardScopes) assert.notDeepEqual(shortScopeLabels([scope], scopeLabels), [scope])
})

test('a scope without words is shown by its name rather than hidden', () => {
  assert.deepEqual(consentFacts(['calendar'], ada, en), [{ scope: 'calendar', label: 'calendar', value: '' }])
  assert.deepEqual(shortScopeLabels(['calendar'], enAccount.scopeLabels), ['calendar'])
})
