import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#platform/api-error.ts'
import { requireClaimable } from '#organizations/domains/domain.ts'

const suffixes = ['co.uk', 'gov.uk', 'github.io', 'vercel.app', 'blogspot.com', 'foo.ck', 'xn--55qx5d.cn', '公司.cn']
const mailboxes = ['gmail.com', 'GoogleMail.com.', 'gmx.de', 'ｇmail.com', 'outlook.com']
for (const domain of [...suffixes, ...mailboxes])
  test(`DOM-04 ${domain} cannot be claimed by one organization`, () =>
    assert.throws(() => requireClaimable(domain), isRefused('public_domain')))

for (const domain of ['127.0.0.1', '[::1]', 'localhost', 'intranet', '.uk', 'ann@acme.example', '*.acme.example', ''])
  test(`DOM-04 ${JSON.stringify(domain)} is not a domain name`, () =>
    assert.throws(() => requireClaimable(domain), isRefused('invalid_domain')))

const claimable: Record<string, string> = {
  'acme.co.uk': 'acme.co.uk',
  'Mail.Acme.co.uk.': 'mail.acme.co.uk',
  'acme.github.io': 'acme.github.io',
  'www.ck': 'www.ck',
  'bücher.example': 'xn--bcher-kva.example',
}
for (const [written, domain] of Object.entries(claimable))
  test(`an organization can claim ${written}`, () => assert.equal(requireClaimable(written), domain))

function isRefused(code: string) {
  return (error: unknown) => error instanceof ApiError && error.code === code && error.status === 400
}
