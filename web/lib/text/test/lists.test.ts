import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { joinNames, joinValues } from '../lists.ts'

afterEach(() => Reflect.deleteProperty(globalThis, 'document'))

test('a list has the comma of the page, and from right to left each name keeps its own direction', () => {
  assert.equal(joinNames(['Orrery', 'Paper & Ink']), 'Orrery, Paper & Ink')
  Object.defineProperty(globalThis, 'document', {
    value: { documentElement: { dir: 'rtl', lang: 'ar' } },
    configurable: true,
  })
  assert.equal(joinNames(['Orrery', 'ليلى']), '\u2068Orrery\u2069، \u2068ليلى\u2069')
  assert.equal(joinValues(['example.com', 'example.org']), 'example.com، example.org')
})
