import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rebaseLists } from '../update-app.ts'

const [a, b, c, d] = ['https://a.example/', 'https://b.example/', 'https://c.example/', 'https://d.example/'] as const

const none = { postLogoutRedirectUris: [], allowedScopes: [], requiredClaims: [] }

/** Returns the redirect URIs that are sent if this page read, sends and now finds these. */
function sent(read: string[], written: string[], current: string[]): string[] | undefined {
  const lists = (redirectUris: string[]) => ({ ...none, redirectUris })
  return rebaseLists(lists(read), { redirectUris: written }, lists(current)).redirectUris
}

test('what another tab has added or removed stays so', () => {
  assert.deepEqual(sent([a], [a, b], [a, c]), [a, c, b])
  assert.deepEqual(sent([a, b], [a], [a, b, c]), [a, c])
  assert.deepEqual(sent([a, b], [a, b, d], [a]), [a, d])
  assert.deepEqual(sent([a, b], [b, c], [b, a, d]), [b, d, c])
  assert.deepEqual(sent([a], [a, b], [b, a]), [b, a], 'both have added it')
  assert.deepEqual(sent([a, b], [a], [a]), [a], 'both have removed it')
})

test('without another change, the list is sent as it was written', () => {
  assert.deepEqual(sent([a, b], [b, a], [a, b]), [b, a])
  assert.deepEqual(sent([a, b], [c], [a, b]), [c])
})

test('a change of something else sends no list', () => {
  const lists = { ...none, redirectUris: [a], postLogoutRedirectUris: [b] }
  assert.deepEqual(rebaseLists(lists, { name: 'Ledger' }, { ...lists, redirectUris: [c] }), { name: 'Ledger' })
  assert.deepEqual(rebaseLists(lists, { postLogoutRedirectUris: [] }, { ...lists, postLogoutRedirectUris: [b, d] }), {
    postLogoutRedirectUris: [d],
  })
})

test('a scope and a required claim that another tab has allowed stay so', () => {
  const [openid, email, groups] = ['openid', 'email', 'groups'] as const
  const read = { ...none, redirectUris: [a], allowedScopes: [openid] }
  const current = { ...read, allowedScopes: [openid, groups], requiredClaims: [email] }
  assert.deepEqual(rebaseLists(read, { allowedScopes: [openid, email] }, current), {
    allowedScopes: [openid, groups, email],
  })
  assert.deepEqual(rebaseLists(read, { requiredClaims: [email] }, current), { requiredClaims: [email] })
})
