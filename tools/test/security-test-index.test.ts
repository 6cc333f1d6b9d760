import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateSecurityTestIndex } from '../security-test-index.ts'

const tests = [
  { path: 'server/a.test.ts', text: "test('TOK-01 TOK-02: one', () => {})\nconst hash = 'SHA-256'" },
  { path: 'e2e/b.test.ts', text: 'for (const what of all) test(`TOK-02 ${what}`, () => {})' },
]
const list = (...rows: string[]) => ['# Cases', '', '| id | what | where |', '| --- | --- | --- |', ...rows].join('\n')

test('each case names the files of its tests, and one without tests keeps its reason', () => {
  const { document, wrong } = updateSecurityTestIndex(
    list(
      '| TOK-01 | One. | Not tested yet. |',
      '| TOK-02 | Two. | Not tested yet. |',
      '| TOK-03 | Three. | Not tested: no. |',
    ),
    tests,
  )
  assert.deepEqual(wrong, [])
  assert.match(document, /\| TOK-01 \| One\. \| \[server\/a\.test\.ts\]\(\.\.\/\.\.\/server\/a\.test\.ts\) \|/)
  assert.match(document, /TOK-02 .*a\.test\.ts\), \[e2e\/b\.test\.ts\]/)
  assert.match(document, /TOK-03 \| Three\. \| Not tested: no\. \|/)
  assert.equal(updateSecurityTestIndex(document, tests).document, document)
})

test('a case whose test was removed becomes untested', () => {
  const { document, wrong } = updateSecurityTestIndex(
    list('| TOK-04 | Four. | [server/c.test.ts](../../server/c.test.ts) |'),
    [],
  )
  assert.deepEqual(wrong, [])
  assert.match(document, /TOK-04 \| Four\. \| Not tested yet\. \|/)
})

test('a test of an unknown case, a case without a reason and a duplicate case are reported', () => {
  const { wrong } = updateSecurityTestIndex(
    list('| TOK-01 | One. | x |', '| TOK-01 | One. | x |', '| TOK-05 | Five. | Does not apply: no. |'),
    tests,
  )
  assert.deepEqual(wrong, [
    'TOK-01 is listed twice',
    'TOK-05 has neither a test nor a reason',
    'TOK-02 of server/a.test.ts is not listed',
  ])
  assert.deepEqual(updateSecurityTestIndex('# Cases', []).wrong, ['no case is listed'])
})
