import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loginAddress } from './login-address.ts'

const loginUrl = 'https://api.example.com/api/sso/1/start'
const from = { email: 'ann+x@acme.example', origin: 'https://id.example.com' }

test('a sign-in with an organization knows who comes, and which request they come from', () => {
  const { searchParams } = new URL(loginAddress(loginUrl, { ...from, returnTo: '/signin?client_id=a&state=b' }))
  assert.deepEqual(Object.fromEntries(searchParams), {
    login_hint: 'ann+x@acme.example',
    return_to: 'https://id.example.com/signin?client_id=a&state=b',
  })
})

test('whoever comes from nowhere is led to their organization afterwards', () => {
  assert.equal(new URL(loginAddress(loginUrl, { ...from, returnTo: '/account' })).searchParams.has('return_to'), false)
})
