import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../de')
const mistakes: [what: string, pattern: RegExp][] = [
  ['straight quotation marks', /"/],
  ['quotation marks of another language', /”|“[^„]*“|„[^“]*(?:„|$)/],
  ['dots instead of an ellipsis', /\.\.\./],
  ['an ellipsis without a no-break space before it', /(?:^|[^\u00a0„(#])…/],
  ['an exclamation mark', /!/],
]

test('German texts have German typography', () => {
  const texts = globSync('**/*.ts', { cwd: root }).flatMap((path) =>
    textsOf(readFileSync(join(root, path), 'utf8')).map((text) => `${path}: ${text}`),
  )
  assert.ok(texts.length > 1000)
  for (const [what, pattern] of mistakes)
    assert.deepEqual(
      texts.filter((text) => pattern.test(text)),
      [],
      what,
    )
})

/** Returns the texts of a file of the catalogue. A text of several lines is joined, and expressions are left out. */
function textsOf(code: string): string[] {
  const literals = code
    .replaceAll(/^import .*$/gm, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/['`] \+\n\s*['`]/g, '')
    .matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)
  return [...literals].map(([, text = '', template = '']) =>
    (text + template).replaceAll(/\$\{[^}]*\}/g, '').replaceAll(String.raw`\u00a0`, '\u00a0'),
  )
}
