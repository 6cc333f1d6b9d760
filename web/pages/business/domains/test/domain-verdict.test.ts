import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../../lib/api/call.ts'
import { businessMessages } from '../../../../locales/en/pages/business.ts'
import { verificationMessage } from '../domain-verdict.ts'

const refusals: [string, Record<string, unknown>][] = [
  ...['invalid_domain', 'public_domain', 'domain_already_claimed', 'too_many_domains', 'domain_taken'].map(
    (code): [string, Record<string, unknown>] => [code, {}],
  ),
  ...['nothing', 'other_text', 'alias'].map((found): [string, Record<string, unknown>] => [
    'domain_verification_failed',
    { found },
  ]),
]

test('each way in which a domain is not proved has its own words', () => {
  const verdicts = refusals.map(([code, fields]) => verificationMessage(new ApiError(409, code, '', fields)))
  assert.equal(new Set(verdicts.map((verdict) => businessMessages.domains.verdicts[verdict])).size, refusals.length)
})

test('what says nothing of a domain stays what it is', () => {
  for (const error of [
    new ApiError(429, 'rate_limited', ''),
    new ApiError(401, 'unauthorized', ''),
    new Error('other'),
  ])
    assert.throws(() => verificationMessage(error), error)
})
