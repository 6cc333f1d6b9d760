import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRecord } from '../csv.ts'

test('CSV-01 no field of an exported record is a formula, and each one is in quotes', () => {
  for (const beginning of ['=', '+', '-', '@', '\t', '\r', '\n', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20'])
    assert.equal(csvRecord(['a', `${beginning}1+1`]), `"a","'${beginning}1+1"\r\n`)
  assert.equal(csvRecord(['say "no", then\r\n=1', 'a=b', '']), '"say ""no"", then\r\n=1","a=b",""\r\n')
})
