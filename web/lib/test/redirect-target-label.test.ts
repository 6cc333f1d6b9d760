import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redirectTargetLabel } from '../navigation.ts'

for (const [address, place] of Object.entries({
  'https://shop.example/callback?x=1': 'shop.example',
  'http://localhost:3000/callback': 'localhost:3000',
  'https://bank.example@evil.example/': 'evil.example',
  'com.example.app:/callback': 'com.example.app',
})) {
  test(`a person who leaves for ${address} is told ${place}`, () => assert.equal(redirectTargetLabel(address), place))
}

test('a host in look-alike letters is shown as what it is', () => {
  assert.equal(redirectTargetLabel('https://аpple.example/'), 'xn--pple-43d.example')
})
