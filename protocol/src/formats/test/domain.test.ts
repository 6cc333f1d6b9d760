import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { challengeNameOf, domainOfEmail, normalizeDomain } from '../domain.ts'

const spellings: Record<string, string> = {
  'ACME.Example': 'acme.example',
  'acme.example.': 'acme.example',
  'ａｃｍｅ．ｅｘａｍｐｌｅ': 'acme.example',
  'acme。example': 'acme.example',
  'ac\u00ADme.example': 'acme.example',
  'Bücher.example': 'xn--bcher-kva.example',
  'XN--BCHER-KVA.example': 'xn--bcher-kva.example',
  'bu\u0308cher.example': 'xn--bcher-kva.example',
  'faß.example': 'xn--fa-hia.example',
  'a.b.c.example': 'a.b.c.example',
}
for (const [written, domain] of Object.entries(spellings))
  test(`DOM-07 ${written} is normalized to ${domain}`, () => assert.equal(normalizeDomain(written), domain))

test('DOM-07 a lookalike domain in another script is a different domain', () => {
  for (const twin of ['аcme.example', 'acmе.example', 'ɑcme.example', 'acme.exаmple', 'αcme.example'])
    assert.notEqual(normalizeDomain(twin), 'acme.example', twin)
})

const noDomains = [
  ...['', '.', 'acme', 'localhost', 'acme.', '.acme.example', 'acme..example', 'acme.example..', '*.acme.example'],
  ...['127.0.0.1', '127.1', '0x7f.1', '１２７.0.0.1', '2130706433', '[::1]', '::1', '1.2.3.4.', 'acme.1', 'acme.0x1'],
  ...['-acme.example', 'acme-.example', '_acme.example', 'ac me.example', ' acme.example', 'acme.example\n'],
  ...['ac\tme.example', 'acme.example/path', 'acme.example?', 'acme.example#', 'acme.example:443', 'a%2eexample'],
  ...['ann@acme.example', 'ann＠acme.example', 'acme.example\\evil.example', 'https://acme.example', 'acme.example\0'],
  ...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(112)}example`, 'acme.xn--', 'ac\uD800me.example'],
]
for (const written of noDomains)
  test(`DOM-04 ${JSON.stringify(written.slice(0, 40))} is rejected as domain`, () =>
    assert.equal(normalizeDomain(written), undefined))

test('a normalized domain stays unchanged and leaves room for the name of its challenge', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.domain(),
        fc.webUrl().map((url) => new URL(url).hostname),
        fc.string(),
      ),
      (text) => {
        const domain = normalizeDomain(text)
        if (domain === undefined) return
        assert.equal(normalizeDomain(domain), domain)
        assert.equal(domainOfEmail(`ann@${domain}`), domain)
        assert.ok(challengeNameOf(domain).length <= 253)
      },
    ),
  )
})

test('the domain of an e-mail address is the normalized part after its @', () => {
  assert.equal(domainOfEmail('ann@acme.example'), 'acme.example')
  assert.equal(domainOfEmail("Ann.O'Hara+news@ACME.Example."), 'acme.example')
  assert.equal(domainOfEmail('ann@bücher.example'), 'xn--bcher-kva.example')
})

const tricks = [
  ...['a@evil.example\\@acme.example', '"a@acme.example"@evil.example', 'a@evil.example@acme.example'],
  ...['a@acme.example(comment)', 'a(@evil.example)@acme.example', '"a"@acme.example', 'a@acme.example, b@evil.example'],
  ...['a@[127.0.0.1]', '@acme.example', 'a@', 'acme.example', '<a@acme.example>', 'a b@acme.example', ''],
  ...['a@evil.example＠acme.example', 'a＠acme.example', 'a@acme.example\r\nb@evil.example', 'ann@acme.example '],
  ...[
    'a@acme.example/@evil.example',
    'a@acme.example%00.evil.example',
    'a\0@acme.example',
    'a@evil.example#@acme.example',
  ],
]
for (const email of tricks)
  test(`DOM-05 ${JSON.stringify(email)} has no domain`, () => assert.equal(domainOfEmail(email), undefined))

test('DOM-05 an address at a parent domain or subdomain does not belong to the domain', () => {
  for (const email of ['a@acme.example.evil.example', 'a@mail.acme.example', 'a@notacme.example', 'a@example.acme'])
    assert.notEqual(domainOfEmail(email), 'acme.example', email)
})
