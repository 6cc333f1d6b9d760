import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfiguration } from '../file.ts'

test('a file is YAML 1.2 of the core schema, or JSON', () => {
  const yaml = 'settings: { registration.mode: invited }\napps:\n  - key: yes\n    public: true\n    seconds: 600\n'
  const value = { settings: { 'registration.mode': 'invited' }, apps: [{ key: 'yes', public: true, seconds: 600 }] }
  assert.deepEqual(parseConfiguration(yaml), value)
  assert.deepEqual(parseConfiguration(JSON.stringify(value)), value)
  assert.deepEqual(parseConfiguration('a: 2026-11-27\nb: off\nc: 012\nd: ~\n'), {
    a: '2026-11-27',
    b: 'off',
    c: 12,
    d: null,
  })
})

test('CNF-10 a file that could mean something else than it seems to is refused', () => {
  const refused: Record<string, RegExp> = {
    'a: &x 1\nb: 2': /anchor &x/,
    'a: *x': /alias/,
    'a: [&x {b: 1}, *x]': /anchor|alias/,
    'a: 1\na: 2': /unique at line 2/,
    'groups: [{ key: a, key: b }]': /unique/,
    'a: !!binary aGk=': /tag/,
    'a: !!str 1': /tag/,
    'a: !custom 1': /tag/i,
    'a: 1\n---\nb: 1': /one document/,
    '': /one document/,
    '- a': /keys and values/,
    text: /keys and values/,
    '1: a': /key of the file/,
    '? [a]\n: 1': /key of the file/,
    'a: [1': /line 1/,
    'a: .nan': /number \.nan/,
    'a: [-.inf]': /number -\.inf/,
    'a: 1e400': /number 1e400/,
    '%YAML 1.1\n---\na: 012': /directive %YAML/,
    [`a: ${'x'.repeat(1024 * 1024)}`]: /1 MiB/,
  }
  for (const [written, message] of Object.entries(refused))
    assert.throws(() => parseConfiguration(written), message, written.slice(0, 40))
})
