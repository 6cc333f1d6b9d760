import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isListedDomain, normalizeDomainPattern } from '../domain-list.ts'

test('REG-03 an entry of a list is a domain or those below one, in one spelling', () => {
  assert.equal(normalizeDomainPattern('*.B\u00FCcher.example.'), '*.xn--bcher-kva.example')
  assert.equal(normalizeDomainPattern('ACME.example'), 'acme.example')
  for (const text of ['*', '*.', '*.example', '**.acme.example', '*.*.acme.example', 'a.*.example', '.acme.example'])
    assert.equal(normalizeDomainPattern(text), undefined, text)
})

test('REG-03 a list contains the domains of its entries, and those below where an entry says so', () => {
  const list = ['acme.example', '*.labs.example']
  for (const domain of ['acme.example', 'eu.labs.example', 'a.b.labs.example'])
    assert.equal(isListedDomain(domain, list), true, domain)
  for (const domain of ['eu.acme.example', 'labs.example', 'xlabs.example', 'example', 'acme.example.org', ''])
    assert.equal(isListedDomain(domain, list), false, domain)
})
