import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

const passing = `import { test } from 'node:test'\ntest('one', () => {})\ntest('two', () => {})\n`
const failing = `import { test } from 'node:test'\ntest('three', () => { throw new Error('a reason') })\n`
const brokenSuite = `import { describe, test } from 'node:test'\ndescribe('s', () => { throw new Error('a reason') })\n`

let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'countersign-suite-'))))
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs the files as `npm test` does, in a separate process, because node does not run tests within tests. */
function runFiles(contents: string[]) {
  const files = contents.map((content, index) => join(folder, `${index}.test.ts`))
  for (const [index, file] of files.entries()) writeFileSync(file, contents[index] ?? '')
  const script = join(folder, 'script.ts')
  const code = `import { reportCounts, runTestFiles } from ${JSON.stringify(join(import.meta.dirname, '../suite.ts'))}
    reportCounts(await runTestFiles(${JSON.stringify(files)}, { concurrency: 1 }))`
  writeFileSync(script, code)
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const countsFile = join(folder, 'counts')
  const { status, stdout } = spawnSync(process.execPath, [script], {
    env: { ...environment, TEST_COUNTS: countsFile, TEST_FAILURES: '' },
    encoding: 'utf8',
  })
  return { status, stdout, lastLine: stdout.trimEnd().split('\n').at(-1), counted: readFileSync(countsFile, 'utf8') }
}

test('passing tests are counted, and the run succeeds', () => {
  const { status, lastLine, counted } = runFiles([passing])
  assert.deepEqual({ status, lastLine, counted }, { status: 0, lastLine: '2 passed, 0 failed', counted: '2 0\n' })
})

test('a failing test fails the run, and its reason is shown', () => {
  const { status, stdout, lastLine, counted } = runFiles([passing, failing])
  assert.deepEqual({ status, lastLine, counted }, { status: 1, lastLine: '2 passed, 1 failed', counted: '2 1\n' })
  assert.match(stdout, /a reason/)
})

test('a file that cannot be loaded, one without a test and a broken suite each fail the run', () => {
  for (const content of ['throw new Error()', 'export {}', brokenSuite]) {
    const { status, lastLine } = runFiles([passing, content])
    assert.deepEqual({ status, lastLine }, { status: 1, lastLine: '2 passed, 1 failed' })
  }
})

test('an error that no test awaits fails the run, and its reason is shown', () => {
  const unawaited = {
    uncaughtExceptionMonitor: `setImmediate(() => { throw new Error('a reason') })`,
    unhandledRejection: `void Promise.reject(new Error('a reason'))`,
  }
  for (const [event, statement] of Object.entries(unawaited)) {
    const noticed = `new Promise((resolve) => process.once('${event}', resolve))`
    const content = `import { test } from 'node:test'\ntest('one', async () => { ${statement}; await ${noticed} })\n`
    const { status, stdout, lastLine } = runFiles([content, passing])
    assert.deepEqual({ status, lastLine }, { status: 1, lastLine: '3 passed, 1 failed' })
    assert.match(stdout, /a reason/)
  }
})

test('a run without any test fails', () => {
  assert.equal(runFiles([]).status, 1)
})

test('a filter that matches no file fails the run', () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const command = [join(import.meta.dirname, '../test.ts'), 'no-such-file']
  assert.equal(spawnSync(process.execPath, command, { env }).status, 1)
})
