import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUnlisted } from './growth.ts'

const tables = 'export interface Tables {\n  person: {\n    user_id: string\n  }\n}\n'
/** Ids that no case has, so that this file is taken for a test of none. */
const [tested, untested] = ['01', '02'].map((number) => ['AAA', number].join('-'))
const cases = '| AAA-01 | One. | [a.test.ts](../../a.test.ts) |\n| AAA-02 | Two. | Not tested yet. |'
const sources = [
  {
    path: 'server/a.ts',
    code: `const known = new Map<string, Date>()
const words = new Set(['one'])
function createThing() {
  const found = new Map<string, () => void>()
  const fixed = new Map([['a', 1]])
  let waiting: string[] = []
  return (key: string) => {
    const inRequest = new Set<string>()
    known.set(key, new Date())
  }
}
function readThing() {
  const ofRequest = new Map<string, string>()
}`,
  },
]
const row = (name: string, who = 'the service', ids = '') => `| \`${name}\` | ${who} | one | a sweep | ${ids} |`
const complete = [row('person'), row('server/a.ts known'), row('server/a.ts found'), row('server/a.ts waiting')]
const wrongIn = (...rows: string[]) => findUnlisted({ growth: rows.join('\n'), cases, tables, sources })

test('every table and every collection that outlives a request must be listed, and no other', () => {
  assert.deepEqual(wrongIn(...complete), [])
  assert.deepEqual(wrongIn(), [
    'person is not listed',
    'server/a.ts known is not listed',
    'server/a.ts found is not listed',
    'server/a.ts waiting is not listed',
  ])
  assert.deepEqual(wrongIn(...complete, row('gone')), ['gone is listed, and is not there'])
})

test('what callers can fill must name a case that has a test', () => {
  const rest = complete.slice(1)
  assert.deepEqual(wrongIn(row('person', 'anyone who registers'), ...rest), [
    'person can be filled by callers, and names no case',
  ])
  assert.deepEqual(wrongIn(row('person', 'users', untested), ...rest), ['person names AAA-02, which has no test'])
  assert.deepEqual(wrongIn(row('person', 'users', tested), ...rest), [])
})
