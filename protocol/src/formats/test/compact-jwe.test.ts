import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCompactJwe } from '../compact-jwe.ts'

const written = (length: number) => Buffer.alloc(length, 0xff).toString('base64url')

test('five parts with an empty second one are a compact JWE, whatever their lengths', () => {
  for (let length = 0; length < 20; length += 1)
    assert.equal(isCompactJwe(`e30..${written(length)}.${written(length)}.${written(length)}`), true, `${length}`)
  assert.equal(isCompactJwe(`e30..AAAA.${written(50_000_000)}.AAAA`), true)
})

test('of all texts of a last group, only canonical ones are accepted', () => {
  const alphabet = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~é ')
  for (const first of ['A', 'z', '_'])
    for (const second of alphabet)
      for (const third of ['', ...alphabet]) {
        const text = first + second + third
        const isCanonical = Buffer.from(text, 'base64url').toString('base64url') === text
        assert.equal(isCompactJwe(`e30...${text}.`), isCanonical, text)
      }
})

const others = ['', 'e30.AAAA.AAAA.AAAA.AAAA', 'e30..AAAA.AAAA', 'e30..AAAA.AAAA.AAAA.AAAA']
for (const text of [...others, 'e30..A..', 'e30..AAAAA..', 'e30..AA==..', 'e30..AAAA..\n', ' e30....', 'e30..A+/A..'])
  test(`${JSON.stringify(text)} is not a compact JWE`, () => {
    assert.equal(isCompactJwe(text), false)
  })
