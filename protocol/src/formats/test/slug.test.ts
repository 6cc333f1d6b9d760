import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slugify, slugPattern } from '../domain.ts'

const slugs: Record<string, string> = {
  'Acme Inc.': 'acme-inc',
  'Müller & Söhne': 'muller-sohne',
  '--- Ångström ---': 'angstrom',
  株式会社: 'workspace',
  '<script>alert(1)</script>': 'script-alert-1-script',
  ['long '.repeat(15)]: 'long-long-long-long-long-long-long-long',
}
for (const [name, slug] of Object.entries(slugs))
  test(`an organization named ${name} gets the slug ${slug}`, () => {
    assert.equal(slugify(name), slug)
    assert.match(slug, new RegExp(slugPattern))
  })
