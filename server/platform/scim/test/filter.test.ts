import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterLimits, parseFilter, parsePatchPath } from '../filter.ts'

const refused = { name: 'Error', code: 'invalidFilter' }

test('and binds more than or, and not more than and', () => {
  const filter = parseFilter('a eq 1 or not (b pr) and c[d eq "x" or e eq null] and f.g co "y"')
  const path = (name: string, part?: string) => ({ name, part })
  assert.deepEqual(filter, {
    kind: 'or',
    filters: [
      { kind: 'compare', path: path('a'), operator: 'eq', value: 1 },
      {
        kind: 'and',
        filters: [
          { kind: 'not', filter: { kind: 'present', path: path('b') } },
          {
            kind: 'element',
            name: 'c',
            filter: {
              kind: 'or',
              filters: [
                { kind: 'compare', path: path('d'), operator: 'eq', value: 'x' },
                { kind: 'compare', path: path('e'), operator: 'eq', value: null },
              ],
            },
          },
          { kind: 'compare', path: path('f', 'g'), operator: 'co', value: 'y' },
        ],
      },
    ],
  })
})

test('words of the grammar can be names of attributes', () => {
  const path = { name: 'not', part: undefined }
  assert.deepEqual(parseFilter('not eq true'), { kind: 'compare', path, operator: 'eq', value: true })
})

test('SCM-11 a filter at a limit is parsed, and one beyond it is refused', () => {
  const { charactersMax, comparisonsMax, depthMax } = filterLimits
  const sized = (size: number) => `a eq "${'x'.repeat(size - 7)}"`
  const nested = (depth: number) => `${'('.repeat(depth)}a pr${')'.repeat(depth)}`
  const several = (count: number) => Array.from({ length: count }, () => 'a pr').join(' or ')
  for (const [build, most] of [
    [sized, charactersMax],
    [nested, depthMax],
    [several, comparisonsMax],
  ] as const) {
    assert.ok(parseFilter(build(most)))
    assert.throws(() => parseFilter(build(most + 1)), refused)
  }
  // Bytes count, not characters.
  assert.throws(() => parseFilter(`a eq "${'ä'.repeat(charactersMax / 2)}"`), refused)
  const mixed = `not (a[not (b pr) and (${nested(13)})])`
  assert.ok(parseFilter(mixed))
  assert.throws(() => parseFilter(`(${mixed})`.replace('(((', '(((((')), refused)
})

test('a path names an attribute, a part, or the values that match a filter', () => {
  assert.deepEqual(parsePatchPath('Name.givenName'), { name: 'name', part: 'givenname', filter: undefined })
  const filter = { kind: 'compare', path: { name: 'type', part: undefined }, operator: 'eq', value: 'work' }
  assert.deepEqual(parsePatchPath('emails[type eq "work"].value'), { name: 'emails', part: 'value', filter })
  assert.deepEqual(parsePatchPath('emails[type eq "work"]'), { name: 'emails', part: undefined, filter })
  for (const path of ['', 'a.b.c', 'a[', 'a[]', 'a[b pr].', 'a[b pr]c', 'a.b[c pr]', 'a eq "b"'])
    assert.throws(() => parsePatchPath(path), refused, path)
})
