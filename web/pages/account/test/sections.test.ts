import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routePath, sectionOf, sections } from '../sections.ts'

test('every section is found at its own path', () => {
  for (const section of sections) assert.equal(sectionOf(routePath(section)), section)
})

for (const path of ['/account', '/account/', '/account/unknown', '/account/toString']) {
  test(`${path} shows the first section`, () => assert.equal(sectionOf(path), 'home'))
}

test('former paths lead to the section that took their place', () => {
  assert.deepEqual(['/account/passkeys', '/account/sessions'].map(sectionOf), ['security', 'security'])
})
