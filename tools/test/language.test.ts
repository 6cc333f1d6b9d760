import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, countBanned } from '../language.ts'

const count = (text: string, document = '') => {
  const code = text.replaceAll(/\/\/.*$/gm, '')
  return Object.fromEntries([...countBanned([{ text, code }], [document])].filter(([, each]) => each > 0))
}

test('a banned word is counted in identifiers, comments and documents', () => {
  assert.deepEqual(count('const wantedScope = told'), { 'identifier wanted': 1, 'identifier told': 1 })
  assert.deepEqual(count('// It is told\n// to somebody anew.'), {
    'comment told': 1,
    'comment somebody': 1,
    'comment anew': 1,
  })
  assert.deepEqual(count('', 'The flow goes\non.'), { 'document goes? on': 1 })
})

test('texts, code blocks, links and parts of other words are not counted', () => {
  assert.deepEqual(count("const untoldNumber = 'told'"), {})
  assert.deepEqual(count('', '`told` “told” [a](told.md)\n```\ntold\n```\nretold'), {})
})

test('a number that grew is an error, and so is one that is out of date', () => {
  assert.deepEqual(compare(new Map([['comment told', 2]]), ['comment told: 2']), [])
  assert.equal(compare(new Map([['comment told', 3]]), ['comment told: 2']).length, 2)
  assert.equal(compare(new Map([['comment told', 0]]), ['comment told: 2']).length, 1)
})
