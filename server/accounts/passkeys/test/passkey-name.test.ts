import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passkeyName } from '../passkey.ts'

const now = new Date('2026-11-22T23:30:00Z')
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36'
const unknown = { product: undefined, kind: 'unknown' } as const

test('a passkey of an unknown product is named after the browser and the day of its creation', () => {
  assert.equal(passkeyName(unknown, { userAgent: chrome, language: 'en' }, now), 'Chrome on Linux, 22 Nov')
  assert.equal(passkeyName(unknown, { userAgent: chrome, language: 'de' }, now), 'Chrome unter Linux, 22. Nov.')
  assert.equal(passkeyName(unknown, { userAgent: undefined, language: 'en' }, now), 'Passkey, 22 Nov')
})

test('a security key and a phone are named as such, and a known product by its name', () => {
  const browser = { userAgent: chrome, language: 'en' } as const
  assert.equal(passkeyName({ product: undefined, kind: 'security key' }, browser, now), 'Security key, 22 Nov')
  assert.equal(passkeyName({ product: undefined, kind: 'phone or tablet' }, browser, now), 'Phone or tablet, 22 Nov')
  assert.equal(passkeyName({ product: '1Password', kind: 'unknown' }, browser, now), '1Password')
})
