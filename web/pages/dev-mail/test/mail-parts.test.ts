import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeIn, splitAtLinks } from '../mail-parts.ts'

const own = ['http://localhost:4401', 'http://localhost:4402']

test('the code of a mail is the line of digits', () => {
  assert.equal(codeIn('123456\n\nEnter this code at localhost:4401.'), '123456')
  assert.equal(codeIn('Your invitation 2030: open the link.'), undefined)
})

test('HLP-09 only addresses of this service become links in a mail', () => {
  const text =
    'See http://localhost:4402/invitations/x, not http://localhost:4402.evil.example/ or javascript:alert(1).'
  const parts = splitAtLinks(text, own)
  assert.deepEqual(
    parts.filter(({ url }) => url !== undefined),
    [{ text: 'http://localhost:4402/invitations/x', url: 'http://localhost:4402/invitations/x' }],
  )
  assert.equal(parts.map((part) => part.text).join(''), text)
  assert.deepEqual(
    splitAtLinks('http://localhost:4401@evil.example/', own).map(({ url }) => url),
    [undefined],
  )
})
