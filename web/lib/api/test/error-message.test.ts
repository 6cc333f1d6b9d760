import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, NetworkError } from '../call.ts'
import { en } from '../../../locales/en/messages.ts'
import { CeremonyError } from '../../keys/passkey.ts'
import { errorMessage, isUnexpectedError } from '../error-message.ts'

test('a refusal is told in our words where we have them, else in the server’s', () => {
  assert.equal(errorMessage(new ApiError(429, 'rate_limited', 'x'), en), en.problem.refused.rate_limited)
  assert.equal(errorMessage(new ApiError(400, 'no_such_code', 'The server’s sentence.'), en), 'The server’s sentence.')
  assert.equal(errorMessage(new ApiError(400, 'toString', 'The server’s sentence.'), en), 'The server’s sentence.')
})

test('a suspended account has the operator’s reason, which cannot turn the sentence around', () => {
  const error = new ApiError(403, 'account_suspended', 'x', { reason: 'Left \u202Ethe company', until: null })
  const text = errorMessage(error, en)
  assert.match(text, /suspended/)
  assert.ok(text.includes('\u2068Left the company\u2069'))
  const unexplained = new ApiError(403, 'account_suspended', 'x', {})
  assert.equal(errorMessage(unexplained, en), en.problem.refused.account_suspended)
})

test('a dialog that was closed and a lost connection are ordinary, and each is told as what it is', () => {
  assert.equal(errorMessage(new CeremonyError('declined'), en), en.problem.ceremony.declined)
  assert.equal(errorMessage(new NetworkError(), en), en.problem.unreachable)
  for (const ordinary of [new CeremonyError('declined'), new NetworkError()])
    assert.equal(isUnexpectedError(ordinary), false)
})

test('a bug of the page is told without its innards', () => {
  const bug = new TypeError('x is not a function')
  assert.equal(errorMessage(bug, en), en.problem.unexpected)
  assert.equal(isUnexpectedError(bug), true)
})
