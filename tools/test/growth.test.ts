import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUnbounded, findUnlisted } from '../growth.ts'

const tables = 'export interface Tables {\n  person: {\n    user_id: string\n  }\n}\n'
/** Ids of no case, so that this file does not count as a test of one. */
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
  assert.deepEqual(wrongIn(...complete, row('gone')), ['gone is listed, but does not exist'])
})

test('a collection that callers can fill must name a case with a test', () => {
  const rest = complete.slice(1)
  assert.deepEqual(wrongIn(row('person', 'anyone who registers'), ...rest), [
    'person can be filled by callers, but names no case',
  ])
  assert.deepEqual(wrongIn(row('person', 'the operator; neighbors'), ...rest), [
    'person can be filled by callers, but names no case',
  ])
  assert.deepEqual(wrongIn(row('person', 'users', untested), ...rest), ['person names AAA-02, which has no test'])
  assert.deepEqual(wrongIn(row('person', 'users', tested), ...rest), [])
})

const actions = ['door.opened', 'door.closed', 'house.painted']
const rateLimits = ['opening-of-a-door']
const acts = [
  '| `door.opened` | users | `opening-of-a-door` |',
  '| `door.closed` | anyone | one each time: `door.opened` |',
  '| `house.painted` | operator | - |',
]
const unboundedIn = (...lines: string[]) => findUnbounded({ growth: lines.join('\n'), actions, rateLimits })

test('GRW-24 each audit action must be bounded by a rate limit, or by an action that is bounded', () => {
  assert.deepEqual(unboundedIn(...acts), [])
  const missing = ' is recorded, but has no documented limit'
  assert.deepEqual(unboundedIn(), [`door.opened${missing}`, `door.closed${missing}`, `house.painted${missing}`])
  assert.deepEqual(unboundedIn(...acts, '| `door.gone` | operator | - |'), [
    'door.gone is listed, but is no audit action',
  ])
  assert.deepEqual(unboundedIn('| `door.opened` | users | `luck` |', ...acts.slice(1)), [
    'door.opened names luck, which is neither a limit nor an audit action',
    'door.opened can be caused by callers, but no limit applies',
    'door.closed can be caused by callers, but no limit applies',
  ])
  const freely = ' can be caused by callers, but no limit applies'
  const byTwoWays = '| `door.closed` | anyone | `opening-of-a-door`; by a stranger: `door.opened` |'
  assert.deepEqual(unboundedIn('| `door.opened` | users | - |', byTwoWays, ...acts.slice(2)), [
    `door.opened${freely}`,
    `door.closed${freely}`,
  ])
  assert.deepEqual(unboundedIn(...acts.slice(0, 2), '| `house.painted` | operator; neighbors | - |'), [
    `house.painted${freely}`,
  ])
  assert.deepEqual(unboundedIn(...acts, '| `door.opened` | operator | - |'), ['door.opened is listed twice'])
  const circular = ['| `door.opened` | users | `door.closed` |', ...acts.slice(1)]
  assert.equal(unboundedIn(...circular).length, 2)
})
