import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf, sectionOf, sections } from '../sections.ts'

test('every section is found at its own path', () => {
  for (const section of sections) assert.equal(sectionOf(pathOf(section)), section)
})

for (const path of ['/account', '/account/', '/account/unknown', '/account/toString']) {
  test(`${path} shows the first section`, () => assert.equal(sectionOf(path), 'identities'))
}
