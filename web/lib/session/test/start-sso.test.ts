import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startOf } from '../start-sso.ts'

const loginUrl = 'https://api.example.com/api/sso/01890000-0000-7000-8000-000000000000/start'
const params = { connectionId: '01890000-0000-7000-8000-000000000000' }

test('a sign-in with an organization names its connection, the user, and the page to return to', () => {
  const returnTo = 'https://id.example.com/signin?client_id=a&state=b'
  const loginHint = 'ann+x@acme.example'
  assert.deepEqual(startOf(loginUrl, { loginHint, returnTo }), { params, body: { loginHint, returnTo } })
})

test('a user who comes from no page of ours is led to their organization afterwards', () => {
  assert.deepEqual(startOf(loginUrl, { returnTo: undefined }), { params, body: {} })
})
