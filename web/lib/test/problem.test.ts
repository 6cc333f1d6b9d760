import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refused, Unreachable } from '../call.ts'
import { en } from '../../locales/en.ts'
import { CeremonyFailed } from '../passkey.ts'
import { describeProblem, isOurFault } from '../problem.ts'

test('a refusal is told in our words where we have them, else in the server’s', () => {
  assert.equal(describeProblem(new Refused(429, 'rate_limited', 'x'), en), en.problem.refused.rate_limited)
  assert.equal(
    describeProblem(new Refused(400, 'no_such_code', 'The server’s sentence.'), en),
    'The server’s sentence.',
  )
  assert.equal(describeProblem(new Refused(400, 'toString', 'The server’s sentence.'), en), 'The server’s sentence.')
})

test('a dialog that was closed and a lost connection are ordinary, and each is told as what it is', () => {
  assert.equal(describeProblem(new CeremonyFailed('declined'), en), en.problem.ceremony.declined)
  assert.equal(describeProblem(new Unreachable(), en), en.problem.unreachable)
  for (const ordinary of [new CeremonyFailed('declined'), new Unreachable()]) assert.equal(isOurFault(ordinary), false)
})

test('a bug of the page is told without its innards', () => {
  const bug = new TypeError('x is not a function')
  assert.equal(describeProblem(bug, en), en.problem.unexpected)
  assert.equal(isOurFault(bug), true)
})
