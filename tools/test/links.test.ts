import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { checkLinks, checkPaths } from '../links.ts'

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

function pathsOf(readme: string, guide = '') {
  for (const folder of ['docs', 'server/oauth', 'web/locales/en', 'sdk'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const file of ['server/oauth/claims.ts', 'web/locales/en/texts.ts', 'docs/words.md', 'sdk/vectors.json'])
    writeFileSync(join(root, file), '')
  writeFileSync(join(root, 'README.md'), readme)
  writeFileSync(join(root, 'docs/guide.md'), guide)
  return checkPaths(root)
}

test('paths from the root, the server, the pages and the document are valid, and file names in any folder', () => {
  const readme =
    '`server/oauth/claims.ts` `oauth/claims.ts:7` `locales/{en}` `node web/locales/en/texts.ts --check` `claims.ts`'
  assert.deepEqual(pathsOf(readme, '`../sdk/vectors.json` `server/oauth` `sdk/dist`'), { paths: 6, missing: [] })
})

test('a missing path, folder or file name is reported once for each document', () => {
  const readme = '`oauth/gone.ts` `web/locales/{en,de}/texts.ts` `sdk/gone/` `node sdk/gone.ts` `oauth/gone.ts`'
  assert.deepEqual(pathsOf(readme, '`gone.ts` `sdk/words.md`').missing, [
    'README.md names oauth/gone.ts, which does not exist',
    'README.md names web/locales/{en,de}/texts.ts, which does not exist',
    'README.md names sdk/gone/, which does not exist',
    'README.md names sdk/gone.ts, which does not exist',
    'docs/guide.md names gone.ts, which does not exist',
    'docs/guide.md names sdk/words.md, which does not exist',
  ])
})

test('routes, media types, patterns and blocks of code are not paths', () => {
  const readme =
    '`/api/x.json` `{auth_url}/jwks.json` `text/html` `*.test.ts` `<page>/main.tsx`\n\n```\n`sdk/x.ts`\n```\n'
  assert.deepEqual(pathsOf(readme, '`claims.ts`'), { paths: 1, missing: [] })
})

test('a review may name former paths that it lists as moved, and their new paths must exist', () => {
  const moved = (now: string) =>
    `## Moved files\n\n| Path | Now |\n| --- | --- |\n| \`oauth/old.ts\` | \`${now}\` |\n\n`
  const rest = '## Findings\n\n`oauth/old.ts:75`'
  assert.deepEqual(pathsOf(moved('oauth/claims.ts') + rest), { paths: 1, missing: [] })
  const missing = ['README.md names oauth/new.ts, which does not exist']
  assert.deepEqual(pathsOf(moved('oauth/new.ts') + rest), { paths: 1, missing })
})
