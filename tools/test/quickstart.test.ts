import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { quickstartCode, quickstartFile } from '../quickstart.ts'

test('the page of an app shows the code of the guides, which the end-to-end tests run', () => {
  assert.equal(readFileSync(quickstartFile, 'utf8'), quickstartCode(), 'stale: run node tools/quickstart.ts')
})
