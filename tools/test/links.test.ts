import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { checkLinks } from '../links.ts'

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'countersign-links-'))))
afterEach(() => rmSync(root, { recursive: true }))

function linksOf(readme: string) {
  mkdirSync(join(root, 'docs'), { recursive: true })
  writeFileSync(join(root, 'docs/words.md'), '# Words\n\n## What your app can ask for?\n\n[up](../README.md#start)')
  writeFileSync(join(root, 'README.md'), `# Product\n\n## Start\n\n${readme}`)
  return checkLinks(root)
}

test('links to existing files, folders and headings and to the web are valid', () => {
  const readme = '[a](docs/words.md#what-your-app-can-ask-for) [b](docs) [c](#start) [d](https://example.com)'
  assert.deepEqual(linksOf(readme), { links: 4, broken: [] })
})

test('a missing file or heading is reported', () => {
  assert.deepEqual(linksOf('[a](docs/gone.md) [b](docs/words.md#gone) <img src="gone.png">').broken, [
    'README.md links to docs/gone.md, which does not exist',
    'README.md links to docs/words.md#gone, but docs/words.md has no such heading',
    'README.md links to gone.png, which does not exist',
  ])
})

test('links in code are ignored', () => {
  assert.deepEqual(linksOf('`[a](gone)`\n\n```md\n[a](gone)\n```\n').broken, [])
})
