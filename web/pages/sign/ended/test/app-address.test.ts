import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOfApp } from '../app-address.ts'

const app = { origins: ['https://shop.example'], websiteUrl: 'https://shop.example/home' }

test('the way back leads to the page of the app that the user came from, or to its website', () => {
  assert.equal(addressOfApp(app, 'https://shop.example/orders/1'), 'https://shop.example/orders/1')
  assert.equal(addressOfApp(app, ''), 'https://shop.example/home')
})

test('SIG-63 the way back never leads to an address that is not of the app', () => {
  const elsewhere = { origins: ['https://shop.example'], websiteUrl: 'https://bank.example' }
  for (const referrer of [
    'https://evil.example/shop.example',
    'javascript:alert(1)',
    'https://shop.example.evil.example',
  ])
    assert.equal(addressOfApp(elsewhere, referrer), undefined)
  assert.equal(addressOfApp({ origins: ['shop:'], websiteUrl: 'shop://open' }, ''), undefined)
})
