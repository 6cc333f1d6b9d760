import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refused } from '../../../../lib/call.ts'
import { businessEn } from '../../../../locales/business-en.ts'
import { verdictOf } from '../domain-verdict.ts'

const refusals: [string, Record<string, unknown>][] = [
  ...['invalid_domain', 'public_domain', 'domain_already_claimed', 'too_many_domains', 'domain_taken'].map(
    (code): [string, Record<string, unknown>] => [code, {}],
  ),
  ...['nothing', 'other_text', 'alias'].map((found): [string, Record<string, unknown>] => [
    'domain_not_proved',
    { found },
  ]),
]

test('each way in which a domain is not proved has its own words', () => {
  const verdicts = refusals.map(([code, fields]) => verdictOf(new Refused(409, code, '', fields)))
  assert.equal(new Set(verdicts.map((verdict) => businessEn.domains.verdicts[verdict])).size, refusals.length)
})

test('what says nothing of a domain stays what it is', () => {
  for (const error of [new Refused(429, 'rate_limited', ''), new Refused(401, 'unauthorized', ''), new Error('other')])
    assert.throws(() => verdictOf(error), error)
})
