import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCallback, loadPendingRequest, type PendingRequest } from '../callback.ts'

const issuer = 'https://auth.example'
const sent: PendingRequest = { state: 'the-state', nonce: 'the-nonce', verifier: 'the-verifier' }
const right = { code: 'the-code', state: 'the-state', iss: issuer }

test('a code that answers this request from this issuer may be redeemed', () => {
  assert.deepEqual(read(right), { kind: 'code', code: 'the-code', sent })
})

test('a page without an answer is a beginning', () => {
  assert.deepEqual(parseCallback('', undefined, issuer), { kind: 'none' })
  assert.deepEqual(parseCallback('?state=x', sent, issuer), { kind: 'none' })
})

for (const [what, answer] of Object.entries<Record<string, string>>({
  'another state': { ...right, state: 'another' },
  'no state': { code: 'the-code', iss: issuer },
  'another state in a refusal': { error: 'access_denied', state: 'another', iss: issuer },
})) {
  test(`an answer with ${what} is thrown away`, () => assert.deepEqual(read(answer), { kind: 'wrongState' }))
}

for (const [what, answer] of Object.entries<Record<string, string>>({
  'another issuer': { ...right, iss: 'https://evil.example' },
  'the issuer with a slash': { ...right, iss: `${issuer}/` },
  'no issuer': { code: 'the-code', state: 'the-state' },
})) {
  test(`an answer with ${what} is thrown away`, () => assert.deepEqual(read(answer), { kind: 'wrongIssuer' }))
}

test('an answer to no request of this tab is thrown away', () => {
  assert.deepEqual(parseCallback(query(right), undefined, issuer), { kind: 'unasked' })
})

test('a refusal is shown as it came', () => {
  const answer = { error: 'access_denied', error_description: 'They said no.', state: 'the-state', iss: issuer }
  assert.deepEqual(read(answer), { kind: 'refusal', error: 'access_denied', description: 'They said no.' })
})

test('an answer with a code and an error is a refusal', () => {
  assert.equal(read({ ...right, error: 'server_error' }).kind, 'refusal')
})

test('what a tab kept is taken only when it is whole', () => {
  assert.deepEqual(loadPendingRequest(JSON.stringify(sent)), sent)
  for (const kept of [null, 'null', '{}', '"text"', '{"state":"s","nonce":1,"verifier":"v"}']) {
    assert.equal(loadPendingRequest(kept), undefined)
  }
})

function read(answer: Record<string, string>) {
  return parseCallback(query(answer), sent, issuer)
}

function query(answer: Record<string, string>): string {
  return `?${new URLSearchParams(answer)}`
}
